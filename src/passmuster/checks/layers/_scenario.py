"""A scenario on one trace: three layers, behaviors, and what only a judge can say.

`evaluate` decides; `examine` does so where judges are needed, asking in rounds; `explain` puts the same into words, for
the one run of a scenario that a report shows.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from passmuster.checks._golden import Golden
from passmuster.checks._outcome import PASS, Outcome, Status, worst
from passmuster.checks._question import Inquiry, JudgeAnswer, Question, Verdict
from passmuster.checks._scenario_outcome import (
    BehaviorsOutcome,
    LayerOutcome,
    LayerReport,
    Layers,
    RunReport,
    ScenarioOutcome,
    Way,
)
from passmuster.checks._secrets import secrets_of
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.layers._layer import CompiledLayer, Context, LayerCheck, compile_layer
from passmuster.redaction import Redactor
from passmuster.suite import Layer, Scenario, Suite

if TYPE_CHECKING:
    from passmuster.checks.layers._behaviors import BehaviorCheck
    from passmuster.checks.layers.answer._judged import Stage
    from passmuster.checks.layers.answer.label import Labels

Examination = Generator[list[Question], Sequence[JudgeAnswer], ScenarioOutcome]
"""Yields the questions of a round, is sent the answers, and returns the outcome."""


class ScenarioCheck:
    """What one scenario states, compiled."""

    def __init__(
        self,
        scenario: Scenario,
        suite: Suite,
        golden: Golden | None,
        tools: ToolIndex,
        *,
        judges_only_warn: bool = False,
    ) -> None:
        self._suite = suite
        self._pass_score = scenario.pass_score
        self._every_text = scenario.answer_scope == "all"
        self.may_ask = scenario.may_ask
        """Whether a judge may have to be asked."""

        def compiled(name: str, layer: Layer) -> list[tuple[str, int, Any]]:
            context = Context(layer.values, suite, tools, golden, judges_only_warn)
            self._contexts[name] = context
            return compile_layer(name, layer, context)

        self._contexts: dict[str, Context] = {}
        turns = _compile_turns(scenario, suite, tools, judges_only_warn) if scenario.turns else {}
        answers = compiled("correctness", _correctness_of(scenario)) + turns.get("correctness", [])
        checks = [one for one in answers if isinstance(one[2], LayerCheck)]
        self._stages: list[Stage] = [one[2] for one in answers if not isinstance(one[2], LayerCheck)]
        self._answer = CompiledLayer(checks, "fail", True) if answers else None
        path = (compiled("path", scenario.path) if scenario.path else []) + turns.get("path", [])
        cost = (compiled("cost", scenario.cost) if scenario.cost else []) + turns.get("cost", [])
        self._path = CompiledLayer(path, "warn", "path" in suite.tightened) if scenario.path or path else None
        self._cost = CompiledLayer(cost, "warn", "cost" in suite.tightened) if scenario.cost or cost else None
        self._labels = _labels(scenario, suite)
        self._behaviors = _behavior_checks(scenario, tools, judges_only_warn)
        self._wanted = [PASS] * len(self._behaviors)
        self._sound = self._at_its_best()

    def evaluate(self, view: View) -> ScenarioOutcome:
        """Every check decided, with no judge to ask."""
        if self.may_ask:
            return _unheard(self.examine(view))
        layers = self._decide_layers(view)
        found = [check.evaluate(view) for check in self._behaviors]
        if layers == self._sound.layers and found == self._wanted:
            return self._sound
        decided = [outcome for outcome in found if isinstance(outcome, Outcome)]
        return self._conclude(view, layers, [], self._weigh(decided), has_verdict=False)

    def examine(self, view: View) -> Examination:
        """Every check decided, with the questions that takes."""
        layers = self._decide_layers(view)
        judged, behaviors, has_verdict = yield from self._ask(view, layers[0])
        return self._conclude(view, layers, judged, behaviors, has_verdict=has_verdict)

    def _at_its_best(self) -> ScenarioOutcome:
        """The outcome of most traces, made once: every check passed, every behavior as it should be."""
        return ScenarioOutcome(
            "pass",
            (
                self._answer.sound if self._answer else None,
                self._path.sound if self._path else None,
                self._cost.sound if self._cost else None,
            ),
            correct="pass" if self._answer else None,
            behaviors=self._weigh(self._wanted),
            label=self._labels.right if self._labels else None,
        )

    def _weigh(self, outcomes: Sequence[Outcome]) -> BehaviorsOutcome | None:
        """The behaviors together; None where none is stated."""
        if not self._behaviors:
            return None
        from passmuster.checks.layers._behaviors import weigh

        return weigh(self._behaviors, outcomes)

    def _conclude(
        self,
        view: View,
        layers: Layers,
        judged: list[Outcome],
        behaviors: BehaviorsOutcome | None,
        *,
        has_verdict: bool,
    ) -> ScenarioOutcome:
        """Everything about one trace together."""
        ways = self._ways(layers)
        if "correctness" not in ways and any(outcome.status == "fail" for outcome in judged):
            ways.insert(0, "correctness")
        if behaviors is not None:
            if behaviors.violated or behaviors.broken_must_not:
                ways.append("must_not")
            if behaviors.broken or (behaviors.score_if is not None and behaviors.score_if < self._pass_score - 1e-9):
                ways.append("behaviors")
        undecided, unsettled, open_barred = self._undecided(layers, judged, behaviors)
        outcome = ScenarioOutcome(
            status=self._together(layers, judged, behaviors, failed=bool(ways), open_barred=open_barred),
            layers=layers,
            judged=tuple(judged),
            correct=_correctness(layers[0], judged) if self._answer else None,
            has_verdict=has_verdict,
            behaviors=behaviors,
            ways=tuple(ways),
            label=self._labels.quadrant(self._read(view).texts) if self._labels else None,
            undecided=undecided,
            unsettled=unsettled,
            open_barred=open_barred,
        )
        return replace(outcome, ways=outcome.open_ways) if outcome.status == "error" else outcome

    def inquiries(self, view: View) -> tuple[list[Inquiry], tuple[str, ...]]:
        """All that judges could be asked about a trace, and which deterministic checks of its answer failed.

        The chain is not followed: how good a judge is shows best where it would not have been asked.
        """
        read = self._read(view)
        answered = read.trace.answer is not None
        asked = [stage.inquiry(read) for stage in self._stages] if answered else []
        shown = [inquiry for check in self._behaviors if (inquiry := check.inquiry(view)) is not None]
        if self._answer is None or not answered:
            return [*asked, *shown], ()
        return [*asked, *shown], self._failed(self._answer.evaluate(read))

    def explain(self, view: View, outcome: ScenarioOutcome) -> RunReport:
        """The outcome as a report shows it, and what has to be hidden in it."""
        shown: dict[str, LayerReport] = {}
        file, redact = self._suite.file, self._suite.redact
        answer, path, cost = outcome.layers
        if self._answer and answer:
            checks = self._answer.explain(self._read(view), answer, file)
            if self._stages:
                from passmuster.checks.layers.answer._judged import explain

                checks += explain(self._stages, outcome.judged, view, file)
            shown["correctness"] = LayerReport(_correctness(answer, outcome.judged), checks)
        if self._path and path:
            from passmuster.checks.layers.path._tools import measures

            stated = self._contexts.get("path")
            figures = measures(stated, view) if stated and not view.trace.calls_unknown else {}
            shown["path"] = LayerReport(path.status, self._path.explain(view, path, file), figures)
        if self._cost and cost:
            shown["cost"] = LayerReport(cost.status, self._cost.explain(view, cost, file))
        secrets = secrets_of(view.trace, Redactor(redact.patterns, redact.arguments))
        if outcome.behaviors is None:
            return RunReport(shown, secrets=secrets)
        from passmuster.checks.layers._behaviors import explain_behaviors

        return RunReport(shown, explain_behaviors(self._behaviors, outcome.behaviors, view, file), secrets)

    def _read(self, view: View) -> View:
        """The trace as correctness reads it."""
        return view.with_every_text() if self._every_text else view

    def _decide_layers(self, view: View) -> Layers:
        """Every layer decided, as far as code can."""
        return (
            self._answer.evaluate(self._read(view)) if self._answer else None,
            self._decide_path(self._path, view) if self._path else None,
            self._cost.evaluate(view) if self._cost else None,
        )

    @staticmethod
    def _decide_path(path: CompiledLayer, view: View) -> LayerOutcome:
        return path.evaluate_without_calls(view) if view.trace.calls_unknown else path.evaluate(view)

    def _ask(
        self, view: View, answer: LayerOutcome | None
    ) -> Generator[list[Question], Sequence[JudgeAnswer], tuple[list[Outcome], BehaviorsOutcome | None, bool]]:
        """The chain of judges and the behaviors, and whether any judge had a verdict; the first round asks for both."""
        from passmuster.checks.layers.answer._judged import ask

        found = [check.evaluate(view) for check in self._behaviors]
        asked = [outcome for outcome in found if isinstance(outcome, Question)]
        names = self._failed(answer)
        chain = ask(self._stages, self._read(view), f"{', '.join(names)} failed" if names else None)
        judged: list[Outcome] = []
        on_behaviors: Sequence[JudgeAnswer] = ()
        verdicts: list[JudgeAnswer] = []
        try:
            questions = next(chain)
            answers = yield [*asked, *questions]
            verdicts += answers
            on_behaviors = answers[: len(asked)]
            answers = answers[len(asked) :]
            while True:
                answers = yield chain.send(answers)
                verdicts += answers
        except StopIteration as end:
            judged = end.value
        if asked and not on_behaviors:  # the chain asked nothing
            on_behaviors = yield asked
            verdicts += on_behaviors
        has_verdict = any(isinstance(verdict, Verdict) for verdict in verdicts)
        remaining = iter(on_behaviors)
        decided = [
            check.judged(next(remaining)) if isinstance(outcome, Question) else outcome
            for check, outcome in zip(self._behaviors, found, strict=True)
        ]
        return judged, self._weigh(decided), has_verdict

    def _failed(self, answer: LayerOutcome | None) -> tuple[str, ...]:
        """The deterministic checks of correctness that failed."""
        return tuple(name for name, _ in self._answer.failed(answer)) if answer and self._answer else ()

    def _undecided(
        self, layers: Layers, judged: Sequence[Outcome], behaviors: BehaviorsOutcome | None
    ) -> tuple[tuple[str, ...], bool, bool]:
        """What could not be decided, whether that could have failed the run, and whether it is something forbidden."""
        names: list[str] = []
        open_barred = unsettled = False
        for compiled, layer in zip((self._answer, self._path, self._cost), layers, strict=True):
            if compiled is not None and layer is not None and "skip" in layer.checks:
                for name, always_fails in compiled.undecided(layer):
                    names.append(name)
                    open_barred |= always_fails
        stages = (stage.label for stage in self._stages for _ in stage.rubrics)
        for stage, outcome in zip(stages, judged, strict=False):
            if outcome.status == "skip" and outcome.cause is None:
                names.append(stage)
                unsettled = True
        for check, outcome in zip(self._behaviors, behaviors.outcomes if behaviors else (), strict=True):
            if outcome.status == "skip":
                names.append(check.name)
                open_barred |= check.forbidden
                unsettled |= self._pass_score > 0
        return tuple(dict.fromkeys(names)), unsettled or open_barred, open_barred

    def _together(
        self,
        layers: Layers,
        judged: Sequence[Outcome],
        behaviors: BehaviorsOutcome | None,
        *,
        failed: bool,
        open_barred: bool,
    ) -> Status:
        """The status of the run: a failure that is certain wins over a judge without a verdict."""
        if failed:
            return "fail"
        if any(outcome.status == "error" for outcome in judged) or (behaviors and self._is_unsettled(behaviors)):
            return "error"
        unscored = behaviors is not None and behaviors.score is None
        if open_barred or (unscored and self._pass_score > 0) or (behaviors is not None and behaviors.open_must_not):
            return "skip"
        status: Status = "pass" if behaviors is not None and not unscored else "skip"
        for outcome in judged:  # a pass, a warning or a skip
            status = worst(status, outcome.status)
        return worst(status, _status(layers))

    def _is_unsettled(self, behaviors: BehaviorsOutcome) -> bool:
        """Whether the judges that failed could have changed the result."""
        if not behaviors.failures:
            return False
        return behaviors.open_must_not or behaviors.score is None or behaviors.score < self._pass_score - 1e-9

    def _ways(self, layers: Layers) -> list[Way]:
        """The layers that failed, and whether a forbidden tool did."""
        ways: list[Way] = []
        answer, path, cost = layers
        if answer is not None and answer.status in ("fail", "error"):
            ways.append("correctness")
        if self._path and path is not None and path.status in ("fail", "error"):
            failed = [always for _, always in self._path.failed(path)]
            ways += ["path"] if not all(failed) else []
            ways += ["forbidden_tools"] if any(failed) else []
        if cost is not None and cost.status in ("fail", "error"):
            ways.append("cost")
        return ways


def _status(layers: Layers) -> Status:
    """The layers together; a deterministic check that broke is a failure."""
    status: Status = "skip"
    stated = False
    for layer in layers:
        if layer is not None:
            stated = True
            status = worst(status, "fail" if layer.status == "error" else layer.status)
    return status if stated else "pass"


def _correctness(answer: LayerOutcome | None, judged: Sequence[Outcome]) -> Status:
    """Correctness as a whole: skipped only where nothing was decided."""
    status: Status = answer.status if answer else "skip"
    if status in ("fail", "error"):
        return status
    if any(outcome.status == "fail" for outcome in judged):
        return "fail"
    for outcome in judged:
        status = worst(status, outcome.status)
    return status


def _unheard(examination: Examination) -> ScenarioOutcome:
    """The outcome where no judge is asked."""
    try:
        questions = next(examination)
        while True:
            questions = examination.send([None] * len(questions))
    except StopIteration as end:
        outcome: ScenarioOutcome = end.value
        return outcome


def _correctness_of(scenario: Scenario) -> Layer:
    """What is stated of the answer; the scenario's own `label` is one of these checks."""
    layer = scenario.correctness or Layer({}, {})
    if scenario.label is None or "label" in layer.values:
        return layer
    line = scenario.lines.get("label", scenario.line)
    return Layer({**layer.values, "label": scenario.label}, {**layer.lines, "label": line})


def _labels(scenario: Scenario, suite: Suite) -> Labels | None:
    if scenario.label is None or suite.classification is None:
        return None
    from passmuster.checks.layers.answer.label import Labels

    return Labels(suite.classification, scenario.label)


def _compile_turns(
    scenario: Scenario, suite: Suite, tools: ToolIndex, only_warn: bool
) -> dict[str, list[tuple[str, int, Any]]]:
    """The checks that turns state, by layer, and the one that there are so many turns."""
    from passmuster.checks.layers._turns import in_turn, turn_of, turns_check

    line = scenario.lines.get("turns", scenario.line)
    found: dict[str, list[tuple[str, int, Any]]] = {"correctness": [("turns", line, turns_check(scenario.turns))]}
    every_text = scenario.answer_scope == "all"
    for number, turn in enumerate(scenario.turns):
        find = turn_of(number, every_text=every_text)
        for name, layer in turn.layers:
            context = Context(layer.values, suite, tools, None, only_warn)
            for key, key_line, check in compile_layer(name, layer, context):
                if isinstance(check, LayerCheck):
                    check = in_turn(find, check)
                else:
                    check = replace(check, turn=number, find_turn=find)
                found.setdefault(name, []).append((f"turns[{number}].{key}", key_line, check))
    return found


def _behavior_checks(scenario: Scenario, tools: ToolIndex, only_warn: bool) -> list[BehaviorCheck]:
    found: list[BehaviorCheck] = []
    if scenario.expected_behaviors or scenario.must_not:
        from passmuster.checks.layers._behaviors import BehaviorCheck

        found += [
            BehaviorCheck(one, tools, forbidden=forbidden, judges_only_warn=only_warn)
            for forbidden, listed in ((False, scenario.expected_behaviors), (True, scenario.must_not))
            for one in listed
        ]
    if scenario.turns:
        from passmuster.checks.layers._turns import TurnBehavior

        found += [
            TurnBehavior(number, one, tools, forbidden=forbidden, judges_only_warn=only_warn)
            for number, turn in enumerate(scenario.turns)
            for forbidden, listed in ((False, turn.expected_behaviors), (True, turn.must_not))
            for one in listed
        ]
    return found
