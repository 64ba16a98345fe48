"""An edit script in words: which call is missing, extra, or differs in which argument, and how.

Values are shortened between words, never within one: half a token would no longer be known for a secret where
reports hide them. What stands under a name such as `password` is not shown at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from passmuster.checks._pairing import Actual, Difference, Expected, Extra, Missing, Paired, Script, argument
from passmuster.checks._quoting import HIDDEN, is_secret_path, quoted
from passmuster.checks.matchers import Equal, Matcher

__all__ = ["Show", "describe", "shown"]

Show = Callable[[str, str, Any], str]
"""The text for the value of a tool's argument, given tool, argument and value."""

_ARGUMENTS = 8


def shown(tool: str, argument: str, value: Any) -> str:
    """The value as JSON, shortened, without what a name says is secret."""
    return HIDDEN if is_secret_path(argument) else quoted(value)


def describe(script: Script, expected: Sequence[Expected], actual: Sequence[Actual], show: Show = shown) -> list[str]:
    """One line for each edit that costs something, in the script's order. Calls are counted from 1."""
    lines: list[str] = []
    for edit in script.edits:
        match edit:
            case Missing(wanted):
                lines.append(
                    f"missing: {_tool(expected[wanted])}{_wishes(expected[wanted])}, expected call {wanted + 1}"
                )
            case Extra(made):
                call = actual[made]
                lines.append(f"extra: {call.tool}{_given(call, show)}, call {call.index + 1}")
            case Paired(wanted, made, differences) if differences:
                call = actual[made]
                told = "; ".join(_difference(one, expected[wanted], call, show) for one in differences)
                lines.append(f"different: {call.tool}, call {call.index + 1}: {told}")
    return lines


def _tool(wanted: Expected) -> str:
    return wanted.name or (wanted.tool if isinstance(wanted.tool, str) else "a fitting tool")


def _wishes(wanted: Expected) -> str:
    if not wanted.matchers:
        return ""
    return _listed(
        [_wish(key, matcher) for (key, _), matcher in zip(wanted.args, wanted.matchers, strict=True)],
    )


def _wish(key: str, matcher: Matcher) -> str:
    if is_secret_path(key):
        return f"{key} = {HIDDEN}"
    return f"{key} = {quoted(matcher.value)}" if isinstance(matcher, Equal) else f"{key}: {matcher.in_words()}"


def _given(call: Actual, show: Show) -> str:
    if not isinstance(call.arguments, dict):
        return _listed([show(call.tool, "", call.arguments)])
    return _listed([f"{key} = {show(call.tool, key, value)}" for key, value in call.arguments.items()])


def _listed(parts: list[str]) -> str:
    more = f", … ({len(parts)} arguments)" if len(parts) > _ARGUMENTS else ""
    return f"({', '.join(parts[:_ARGUMENTS])}{more})"


def _difference(difference: Difference, wanted: Expected, call: Actual, show: Show) -> str:
    key = difference.argument
    if not key:
        return f"arguments that are no map: {show(call.tool, '', call.arguments)}"
    value = argument(call.arguments, key)
    if difference.kind == "unexpected":
        return f"{key} = {show(call.tool, key, value)} is not expected"
    found = f"{key} is missing" if difference.kind == "missing" else f"{key} = {show(call.tool, key, value)}"
    place = [listed for listed, _ in wanted.args].index(key)
    if place >= len(wanted.matchers):
        return found if difference.kind == "missing" else f"{found} does not fit"
    wish = HIDDEN if is_secret_path(key) else wanted.matchers[place].in_words()
    return f"{found}, expected {wish}"
