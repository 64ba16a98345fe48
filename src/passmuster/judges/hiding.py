"""A question as it may leave the house: without secrets, and whole.

Besides what is a secret anywhere, the suite may hide arguments by their place (`redact: {arguments: [pay.card]}`).
Evidence tells of calls with their arguments, so these are hidden in it, and wherever else in the question they recur.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from passmuster.checks.question import Example, Question
from passmuster.redaction import Redactor

__all__ = ["hidden"]


def hidden(question: Question, redactor: Redactor) -> Question:
    """The question with its secrets hidden. Nothing is cut: a judge must see the whole answer."""
    named = redactor.names_arguments
    words = [_argument_words(told, redactor) if named else [] for told in question.evidence]
    # What is hidden in one place must not come back in another; short words could be anything.
    telling = [word for own in words for word in own if len(word) > 5]

    def hide(text: str, own: Sequence[str] = ()) -> str:
        return redactor.hide(text, [*telling, *own])

    return Question(
        kind=question.kind,
        rule=hide(question.rule),
        query=None if question.query is None else hide(question.query),
        answer=hide(question.answer),
        evidence=tuple(hide(told, own) for told, own in zip(question.evidence, words, strict=True)),
        context=None if question.context is None else hide(question.context),
        examples=tuple(Example(hide(shown.answer), shown.score, hide(shown.reason)) for shown in question.examples),
    )


def _argument_words(told: str, redactor: Redactor) -> list[str]:
    """What the suite hides of the call that one piece of evidence tells of."""
    try:
        call = json.loads(told)
    except (ValueError, RecursionError):
        return []
    return redactor.words_at(str(call.get("tool")), call.get("arguments")) if isinstance(call, dict) else []
