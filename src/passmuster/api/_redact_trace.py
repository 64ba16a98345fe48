"""Redaction of kept traces: secrets hidden, long values cut, as in every report."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from passmuster.redaction import SENTENCE_LIMIT, Redactor, Words, telling
from passmuster.scoring import KeptStep, KeptTrace

_SAID = 4_000
"""Characters of a query or an answer: what a person reads whole."""


def redact_trace(trace: KeptTrace, redactor: Redactor, secrets: Sequence[str]) -> KeptTrace:
    """The trace made safe to show and keep; `secrets` are those of the report, which stay hidden here too."""
    own = [word for step in trace.steps for word in _secrets_of(step, redactor)]
    known = Words(telling([*secrets, *own]))

    def text(given: str | None, limit: int = SENTENCE_LIMIT) -> str | None:
        return None if given is None else redactor.text(given, limit, known)

    def step(one: KeptStep) -> KeptStep:
        return replace(
            one,
            name=text(one.name),
            arguments=redactor.argument(one.name, None, one.arguments, known)[0],
            result=redactor.value(one.result, known=known),
            error=redactor.value(one.error, known=known),
            text=text(one.text, _SAID),
            group=redactor.value(one.group, known=known),
            agent=text(one.agent),
        )

    return replace(
        trace,
        trace_id=redactor.text(trace.trace_id, known=Words(telling(secrets))),
        steps=tuple(step(one) for one in trace.steps),
        query=text(trace.query, _SAID),
        answer=text(trace.answer, _SAID),
        error=text(trace.error),
    )


def _secrets_of(step: KeptStep, redactor: Redactor) -> list[str]:
    """What is hidden for its name or place, which may be repeated in a result or an answer."""
    if step.kind != "tool":
        return []
    return [*redactor.words(step.name, step.arguments), *redactor.words(None, step.result)]
