"""An edit script as violations and in words: which call is missing, extra, or differs in which argument, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from passmuster.checks._outcome import Neighbours, Violation
from passmuster.checks._quoting import HIDDEN, is_secret_path, quoted
from passmuster.checks._view import View
from passmuster.checks.layers.path._pairing import (
    Actual,
    Difference,
    Expected,
    Extra,
    Missing,
    Paired,
    Script,
    argument,
)
from passmuster.checks.matchers import Equal, Matcher

Show = Callable[[str, str, Any], str]
"""The text for the value of a tool's argument, given tool, argument and value."""

_ARGUMENTS = 8
"""Arguments that a summary names."""


def _shown(tool: str, argument: str, value: Any) -> str:
    return HIDDEN if is_secret_path(argument) else quoted(value)


def describe(script: Script, expected: Sequence[Expected], actual: Sequence[Actual], show: Show = _shown) -> list[str]:
    """A summary: one line for each edit that costs something, in the script's order. Calls are counted from 1."""
    lines: list[str] = []
    for edit in script.edits:
        match edit:
            case Missing(wanted):
                lines.append(f"missing: {_expected_call(expected[wanted])}, expected call {wanted + 1}")
            case Extra(made):
                lines.append(f"extra: {_call(actual[made], show)}, call {actual[made].index + 1}")
            case Paired(wanted, made, found) if found:
                told = "; ".join(_difference(one, expected[wanted], actual[made], show) for one in found)
                lines.append(f"different: {actual[made].tool}, call {actual[made].index + 1}: {told}")
    return lines


def differences(
    script: Script, expected: Sequence[Expected], actual: Sequence[Actual], view: View
) -> Iterator[Violation]:
    """The same as violations: one for each missing call, each extra one, and each argument that differs."""
    place = 0
    for edit in script.edits:
        match edit:
            case Missing(wanted):
                yield _missing(expected[wanted], place, view)
            case Extra(made):
                call = actual[made]
                yield view.violation(
                    call.index,
                    message="extra call",
                    kind="extra",
                    tool=call.tool,
                    expected="no further call",
                    actual=_call(call, _shown, None),
                    value=call.arguments,
                    has_value=True,
                )
            case Paired(wanted, made, found):
                place = actual[made].index + 1
                for one in found:
                    yield _different(one, expected[wanted], actual[made], view)


def _missing(wanted: Expected, place: int, view: View) -> Violation:
    """A call that was not made, after the call that stands for the expected one before it."""
    names = view.names
    return view.violation(
        None,
        message=f"missing call{_expected_call(wanted).removeprefix(_tool(wanted))}",
        kind="missing",
        tool=_tool(wanted),
        expected=_expected_call(wanted, None),
        actual="no such call",
        policy_line=wanted.line,
        call_index=place + 1,
        neighbours=Neighbours(
            calls=len(names),
            before=names[place - 1] if place else None,
            after=names[place] if place < len(names) else None,
        ),
    )


def _different(difference: Difference, wanted: Expected, call: Actual, view: View) -> Violation:
    key = difference.argument
    value = argument(call.arguments, key) if key else call.arguments
    given = {} if difference.kind == "missing" else {"value": value, "has_value": True}
    return view.violation(
        call.index,
        message=_finding(difference, wanted),
        kind="different",
        tool=call.tool,
        argument=key or None,
        expected=_wish_for(difference, wanted) or "another value",
        actual="missing" if difference.kind == "missing" else _shown(call.tool, key, value),
        policy_line=wanted.line,
        **given,
    )


def _tool(wanted: Expected) -> str:
    return wanted.name or (wanted.tool if isinstance(wanted.tool, str) else "a matching tool")


def _expected_call(wanted: Expected, most: int | None = _ARGUMENTS) -> str:
    if not wanted.matchers:
        return _tool(wanted)
    listed = zip(wanted.args, wanted.matchers, strict=True)
    return _tool(wanted) + _listed([_wish(key, matcher) for (key, _), matcher in listed], most)


def _wish(key: str, matcher: Matcher) -> str:
    told = HIDDEN if is_secret_path(key) else matcher.in_words()
    return f"{key} = {told}" if isinstance(matcher, Equal) or is_secret_path(key) else f"{key}: {told}"


def _call(call: Actual, show: Show, most: int | None = _ARGUMENTS) -> str:
    if not isinstance(call.arguments, dict):
        return call.tool + _listed([show(call.tool, "", call.arguments)], most)
    return call.tool + _listed(
        [f"{key} = {show(call.tool, key, value)}" for key, value in call.arguments.items()], most
    )


def _listed(parts: list[str], most: int | None) -> str:
    most = len(parts) if most is None else most
    more = f", … ({len(parts)} arguments)" if len(parts) > most else ""
    return f"({', '.join(parts[:most])}{more})"


def _difference(difference: Difference, wanted: Expected, call: Actual, show: Show) -> str:
    key = difference.argument
    if call.arguments is None:
        return "its arguments are unknown"
    if not key:
        return f"arguments that are not a map: {show(call.tool, '', call.arguments)}"
    found = "" if difference.kind == "missing" else f" = {show(call.tool, key, argument(call.arguments, key))}"
    told = _finding(difference, wanted)
    return f"{key}{found}{', ' if told.startswith('expected') else ' '}{told}"


def _finding(difference: Difference, wanted: Expected) -> str:
    """What is wrong with an argument, to follow its name and value."""
    if difference.kind == "unexpected":
        return "is not expected"
    wish = _wish_for(difference, wanted)
    expected = f"expected {wish}" if wish is not None else ""
    if difference.kind == "missing":
        return f"is missing, {expected}" if expected else "is missing"
    return expected or "does not fit"


def _wish_for(difference: Difference, wanted: Expected) -> str | None:
    """What is expected of an argument; None where nobody said it in words."""
    key = difference.argument
    if not key:
        return "a map of arguments"
    if difference.kind == "unexpected":
        return "nothing"
    place = [listed for listed, _ in wanted.args].index(key)
    if place >= len(wanted.matchers):
        return None
    return HIDDEN if is_secret_path(key) else wanted.matchers[place].in_words()
