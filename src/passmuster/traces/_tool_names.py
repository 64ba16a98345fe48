"""Names of tools that no pattern of a suite could fit: with white space around them, or with characters nobody sees."""

from __future__ import annotations

from msgspec.structs import force_setattr

from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord
from passmuster.traces._wrapped import PARALLEL, WRAPPERS, expanded

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that show nothing, though Unicode counts them among letters, marks or symbols."""
_MOST_KNOWN = 10_000

PLAIN_NAMES: set[str] = set()
"""Names that were found to be plain. Most are met again and again, and readers look here first."""


def odd_name(tool: str) -> str | None:
    """What is wrong with a tool's name; None where nothing is."""
    if not tool:
        return "is empty"
    if tool.strip() != tool:
        return "begins or ends with white space"
    if not (tool.isascii() and tool.isprintable()):
        for character in tool:
            if _is_unseen(character):
                return f"has the character U+{ord(character):04X}, which cannot be seen"
    if len(PLAIN_NAMES) < _MOST_KNOWN and tool != PARALLEL:
        PLAIN_NAMES.add(tool)
    return None


def is_plain(tool: str) -> bool:
    """Whether a tool's name is taken as it is: nothing is wrong with it, and it does not stand for other calls."""
    return tool in PLAIN_NAMES or (tool != PARALLEL and odd_name(tool) is None)


def _is_unseen(character: str) -> bool:
    if character.isprintable() and character not in _INVISIBLE:
        return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return True


def check_calls(trace: Trace) -> Trace:
    """The trace with calls that are not wrapped in others. Raises `BadRecord` for a name that no pattern could fit."""
    wrapped = False
    for call in trace.tool_calls:
        if call.tool not in PLAIN_NAMES:
            if call.tool == PARALLEL:
                return check_calls(expanded(trace))
            if problem := odd_name(call.tool):
                raise BadRecord(
                    trace.origin.offset, f"the tool {call.tool[:60]!r} {problem}: no pattern of a suite fits it"
                )
        if type(call.arguments) is dict and not WRAPPERS.isdisjoint(call.arguments):
            wrapped = True
    if wrapped:
        force_setattr(trace, "wrapped", True)
    return trace
