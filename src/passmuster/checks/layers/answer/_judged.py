"""Checks of correctness that ask a judge: a chain of stages, each asked only if none before stopped it.

`llm_judge` is asked if no deterministic check failed, `safety_check` if the judge did not fail, `hallucination_check`
if safety did not. A skip or an error stops the chain too. What was not asked is recorded with its reason.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Annotated, Any, Literal

from msgspec import Struct

from passmuster import metrics
from passmuster.checks._outcome import Outcome
from passmuster.checks._question import Example, Inquiry, JudgeAnswer, JudgeFailure, Question
from passmuster.checks._scenario_outcome import CheckReport
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerKey, check_report
from passmuster.checks.layers.answer._answer import NO_ANSWER
from passmuster.suite import (
    FRACTION,
    TEXT,
    TEXT_FILE,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Scalar,
    Value,
)


class Rubric(Record, frozen=True, kw_only=True):
    """One question to a judge."""

    rule: Annotated[str, TEXT, Key("The criterion for the answer.", example="Apologizes for the delay.")]
    threshold: Annotated[
        float, FRACTION, Key("The fraction of the scale from 1 to 5 at which the answer passes.", example=0.7)
    ] = 0.5
    examples: Annotated[
        tuple[Example, ...], OneOrMore(RecordOf(Example), empty=True), Key("Answers with their correct scores.")
    ] = ()
    scale: Annotated[
        tuple[str, ...],
        OneOrMore(TEXT),
        Key("What scores stand for.", example=["1: no steps", "5: complete, with all parameters"]),
    ] = ()
    context: Annotated[str | None, TEXT, Key("Further information for the judge.")] = None
    context_file: Annotated[
        str | None, TEXT_FILE, Key("A text file with further information, relative to the suite.", example="faq.md")
    ] = None
    line: int

    @property
    def asked(self) -> str:
        """The rule as it is asked, with what scores stand for."""
        return "\n".join([self.rule, "What the scores stand for:", *self.scale]) if self.scale else self.rule

    @property
    def information(self) -> str | None:
        """All that is given to the judge besides."""
        return "\n\n".join(text for text in (self.context, self.context_file) if text) or None


class BuiltInRubric(Rubric, frozen=True, kw_only=True):
    """A question that is asked by default, with what a suite adds to it."""

    rule: Annotated[str, TEXT, Key("The criterion for the answer.", example="Apologizes for the delay.")] = ""
    threshold: Annotated[
        float, FRACTION, Key("The fraction of the scale from 1 to 5 at which the answer passes.", example=0.8)
    ] = 0.8


_BUILT_IN = RecordOf(BuiltInRubric, short="rule")


def _read_built_in(reader: Reader, node: Node, at: str) -> Rubric:
    if not isinstance(node, Scalar) or not isinstance(node.value, bool):
        return _BUILT_IN.read(reader, node, at)
    if not node.value:
        reader.problem(node, f"{at}: expected true or a map; to do without what 'defaults' state, write null")
    return BuiltInRubric(line=node.line)


def _built_in_schema(definitions: Definitions) -> JsonSchema:
    return {"anyOf": [{"const": True}, _BUILT_IN.schema(definitions)]}


RUBRICS = OneOrMore(
    RecordOf(Rubric, "a rule, or a map", short="rule"), why_not_empty="the list is empty, so nothing would be asked"
)
BUILT_IN_RUBRIC = Custom("true, a rule, or a map", _read_built_in, _built_in_schema)


Asking = Generator[list[Question], Sequence[JudgeAnswer], list[Outcome]]
"""Yields the questions of a round and is sent what came of them."""

_SHOWN = 60


_Name = Literal["llm_judge", "safety_check", "hallucination_check"]


class Stage(Struct, frozen=True):
    """One stage of the chain: a check that asks one question for each rubric."""

    name: _Name
    rubrics: tuple[Rubric, ...]
    only_warns: bool = False
    """What the judge fails is a warning, for nobody knows how good it is."""
    turn: int | None = None
    """The turn whose answer it is about; None for the answer of the run."""
    find_turn: Callable[[View], View | None] | None = None

    @property
    def label(self) -> str:
        """How reports call it."""
        return self.name if self.turn is None else f"turns[{self.turn}].{self.name}"

    def seen(self, view: View) -> View | None:
        """What it looks at; None where there is no answer."""
        found = view if self.find_turn is None else self.find_turn(view)
        return None if found is None or found.trace.answer is None else found

    def questions(self, view: View) -> list[Question]:
        """What is asked about one trace."""
        view = self.seen(view) or view
        trace = view.trace
        grounding = self.name == "hallucination_check"
        return [
            Question(
                kind=self.name,
                rule=rubric.asked,
                query=trace.query,
                answer=trace.answer or "",
                evidence=view.evidence if grounding else (),
                context=rubric.information,
                examples=rubric.examples,
                unsent=() if grounding else view.evidence,
            )
            for rubric in self.rubrics
        ]

    def inquiry(self, view: View) -> Inquiry:
        """The same, for whoever wants to know how good the judge is."""
        least = tuple(metrics.judge_threshold(rubric.threshold) for rubric in self.rubrics)
        return Inquiry(self.name, tuple(self.questions(view)), least)

    def judged(self, answers: Sequence[JudgeAnswer]) -> list[Outcome]:
        """The outcome of each question."""
        return [self._outcome(rubric, answer) for rubric, answer in zip(self.rubrics, answers, strict=True)]

    def not_asked(self, reason: str, *, needed: bool) -> list[Outcome]:
        """The outcomes where nothing was asked."""
        cause = None if needed else "not_needed"
        return [Outcome("skip", False, message=f"not asked: {reason}", cause=cause)] * len(self.rubrics)  # type: ignore[arg-type]

    def without_answer(self) -> list[Outcome]:
        """The outcomes for a trace without an answer."""
        return [Outcome("fail", True, message=NO_ANSWER)] * len(self.rubrics)

    def _outcome(self, rubric: Rubric, answer: JudgeAnswer) -> Outcome:
        rule = f" ({_short(rubric.rule)})" if rubric.rule else ""
        if answer is None:
            return Outcome("skip", False, message=f"not asked: judges are off{rule}")
        if isinstance(answer, JudgeFailure):
            return Outcome("error", True, message=f"no verdict{rule}: {answer.message}", cause="no_verdict")
        least = metrics.judge_threshold(rubric.threshold)
        passed = answer.score >= least
        votes = f", votes {', '.join(map(str, answer.votes))}" if answer.votes else ""
        text = f"score {answer.score} {'≥' if passed else '<'} {least}{votes}{rule}: {answer.reason}"
        return Outcome("pass" if passed else "warn" if self.only_warns else "fail", True, message=text)


def stage_key(name: _Name, description: str, value: Value[Any], *, order: int, example: Any) -> LayerKey:
    """A key whose rubrics a judge is asked about."""

    def compile(rubrics: Rubric | tuple[Rubric, ...], context: Context) -> Stage:
        return Stage(name, rubrics if isinstance(rubrics, tuple) else (rubrics,), context.judges_only_warn)

    return LayerKey(value, description, compile, order=order, example=example, asks_judge=True)


def explain(stages: Sequence[Stage], judged: Sequence[Outcome], view: View, file: str) -> Iterator[CheckReport]:
    """The checks that ask a judge as a report shows them, one for each rubric."""
    asked = [(stage.label, rubric.line) for stage in stages for rubric in stage.rubrics]
    for (name, line), outcome in zip(asked, judged, strict=True):
        message = outcome.message or ""
        found = [view.violation(None, message=message)] if outcome.status in ("fail", "warn") else []
        yield check_report(name, line, outcome.status, message, file, found)


def ask(stages: Sequence[Stage], view: View, stopped: str | None) -> Asking:
    """The chain on one trace, one round of questions per stage; `stopped` says what failed already."""
    found: list[Outcome] = []
    needed = False
    for stage in stages:
        if stage.seen(view) is None:
            found += stage.without_answer()
            stopped, needed = stopped or f"{stage.label} failed", False
            continue
        if stopped is not None:
            found += stage.not_asked(stopped, needed=needed)
            continue
        judged = stage.judged((yield stage.questions(view)))
        found += judged
        ends = {outcome.status for outcome in judged}
        if "fail" in ends or "warn" in ends:  # the same questions are asked, whether or not judges only warn
            stopped = f"{stage.name} failed"
        elif "error" in ends:
            stopped = f"{stage.name} has no verdict"
        elif "skip" in ends:
            stopped, needed = "judges are off", True
    return found


def _short(rule: str) -> str:
    folded = " ".join(rule.split())
    return folded if len(folded) <= _SHOWN else f"{folded[:_SHOWN].rstrip()}…"
