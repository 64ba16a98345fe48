"""Precision, recall and F1 over the labels that answers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._suite_metrics import Interval, Measured, Tried, ratio_interval_of
from passmuster.suite import Scenario, Suite

__all__ = ["label_metrics"]


def label_metrics(suite: Suite, scenarios: Sequence[Tried]) -> dict[str, Measured]:
    """Precision, recall and F1 over the labels read from answers; each scenario counts once, by its runs' fractions."""
    names = ("precision", "recall", "f1")
    labelled = [one for one in scenarios if one.scenario.label is not None]
    if not labelled:
        return {name: Measured(value=None, n=0, why="no scenario states a label") for name in names}
    as_found, at_best = [], []
    for one in labelled:
        runs, positive = one.tally.runs, _is_positive(suite, one.scenario)
        quadrants = one.tally.labels if runs else {"fn" if positive else "tn": 1}
        share = {name: quadrants.get(name, 0) / max(1, sum(quadrants.values())) for name in ("tp", "fp", "fn")}
        broken = one.tally.infra / max(1, runs)
        as_found.append((share["tp"], share["fp"], share["fn"]))
        right = (share["tp"] + min(broken, share["fn"]), share["fp"], max(0.0, share["fn"] - broken))
        at_best.append(right if positive else (share["tp"], max(0.0, share["fp"] - broken), share["fn"]))
    return {name: _label_metric(name, as_found, at_best) for name in names}


def _is_positive(suite: Suite, scenario: Scenario) -> bool:
    assert suite.classification is not None
    assert scenario.label is not None
    label, positive = scenario.label.strip(), suite.classification.positive.strip()
    return label.casefold() == positive.casefold() if suite.classification.words else label == positive


_Triple = tuple[float, float, float]
_PARTS: dict[str, Callable[[_Triple], tuple[float, float]]] = {
    "precision": lambda t: (t[0], t[0] + t[1]),
    "recall": lambda t: (t[0], t[0] + t[2]),
    "f1": lambda t: (2 * t[0], 2 * t[0] + t[1] + t[2]),
}
_EMPTY = {
    "precision": "no answer was given the positive label",
    "recall": "no scenario has the positive label",
    "f1": "there is no positive label, neither stated nor given",
}


def _label_metric(name: str, as_found: list[_Triple], at_best: list[_Triple]) -> Measured:
    parts = [_PARTS[name](triple) for triple in as_found]
    whole = sum(b for _, b in parts)
    if not whole:
        return Measured(value=None, n=0, why=_EMPTY[name])
    best = [_PARTS[name](triple) for triple in at_best]
    counted = [(a, b) for a, b in parts if b]

    def interval(confidence: float) -> Interval | None:
        if name != "f1" and all(a in (0.0, b) and b == 1.0 for a, b in counted):
            return rate_interval([(int(a), 1) for a, _ in counted], None, confidence)
        return ratio_interval_of(parts)(confidence)

    return Measured(
        value=sum(a for a, _ in parts) / whole,
        at_best=sum(a for a, _ in best) / (sum(b for _, b in best) or 1.0),
        n=len(counted),
        interval=interval,
    )
