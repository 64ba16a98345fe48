"""An edit script in words: which call is missing, extra, or differs in which argument, and how.

Values are shortened between words, never within one: half a token would no longer be known for a secret where
reports hide them. What stands under a name such as `password` is not shown at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from passmuster.checks._pairing import Actual, Difference, Expected, Extra, Missing, Paired, Script, argument
from passmuster.redaction import is_secret_name
from passmuster.suite import matchers as m

__all__ = ["Show", "describe", "in_words", "shown"]

Show = Callable[[str, str, Any], str]
"""The text for the value of a tool's argument, given tool, argument and value."""

_LIMIT = 120
_ARGUMENTS = 8
_HIDDEN = "(hidden)"
_SIGNS = {"$gt": ">", "$gte": "≥", "$lt": "<", "$lte": "≤"}


def shown(tool: str, argument: str, value: Any) -> str:
    """The value as JSON, shortened, without what a name says is secret."""
    return _HIDDEN if _is_secret(argument) else _json(value)


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


def _wish(key: str, matcher: m.Matcher) -> str:
    if _is_secret(key):
        return f"{key} = {_HIDDEN}"
    return f"{key} = {_json(matcher.value)}" if isinstance(matcher, m.Equal) else f"{key}: {in_words(matcher)}"


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
    wish = _HIDDEN if _is_secret(key) else in_words(wanted.matchers[place])
    return f"{found}, expected {wish}"


def in_words(matcher: m.Matcher) -> str:
    """What a matcher asks for, to follow the word “expected”."""
    match matcher:
        case m.Equal(value):
            return _json(value)
        case m.Keys(keys):
            return (
                "{"
                + ", ".join(f"{key}: {_HIDDEN if _is_secret(key) else in_words(inner)}" for key, inner in keys.items())
                + "}"
            )
        case m.Items(items):
            return "[" + ", ".join(map(in_words, items)) + "]"
        case m.Unordered(items):
            return "[" + ", ".join(map(in_words, items)) + "] in any order"
        case m.AllOf(parts):
            return " and ".join(map(in_words, parts))
        case m.OneOf(options):
            return " or ".join(map(in_words, options))
        case m.Not(inner):
            return f"anything but {in_words(inner)}"
        case m.Optional(inner):
            return f"{in_words(inner)} or nothing"
        case m.Contains(inner):
            return f"something that contains {in_words(inner)}"
        case _:
            return _in_words(matcher)


def _in_words(matcher: m.Matcher) -> str:
    match matcher:
        case m.Regex(pattern):
            return f"a text with /{_short(pattern)}/"
        case m.Glob(pattern):
            return f"a text like {_short(pattern)}"
        case m.Approx(value, within):
            return f"{value:.12g} ± {within:.12g}"
        case m.Compare(word, bound):
            return f"{_SIGNS[word]} {bound:.12g}"
        case m.TypeIs(types):
            return f"of type {' or '.join(types)}"
        case m.Absent():
            return "nothing"
        case m.Ignore():
            return "anything or nothing"
        case _:
            return "anything"


def _is_secret(path: str) -> bool:
    return any(is_secret_name(name) for name in path.replace("[", ".").split("."))


def _json(value: Any) -> str:
    try:
        return _short(json.dumps(_without_secrets(value), ensure_ascii=False, default=repr))
    except RecursionError:
        return "(nested too deeply to be shown)"


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _HIDDEN if is_secret_name(str(key)) else _without_secrets(item) for key, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _short(text: str) -> str:
    if len(text) <= _LIMIT:
        return text
    head = text[: _LIMIT + 1].rpartition(" ")[0]
    return f"{head}… ({len(text)} characters)"
