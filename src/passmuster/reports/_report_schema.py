"""The JSON Schema of the JSON report, from the structs that it is written from."""

from __future__ import annotations

from typing import Any

from passmuster.scoring import Report

_UNWRITTEN = {"Report": ("root",), "ScenarioReport": ("secrets",), "Violation": ("has_value",)}
"""Fields that the JSON report leaves out."""


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report."""
    import msgspec  # late: only the schema command needs it

    schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Report)))
    definitions: dict[str, Any] = schema["$defs"]
    for name, fields in _UNWRITTEN.items():
        for field in fields:
            del definitions[name]["properties"][field]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "passmuster report",
        "description": "One suite's verdict with its reasons, as `--report json=PATH` writes it.",
        **schema,
    }
