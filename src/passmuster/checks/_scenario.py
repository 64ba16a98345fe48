"""A scenario on one trace: three layers, behaviors, and what only a judge can say.

Correctness fails, path and cost warn, a forbidden tool fails. `look` decides; `examine` does so where judges are
needed, asking in rounds; `explain` puts the same into words, for the one run of a scenario that a report shows.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from passmuster.checks._answer import Answer, answer_checks
from passmuster.checks._cost import cost_checks
from passmuster.checks._golden import Golden
from passmuster.checks._layer import CheckLine, Explained, Layer, LayerReport, ScenarioSeen, Seen, Way
from passmuster.checks._outcome import Status, worst
from passmuster.checks._path import path_checks, path_measures
from passmuster.checks._question import Heard, Inquiry, Question, Verdict
from passmuster.checks._secrets import secrets_of
from passmuster.checks._view import ToolIndex, View
from passmuster.redaction import Redactor
from passmuster.suite import Scenario, Suite

if TYPE_CHECKING:
    from passmuster.checks._behavior import BehaviorCheck, BehaviorsSeen, Sight
    from passmuster.checks._judged import Asking, Judged, Stage
    from passmuster.checks._label import LabelCheck

__all__ = ["Examination", "ScenarioCheck", "open_ways"]

Examination = Generator[list[Question], Sequence[Heard], ScenarioSeen]
"""Yields the questions of a round, is sent what came of them, and returns what the scenario made of the trace."""
Layers = tuple[Seen | None, Seen | None, Seen | None]


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
        correctness, path, cost = scenario.correctness, scenario.path, scenario.cost
        answers = answer_checks(correctness) if correctness else []
        self._label = _label_check(scenario, suite)
        if self._label:
            answers.append(self._label.check())
        self._stages: tuple[Stage, ...] = ()
        if correctness and correctness.is_judged:
            from passmuster.checks._judged import stages_of  # late, for most suites ask no judge

            self._stages = stages_of(correctness, judges_only_warn)
        self._answer = Layer(answers, "fail", True) if answers or self._stages else None
        self._path = None
        self._measures = None
        if path:
            checks = path_checks(path, golden, tools)
            if path.expected_calls is not None:
                from passmuster.checks._calls import calls_check  # late, for most paths list no calls

                checks.append(calls_check(path.expected_calls, suite.effects, tools))
            self._path = Layer(checks, "warn", "path" in suite.tightened)
            self._measures = path_measures(path, golden)
        usual = golden.cost_usd if golden else None
        self._cost = Layer(cost_checks(cost, usual), "warn", "cost" in suite.tightened) if cost else None
        self._behaviors = _behavior_checks(scenario, tools, judges_only_warn)
        self._pass_score = scenario.pass_score
        self._redact = suite.redact
        self.may_ask = scenario.may_ask
        """Whether a judge may have to be asked."""
        self._wanted, self._sound = self._at_its_best()

    def look(self, view: View) -> ScenarioSeen:
        """Every check decided, with no judge to ask."""
        if self.may_ask:
            return _unheard(self.examine(view))
        layers = self._layers(view)
        sights = [check.see(view) for check in self._behaviors]
        if layers == self._sound.layers and sights == self._wanted:
            return self._sound
        if not sights:
            return self._conclude(view, layers, [], None, heard=False)
        from passmuster.checks._behavior import Sight, weigh

        decided = [sight for sight in sights if isinstance(sight, Sight)]
        return self._conclude(view, layers, [], weigh(self._behaviors, decided), heard=False)

    def examine(self, view: View) -> Examination:
        """Every check decided, with the questions that takes."""
        layers = self._layers(view)
        judged, behaviors, heard = yield from self._heard(view, layers[0])
        return self._conclude(view, layers, judged, behaviors, heard=heard)

    def _at_its_best(self) -> tuple[Sequence[Sight], ScenarioSeen]:
        """What is seen of most traces, which is made once: every check passed, every behavior as it should be."""
        layers = (
            self._answer.sound if self._answer else None,
            self._path.sound if self._path else None,
            self._cost.sound if self._cost else None,
        )
        sights: Sequence[Sight] = []
        behaviors = None
        if self._behaviors:
            from passmuster.checks._behavior import as_wanted, weigh

            sights = as_wanted(self._behaviors)
            behaviors = weigh(self._behaviors, sights)
        label = self._label.right if self._label else None
        correct: Status | None = "pass" if self._answer else None
        return sights, ScenarioSeen("pass", layers, correct=correct, behaviors=behaviors, label=label)

    def _conclude(
        self, view: View, layers: Layers, judged: list[Judged], behaviors: BehaviorsSeen | None, *, heard: bool
    ) -> ScenarioSeen:
        """All that was seen of a trace, put together."""
        lines = tuple(one.line for one in judged)
        ways = list(self._ways(layers))
        if "correctness" not in ways and any(line.status == "fail" for line in lines):
            ways.insert(0, "correctness")
        if behaviors is not None:
            if behaviors.violated or behaviors.broken_must_not:
                ways.append("must_not")
            if behaviors.broken or (behaviors.score_if is not None and behaviors.score_if < self._pass_score - 1e-9):
                ways.append("behaviors")
        status = self._together(layers, lines, behaviors, bool(ways))
        if status == "error":
            ways = open_ways(lines, behaviors)
        return ScenarioSeen(
            status=status,
            layers=layers,
            judged=lines,
            spared=any(one.spared for one in judged),
            unasked=any(one.line.status == "skip" and not one.spared for one in judged)
            or (behaviors is not None and behaviors.unasked),
            correct=_correctness(layers[0], lines) if self._answer else None,
            heard=heard,
            behaviors=behaviors,
            ways=tuple(ways),
            label=self._label.quadrant(view.trace.answer) if self._label else None,
        )

    def inquiries(self, view: View) -> tuple[list[Inquiry], tuple[str, ...]]:
        """All that judges could be asked about a trace, and which deterministic checks of its answer failed.

        The chain is not followed: how good a judge is shows best where it would not have been asked.
        """
        answered = view.trace.answer is not None
        asked = [stage.inquiry(view) for stage in self._stages] if answered else []
        shown = [inquiry for check in self._behaviors if (inquiry := check.inquiry(view)) is not None]
        if self._answer is None or not answered:
            return [*asked, *shown], ()
        return [*asked, *shown], self._failed(self._answer.look(Answer(view.trace.answer)))

    def explain(self, view: View, seen: ScenarioSeen) -> Explained:
        """The layers as a report shows them, and what it has to hide in them."""
        shown: dict[str, LayerReport] = {}
        answer, path, cost = seen.layers
        if self._answer and answer:
            lines = [*self._answer.explain(Answer(view.trace.answer), answer), *seen.judged]
            shown["correctness"] = LayerReport(_correctness(answer, seen.judged), lines)
        if self._path and path and self._measures:
            shown["path"] = LayerReport(path.status, self._path.explain(view, path), self._measures(view))
        if self._cost and cost:
            shown["cost"] = LayerReport(cost.status, self._cost.explain(view.trace, cost))
        return Explained(shown, secrets_of(view.trace, Redactor(self._redact.patterns, self._redact.arguments)))

    def _layers(self, view: View) -> Layers:
        """Every layer decided, as far as code can."""
        return (
            self._answer.look(Answer(view.trace.answer)) if self._answer else None,
            self._path.look(view) if self._path else None,
            self._cost.look(view.trace) if self._cost else None,
        )

    def _heard(
        self, view: View, answer: Seen | None
    ) -> Generator[list[Question], Sequence[Heard], tuple[list[Judged], BehaviorsSeen | None, bool]]:
        """The chain of judges and the behaviors, and whether any judge had a verdict; the first round asks for both."""
        sights = [check.see(view) for check in self._behaviors]
        asked = [sight for sight in sights if isinstance(sight, Question)]
        chain = self._chain(view, answer)
        judged: list[Judged] = []
        told: Sequence[Heard] = ()
        verdicts: list[Heard] = []
        try:
            questions = next(chain)
            heard = yield [*asked, *questions]
            verdicts += heard
            told = heard[: len(asked)]
            heard = heard[len(asked) :]
            while True:
                heard = yield chain.send(heard)
                verdicts += heard
        except StopIteration as end:
            judged = end.value
        if asked and not told:  # the chain asked nothing
            told = yield asked
            verdicts += told
        spoken = any(isinstance(verdict, Verdict) for verdict in verdicts)
        if not sights:
            return judged, None, spoken
        from passmuster.checks._behavior import weigh

        answers = iter(told)
        decided = [
            check.heard(next(answers)) if isinstance(sight, Question) else sight
            for check, sight in zip(self._behaviors, sights, strict=True)
        ]
        return judged, weigh(self._behaviors, decided), spoken

    def _chain(self, view: View, answer: Seen | None) -> Asking:
        if not self._stages:
            return _nothing()
        from passmuster.checks._judged import ask

        names = self._failed(answer)
        return ask(self._stages, view, f"{', '.join(names)} failed" if names else None)

    def _failed(self, answer: Seen | None) -> tuple[str, ...]:
        """The deterministic checks of correctness that failed."""
        if answer is None or self._answer is None:
            return ()
        return tuple(
            check.name
            for check, status in zip(self._answer.checks, answer.checks, strict=True)
            if status in ("fail", "error")
        )

    def _together(
        self, layers: Layers, lines: tuple[CheckLine, ...], behaviors: BehaviorsSeen | None, failed: bool
    ) -> Status:
        """The status of the run: a failure that is certain wins over what an outside part did not say."""
        if failed:
            return "fail"
        if any(line.status == "error" for line in lines) or (behaviors is not None and self._is_unsettled(behaviors)):
            return "error"
        if behaviors is not None and (behaviors.score is None or behaviors.open_must_not):
            return "skip"
        own = _status(layers)
        status: Status = "pass" if behaviors is not None else "skip"
        for line in lines:  # a pass, a warning or a skip
            status = worst(status, line.status)
        return worst(status, own)

    def _is_unsettled(self, behaviors: BehaviorsSeen) -> bool:
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
            failed = [
                check.always_fails
                for check, status in zip(self._path.checks, path.checks, strict=True)
                if status in ("fail", "error")
            ]
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


def open_ways(lines: Sequence[CheckLine], behaviors: BehaviorsSeen | None) -> list[Way]:
    """In which ways a run may have failed whose judges had no verdict."""
    ways: list[Way] = []
    if any(line.status == "error" for line in lines):
        ways.append("correctness")
    if behaviors is not None and behaviors.failures:
        ways.append("must_not" if behaviors.open_must_not else "behaviors")
    return ways


def _correctness(answer: Seen | None, judged: Sequence[CheckLine]) -> Status:
    """Correctness as a whole: skipped only where nothing was decided."""
    status: Status = answer.status if answer else "skip"
    if status in ("fail", "error"):
        return status
    for line in judged:
        status = worst(status, line.status)
    return "fail" if any(line.status == "fail" for line in judged) else status


def _unheard(examination: Examination) -> ScenarioSeen:
    """What comes of an examination where no judge is asked."""
    try:
        questions = next(examination)
        while True:
            questions = examination.send([None] * len(questions))
    except StopIteration as end:
        seen: ScenarioSeen = end.value
        return seen


def _nothing() -> Asking:
    return []
    yield  # it is a generator all the same


def _label_check(scenario: Scenario, suite: Suite) -> LabelCheck | None:
    if scenario.label is None or suite.classification is None:
        return None
    from passmuster.checks._label import LabelCheck

    return LabelCheck(suite.classification, scenario.label)


def _behavior_checks(scenario: Scenario, tools: ToolIndex, only_warn: bool) -> list[BehaviorCheck]:
    if not scenario.expected_behaviors and not scenario.must_not:
        return []
    from passmuster.checks._behavior import BehaviorCheck

    return [
        *(
            BehaviorCheck(one, tools, forbidden=forbidden, judges_only_warn=only_warn)
            for forbidden, listed in ((False, scenario.expected_behaviors), (True, scenario.must_not))
            for one in listed
        )
    ]
