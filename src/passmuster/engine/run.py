"""A run: traces in, one report out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns

from msgspec.structs import replace

from passmuster.engine.plan import Plan, compile_suite, select
from passmuster.problems import Problem, TraceError
from passmuster.scoring.report import Report
from passmuster.scoring.tally import Tally
from passmuster.scoring.verdict import Settings, conclude
from passmuster.suite.model import Suite
from passmuster.traces.locate import lines_of
from passmuster.traces.model import Trace
from passmuster.traces.reading import BadLines, read_source
from passmuster.traces.sources import Source

__all__ = ["Progress", "evaluate", "judge"]

Progress = Callable[[Source, int], None]
"""Told, now and then, how many bytes of which file have been read."""
_STRIDE = 64


def evaluate(suite: Suite, traces: Iterable[Trace], *, strict: bool = False) -> Report:
    """The verdict of a suite on traces at hand."""
    settings = Settings(today=_today(), strict=strict)
    started = perf_counter_ns()
    plan = compile_suite(suite, settings.today)
    tally = plan.tally()
    for trace in traces:
        tally.add(plan.evaluate(trace))
    return _report(plan.suite, tally, settings, started)


def judge(
    suite: Suite, sources: Sequence[Source], settings: Settings, progress: Progress = lambda source, offset: None
) -> Report:
    """The verdict of a suite on trace files."""
    started = perf_counter_ns()
    plan = compile_suite(select(suite, settings.only, settings.tags), settings.today)
    tally = plan.tally()
    for source in sources:
        _count(plan, tally, source, settings, progress)
    return _report(plan.suite, tally, settings, started)


def _count(plan: Plan, tally: Tally, source: Source, settings: Settings, progress: Progress) -> None:
    bad = BadLines(source, settings.skip_bad_lines)
    evaluate_one, add = plan.evaluate, tally.add
    for number, trace in enumerate(read_source(source, bad)):
        add(evaluate_one(trace))
        if number % _STRIDE == 0:
            progress(source, trace.origin.offset)
    tally.bad_lines += bad.count


def _report(suite: Suite, tally: Tally, settings: Settings, started: int) -> Report:
    if not tally.read:
        lines = f": all {tally.bad_lines} lines of the input are bad" if tally.bad_lines else ""
        raise TraceError(Problem(f"no trace found{lines}, so there is nothing to judge"))
    report = conclude(suite, tally, settings, lines_of(tally.spots()))
    return replace(report, duration_ms=round((perf_counter_ns() - started) / 1e6, 3))


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
