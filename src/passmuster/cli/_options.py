"""Options that several commands take."""

from __future__ import annotations

import datetime
from typing import Any, get_args

from passmuster import api
from passmuster._problems import Problem, UsageError
from passmuster.cli._command_line import argument, decimal_number, option


def _workers(text: str) -> int | None:
    """`auto`, or how many."""
    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise ValueError(f"expected auto or a number from 1 to 1024, found '{text}'")
    return int(text)


def _executor(text: str) -> str:
    """The name of an executor."""
    known = api.executors()
    if text not in known:
        raise ValueError(f"expected {', '.join(known[:-1])} or {known[-1]}, found '{text}'")
    return text


suite = argument("suite", metavar="[SUITE]")
traces = option("--traces", multiple=True, metavar="PATH", help="File, folder or glob; - is standard input.")
trace_format = option(
    "--format",
    "trace_format",
    metavar="NAME",
    help=lambda: f"Format of the traces (default: detected): {', '.join(api.trace_formats())}.",
)
judge = option(
    "--judge",
    choices=get_args(api.JudgeMode),
    default="live",
    help="Ask judges (default), use cached verdicts only, or leave judges out.",
)
accept_loss = option(
    "--accept-loss", is_flag=True, help="Warn about trace content that no reader understands, and go on without it."
)
skip_bad_lines = option("--skip-bad-lines", is_flag=True, help="Skip trace lines that cannot be read, and count them.")
sample = option("--sample", metavar="SHARE", help="Evaluate a stable sample of the traces, such as 1%.")
since = option("--since", metavar="TIME", help="Only traces that began at this time or on this day, or later.")
until = option("--until", metavar="TIME", help="Only traces that began before this time, or on this day at the latest.")
root = option("--root", metavar="DIR", help="Folder that all files must be in (default: git top level).")
no_plugins = option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
workers = option(
    "--workers", convert=_workers, metavar="N|auto", help="Processes (default: auto, one per CPU for large input)."
)
executor = option(
    "--executor",
    convert=_executor,
    metavar="NAME",
    help="inline, processes or ray (default: this process, or several for large input).",
)
ray_address = option(
    "--ray-address", metavar="HOST:PORT", help="The Ray cluster to use (default: a local one is started)."
)
today = option("--today", metavar="DATE", help="Day for waivers and calibrations (default: today, UTC).")
live = option("--live", is_flag=True, help="Run the agent that the suite names, and evaluate what it does.")
resume = option("--resume", is_flag=True, help="Go on with a live run that was interrupted.")
stop_early = option(
    "--stop-early",
    metavar="off|certain|P",
    help="Skip live runs that the verdict does not need: none, all, or at a chance of error such as 1%.",
)
max_cost_usd = option(
    "--max-cost-usd",
    convert=decimal_number,
    metavar="USD",
    help="Start no further run of the agent once this is spent.",
)
as_json = option("--json", "as_json", is_flag=True, help="Print JSON.")


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
