"""The check `label`."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from passmuster.checks._json_values import MISSING, follow
from passmuster.checks._regex_search import REGEX_SECONDS, LimitedPattern
from passmuster.checks._scenario_outcome import Quadrant
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check
from passmuster.suite import TEXT, Classification, LabelSource

Read = Callable[[str], set[str]]
"""The labels that an answer gives."""


def _compile(label: str, context: Context) -> LayerCheck | None:
    """The check for this label, where the suite says how labels are read."""
    if context.suite.classification is None:
        return None
    labels = Labels(context.suite.classification, label)

    def said(view: View) -> str:
        found = sorted(labels.found(view.texts))
        given = f"the label {found[0]!r}" if len(found) == 1 else f"labels {found}" if found else "no label"
        return f"expected the label {label!r}, the answer gives {given}"

    return answer_check(lambda view: labels.label_of(view.texts) == labels.label, said, said)


class Labels:
    """The label expected of one scenario next to those that answers give."""

    def __init__(self, classification: Classification, label: str) -> None:
        self._any_case = classification.source.words is not None
        self._read = _reader(classification.source)
        self._positive = self._folded(classification.positive)
        self.label = self._folded(label)

    @property
    def right(self) -> Quadrant:
        """The quadrant of the right label."""
        return "tp" if self.label == self._positive else "tn"

    def quadrant(self, texts: Sequence[str]) -> Quadrant:
        """Whether the answer's label is right or wrong, positive or negative."""
        try:
            said = self.label_of(texts)
        except TimeoutError:
            said = None
        if self.label == self._positive:
            return "tp" if said == self._positive else "fn"
        return "fp" if said == self._positive else "tn"

    def found(self, texts: Sequence[str]) -> set[str]:
        """All labels that the texts of an answer give."""
        return {self._folded(one) for text in texts for one in self._read(text)}

    def label_of(self, texts: Sequence[str]) -> str | None:
        """The one label that they give."""
        found = self.found(texts)
        return next(iter(found)) if len(found) == 1 else None

    def _folded(self, label: str) -> str:
        return label.strip().casefold() if self._any_case else label.strip()


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
    limited = LimitedPattern(pattern)

    def read(answer: str) -> set[str]:
        def labels(compiled: Any) -> set[str]:
            matches = compiled.finditer(answer, timeout=REGEX_SECONDS)
            return {match[1] if compiled.groups and match[1] is not None else match[0] for match in matches}

        return limited.run(labels)

    return read


def _from_words(words: tuple[str, ...]) -> Read:
    patterns = [(word, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)) for word in words]
    return lambda answer: {word for word, pattern in patterns if pattern.search(answer)}


KEY = LayerKey(
    TEXT,
    "The label of the answer, extracted as `classification` states, is this one.",
    _compile,
    order=7,
    example="spam",
)
