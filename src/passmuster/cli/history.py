"""`passmuster history`: the stored runs of a suite, and the course of its metrics."""

from __future__ import annotations

import click

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._printing import print_document, print_lines, refusing

SCHEMA = "passmuster.history/1"


@click.command("history")
@options.suite
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only these metrics.")
@click.option(
    "--last", type=click.IntRange(min=1), default=20, metavar="N", help="Number of runs to show (default: 20)."
)
@options.root
@options.as_json
def command(suite: str | None, metrics: tuple[str, ...], last: int, root: str | None, as_json: bool) -> None:
    """Show the stored runs of a suite.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the history was shown, 2 the input is wrong.

    \b
    Example:
      passmuster history evals --metric pass_rate --last 10
    """
    with refusing():
        history = api.read_history(suite, last=last, metrics=metrics, root=root)
        if as_json:
            print_document(SCHEMA, history)
        else:
            print_lines(reports.history_lines(history, metrics))
