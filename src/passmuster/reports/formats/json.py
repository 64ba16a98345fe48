"""The JSON report: every field of the verdict, in a fixed order of keys."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from passmuster.checks import Behaviors, CheckReport, LayerReport, Violation
from passmuster.scoring import Attempt, GateLine, GroupReport, Metric, Report, ScenarioReport, TestReport

FILE_NAME = "report.json"
DESCRIPTION = "For programs: every field of the report."

_SOMETIMES = ("root", "evidence", "groups", "sample", "early_stop")
_ALWAYS: dict[type[Struct], tuple[str, ...]] = {
    Report: tuple(name for name in Report.__struct_fields__ if name not in _SOMETIMES),
    GateLine: ("kind", "id", "level", "status", "actual", "expected", "message", "tolerated_by", "file", "line"),
    TestReport: tuple(name for name in TestReport.__struct_fields__ if name != "outside_error"),
    Metric: ("value", "n", "ci95"),
    GroupReport: GroupReport.__struct_fields__[:5],
    ScenarioReport: ScenarioReport.__struct_fields__[:11],
    Attempt: ("trace_id", "status", "score"),
    LayerReport: ("status", "checks"),
    CheckReport: CheckReport.__struct_fields__,
    Behaviors: Behaviors.__struct_fields__,
}
"""Fields that are written whatever they hold, first and in this order. Others follow if they hold something."""
_UNWRITTEN = ("root", "secrets", "has_value", "evidence")


def write(report: Report) -> bytes:
    """The report as indented JSON."""
    return encoded(replace(report, duration_ms=round(report.duration_ms, 3)))


def document(report: Report) -> dict[str, Any]:
    """The report as plain data, as it is written."""
    written: dict[str, Any] = plain(replace(report, duration_ms=round(report.duration_ms, 3)))
    return written


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report, from the structs that it is written from."""
    schema = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Report)))
    for definition in schema["$defs"].values():
        for name in _UNWRITTEN:
            definition.get("properties", {}).pop(name, None)
    schema["$defs"] = _referred(schema["$ref"], schema["$defs"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "passmuster report",
        "description": "One suite's verdict with its reasons, as `--report json=PATH` writes it.",
        **schema,
    }


def _referred(first: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a schema leads to, in their order."""
    waiting, met = [first], set[str]()
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in met:
            met.add(name)
            waiting += re.findall(r"#/\$defs/[^\"]+", msgspec.json.encode(definitions[name]).decode())
    return {name: definition for name, definition in definitions.items() if name in met}


def encoded(value: Any) -> bytes:
    """A value as indented JSON that any strict reader takes, UTF-8, with a newline at its end.

    `##` is written with an escape, which reads the same: in a build log, where the report may be printed,
    `##[…]` and `##vso[…]` are commands.
    """
    data = msgspec.json.format(msgspec.json.encode(plain(value)), indent=2)
    return data.replace(b"##", b"#\\u0023") + b"\n"


def _fields(struct: Struct) -> Iterator[tuple[str, Any]]:
    """The fields of a struct that are written. The `value` of a violation may be null if it has one."""
    fields = asdict(struct)
    always = _ALWAYS.get(type(struct), ())
    if isinstance(struct, Violation):
        always = ("value",) if struct.has_value else ()
        fields = {name: value for name, value in fields.items() if name != "value" or struct.has_value}
    elif isinstance(struct, ScenarioReport):
        fields["reasons"] = struct.behaviors.reasons
    nothing: tuple[Any, ...] = (None, [], {}, ()) if type(struct) in _ALWAYS else (None,)
    first = always if len(always) > 1 else ()
    for name in (*first, *(name for name in fields if name not in first)):
        if name in always or (name not in _UNWRITTEN and fields[name] not in nothing):
            yield name, fields[name]


def plain(value: Any) -> Any:
    """The value in what JSON can say: no infinities, no lone surrogates, text for everything foreign."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        # msgspec writes 64-bit numbers only.
        return value if abs(value) < 2**63 else msgspec.Raw(str(value).encode())
    if isinstance(value, float):
        return value if math.isfinite(value) else _text(str(value).replace("inf", "Infinity").replace("nan", "NaN"))
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Struct):
        return {name: plain(inner) for name, inner in _fields(value)}
    return _text(str(value))


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
