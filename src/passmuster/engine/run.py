"""A run: traces in, one report out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns

from msgspec.structs import replace

from passmuster.checks.golden import Golden
from passmuster.engine.memory import keep_freed_memory, rare_collections
from passmuster.engine.parts import Part, cut
from passmuster.engine.plan import Plan, compile_suite, select
from passmuster.problems import Problem, TraceError, UsageError
from passmuster.scoring.report import Report
from passmuster.scoring.tally import PartRead, Tally
from passmuster.scoring.verdict import Settings, conclude
from passmuster.suite.model import Suite
from passmuster.traces.locate import lines_of
from passmuster.traces.model import Trace
from passmuster.traces.reading import BadLines, read_source
from passmuster.traces.sources import Source

__all__ = ["Progress", "count_part", "evaluate", "judge"]

Progress = Callable[[Part, int], None]
"""Told, now and then, how many bytes of which part have been read."""
_STRIDE = 64
_MUCH = 8 << 20
"""Bytes of input from which it pays to prepare for long traces."""


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
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    workers: int = 1,
    plugins: bool = True,
    baseline: Sequence[Source] = (),
    progress: Progress = lambda part, offset: None,
) -> Report:
    """The verdict of a suite on trace files, the same for any number of workers."""
    started = perf_counter_ns()
    chosen = select(suite, settings.only, settings.tags)
    golden = _golden(chosen, baseline, settings)
    parts = cut(sources, workers)
    if min(workers, len(parts)) > 1:
        from passmuster.engine.crew import judge_parts

        tally = judge_parts(suite, settings, golden, parts, workers, plugins, progress)
    else:
        plan = compile_suite(chosen, settings.today, golden)
        tally = plan.tally()
        for part in parts:
            count_part(plan, tally, part, settings.skip_bad_lines, progress)
    return _report(chosen, tally, settings, started)


def _golden(suite: Suite, baseline: Sequence[Source], settings: Settings) -> dict[str, Golden]:
    """What the baseline's traces show, per scenario. Traces that fit none of them are no baseline for this suite."""
    if not baseline:
        return {}
    plan = compile_suite(suite, settings.today)
    golden = plan.golden(trace for source in baseline for trace in read_source(source, BadLines(source, skip=False)))
    if not golden:
        raise UsageError(Problem("no trace of the baseline belongs to a scenario of the suite", suite.file))
    return golden


def count_part(
    plan: Plan, tally: Tally, part: Part, skip_bad_lines: bool, progress: Progress = lambda part, offset: None
) -> None:
    """Judge the traces of one part and count what was found."""
    source = part.source
    bad = BadLines(source, skip_bad_lines)
    span = None if part.end is None else (part.start, part.end)

    def part_ends(lines: int) -> None:
        tally.parts.append(PartRead(source.name, part.start, lines))

    evaluate_one, add = plan.evaluate, tally.add
    if part.size > _MUCH:
        keep_freed_memory()
    with rare_collections():
        for number, trace in enumerate(read_source(source, bad, span, part_ends)):
            add(evaluate_one(trace))
            if number % _STRIDE == 0:
                progress(part, trace.origin.offset - part.start)
    tally.bad_lines += bad.count


def _report(suite: Suite, tally: Tally, settings: Settings, started: int) -> Report:
    if not tally.read:
        lines = f": all {tally.bad_lines} lines of the input are bad" if tally.bad_lines else ""
        raise TraceError(Problem(f"no trace found{lines}, so there is nothing to judge"))
    report = conclude(suite, tally, settings, lines_of(tally.spots(), tally.part_lines()))
    return replace(report, duration_ms=round((perf_counter_ns() - started) / 1e6, 3))


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
