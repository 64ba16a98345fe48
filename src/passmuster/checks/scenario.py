"""A scenario's three layers on one trace: correctness fails, path and cost warn, a forbidden tool fails.

`look` decides; `explain` puts the same into words, for the one run of a scenario that a report shows.
"""

from __future__ import annotations

from passmuster.checks.answer import Answer, answer_checks
from passmuster.checks.cost import cost_checks
from passmuster.checks.golden import Golden
from passmuster.checks.layer import CheckLine, Layer, LayerReport, ScenarioSeen, Seen
from passmuster.checks.outcome import Status, worst
from passmuster.checks.path import path_checks, path_measures
from passmuster.checks.view import ToolIndex, View
from passmuster.suite.model import Effects, Scenario

__all__ = ["ScenarioCheck"]


class ScenarioCheck:
    """The layers of one scenario, compiled."""

    def __init__(
        self,
        scenario: Scenario,
        tightened: frozenset[str],
        effects: Effects,
        golden: Golden | None,
        tools: ToolIndex,
    ) -> None:
        correctness, path, cost = scenario.correctness, scenario.path, scenario.cost
        self._answer = Layer(answer_checks(correctness), "fail", True) if correctness else None
        self._path = None
        self._measures = None
        if path:
            checks = path_checks(path, golden, tools)
            if path.expected_calls is not None:
                from passmuster.checks.calls import calls_check  # late, for most paths list no calls

                checks.append(calls_check(path.expected_calls, effects, tools))
            self._path = Layer(checks, "warn", "path" in tightened)
            self._measures = path_measures(path, golden)
        usual = golden.cost_usd if golden else None
        self._cost = Layer(cost_checks(cost, usual), "warn", "cost" in tightened) if cost else None

    def look(self, view: View) -> ScenarioSeen:
        """Every layer decided."""
        layers = (
            self._answer.look(Answer(view.trace.answer)) if self._answer else None,
            self._path.look(view) if self._path else None,
            self._cost.look(view.trace) if self._cost else None,
        )
        status: Status = "skip"
        stated = False
        for layer in layers:
            if layer is not None:
                stated = True
                status = worst(status, "fail" if layer.status == "error" else layer.status)
        return ScenarioSeen(status if stated else "pass", layers)

    def explain(self, view: View, seen: ScenarioSeen) -> dict[str, LayerReport]:
        """The layers as a report shows them."""
        shown: dict[str, LayerReport] = {}
        answer, path, cost = seen.layers
        if self._answer and answer:
            shown["correctness"] = _report(answer, self._answer.explain(Answer(view.trace.answer), answer))
        if self._path and path and self._measures:
            shown["path"] = _report(path, self._path.explain(view, path), self._measures(view))
        if self._cost and cost:
            shown["cost"] = _report(cost, self._cost.explain(view.trace, cost))
        return shown


def _report(seen: Seen, lines: list[CheckLine], measures: dict[str, float] | None = None) -> LayerReport:
    return LayerReport(seen.status, lines, measures)
