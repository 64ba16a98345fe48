"""`passmuster history`: the runs of a suite that were kept, and the course of its metrics."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from passmuster._problems import InputError, Problem, UsageError, did_you_mean
from passmuster.cli._printing import print_document, print_lines, refuse
from passmuster.history import History, read_history
from passmuster.reports import history_lines
from passmuster.suite import display, find_root, find_suite

__all__ = ["SCHEMA", "command"]

SCHEMA = "passmuster.history/1"


@click.command("history")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only these metrics.")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=20,
    metavar="N",
    help="How many runs to show (default: 20).",
)
@click.option("--root", metavar="DIR", help="The folder that the history lies in (default: git top level).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(suite: str | None, metrics: tuple[str, ...], last: int, root: str | None, as_json: bool) -> None:
    """Show the runs of a suite that were kept.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the history was shown, 2 the input is wrong.
    """
    try:
        path = find_suite(suite, Path.cwd())
        top = find_root(root, path)
        history = read_history(top, display(path, top), last)
        _check(metrics, history)
        if as_json:
            print_document(_document(history, metrics))
        else:
            print_lines(history_lines(history, metrics))
    except InputError as error:
        refuse(error)


def _check(metrics: tuple[str, ...], history: History) -> None:
    known = {name for run in history.runs for name in run.metrics}
    problems = [
        Problem(f"--metric {name}: none of these runs has this metric{did_you_mean(name, known)}")
        for name in metrics
        if history.runs and name not in known
    ]
    if problems:
        raise UsageError(problems)


def _document(history: History, metrics: tuple[str, ...]) -> dict[str, object]:
    document = {"schema": SCHEMA, **msgspec.to_builtins(history)}
    if metrics:
        for run in document["runs"]:
            run["metrics"] = {name: value for name, value in run["metrics"].items() if name in metrics}
    return document
