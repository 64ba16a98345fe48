"""`expected_behaviors` and `must_not`: what a run showed of what it should show, and of what it must not.

An expectation is met by a success only; what must not be shown counts from the first attempt. A behavior that code
cannot see is a question for the judge, asked whether or not the answer was correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from passmuster import metrics
from passmuster.checks._outcome import CALLS_UNKNOWN, FAIL, IDLE, PASS, Outcome, Violation
from passmuster.checks._question import Inquiry, JudgeAnswer, JudgeFailure, Question
from passmuster.checks._regex_search import search_within_limit
from passmuster.checks._scenario_outcome import Behaviors, BehaviorsOutcome, CheckReport
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.layers._behavior_grammar import (
    AnswerContains,
    AnswerMatches,
    Asked,
    Check,
    ToolCalled,
    ToolNotCalled,
)
from passmuster.checks.layers._layer import check_report, found_by
from passmuster.checks.layers.answer._answer import has_any
from passmuster.checks.rules import Rule, Selection, unclear_calls
from passmuster.suite import Behavior
from passmuster.traces import Trace

_TOO_SLOW = Outcome("error", True, message="a pattern took longer than a second")
_JUDGES_OFF = Outcome("skip", True, message="judges are off")
_NO_CALLS = Outcome("skip", True, message=CALLS_UNKNOWN)
_NO_ARGUMENTS = Outcome("skip", True, message="a call that may be meant does not record its arguments")

Find = Callable[[View], Iterable[Violation]]


class Observed(Struct, frozen=True):
    """What decides a behavior by code: whether it was observed, and how its violations are located."""

    decide: Callable[[View], bool | None]
    """None: nothing happened that could tell."""
    violations: Find | None = None
    about_answer: bool = False
    is_certain: Callable[[View], bool] = lambda _: False
    """Whether the calls that a trace shows decide it, whatever further calls there were."""
    is_unclear: Callable[[View], bool] | None = None
    """Whether a call that may be meant does not record what it is told by."""


class BehaviorCheck:
    """One behavior of one scenario, compiled."""

    def __init__(
        self, behavior: Behavior, tools: ToolIndex, *, forbidden: bool, judges_only_warn: bool = False
    ) -> None:
        self.name = behavior.name
        self.forbidden = forbidden
        self._line = behavior.line
        self._only_warn = judges_only_warn
        check: Check = behavior.check
        asked = check if isinstance(check, Asked) else Asked(judge="")
        self._least = metrics.judge_threshold(asked.threshold)
        self._rule = asked.judge or None
        self._code = _compile(check, tools, forbidden)
        self.may_stay_idle = isinstance(check, Rule) and check.allow_unexercised

    def evaluate(self, view: View) -> Outcome | Question:
        """The outcome where the trace itself tells, else the question for a judge."""
        code = self._code
        if code is not None:
            try:
                if not code.about_answer and (missing := _unknown(code, view)) is not None:
                    return missing
                observed = code.decide(view)
            except TimeoutError:
                return _TOO_SLOW
            if observed is None:
                return IDLE
            if observed == self.forbidden:
                return FAIL
            silent = view.trace.answer is None and (code.about_answer or not view.names)
            return IDLE if silent else PASS
        recorded = None if self._rule else _recorded(view.trace, self.name)
        if recorded is not None:
            return PASS if recorded != self.forbidden else FAIL
        return Question(
            kind="behavior",
            rule=self._rule or self.name,
            query=view.trace.query,
            answer=view.trace.answer or "",
            evidence=view.evidence,
        )

    def judged(self, answer: JudgeAnswer) -> Outcome:
        """The outcome that follows from a judge's answer."""
        if answer is None:
            return _JUDGES_OFF
        if isinstance(answer, JudgeFailure):
            return Outcome("error", True, message=answer.message, cause="no_verdict")
        shown = answer.score >= self._least
        reason = f"the judge's score {answer.score} {'≥' if shown else '<'} {self._least}: {answer.reason}"
        if shown != self.forbidden:
            return Outcome("pass", True, message=reason)
        if self._only_warn:
            return Outcome("skip", True, message=f"the judge has no valid calibration; {reason}")
        return Outcome("fail", True, message=reason)

    def inquiry(self, view: View) -> Inquiry | None:
        """What a judge is asked about it on this run, if anything."""
        found = self.evaluate(view)
        return Inquiry(self.name, (found,), (self._least,), self.forbidden) if isinstance(found, Question) else None

    def explain(self, view: View, outcome: Outcome, file: str) -> CheckReport:
        """The outcome as a report shows it."""
        violations: list[Violation] = []
        if outcome.status == "fail":
            find = self._code.violations if self._code else None
            told = f"{self.name}: {'observed, and must not be' if self.forbidden else 'not observed'}"
            message = f"{told}; {outcome.message}" if outcome.message else told
            found = found_by(find, view) or [view.violation(None, message=message)]
            violations = [replace(one, policy_line=self._line) for one in found]
        return check_report(self.name, self._line, outcome.status, outcome.message or "", file, violations)


def weigh(checks: Sequence[BehaviorCheck], outcomes: Sequence[Outcome]) -> BehaviorsOutcome:
    """The behaviors of one run together. Anything forbidden that was observed makes the score 0."""
    together = list(zip(checks, outcomes, strict=True))
    wanted = [outcome for check, outcome in together if not check.forbidden]
    barred = [outcome for check, outcome in together if check.forbidden]
    violated = any(outcome.status == "fail" for outcome in barred)
    observed = sum(outcome.status == "pass" for outcome in wanted)
    failed = sum(outcome.cause == "no_verdict" for outcome in wanted)
    # A check that broke showed nothing, and a judge that failed counts both ways.
    decided = sum(outcome.status != "skip" for outcome in wanted)

    def score(shown: int) -> float | None:
        if violated:
            return 0.0
        return 1.0 if not wanted else shown / decided if decided else None

    return BehaviorsOutcome(
        outcomes=tuple(outcomes),
        score=score(observed),
        score_if=score(observed + failed),
        idle=tuple(check.name for check, outcome in together if not (outcome.exercised or check.may_stay_idle)),
        failures=tuple(outcome.message or "" for outcome in outcomes if outcome.cause == "no_verdict"),
        violated=violated,
        broken=any(map(_is_broken, wanted)),
        broken_must_not=any(map(_is_broken, barred)),
        open_must_not=any(outcome.status in ("skip", "error") for outcome in barred),
    )


def explain_behaviors(checks: Sequence[BehaviorCheck], found: BehaviorsOutcome, view: View, file: str) -> Behaviors:
    """The behaviors, sorted by what was observed."""
    lists: dict[str, list[str]] = {"observed": [], "missing": [], "violated": [], "undecided": []}
    reports = []
    for check, outcome in zip(checks, found.outcomes, strict=True):
        reports.append(check.explain(view, outcome, file))
        if outcome.status in ("skip", "error"):
            lists["undecided"].append(check.name)
        elif check.forbidden:
            lists["violated"] += [check.name] if outcome.status == "fail" else []
        else:
            lists["observed" if outcome.status == "pass" else "missing"].append(check.name)
    return Behaviors(**lists, checks=reports)


def _unknown(code: Observed, view: View) -> Outcome | None:
    """Why calls do not tell: the trace records none, or not the arguments of one."""
    if view.trace.calls_unknown:
        return None if code.is_certain(view) else _NO_CALLS
    return _NO_ARGUMENTS if code.is_unclear and code.is_unclear(view) and not code.is_certain(view) else None


def _is_broken(outcome: Outcome) -> bool:
    return outcome.status == "error" and outcome.cause is None


def _recorded(trace: Trace, name: str) -> bool | None:
    """What the trace says of a behavior. A list is complete; a map speaks only of the names in it."""
    told = trace.behaviors
    if isinstance(told, list):
        return name in told
    return told.get(name) if told else None


def _compile(check: Check, tools: ToolIndex, forbidden: bool) -> Observed | None:
    """How code decides the behavior; None where the trace or a judge has to tell."""
    match check:
        case ToolCalled(tool_called=given) | ToolNotCalled(tool_not_called=given):
            compiled, called = Selection(given, tools), isinstance(check, ToolCalled)
            # What is wanted needs a success; what is not wanted is there from the first attempt.
            find = compiled.successes if called != forbidden else compiled.attempts
            return Observed(
                lambda view: bool(find(view)) == called,
                lambda view: _calls(view, find(view), compiled),
                is_certain=lambda view: bool(find(view)),
                is_unclear=compiled.is_unclear,
            )
        case AnswerContains(answer_contains=texts):
            lowered = [text.lower() for text in texts]
            return Observed(lambda view: has_any(view.lowered_answer, lowered), about_answer=True)
        case AnswerMatches(answer_matches=patterns):
            searches = [search_within_limit(pattern) for pattern in patterns]
            return Observed(lambda view: _matches_any(view.trace.answer, searches), about_answer=True)
        case Rule():
            decide = check.compile(tools)
            return Observed(
                lambda view: _holds(*decide(view)),
                None if forbidden else lambda view: decide(view)[1],
                # What is wrong by the calls that are known stays wrong.
                is_certain=lambda view: bool(view.names) and _holds(*decide(view)) is forbidden,
                is_unclear=unclear_calls(check, tools),
            )
        case _:
            return None


def _calls(view: View, found: list[int], meant: Selection) -> Iterable[Violation]:
    """The first of the calls that should not be there; one that should be has no place."""
    if not found:
        differences = "; ".join(filter(None, (one.difference(view) for one in meant)))
        message = f"{meant.name} was not called with success{f': {differences}' if differences else ''}"
        yield view.violation(None, message=message, tool=meant.name, actual=differences or "no such call")
    else:
        tool, named = view.names[found[0]], meant.called(view, found[0])
        yield view.violation(found[0], message=f"{named} was called", tool=tool, calls_found=len(found))


def _matches_any(answer: str | None, searches: list[Callable[[str], bool]]) -> bool:
    return answer is not None and any(search(answer) for search in searches)


def _holds(in_play: bool, violations: Sequence[object]) -> bool | None:
    return not violations if in_play else None
