"""Behaviors: what a run showed of what it should show, and of what it must not.

An expectation is met by a success only; what must not be shown counts from the first attempt. A behavior that code
cannot see is a question for the judge, to be asked whether or not the answer was correct.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from passmuster import metrics
from passmuster.checks._question import Heard, Inquiry, JudgeFailure, Question
from passmuster.checks._regex_search import search_within_limit
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import attempts, selectors, successes
from passmuster.suite import behaviors as b
from passmuster.traces import Trace

__all__ = ["BehaviorCheck", "BehaviorsSeen", "Sight", "as_wanted", "weigh"]


class Sight(Struct, frozen=True):
    """Whether a behavior was observed; None where that is not known, with the reason."""

    observed: bool | None
    reason: str = ""
    idle: bool = False
    """The rule behind it never came into play, so that it held by itself."""
    failed: bool = False
    """A judge should have said and could not: an outside part failed."""
    broken: bool = False
    """The check itself broke: a pattern took too long."""


SEEN, UNSEEN = Sight(True), Sight(False)
See = Callable[[View], Sight]


class BehaviorsSeen(Struct, frozen=True):
    """What one run showed, and the score that follows."""

    observed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    """Observed, or not violated, only because nothing happened that could have told."""
    reasons: tuple[str, ...] = ()
    """Why what is missing, violated or undecided is so, where somebody said why."""
    score: float | None = None
    """None where nothing was decided."""
    score_if: float | None = None
    """The score, had every judge that failed seen what was wanted."""
    failures: tuple[str, ...] = ()
    """What judges gave as the reason why they said nothing."""
    broken: tuple[str, ...] = ()
    """The expected behaviors whose check broke."""
    broken_must_not: bool = False
    """The check of something that must not be shown broke."""
    unasked: bool = False
    """Something is undecided though nothing failed: judges are off, or can only warn."""
    open_must_not: bool = False
    """Something that must not be shown could not be decided."""


class BehaviorCheck:
    """One behavior of one scenario, compiled."""

    def __init__(
        self, behavior: b.Behavior, tools: ToolIndex, *, forbidden: bool, judges_only_warn: bool = False
    ) -> None:
        self.name = behavior.name
        self.forbidden = forbidden
        self._only_warn = judges_only_warn
        asked = behavior.check if isinstance(behavior.check, b.Asked) else b.Asked("")
        self._least = metrics.judge_threshold(asked.threshold)
        self._see = _compile(behavior, tools, forbidden)
        self._about_answer = isinstance(behavior.check, b.AnswerContains | b.AnswerMatches)

    def see(self, view: View) -> Sight | Question:
        """What the run shows by itself, or the question that it leaves."""
        if callable(self._see):
            try:
                sight = self._see(view)
            except TimeoutError:
                return Sight(None, "a pattern took longer than a second", broken=True)
            silent = view.trace.answer is None and (self._about_answer or not view.names)
            return Sight(sight.observed, idle=True) if silent and sight.observed != self.forbidden else sight
        recorded = None if self._see else _recorded(view.trace, self.name)
        if recorded is not None:
            return SEEN if recorded else UNSEEN
        return Question(
            kind="behavior",
            rule=self._see or self.name,
            query=view.trace.query,
            answer=view.trace.answer or "",
            evidence=view.evidence,
        )

    def heard(self, answer: Heard) -> Sight:
        """What a judge's answer says about it."""
        if answer is None:
            return Sight(None, "judges are off")
        if isinstance(answer, JudgeFailure):
            return Sight(None, answer.message, failed=True)
        shown = answer.score >= self._least
        reason = f"the judge's score {answer.score} {'≥' if shown else '<'} {self._least}: {answer.reason}"
        if self._only_warn and shown == self.forbidden:
            return Sight(None, f"the judge has no valid calibration; {reason}")
        return Sight(shown, reason)

    def inquiry(self, view: View) -> Inquiry | None:
        """What a judge is asked about it on this run, if anything."""
        seen = self.see(view)
        return Inquiry(self.name, (seen,), (self._least,), self.forbidden) if isinstance(seen, Question) else None


def as_wanted(checks: Sequence[BehaviorCheck]) -> list[Sight]:
    """What is seen of a run that shows all it should and nothing else."""
    return [UNSEEN if check.forbidden else SEEN for check in checks]


def weigh(checks: Sequence[BehaviorCheck], sights: Sequence[Sight]) -> BehaviorsSeen:
    """The behaviors of one run together. Anything forbidden that was observed makes the score 0."""
    wanted = [(check.name, sight) for check, sight in zip(checks, sights, strict=True) if not check.forbidden]
    barred = [(check.name, sight) for check, sight in zip(checks, sights, strict=True) if check.forbidden]
    observed = [name for name, sight in wanted if sight.observed]
    violated = [name for name, sight in barred if sight.observed]
    # A check that broke showed nothing, and a judge that failed counts both ways.
    decided = [name for name, sight in wanted if sight.observed is not None or sight.failed or sight.broken]
    failed = [name for name, sight in wanted if sight.failed]
    score = _share(len(observed), len(decided)) if wanted else 1.0
    score_if = _share(len(observed) + len(failed), len(decided)) if wanted else 1.0
    together = list(zip(checks, sights, strict=True))
    return BehaviorsSeen(
        observed=tuple(observed),
        missing=tuple(name for name, sight in wanted if sight.observed is False),
        violated=tuple(violated),
        undecided=tuple(check.name for check, sight in together if sight.observed is None),
        idle=tuple(check.name for check, sight in together if sight.idle),
        reasons=tuple(
            f"{check.name}: {sight.reason}"
            for check, sight in together
            if sight.reason and (sight.observed is None or sight.observed == check.forbidden)
        ),
        score=0.0 if violated else score,
        score_if=0.0 if violated else score_if,
        failures=tuple(sight.reason for _, sight in together if sight.failed),
        broken=tuple(name for name, sight in wanted if sight.broken),
        broken_must_not=any(sight.broken for _, sight in barred),
        unasked=any(sight.observed is None and not (sight.failed or sight.broken) for _, sight in together),
        open_must_not=any(sight.observed is None for _, sight in barred),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _recorded(trace: Trace, name: str) -> bool | None:
    """What the trace says of a behavior. A list is complete; a map speaks only of the names in it."""
    told = trace.behaviors
    if isinstance(told, list):
        return name in told
    return told.get(name) if told else None


def _compile(behavior: b.Behavior, tools: ToolIndex, forbidden: bool) -> See | str | None:
    """A function on a view; the question to ask; or None for a name that the trace may have recorded."""
    match behavior.check:
        case b.ToolCalled(given, called):
            compiled = selectors(given, tools)
            # What is wanted needs a success; what is not wanted is there from the first attempt.
            find = successes if called != forbidden else attempts
            return lambda view: SEEN if bool(find(compiled, view)) == called else UNSEEN
        case b.AnswerContains(texts):
            lowered = [text.lower() for text in texts]
            return lambda view: SEEN if _has_any(view.trace.answer, lowered) else UNSEEN
        case b.AnswerMatches(patterns):
            searches = [search_within_limit(pattern) for pattern in patterns]
            return lambda view: SEEN if _matches_any(view.trace.answer, searches) else UNSEEN
        case b.RuleHolds(rule):
            return _rule(rule.compile(tools), forbidden)
        case b.Asked(rule):
            return rule
        case b.Named():
            return None


def _has_any(answer: str | None, texts: list[str]) -> bool:
    lowered = (answer or "").lower()
    return any(text in lowered for text in texts)


def _matches_any(answer: str | None, searches: list[Callable[[str], bool]]) -> bool:
    return answer is not None and any(search(answer) for search in searches)


def _rule(decide: Callable[[View], tuple[bool, Sequence[object]]], forbidden: bool) -> See:
    def see(view: View) -> Sight:
        in_play, violations = decide(view)
        if not in_play:
            return Sight(not forbidden, idle=True)
        return UNSEEN if violations else SEEN

    return see
