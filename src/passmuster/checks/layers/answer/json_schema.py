"""The check `json_schema`."""

from collections.abc import Iterable
from typing import Any

import msgspec

from passmuster.checks._json_schema import JSON_SCHEMA, Schema, compile_checked
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, shortened
from passmuster.traces import oversized_numbers


def _compile(schema: Schema, context: Context) -> LayerCheck:
    """The check for this schema."""
    validator = compile_checked(schema)

    def holds(view: View) -> bool:
        return any(conforms(*_parsed(text)) for text in view.texts)

    def conforms(is_json: bool, value: Any) -> bool:
        return is_json and validator.is_valid(value) and _oversized(value) is None

    def broken(view: View) -> str:
        is_json, value = _parsed(view.texts[-1])
        if not is_json:
            return f"the answer is not JSON: {shortened(view.trace.answer)}"
        path = _oversized(value)
        if path is not None:
            return f"{_dotted(path)} is a number too large for a double"
        try:
            error = next(iter(validator.iter_errors(value)))
        except ValueError:  # the validator goes 255 levels deep
            return "the answer is nested too deeply to be checked"
        return f"{_dotted(error.instance_path)} breaks the schema: {error.kind.name}"

    return answer_check(holds, lambda view: "the answer conforms to the schema", broken)


def _oversized(value: Any) -> tuple[str | int, ...] | None:
    """The path of a number that no double can hold, which no schema accepts."""
    return next(oversized_numbers(value), None)


def _dotted(path: Iterable[str | int]) -> str:
    return ".".join(str(step) for step in path) or "the answer"


def _parsed(text: str) -> tuple[bool, Any]:
    try:
        return True, msgspec.json.decode(text.encode())
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return False, None


KEY = LayerKey(
    JSON_SCHEMA,
    "The whole answer is JSON and conforms to this JSON Schema (2020-12).",
    _compile,
    order=6,
    example={"type": "object"},
)
