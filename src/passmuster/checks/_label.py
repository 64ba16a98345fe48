"""Classification: the label that an answer gives, and whether it is the right one.

None found, or several that differ, is no label, and wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from passmuster.checks._answer import Answer
from passmuster.checks._layer import LayerCheck, Quadrant
from passmuster.checks._outcome import Status
from passmuster.checks._paths import MISSING, follow
from passmuster.checks._regex_search import REGEX_SECONDS
from passmuster.suite import Classification, LabelSource

__all__ = ["LabelCheck"]

Read = Callable[[str], set[str]]
"""The labels that an answer gives."""


class LabelCheck:
    """The check `label` of one scenario."""

    def __init__(self, classification: Classification, label: str) -> None:
        self._any_case = classification.source.words is not None
        self._read = _reader(classification.source)
        self._label = self._folded(label)
        self._positive = self._folded(classification.positive)
        self._written = label

    def check(self) -> LayerCheck[Answer]:
        """It, as a check of correctness."""
        return LayerCheck("label", self._decide, self._explain)

    @property
    def right(self) -> Quadrant:
        """Where the right label falls."""
        return "tp" if self._label == self._positive else "tn"

    def quadrant(self, answer: str | None) -> Quadrant:
        """Where an answer falls in the table of right and wrong, positive and negative."""
        try:
            said = self._label_of(answer)
        except TimeoutError:
            said = None
        if self._label == self._positive:
            return "tp" if said == self._positive else "fn"
        return "fp" if said == self._positive else "tn"

    def _folded(self, label: str) -> str:
        return label.strip().casefold() if self._any_case else label.strip()

    def _found(self, answer: str | None) -> set[str]:
        return {self._folded(one) for one in self._read(answer)} if answer is not None else set()

    def _label_of(self, answer: str | None) -> str | None:
        found = self._found(answer)
        return next(iter(found)) if len(found) == 1 else None

    def _decide(self, answer: Answer) -> Status:
        try:
            return "pass" if self._label_of(answer.text) == self._label else "fail"
        except TimeoutError:
            return "error"

    def _explain(self, answer: Answer) -> str:
        if answer.text is None:
            return "there is no answer"
        try:
            found = sorted(self._found(answer.text))
        except TimeoutError:
            return "a pattern took longer than a second on this answer"
        said = f"the label {found[0]!r}" if len(found) == 1 else f"labels {found}" if found else "no label"
        return f"expected the label {self._written!r}, the answer gives {said}"


def _reader(source: LabelSource) -> Read:
    if source.json is not None:
        return _from_json(list(source.json))
    if source.regex is not None:
        return _from_regex(source.regex)
    return _from_words(source.words or ())


def _from_json(path: list[str | int]) -> Read:
    def read(answer: str) -> set[str]:
        try:
            value: Any = msgspec.json.decode(answer.encode())
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return set()
        found = follow(value, path)
        if found is MISSING or found is None or isinstance(found, dict | list):
            return set()
        return {str(found).lower() if isinstance(found, bool) else str(found)}

    return read


def _from_regex(pattern: str) -> Read:
    import regex

    compiled = regex.compile(pattern)

    def read(answer: str) -> set[str]:
        matches = compiled.finditer(answer, timeout=REGEX_SECONDS)
        return {match[1] if compiled.groups and match[1] is not None else match[0] for match in matches}

    return read


def _from_words(words: tuple[str, ...]) -> Read:
    patterns = [(word, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)) for word in words]
    return lambda answer: {word for word, pattern in patterns if pattern.search(answer)}
