"""Options that several commands take."""

from __future__ import annotations

import datetime
from typing import Any, get_args

import click

from passmuster import api
from passmuster._problems import Problem, UsageError


class _Workers(click.ParamType["int | None"]):
    """`auto`, or how many."""

    name = "workers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        text = str(value)
        if text == "auto":
            return None
        if not text.isdecimal() or not 1 <= int(text) <= 1024:
            self.fail(f"expected auto or a number from 1 to 1024, found '{text}'", param, ctx)
        return int(text)


class _FormatOption(click.Option):
    """`--format`, whose help names the formats that there are."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        found = super().get_help_record(ctx)
        return found and (found[0], f"{found[1]}: {', '.join(api.trace_formats())}.")


suite = click.argument("suite", metavar="[SUITE]", required=False)
traces = click.option("--traces", multiple=True, metavar="PATH", help="File, folder or glob; - is standard input.")
trace_format = click.option(
    "--format", "trace_format", cls=_FormatOption, metavar="NAME", help="Format of the traces (default: detected)"
)
judge = click.option(
    "--judge",
    type=click.Choice(get_args(api.JudgeMode)),
    default="live",
    help="Ask judges (default), use cached verdicts only, or leave judges out.",
)
root = click.option("--root", metavar="DIR", help="Folder that all files must be in (default: git top level).")
no_plugins = click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
workers = click.option(
    "--workers", type=_Workers(), metavar="N|auto", help="Processes (default: auto, one per CPU for large input)."
)
today = click.option("--today", metavar="DATE", help="Day for waivers and calibrations (default: today, UTC).")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def values(given: dict[str, Any]) -> dict[str, Any]:
    """What was given on the command line, as the options of a use case."""
    found = {name: value for name, value in given.items() if name not in ("no_plugins", "today")}
    return {**found, "plugins": not given["no_plugins"], "today": _day(given["today"])}


def _day(text: str | None) -> datetime.date | None:
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(Problem(f"--today: expected a day such as 2026-01-31, found '{text}'")) from None
