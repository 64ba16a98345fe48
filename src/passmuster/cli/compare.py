"""`passmuster compare`: what changed between two runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import click
import msgspec

from passmuster._problems import InputError
from passmuster.cli._printing import print_document, print_lines, refuse
from passmuster.history import read_report, report_of
from passmuster.reports import comparison_lines
from passmuster.scoring import compare
from passmuster.suite import find_root, find_suite

__all__ = ["SCHEMA", "command"]

SCHEMA = "passmuster.comparison/1"


@click.command("compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--suite", metavar="SUITE", help="The suite whose history has the runs (default: the nearest upwards).")
@click.option("--root", metavar="DIR", help="The folder that the history lies in (default: git top level).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(before: str, after: str, suite: str | None, root: str | None, as_json: bool) -> None:
    """Show what changed from run A to run B.

    A and B are numbers of runs, as `passmuster history` lists them, or paths of JSON reports.
    Exit codes: 0 they were compared, 2 the input is wrong.
    """

    @cache
    def folder() -> Path:
        return find_root(root, find_suite(suite, Path.cwd()))

    def report(given: str) -> dict[str, Any]:
        return report_of(folder(), int(given)) if _is_number(given) else read_report(given)

    try:
        comparison = compare(report(before), report(after))
    except InputError as error:
        refuse(error)
    else:
        if as_json:
            print_document({"schema": SCHEMA, "changed": comparison.changed, **msgspec.to_builtins(comparison)})
        else:
            print_lines(comparison_lines(comparison, _called(before), _called(after)))


def _is_number(given: str) -> bool:
    return given.isascii() and given.isdecimal() and len(given) < 19


def _called(given: str) -> str:
    return f"run {int(given)}" if _is_number(given) else given
