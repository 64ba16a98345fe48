"""JSON Schemas of the files that passmuster reads and writes."""

from __future__ import annotations

from typing import Any, Literal

SchemaOf = Literal["suite", "trace", "report"]


def json_schema(of: SchemaOf) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a suite, of a trace in the native form, or of the JSON report."""
    match of:
        case "suite":
            from passmuster.checks import KINDS, BuiltInKind
            from passmuster.engine import vocabulary
            from passmuster.reports import FORMATS
            from passmuster.suite import suite_schema

            return suite_schema(vocabulary(FORMATS), {name: BuiltInKind(name) for name in KINDS})
        case "trace":
            from passmuster.traces import trace_schema

            return trace_schema()
        case "report":
            from passmuster.reports import report_schema

            return report_schema()
