"""What is wrong with an argument, and what to do about it, in words."""

from __future__ import annotations

import math
from typing import Any

from jsonschema_rs import ValidationErrorKind

from passmuster.suite import Anchor

__all__ = ["in_words"]

_KINDS: dict[str, tuple[str, str]] = {
    "maximum": ("Value exceeds maximum", "Keep the value within {constraint}."),
    "minimum": ("Value is below minimum", "Keep the value within {constraint}."),
    "exclusiveMaximum": ("Value is not below the exclusive maximum", "Keep the value within {constraint}."),
    "exclusiveMinimum": ("Value is not above the exclusive minimum", "Keep the value within {constraint}."),
    "multipleOf": ("Value is not a multiple", "Round the value to fit {constraint}."),
    "required": ("Required argument is missing", "Have the agent always pass this argument."),
    "pattern": ("Value does not match the pattern", "Pass a value in the form the pattern asks for."),
    "format": ("Value is not in the format", "Pass a value in this format."),
    "enum": ("Value is not one of those allowed", "Pass one of the listed values."),
    "const": ("Value is not the one allowed", "Pass exactly this value."),
    "minLength": ("Value is too short", "Pass a longer text."),
    "maxLength": ("Value is too long", "Shorten the text."),
    "minItems": ("List has too few items", "Pass more items."),
    "maxItems": ("List has too many items", "Pass fewer items."),
    "uniqueItems": ("List repeats an item", "Pass each item once."),
    "additionalProperties": ("Argument is not allowed", "Drop the argument, or add it to the policy."),
    "unevaluatedProperties": ("Argument is not allowed", "Drop the argument, or add it to the policy."),
}


def in_words(kind: ValidationErrorKind, value: Any, anchor: Anchor) -> tuple[str, str]:
    """What is wrong, and what to do about it. The value itself is not repeated: it may have to be hidden."""
    if _beyond_double(value):
        return "Number is beyond what a double can hold", "Pass a number of ordinary size."
    if isinstance(kind, ValidationErrorKind.Type):
        return f"Expected {' or '.join(kind.types)}, found {_type_of(value)}", "Pass a value of the expected type."
    word = str(kind.name)
    sentence, advice = _KINDS.get(word, ("Value breaks the schema", "Pass a value that the schema allows."))
    return sentence, advice.format(constraint=anchor.constraint)


def _beyond_double(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, int):
        try:
            float(value)
        except OverflowError:
            return True
    return False


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"
