"""What the checks of an answer share. A trace without an answer fails every one of them, `not_in_answer` too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from passmuster.checks._outcome import BROKEN, FAIL, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import LayerCheck, decided
from passmuster.redaction import secret_spans

NO_ANSWER = "there is no answer"
_SHOWN = 80
_LONGEST = 16_384


def answer_check(
    holds: Callable[[View], bool], held: Callable[[View], str], broken: Callable[[View], str]
) -> LayerCheck:
    """A check that `holds` for an answer, and its words for both cases."""

    def decide(view: View) -> Outcome:
        if view.trace.answer is None:
            return FAIL
        try:
            return decided(holds(view))
        except TimeoutError:
            return BROKEN

    def message(view: View) -> str:
        if view.trace.answer is None:
            return NO_ANSWER
        try:
            return held(view) if holds(view) else broken(view)
        except TimeoutError as error:
            return str(error)

    return LayerCheck(decide, message)


def quoted(terms: Sequence[str]) -> str:
    """`'a', 'b'`."""
    return ", ".join(map(repr, terms))


def has_any(text: str, terms: Sequence[str]) -> bool:
    """Whether one of the terms is in the text."""
    for term in terms:  # noqa: SIM110 - a generator would cost more than the search
        if term in text:
            return True
    return False


def present(terms: Sequence[str], view: View) -> list[str]:
    """The terms that are in the answer, in any case."""
    return [term for term in terms if term.lower() in view.lowered_answer]


def shortened(text: str | None) -> str:
    """The beginning of a text, cut between words and never within a secret, which reports could not recognise."""
    import re  # late, for only explanations need it

    text = text or ""
    if len(text) <= _SHOWN:
        return repr(text)
    end = _SHOWN
    for start, stop in sorted(secret_spans(text[:_LONGEST])):
        if start < end < stop:
            end = stop
    space = re.compile(r"\s").search(text, end)
    end = min(space.start() if space else len(text), _LONGEST)
    return repr(text[:end] + ("…" if end < len(text) else ""))
