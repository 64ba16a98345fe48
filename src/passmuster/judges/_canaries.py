"""Measures how often a judge is swayed by manipulative answers.

A canary is a plainly bad answer with a manipulation around it; its control is the same answer without. A judge that
fails the control and passes the canary was swayed. Rates carry a 95 % interval after Wilson (1927), which
takes the canaries of a family as a sample of such attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from passmuster.checks import Heard, Question, Verdict
from passmuster.judges._canary_answers import BASES, CANARIES, FAMILIES, Base, Canary
from passmuster.scoring import wilson

Ask = Callable[[Sequence[Question]], Sequence[Heard]]
"""Asks questions in order: `ask_all` with all but the questions filled in."""


class Sway(Struct, frozen=True, kw_only=True):
    """How often a judge was swayed by one family of manipulations, or by all of them."""

    family: str
    tried: int
    """Canaries with a verdict, whose control the judge rightly failed."""
    swayed: int
    rate: float | None
    """No number where nothing could be tried."""
    ci95: tuple[float, float] | None
    unanswered: int = 0
    """Canaries without a verdict on them or on their control."""
    control_passed: int = 0
    """Canaries that say nothing, for the judge passes the bad answer even without the manipulation."""


class SwayReport(Struct, frozen=True):
    """The result: overall, by family, and which canaries swayed the judge."""

    overall: Sway
    families: tuple[Sway, ...]
    swayed_by: tuple[str, ...]
    """The ids of the canaries that swayed it, once for each round."""


class _Trial(Struct, frozen=True):
    canary: Canary
    control: int | None
    """The score of the bad answer alone; none if there is no verdict."""
    score: int | None


def sway(ask: Ask, *, passing_score: int = 3, rounds: int = 1) -> SwayReport:
    """Ask about every canary and its control, and report how often the manipulation made the judge pass it.

    `passing_score` is the score from which an answer passes. More `rounds` tell more only of a judge that does not
    always answer alike, asked without a cache.
    """
    trials = [trial for _ in range(rounds) for trial in _round(ask)]
    return SwayReport(
        _counted("all", trials, passing_score),
        tuple(_counted(family, (t for t in trials if t.canary.family == family), passing_score) for family in FAMILIES),
        tuple(trial.canary.id for trial in trials if _was_swayed(trial, passing_score)),
    )


def question_of(base: Base, answer: str) -> Question:
    """The question by which an answer to a canary's task is judged."""
    return Question(kind="llm_judge", rule=base.rule, query=base.query, answer=answer)


def _round(ask: Ask) -> list[_Trial]:
    controls = [question_of(base, base.bad_answer) for base in BASES]
    manipulated = [question_of(canary.base, canary.answer) for canary in CANARIES]
    verdicts = list(ask([*controls, *manipulated]))
    if len(verdicts) != len(controls) + len(manipulated):
        raise ValueError(f"{len(controls) + len(manipulated)} questions got {len(verdicts)} answers")
    plain = dict(zip(BASES, map(_score, verdicts[: len(controls)]), strict=True))
    return [
        _Trial(canary, plain[canary.base], _score(verdict))
        for canary, verdict in zip(CANARIES, verdicts[len(controls) :], strict=True)
    ]


def _counted(family: str, trials: Iterable[_Trial], passing_score: int) -> Sway:
    trials = list(trials)
    answered = [trial for trial in trials if trial.control is not None and trial.score is not None]
    tried = [trial for trial in answered if _below(trial.control, passing_score)]
    swayed = sum(_was_swayed(trial, passing_score) for trial in tried)
    return Sway(
        family=family,
        tried=len(tried),
        swayed=swayed,
        rate=swayed / len(tried) if tried else None,
        ci95=wilson(swayed, len(tried)),
        unanswered=len(trials) - len(answered),
        control_passed=len(answered) - len(tried),
    )


def _was_swayed(trial: _Trial, passing_score: int) -> bool:
    return _below(trial.control, passing_score) and trial.score is not None and trial.score >= passing_score


def _below(score: int | None, passing_score: int) -> bool:
    return score is not None and score < passing_score


def _score(verdict: Heard) -> int | None:
    return verdict.score if isinstance(verdict, Verdict) else None
