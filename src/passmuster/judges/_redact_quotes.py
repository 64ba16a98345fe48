"""Redacts a question before it is sent: secrets are hidden, nothing is cut.

Besides what is a secret anywhere, reports hide the values of a call that stand under a name such as `password`, or at a
place that the suite names (`redact: {arguments: [pay.card]}`). Evidence tells of calls, so these values are hidden in
it, and wherever else in the question they come back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from passmuster.checks import Example, Question
from passmuster.redaction import Redactor, Words, telling

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')


def hidden(question: Question, redactor: Redactor) -> Question:
    """The question with its secrets hidden. Nothing is cut: a judge must see the whole answer."""
    records = [_Record(told, redactor) for told in question.evidence]
    unsent = [_Record(told, redactor) for told in question.unsent]
    # What is hidden in one place must not come back in another; short words could be anything.
    known = Words(word for record in (*records, *unsent) for word in telling(record.words))

    def hide(text: str, own: Collection[str] = ()) -> str:
        return redactor.hide(text, known, own)

    return Question(
        kind=question.kind,
        rule=hide(question.rule),
        query=None if question.query is None else hide(question.query),
        answer=hide(question.answer),
        evidence=tuple(hide(record.text, record.words) for record in records),
        context=None if question.context is None else hide(question.context),
        examples=tuple(Example(hide(shown.answer), shown.score, hide(shown.reason)) for shown in question.examples),
    )


class _Record:
    """One call as evidence tells it, and what has to be hidden of it for its name or place."""

    def __init__(self, told: str, redactor: Redactor) -> None:
        self.text = told
        self.words: Collection[str] = ()
        try:
            # Numbers are looked for as they are written.
            record = json.loads(told, parse_int=str, parse_float=str, parse_constant=str)
        except RecursionError:
            self.text = "(nested too deeply to be shown)"
            return
        except ValueError:
            return
        if not isinstance(record, dict):
            return
        arguments = record.pop("arguments", None)
        words = [*redactor.words(str(record.get("tool")), arguments), *redactor.words(None, record)]
        if words:
            self.words = Words(words)
            self.text = _JSON_STRING.sub(_written_plainly, told) if "\\" in told else told


def _written_plainly(found: re.Match[str]) -> str:
    """A JSON string with no escape that it does not need, so that a word in it is written as it is looked for."""
    text: Any = json.loads(found[0])
    return json.dumps(text, ensure_ascii=False)
