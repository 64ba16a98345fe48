"""A run: traces in, one report out."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter_ns
from typing import Literal

from msgspec.structs import replace

from passmuster.checks.golden import Golden
from passmuster.engine.judging import Hearing, needs_one_process, open_judges
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

__all__ = ["Progress", "Take", "count_part", "evaluate", "hearing", "judge"]

JudgeMode = Literal["live", "cached", "off"]
Take = Callable[[Trace], None]
"""Judges one trace and counts what was found, now or once a judge has answered."""

Progress = Callable[[Part, int], None]
"""Told, now and then, how many bytes of which part have been read."""
_STRIDE = 64
_MUCH = 8 << 20
"""Bytes of input from which it pays to prepare for long traces."""


def evaluate(
    suite: Suite,
    traces: Iterable[Trace],
    *,
    strict: bool = False,
    judge: JudgeMode = "live",
    agent_version: str | None = None,
) -> Report:
    """The verdict of a suite on traces at hand."""
    settings = Settings(today=_today(), strict=strict, judge=judge, agent_version=agent_version)
    started = perf_counter_ns()
    plan = compile_suite(suite, settings.today)
    tally = plan.tally()
    with hearing(plan, tally, settings) as take:
        for trace in traces:
            take(trace)
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
    asked: Callable[[int, int], None] | None = None,
) -> Report:
    """The verdict of a suite on trace files, the same for any number of workers."""
    started = perf_counter_ns()
    chosen = select(suite, settings.only, settings.tags)
    golden = _golden(chosen, baseline, settings)
    if needs_one_process(chosen, settings):
        workers = 1
    parts = cut(sources, workers)
    if min(workers, len(parts)) > 1:
        from passmuster.engine.crew import judge_parts

        tally = judge_parts(suite, settings, golden, parts, workers, plugins, progress)
    else:
        plan = compile_suite(chosen, settings.today, golden)
        tally = plan.tally()
        with hearing(plan, tally, settings, asked) as take:
            for part in parts:
                count_part(take, tally, part, settings.skip_bad_lines, progress)
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


@contextlib.contextmanager
def hearing(
    plan: Plan, tally: Tally, settings: Settings, asked: Callable[[int, int], None] | None = None
) -> Iterator[Take]:
    """Judge traces and count what is found; at the end nothing waits for a judge any more."""
    if not plan.may_ask:
        evaluate_one, add = plan.evaluate, tally.add
        yield lambda trace: add(evaluate_one(trace))
        return
    with open_judges(plan.suite, settings, asked) as judges:
        hearing = Hearing(judges.ask, tally.add)
        yield lambda trace: hearing.take(plan.begin(trace))
        hearing.finish()


def count_part(
    take: Take, tally: Tally, part: Part, skip_bad_lines: bool, progress: Progress = lambda part, offset: None
) -> None:
    """Judge the traces of one part."""
    source = part.source
    bad = BadLines(source, skip_bad_lines)
    span = None if part.end is None else (part.start, part.end)

    def part_ends(lines: int) -> None:
        tally.parts.append(PartRead(source.name, part.start, lines))

    if part.size > _MUCH:
        keep_freed_memory()
    with rare_collections():
        for number, trace in enumerate(read_source(source, bad, span, part_ends)):
            take(trace)
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
