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


class _Executor(click.ParamType[str]):
    """The name of an executor."""

    name = "executor"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text, known = str(value), api.executors()
        if text not in known:
            self.fail(f"expected {', '.join(known[:-1])} or {known[-1]}, found '{text}'", param, ctx)
        return text


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
accept_loss = click.option(
    "--accept-loss", is_flag=True, help="Warn about trace content that no reader understands, and go on without it."
)
skip_bad_lines = click.option(
    "--skip-bad-lines", is_flag=True, help="Skip trace lines that cannot be read, and count them."
)
sample = click.option("--sample", metavar="SHARE", help="Evaluate a stable sample of the traces, such as 1%.")
since = click.option("--since", metavar="TIME", help="Only traces that began at this time or on this day, or later.")
until = click.option(
    "--until", metavar="TIME", help="Only traces that began before this time, or on this day at the latest."
)
root = click.option("--root", metavar="DIR", help="Folder that all files must be in (default: git top level).")
no_plugins = click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
workers = click.option(
    "--workers", type=_Workers(), metavar="N|auto", help="Processes (default: auto, one per CPU for large input)."
)
executor = click.option(
    "--executor",
    type=_Executor(),
    metavar="NAME",
    help="inline, processes or ray (default: this process, or several for large input).",
)
ray_address = click.option(
    "--ray-address", metavar="HOST:PORT", help="The Ray cluster to use (default: a local one is started)."
)
today = click.option("--today", metavar="DATE", help="Day for waivers and calibrations (default: today, UTC).")
live = click.option("--live", is_flag=True, help="Run the agent that the suite names, and evaluate what it does.")
resume = click.option("--resume", is_flag=True, help="Go on with a live run that was interrupted.")
stop_early = click.option(
    "--stop-early",
    metavar="off|certain|P",
    help="Skip live runs that the verdict does not need: none, all, or at a chance of error such as 1%.",
)
max_cost_usd = click.option(
    "--max-cost-usd", type=float, metavar="USD", help="Start no further run of the agent once this is spent."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def values(given: dict[str, Any]) -> dict[str, Any]:
    """What was given on the command line, as the options of a use case."""
    found = {name: value for name, value in given.items() if name not in ("no_plugins", "today")}
    return {**found, "plugins": not given["no_plugins"], "today": day(given["today"])}


def day(text: str | None) -> datetime.date | None:
    """The day of `--today`."""
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(Problem(f"--today: expected a day such as 2026-01-31, found '{text}'")) from None


def live_options(given: dict[str, Any]) -> api.LiveOptions | None:
    """How the agent is run, taken from what was given; None where it is not run."""
    live, resume, most, stop = (given.pop(name) for name in ("live", "resume", "max_cost_usd", "stop_early"))
    if live:
        return api.LiveOptions(resume=resume, max_cost_usd=most, stop_early=stop)
    if resume or most is not None or stop is not None:
        name = "--resume" if resume else "--max-cost-usd" if most is not None else "--stop-early"
        raise UsageError(Problem(f"{name} means nothing without --live"))
    return None
