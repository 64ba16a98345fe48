"""A run: traces in, one report out."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import Problem, TraceError, UsageError
from passmuster.checks import Golden
from passmuster.engine._judging import Hearing, needs_one_process, open_judges, weigh_judges
from passmuster.engine._memory import Reserve, keep_freed_memory, rare_collections
from passmuster.engine._parts import Part, cut
from passmuster.engine._plan import Plan, compile_suite, select
from passmuster.scoring import JudgeMode, PartRead, Report, Settings, Tally, conclude
from passmuster.suite import Suite
from passmuster.traces import BadLines, Source, Trace, lines_of, read_source

if TYPE_CHECKING:
    from passmuster.scoring import Baseline

__all__ = [
    "Progress",
    "Take",
    "compared_with",
    "conclude_run",
    "count_part",
    "count_sources",
    "evaluate",
    "golden_in",
    "hearing",
    "judge",
]

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
    baseline: str | Path | None = None,
) -> Report:
    """The verdict of a suite on traces at hand.

    `baseline` is a baseline file or golden traces; without it, what the suite itself names.
    """
    compared, named = compared_with(suite, baseline)
    settings = Settings(today=_today(), strict=strict, judge=judge, agent_version=agent_version, baseline=named)
    settings = weigh_judges(suite, settings)
    started = perf_counter_ns()
    golden, recorded = _references(suite, compared, settings)
    plan = compile_suite(suite, settings.today, golden, judges_only_warn=settings.uncalibrated is not None)
    tally = plan.tally()
    with hearing(plan, tally, settings) as take:
        for trace in traces:
            take(trace)
    return conclude_run(plan.suite, tally, settings, started, recorded)


def compared_with(suite: Suite, given: str | Path | None) -> tuple[Baseline | Sequence[Source], str | None]:
    """What a run is compared with, and its name: what is given, else what the suite names, else nothing."""
    own = suite.baseline.file if suite.baseline else None
    if given is None and own is None:
        return (), None
    from passmuster.engine._baselines import find_baseline  # late, for most runs have none

    return find_baseline(suite, None if given is None else str(given), Path.cwd()), str(given or own)


def judge(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    workers: int = 1,
    plugins: bool = True,
    baseline: Baseline | Sequence[Source] = (),
    progress: Progress = lambda part, offset: None,
    asked: Callable[[int, int], None] | None = None,
) -> Report:
    """The verdict of a suite on trace files, the same for any number of workers.

    `baseline` is a recorded run, or golden traces, which path and cost are compared with and nothing else.
    """
    started = perf_counter_ns()
    chosen = select(suite, settings.only, settings.tags)
    settings = weigh_judges(chosen, settings)
    golden, recorded = _references(chosen, baseline, settings)
    tally = count_sources(
        suite, sources, settings, golden, workers=workers, plugins=plugins, progress=progress, asked=asked
    )
    return conclude_run(chosen, tally, settings, started, recorded)


def count_sources(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    golden: dict[str, Golden],
    *,
    workers: int = 1,
    plugins: bool = True,
    progress: Progress = lambda part, offset: None,
    asked: Callable[[int, int], None] | None = None,
) -> Tally:
    """What a suite makes of trace files, counted by any number of workers."""
    chosen = select(suite, settings.only, settings.tags)
    if needs_one_process(chosen, settings):
        workers = 1
    parts = cut(sources, workers)
    if min(workers, len(parts)) > 1:
        from passmuster.engine._worker_pool import judge_parts

        if chosen.may_ask:
            open_judges(chosen, settings.judge).close()  # a damaged cache is told here, before workers could break
        return judge_parts(suite, settings, golden, parts, workers, plugins, progress)
    plan = compile_suite(chosen, settings.today, golden, judges_only_warn=settings.uncalibrated is not None)
    tally = plan.tally()
    with hearing(plan, tally, settings, asked) as take:
        for part in parts:
            count_part(take, tally, part, settings.skip_bad_lines, progress, figures=plan.asks_figures)
    return tally


def _references(
    suite: Suite, baseline: Baseline | Sequence[Source], settings: Settings
) -> tuple[dict[str, Golden], Baseline | None]:
    """What path and cost are compared with, and what the whole run is. Traces that fit no scenario are no baseline."""
    if not isinstance(baseline, Sequence):
        return baseline.golden(), baseline
    golden = golden_in(suite, baseline, settings)
    if baseline and not golden:
        raise UsageError(Problem("no trace of the baseline belongs to a scenario of the suite", suite.file))
    return golden, None


def golden_in(suite: Suite, sources: Sequence[Source], settings: Settings) -> dict[str, Golden]:
    """What recorded runs show, per scenario."""
    if not sources:
        return {}
    plan = compile_suite(suite, settings.today)
    return plan.golden(trace for source in sources for trace in read_source(source, BadLines(source, skip=False)))


@contextlib.contextmanager
def hearing(
    plan: Plan, tally: Tally, settings: Settings, asked: Callable[[int, int], None] | None = None
) -> Iterator[Take]:
    """Judge traces and count what is found; at the end nothing waits for a judge any more."""
    if not plan.may_ask:
        evaluate_one, add = plan.evaluate, tally.add
        yield lambda trace: add(evaluate_one(trace))
        return
    with open_judges(plan.suite, settings.judge, asked) as judges:
        hearing = Hearing(judges.ask, tally.add)
        yield lambda trace: hearing.take(plan.begin(trace))
        hearing.finish()


def count_part(
    take: Take,
    tally: Tally,
    part: Part,
    skip_bad_lines: bool,
    progress: Progress = lambda part, offset: None,
    *,
    figures: bool = True,
) -> None:
    """Judge the traces of one part; without `figures`, nobody asks what the calls of models used up."""
    source = part.source
    bad = BadLines(source, skip_bad_lines)
    span = None if part.end is None else (part.start, part.end)

    def part_ends(lines: int) -> None:
        tally.parts.append(PartRead(source.name, part.start, lines))

    reserve = Reserve()
    if part.size > _MUCH:
        keep_freed_memory()
    with rare_collections():
        number = 0
        for trace in read_source(source, bad, span, part_ends, figures=figures):
            take(trace)
            reserve.keep(trace)
            if number % _STRIDE == 0:
                progress(part, trace.origin.offset - part.start)
            number += 1  # noqa: SIM113 - `enumerate` would hold on to the trace
            del trace  # so that a long one makes room before the next is decoded
    tally.bad_lines += bad.count


def conclude_run(
    suite: Suite, tally: Tally, settings: Settings, started: int, baseline: Baseline | None = None
) -> Report:
    """The report on what was counted; no trace at all is a mistake."""
    if not tally.read:
        lines = f": all {tally.bad_lines} lines of the input are bad" if tally.bad_lines else ""
        raise TraceError(Problem(f"no trace found{lines}, so there is nothing to judge"))
    report = conclude(suite, tally, settings, lines_of(tally.spots(), tally.part_lines()), baseline)
    return replace(report, duration_ms=round((perf_counter_ns() - started) / 1e6, 3))


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
