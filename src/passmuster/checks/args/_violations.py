"""The violations of one call: what is wrong with an argument, where the policy says so, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from jsonschema_rs import ValidationError, ValidationErrorKind

from passmuster.checks._json_values import TYPES
from passmuster.checks._outcome import Level, Violation
from passmuster.checks._spec import CheckError, PatternLimit
from passmuster.checks._view import View
from passmuster.checks.args._anchors import Anchor, SchemaPath, anchor_of_value, nearest_anchor
from passmuster.checks.args._policy import CompiledTool
from passmuster.traces import oversized_numbers

Path = tuple[str | int, ...]

_WITHIN = "Keep the value within {constraint}."
_NOT_ALLOWED = ("Argument is not allowed", "Drop the argument, or add it to the policy.")
_KINDS: dict[str, tuple[str, str]] = {
    "maximum": ("Value exceeds maximum", _WITHIN),
    "minimum": ("Value is below minimum", _WITHIN),
    "exclusiveMaximum": ("Value is not below the exclusive maximum", _WITHIN),
    "exclusiveMinimum": ("Value is not above the exclusive minimum", _WITHIN),
    "multipleOf": ("Value is not a multiple", "Round the value to fit {constraint}."),
    "required": ("Required argument is missing", "Have the agent always pass this argument."),
    "pattern": ("Value does not match the pattern", "Pass a value that matches the pattern."),
    "format": ("Value is not in the format", "Pass a value in this format."),
    "enum": ("Value is not one of those allowed", "Pass one of the listed values."),
    "const": ("Value is not the one allowed", "Pass exactly this value."),
    "minLength": ("Value is too short", "Pass a longer text."),
    "maxLength": ("Value is too long", "Shorten the text."),
    "minItems": ("List has too few items", "Pass more items."),
    "maxItems": ("List has too many items", "Pass fewer items."),
    "uniqueItems": ("List repeats an item", "Pass each item once."),
    "falseSchema": ("The schema allows no value", "Do not pass it, or change the schema."),
    "additionalProperties": _NOT_ALLOWED,
    "unevaluatedProperties": _NOT_ALLOWED,
}
"""What is wrong and what to do about it, by keyword. The value is not repeated: it may have to be redacted."""
_OVERSIZED = ("Number is too large for a double", "Pass a number that a double can hold.")
_OTHER = ("Value breaks the schema", "Pass a value that the schema allows.")
_LIMITS = ValidationErrorKind.BacktrackLimitExceeded | ValidationErrorKind.RegexEngineFailure


def violations_of_call(view: View, call: int, tool: CompiledTool) -> list[Violation]:
    """Every violation of a call's arguments. Raises `CheckError` where a pattern reaches its limit."""
    arguments = view.calls[call].arguments
    oversized = set(oversized_numbers(arguments)) if view.trace.has_oversized_number else set()
    found: list[Violation] = []
    for error in _errors(tool, arguments):
        if isinstance(error.kind, _LIMITS):
            raise PatternLimit(view.names[call], _limit_message(view.names[call], error, tool))
        if tuple(error.instance_path) not in oversized:  # reported below, once
            found += _of_error(view, call, tool, error)
    anchors, schema = tool.policy.arguments.anchors, tool.policy.arguments.schema
    for path in sorted(oversized, key=str):
        found.append(_violation(view, call, tool, path, anchor_of_value(anchors, schema, path), _OVERSIZED))
    return found


def _errors(tool: CompiledTool, arguments: Any) -> Iterator[ValidationError]:
    try:
        return iter(tool.validator.iter_errors(arguments))
    except ValueError as error:  # the validator refuses what nests too deep
        raise CheckError(f"the arguments of a call cannot be checked: {error}") from error


def _of_error(view: View, call: int, tool: CompiledTool, error: ValidationError) -> list[Violation]:
    kind, path, place = error.kind, tuple(error.instance_path), tuple(error.schema_path)
    if isinstance(kind, ValidationErrorKind.Required):
        name = str(kind.property)
        anchor = _anchor(tool, (*place, name))
        return [_violation(view, call, tool, (*path, name), anchor, _KINDS["required"], has_value=False)]
    anchor = _anchor(tool, place)
    if isinstance(kind, ValidationErrorKind.AdditionalProperties | ValidationErrorKind.UnevaluatedProperties):
        return [_violation(view, call, tool, (*path, name), anchor, _NOT_ALLOWED) for name in kind.unexpected]
    if isinstance(kind, ValidationErrorKind.FalseSchema) and place[-1:] == ("additionalProperties",):
        names = list(_at(view, call, path))  # the schema lists no property, so none is expected
        return [_violation(view, call, tool, (*path, name), anchor, _NOT_ALLOWED) for name in names]
    if isinstance(kind, ValidationErrorKind.Type):
        found = next(name for name, fits in TYPES.items() if fits(_at(view, call, path)))
        words = (f"Expected {' or '.join(kind.types)}, found {found}", "Pass a value of the expected type.")
    else:
        words = _KINDS.get(str(kind.name), _OTHER)
    return [_violation(view, call, tool, path, anchor, words)]


def _violation(
    view: View,
    call: int,
    tool: CompiledTool,
    path: Path,
    anchor: Anchor | None,
    words: tuple[str, str],
    *,
    has_value: bool = True,
) -> Violation:
    anchor = anchor or Anchor(tool.file, tool.policy.line, "type: object")
    sentence, advice = words
    return view.violation(
        call,
        level=cast("Level", anchor.level),
        message=f"{sentence} ({anchor.constraint})",
        tool=view.names[call],
        argument=_dotted(path) or None,
        value=_at(view, call, path) if has_value else None,
        has_value=has_value,
        constraint=anchor.constraint,
        policy_file=anchor.file,
        policy_line=anchor.line,
        suggestion=advice.format(constraint=anchor.constraint),
    )


def _at(view: View, call: int, path: Path) -> Any:
    """The value at a path in the arguments as they were given."""
    value = view.calls[call].arguments
    for step in path:
        value = value[step]
    return value


def _anchor(tool: CompiledTool, path: SchemaPath) -> Anchor | None:
    return nearest_anchor(tool.policy.arguments.anchors, path)


def _limit_message(tool: str, error: ValidationError, compiled: CompiledTool) -> str:
    anchor = _anchor(compiled, tuple(error.schema_path))
    place = f"{anchor.file}:{anchor.line}: " if anchor else ""
    return (
        f"{place}the pattern for {tool}.{_dotted(tuple(error.instance_path))} needs too much backtracking on this "
        "value; write it without nested repetition"
    )


_PLAIN_NAME = re.compile(r"[^.\[\]]+")


def _dotted(path: Path) -> str:
    """`items[2].price`; a name that has dots of its own is quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
