"""`passmuster compare`: what changed between two runs."""

from __future__ import annotations

import click

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._printing import print_document, print_lines, refusing

SCHEMA = "passmuster.comparison/1"


@click.command("compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--suite", metavar="SUITE", help="Suite whose history has the runs (default: the nearest upwards).")
@options.root
@options.as_json
def command(before: str, after: str, suite: str | None, root: str | None, as_json: bool) -> None:
    """Show what changed from run A to run B.

    A and B are numbers of runs, as `passmuster history` lists them, or paths of JSON reports.
    Exit codes: 0 they were compared, 2 the input is wrong.
    """
    with refusing():
        runs = _run(before), _run(after)
        comparison = api.compare_runs(*runs, suite=suite, root=root)
        if as_json:
            print_document(SCHEMA, comparison, changed=comparison.changed)
        else:
            print_lines(reports.comparison_lines(comparison, *map(_name, runs)))


def _run(given: str) -> int | str:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else given


def _name(run: int | str) -> str:
    return f"run {run}" if isinstance(run, int) else run
