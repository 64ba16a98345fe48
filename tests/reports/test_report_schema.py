"""The JSON Schema of the report, and that reports can be read back."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from tests.checks.building import judge, trace
from tests.reports.report_factory import report, rich_report

from passmuster.reports import report_schema
from passmuster.reports.formats import json as json_report
from passmuster.scoring import Report

SCENARIO = {
    "id": "S",
    "correctness": {"expected_in_answer": "yes"},
    "path": {"expected_calls": ["pay"], "max_loops": 0},
    "expected_behaviors": [{"tool_called": "mail"}],
    "must_not": [{"answer_contains": "no"}],
}


def layered() -> Report:
    runs = [trace("look look", scenario="S", answer="no"), trace("pay mail", scenario="S", answer="yes")]
    return judge({"scenarios": [SCENARIO], "thresholds": {"blocking": {"pass_rate": ">= 90%"}}}, runs)


@pytest.mark.parametrize("made", [report(), rich_report(), layered()], ids=["plain", "rich", "layered"])
def test_a_report_conforms_and_is_read_back(made: Report) -> None:
    written = json_report.write(made)
    schema = report_schema()
    jsonschema_rs.meta.validate(schema)
    jsonschema_rs.validator_for(schema).validate(json.loads(written))
    read = msgspec.json.decode(written, type=Report)
    assert without_values(json.loads(json_report.write(read))) == without_values(json.loads(written))


def without_values(found: Any) -> Any:
    """Without the values of violations: whether there is one is not read back."""
    if isinstance(found, dict):
        return {key: without_values(inner) for key, inner in found.items() if key != "value" or "n" in found}
    return [without_values(inner) for inner in found] if isinstance(found, list) else found


def test_what_no_report_holds_is_not_described() -> None:
    text = json.dumps(report_schema())
    assert "has_value" not in text
    assert "secrets" not in text


def test_an_old_report_is_still_read() -> None:
    """As an earlier version wrote it: without lines and violations of layers."""
    old = json.loads(json_report.write(layered()))
    for layer in old["scenarios"][0]["layers"].values():
        for check in layer["checks"]:
            del check["line"], check["violations"]
    del old["scenarios"][0]["behaviors"]["checks"]
    assert msgspec.convert(old, Report).scenarios[0].layers["path"].checks[0].violations == ()
