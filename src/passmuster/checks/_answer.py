"""Correctness by code: what the answer has to be. A trace without an answer fails every check, `not_in_answer` too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from passmuster.checks._layer import LayerCheck
from passmuster.checks._outcome import Status
from passmuster.checks._regex_search import search_within_limit
from passmuster.redaction import secret_spans
from passmuster.suite import Correctness, compile_schema

__all__ = ["Answer", "answer_checks"]

_SHOWN = 80
_LONGEST = 16_384
_SPACE = re.compile(r"\s")


class Answer:
    """An agent's answer, and its lower-cased form where a check wants it."""

    __slots__ = ("_lowered", "text")

    def __init__(self, text: str | None) -> None:
        self.text = text
        self._lowered: str | None = None

    @property
    def lowered(self) -> str:
        if self._lowered is None:
            self._lowered = (self.text or "").lower()
        return self._lowered


Holds = Callable[[Answer], bool]
Words = Callable[[Answer], str]


def answer_checks(asked: Correctness) -> list[LayerCheck[Answer]]:
    """The deterministic checks in the order they are reported."""
    checks: list[LayerCheck[Answer]] = []
    if asked.expected_in_answer:
        checks.append(_expected(asked.expected_in_answer))
    if asked.any_expected_in_answer:
        checks.append(_any_expected(asked.any_expected_in_answer))
    if asked.not_in_answer:
        checks.append(_not_in(asked.not_in_answer))
    if asked.exact_match is not None:
        checks.append(_exact(asked.exact_match))
    if asked.regex_match:
        checks.append(_regex(asked.regex_match))
    if asked.json_schema is not None:
        checks.append(_json(asked.json_schema))
    return checks


def _check(name: str, holds: Holds, held: Words, broken: Words) -> LayerCheck[Answer]:
    def decide(answer: Answer) -> Status:
        if answer.text is None:
            return "fail"
        try:
            return "pass" if holds(answer) else "fail"
        except TimeoutError:
            return "error"

    def explain(answer: Answer) -> str:
        status = decide(answer)
        if answer.text is None:
            return "there is no answer"
        if status == "error":
            return "a pattern took longer than a second on this answer"
        return held(answer) if status == "pass" else broken(answer)

    return LayerCheck(name, decide, explain)


def _quoted(terms: tuple[str, ...] | list[str]) -> str:
    return ", ".join(repr(term) for term in terms)


def _shown(answer: Answer) -> str:
    """The beginning of the answer, cut between words and never within a secret: reports cannot tell half of one."""
    text = answer.text or ""
    if len(text) <= _SHOWN:
        return repr(text)
    end = _SHOWN
    for start, stop in sorted(secret_spans(text[:_LONGEST])):
        if start < end < stop:
            end = stop
    space = _SPACE.search(text, end)
    end = min(space.start() if space else len(text), _LONGEST)
    return repr(text[:end] + ("…" if end < len(text) else ""))


def _expected(terms: tuple[str, ...]) -> LayerCheck[Answer]:
    lowered = [term.lower() for term in terms]

    def holds(answer: Answer) -> bool:
        text = answer.lowered
        for term in lowered:  # noqa: SIM110 - a generator would cost more than the search
            if term not in text:
                return False
        return True

    def missing(answer: Answer) -> list[str]:
        return [term for term in terms if term.lower() not in answer.lowered]

    return _check(
        "expected_in_answer",
        holds,
        lambda answer: f"the answer has {_quoted(terms)}",
        lambda answer: f"{_quoted(missing(answer))} not in the answer {_shown(answer)}",
    )


def _any_expected(terms: tuple[str, ...]) -> LayerCheck[Answer]:
    lowered = [term.lower() for term in terms]
    return _check(
        "any_expected_in_answer",
        lambda answer: _has_any(answer.lowered, lowered),
        lambda answer: f"the answer has {_quoted([term for term in terms if term.lower() in answer.lowered])}",
        lambda answer: f"none of {_quoted(terms)} is in the answer {_shown(answer)}",
    )


def _not_in(terms: tuple[str, ...]) -> LayerCheck[Answer]:
    lowered = [term.lower() for term in terms]
    return _check(
        "not_in_answer",
        lambda answer: not _has_any(answer.lowered, lowered),
        lambda answer: f"{_quoted(terms)} not in the answer",
        lambda answer: f"{_quoted([term for term in terms if term.lower() in answer.lowered])} in the answer",
    )


def _has_any(text: str, terms: list[str]) -> bool:
    for term in terms:  # noqa: SIM110 - as above
        if term in text:
            return True
    return False


def _exact(expected: str) -> LayerCheck[Answer]:
    wanted = expected.strip()
    return _check(
        "exact_match",
        lambda answer: (answer.text or "").strip() == wanted,
        lambda answer: "the answer is exactly as expected",
        lambda answer: f"expected exactly {_shown(Answer(wanted))}, found {_shown(answer)}",
    )


def _regex(patterns: tuple[str, ...]) -> LayerCheck[Answer]:
    searches = [(pattern, search_within_limit(pattern)) for pattern in patterns]

    def missed(answer: Answer) -> list[str]:
        """The patterns not found, up to one that takes too long."""
        found: list[str] = []
        for pattern, search in searches:
            try:
                if not search(answer.text or ""):
                    found.append(pattern)
            except TimeoutError:
                break
        return found

    return _check(
        "regex_match",
        lambda answer: all(search(answer.text or "") for _, search in searches),
        lambda answer: f"the answer matches {_quoted(patterns)}",
        lambda answer: f"{_quoted(missed(answer))} not found in the answer {_shown(answer)}",
    )


def _json(schema: dict[str, Any]) -> LayerCheck[Answer]:
    validator = compile_schema(schema)

    def parsed(answer: Answer) -> tuple[bool, Any]:
        try:
            return True, msgspec.json.decode((answer.text or "").encode())
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return False, None

    def holds(answer: Answer) -> bool:
        is_json, value = parsed(answer)
        return is_json and validator.is_valid(value)

    def broken(answer: Answer) -> str:
        is_json, value = parsed(answer)
        if not is_json:
            return f"the answer is not JSON: {_shown(answer)}"
        error = next(iter(validator.iter_errors(value)))
        where = ".".join(str(step) for step in error.instance_path) or "the answer"
        return f"{where} breaks the schema: {error.kind.name}"

    return _check("json_schema", holds, lambda answer: "the answer conforms to the schema", broken)
