"""Questions for a judge, and its verdicts.

A check that needs a judge answers with a `Question` and is resumed with a `Verdict`; the pure part never waits.
Everything that could change a verdict is in the question, for its cache key is made of it.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Struct

from passmuster.suite import PROSE, TEXT, Key, Record, Whole


class Example(Record, frozen=True):
    """An answer with the score it deserves, to show a judge what is meant."""

    answer: Annotated[str, PROSE, Key("An answer.", example="Sorry for the wait!")]
    score: Annotated[int, Whole(1, 5), Key("The score it deserves.", example=5)]
    reason: Annotated[str, TEXT, Key("Why.")] = ""


Kind = Literal["llm_judge", "safety_check", "hallucination_check", "behavior"]


class Question(Struct, frozen=True, kw_only=True):
    """What a judge is asked about one trace."""

    kind: Kind
    rule: str
    """What the answer is measured by, in the suite's words."""
    query: str | None = None
    answer: str
    """The agent's words: untrusted."""
    evidence: tuple[str, ...] = ()
    """The tool results of the trace, as JSON text, where the question is about grounding: untrusted."""
    context: str | None = None
    examples: tuple[Example, ...] = ()
    unsent: tuple[str, ...] = ()
    """The same where it is not sent: secrets in it are hidden from the rest of the question, too."""


class Verdict(Struct, frozen=True, kw_only=True):
    """A judge's answer: a score from 1 to 5 and its reason. A threshold decides whether it passes."""

    score: int
    reason: str
    votes: tuple[int, ...] = ()
    """The scores of an ensemble's members, in the order they are configured; `score` is their median."""


class JudgeFailure(Struct, frozen=True):
    """Why there is no verdict. A judge that fails is never a pass."""

    message: str


JudgeAnswer = Verdict | JudgeFailure | None
"""The answer to a question: a verdict, the reason why there is none, or nothing because judges are off."""


class Inquiry(Struct, frozen=True):
    """A check that asks judges, on one trace: its questions, and the score from which each is met."""

    check: str
    """`llm_judge`, `safety_check`, `hallucination_check`, or the name of a behavior."""
    questions: tuple[Question, ...]
    least: tuple[int, ...]
    forbidden: bool = False
    """A behavior that must not be shown: the check passes where the judge does not see it."""

    def passes(self, scores: Sequence[int]) -> bool:
        """Whether the check passes with these scores, one for each question."""
        met = all(score >= least for score, least in zip(scores, self.least, strict=True))
        return met != self.forbidden
