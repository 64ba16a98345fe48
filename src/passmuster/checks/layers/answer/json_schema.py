"""`json_schema`: the whole answer is JSON and conforms to this JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec

from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.answer._answer import answer_check, shortened
from passmuster.suite import compile_schema

__all__ = ["ORDER", "compile"]

ORDER = 6


def compile(schema: dict[str, Any], context: Context) -> LayerCheck:
    """The check for this schema."""
    validator = compile_schema(schema)

    def holds(view: View) -> bool:
        is_json, value = _parsed(view)
        return is_json and validator.is_valid(value)

    def broken(view: View) -> str:
        is_json, value = _parsed(view)
        if not is_json:
            return f"the answer is not JSON: {shortened(view.trace.answer)}"
        error = next(iter(validator.iter_errors(value)))
        where = ".".join(str(step) for step in error.instance_path) or "the answer"
        return f"{where} breaks the schema: {error.kind.name}"

    return answer_check(holds, lambda view: "the answer conforms to the schema", broken)


def _parsed(view: View) -> tuple[bool, Any]:
    try:
        return True, msgspec.json.decode((view.trace.answer or "").encode())
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return False, None
