"""A run for a format that shows more than the report: the traces, and how figures are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from time import perf_counter_ns
from typing import TYPE_CHECKING

from msgspec import Struct

from passmuster.engine._execution import ONE_PROCESS, Execution
from passmuster.engine._kept_traces import baseline_traces, kept_traces, wanted_traces
from passmuster.engine._prices import price_list
from passmuster.engine._progress import OnProgress
from passmuster.engine._run import conclude_run, prepared, tally_sources
from passmuster.scoring import Distribution, KeptTrace, Report, Settings, Tally, WhatIf, distribution, what_if
from passmuster.suite import Suite
from passmuster.traces import Source

if TYPE_CHECKING:
    from passmuster.scoring import Baseline, Pool


class Gathered(Struct, frozen=True):
    """A report, and what belongs to it. Nothing is redacted yet."""

    report: Report
    traces: Iterator[KeptTrace]
    """The worst first, read from their files as they are asked for."""
    total: int
    """How many traces there are."""
    sequences: dict[str, tuple[tuple[str, ...], ...]]
    """The tools that the baseline recorded, by scenario."""
    distributions: tuple[Distribution, ...]
    what_if: WhatIf | None


def evaluate_for_page(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    execution: Execution = ONE_PROCESS,
    plugins: bool = True,
    baseline: Baseline | Sequence[Source] = (),
    pool: Pool | None = None,
    on_progress: OnProgress | None = None,
) -> Gathered:
    """The verdict of a suite on trace files, as `evaluate_sources` gives it, and its evidence."""
    started = perf_counter_ns()
    job, recorded = prepared(suite, settings, baseline, plugins=plugins)
    tally = tally_sources(job, sources, execution, on_progress)
    report = conclude_run(job.suite, tally, job.settings, started, recorded, pool)
    wanted, lines = wanted_traces(tally, report)
    golden = baseline if isinstance(baseline, Sequence) else ()
    failed = {one.id: one for one in report.scenarios if one.status in ("fail", "error", "warn")}
    ids = {key: one.id for one in job.suite.scenarios if one.id in failed for key in (one.id, one.query) if key}
    priced = price_list(suite, settings.today)
    return Gathered(
        report,
        chain(kept_traces(wanted, sources, lines, priced), baseline_traces(golden, ids, priced)),
        tally.read,
        {id_: one.sequences for id_, one in job.golden.items() if one.sequences},
        tuple(_distributions(tally)),
        what_if(job.suite, tally, job.settings, report),
    )


def _distributions(tally: Tally) -> Iterator[Distribution]:
    if tally.figures is None:
        return
    durations = tally.figures.ordered_durations()
    means = [mean for one in tally.scenarios.values() if (mean := one.cost.mean()) is not None]
    for name, unit, values in (
        ("Latency of traces", "ms", durations),
        ("Mean cost of scenarios", "USD", sorted(means)),
    ):
        if (spread := distribution(name, unit, values)) is not None:
            yield spread
