"""What the calls of a trace hold that no report may show: sentences about the trace may quote it anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from passmuster.redaction import Redactor, telling
from passmuster.traces import ToolCall, Trace

_MOST = 1_000
_LONGEST = 16_384
"""No check quotes more of an answer."""
_QUOTED = 200
"""Checks shorten what is longer, between two words and with an ellipsis."""


def secrets_of(trace: Trace, redactor: Redactor) -> tuple[str, ...]:
    """The words that its calls have under secret names or at places that the suite hides; so many and so long only."""
    words = (form for call in trace.tool_calls for word in _words(call, redactor) for form in _shortened(word))
    return tuple(dict.fromkeys(islice(words, _MOST)))


def _words(call: ToolCall, redactor: Redactor) -> list[str]:
    found = [*redactor.words(call.tool, call.arguments), *redactor.words(None, [_result(call), call.error])]
    return [word[:_LONGEST] for word in telling(found)]


def _result(call: ToolCall) -> Any:
    try:
        return call.result
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _shortened(word: str) -> Iterator[str]:
    """The word, and what an ellipsis may have left of it."""
    yield word
    for space in re.finditer(r"\s+", word[:_QUOTED]):
        yield from telling([f"{word[: space.start()]}…"])
