"""The JSON Schema of the native form, for editors and other programs."""

from __future__ import annotations

from typing import Any

import msgspec

from passmuster.traces._native_form import TraceFields

_NAMES = {
    "FormToolCall": "tool_call",
    "ToolResult": "tool_result",
    "LlmCall": "llm_call",
    "Handoff": "handoff",
    "Message": "message",
    "_AgentFields": "agent",
    "_FaultFields": "error",
}
"""How the schema names the classes that it is derived from."""
_MISNAMED = (
    *("args", "arg", "argument", "input", "inputs", "parameters", "params", "kwargs"),
    *("tool_args", "tool_input"),
)
"""Common names under which `arguments` are not read."""


def trace_schema() -> dict[str, Any]:
    """The native form as JSON Schema 2020-12, with descriptions: what is valid is read, and nothing else.

    Except for how a number is written (`5.0` where a whole number is expected), and for tool calls and arguments in
    fields that are not read, which a schema does not see.
    """
    generated = msgspec.json.schema(TraceFields)["$defs"]
    root = _cleaned(generated.pop("TraceFields"))
    definitions = {_NAMES[name]: _cleaned(definition) for name, definition in generated.items()}
    definitions["tool_call"] |= {
        "if": {"properties": {"arguments": {"type": "null"}}},
        "then": {
            "$comment": "Arguments under another name would not be read.",
            "properties": {name: {"type": "null"} for name in _MISNAMED},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:passmuster:trace:1",
        "title": "Trace",
        **root,
        "properties": {"type": False, **root["properties"]},
        "anyOf": [
            {"required": ["steps"], "properties": {"steps": {"type": "array"}}},
            {"required": ["answer"], "properties": {"answer": {"type": "string"}}},
        ],
        "$defs": definitions,
    }


def _cleaned(node: Any) -> Any:
    """A generated schema without class names and defaults of null, and with types in one list where they can be."""
    if isinstance(node, list):
        return [_cleaned(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": f"#/$defs/{_NAMES[node['$ref'].rpartition('/')[2]]}"}
    kept = {
        key: _cleaned(value)
        for key, value in node.items()
        if key not in ("title", "discriminator") and not (key == "additionalProperties" and value is False)
    }
    if "description" in kept:
        kept["description"] = " ".join(kept["description"].split())
    choices = kept.get("anyOf", ())
    if choices and all(one.keys() <= {"type", "minimum"} for one in choices):
        del kept["anyOf"]
        kept |= {key: value for one in choices for key, value in one.items()}
        kept["type"] = [one["type"] for one in choices]
    return {key: value for key, value in kept.items() if value not in (None, [])}
