"""Groups of traces and estimates from a sample, as reports show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passmuster._problems import Problem, UsageError
from passmuster.scoring._group_tally import GROUPS, Groups, GroupTally
from passmuster.scoring._intervals import wilson
from passmuster.scoring._percentiles import percentile
from passmuster.scoring._report import Estimate, GateLine, GroupReport, GroupTestReport, Metric, SampleReport
from passmuster.scoring._tally import Tally
from passmuster.suite import Test


def group_reports(groups: Groups | None, tests: Sequence[Test]) -> list[GroupReport]:
    """The groups in the order of their values, then the rest. Raises `UsageError` for a key that no trace has."""
    if groups is None:
        return []
    lacking = [key for key, known in zip(groups.keys, groups.known, strict=True) if not known]
    if lacking:
        raise UsageError([Problem(f"--group-by {key}: no trace has it") for key in lacking])
    named = sorted(groups.groups.items())
    found = [_report(group, dict(zip(groups.keys, group.values, strict=True)), tests) for _, group in named]
    if groups.other is not None:
        found.append(_report(groups.other, dict.fromkeys(groups.keys, "other"), tests, folded=True))
    return found


def group_lines(groups: Groups | None) -> Iterator[GateLine]:
    """For the record: how many traces are in groups that are not told apart."""
    if groups is not None and groups.other is not None:
        message = f"{groups.other.traces} traces of further groups are counted as 'other': only {GROUPS} are told apart"
        yield GateLine("input", "groups", "warning", "pass", message)


def sample_report(share: float | None, tally: Tally, tests: Sequence[Test]) -> SampleReport | None:
    """What a sample says about all traces; None where there is none."""
    if share is None:
        return None
    population = tally.read + tally.left_out.unsampled
    estimates = {}
    for test, counted in zip(tests, tally.tests, strict=True):
        failed = sum(counted.statuses.get(bad, 0) for bad in ("fail", "error"))
        rate = sampled_rate(failed, counted.traces, tally.read, population)
        whole = counted.traces == tally.read
        ends = rate.ci95 and (rate.ci95[0] * population, rate.ci95[1] * population)
        value = None if rate.value is None else rate.value * population
        estimates[test.id] = Estimate(rate, value if whole else None, ends if whole else None)
    return SampleReport(share=share, traces=population, evaluated=tally.read, tests=estimates)


def sampled_rate(failed: int, traces: int, sampled: int, population: int) -> Metric:
    """A rate over a population, from a sample of it without replacement.

    Wilson's interval (1927) on the effective number n / (1 - f), where f is the part of the population that was drawn:
    the finite population correction (Cochran, 1977, §2.6). A sample of everything leaves nothing open.
    """
    if not traces:
        return Metric(None, 0)
    rate, open_part = failed / traces, 1 - sampled / population
    ends = wilson(failed / open_part, traces / open_part) if open_part > 0 else (rate, rate)
    return Metric(rate, traces, ends)


def _report(
    group: GroupTally, by: dict[str, str | None], tests: Sequence[Test], *, folded: bool = False
) -> GroupReport:
    return GroupReport(
        by=by,
        traces=group.traces,
        failed_traces=group.failed,
        metrics=dict(_metrics(group)),
        tests={
            test.id: GroupTestReport(one.traces, one.failed, one.violations, _rate(one.failed, one.traces))
            for place, test in enumerate(tests)
            if (one := group.tests.get(place)) is not None
        },
        folded=folded or None,
    )


def _rate(part: int, total: int) -> Metric:
    return Metric(part / total, total, wilson(part, total)) if total else Metric(None, 0)


def _metrics(group: GroupTally) -> Iterator[tuple[str, Metric]]:
    yield "violation_rate", _rate(group.failed, group.traces)
    if group.runs:
        yield "pass_rate", _rate(group.passed, group.runs)
    if group.durations.known:
        durations = group.durations.ordered()
        for percent in (50, 95):
            yield f"latency_p{percent}", Metric(percentile(durations, percent / 100), len(durations))
    for name, figure in (("mean_cost_usd", group.cost), ("mean_tokens", group.tokens)):
        if (mean := figure.mean()) is not None:
            yield name, Metric(mean, figure.known)
