"""A judge's reply read as a verdict, or the reason why it is none.

Only a score and a reason are read. A label beside them (`"verdict": "pass"`) has no say: the score alone counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "Why, in one to three sentences."},
        "score": {"type": "integer", "enum": [1, 2, 3, 4, 5], "description": "From 1 (worst) to 5 (best)."},
    },
    "required": ["reason", "score"],
    "additionalProperties": False,
}
"""The form of a verdict. The reason comes first, so that the model reasons before it scores."""

_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


class Opinion(Struct, frozen=True):
    """What one judge said."""

    score: int
    reason: str


class Unusable(Struct, frozen=True):
    """Why a reply is no verdict, in words that may be sent back to the judge."""

    fault: str


def read_text(text: str) -> Opinion | Unusable:
    """The opinion in a reply that is one JSON object and nothing else, perhaps fenced or after a thought.

    An object inside other prose is not read: it may be one that the agent's answer planted and the judge repeats.
    """
    if thought := _THOUGHT.match(text):
        text = text[thought.end() :]
    text = text.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    if not text:
        return Unusable("it was empty")
    try:
        found = json.loads(text, object_pairs_hook=_unique)
    except _TwiceError as twice:
        return Unusable(f"it gave '{twice}' twice")
    except (ValueError, RecursionError):
        return Unusable("it was not a JSON object")
    return read_object(found)


def read_object(found: object) -> Opinion | Unusable:
    """The opinion in a decoded reply."""
    if not isinstance(found, Mapping):
        return Unusable("it was not a JSON object")
    score = _score(found.get("score"))
    if score is None:
        return Unusable("its `score` was not a whole number from 1 to 5")
    reason = found.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return Unusable("its `reason` was not a text")
    return Opinion(score, reason.strip())


def _score(found: object) -> int | None:
    # `True` is an `int` to Python, and "5" might be a quotation: neither is a score.
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return int(found) if found in (1, 2, 3, 4, 5) else None


class _TwiceError(Exception):
    """A name that occurs twice in one object is ambiguous."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and name in ("score", "reason"):
            raise _TwiceError(name)
        found[name] = value
    return found
