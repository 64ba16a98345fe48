"""The last runs of a suite that were not blocked, pooled into one to compare with."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from passmuster.scoring._baseline import RecordedScenario, Share
from passmuster.scoring._report_documents import Document, map_of, maps_in, number_of, text_of


class Pool(Struct, frozen=True):
    """Several runs of the history in one. Metrics are means over the runs that have them."""

    wanted: int
    """How many runs the suite asks for."""
    runs: int = 0
    scenarios: dict[str, RecordedScenario] = {}
    metrics: dict[str, float] = {}


def pool_of(reports: Sequence[Document], wanted: int) -> Pool:
    """The runs of these reports, each scenario with the runs of all of them."""
    attempts: dict[str, list[Document]] = {}
    values: dict[str, list[float]] = {}
    for report in reports:
        for scenario in maps_in(report, "scenarios"):
            id_ = text_of(scenario.get("id"))
            if id_ is not None:
                # A scenario that never ran failed once.
                attempts.setdefault(id_, []).extend(maps_in(scenario, "attempts") or [{"status": "fail"}])
        for name, metric in map_of(report.get("metrics")).items():
            value = number_of(map_of(metric).get("value"))
            if value is not None:
                values.setdefault(name, []).append(value)
    return Pool(
        wanted,
        len(reports),
        {id_: _recorded(found) for id_, found in attempts.items()},
        {name: sum(found) / len(found) for name, found in values.items()},
    )


def _recorded(attempts: Sequence[Document]) -> RecordedScenario:
    statuses = [text_of(one.get("status")) for one in attempts]
    passed = sum(status in ("pass", "warn") for status in statuses)
    return RecordedScenario(
        status="pass",
        runs=len(attempts),
        passed=Share(passed, passed + statuses.count("fail")),
        scores=_figures(attempts, "score"),
        durations_ms=_figures(attempts, "duration_ms"),
        costs_usd=_figures(attempts, "cost_usd"),
        tokens_used=_figures(attempts, "tokens"),
    )


def _figures(attempts: Sequence[Document], name: str) -> tuple[float, ...] | None:
    found = [number_of(one.get(name)) for one in attempts]
    return tuple(float(value) for value in found if value is not None) or None
