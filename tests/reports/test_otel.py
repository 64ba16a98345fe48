"""The OpenTelemetry report: OTLP that protobuf takes, and events that lead to the traces they are about."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from tests.reports.report_factory import report, rich_report, scenario, test_report, too_much

from passmuster.reports.formats import otel
from passmuster.scoring import Report
from passmuster.scoring._report import Attempt, GroupReport, Metric

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def records(made: Report) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each log record, and its attributes as a map."""
    logs = json.loads(otel.write(made))["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    return [(one, {a["key"]: next(iter(a["value"].values())) for a in one["attributes"]}) for one in logs]


def test_it_is_otlp() -> None:
    data = json.loads(otel.write(rich_report()))
    parsed = json_format.ParseDict(data, LogsData())
    assert len(parsed.resource_logs[0].scope_logs[0].log_records) == len(records(rich_report()))
    assert {one["eventName"] for one, _ in records(rich_report())} == {"gen_ai.evaluation.result"}


def test_the_gate_comes_first_and_says_why() -> None:
    first, attributes = records(report(test_report(too_much())))[0]
    assert attributes["gen_ai.evaluation.name"] == "passmuster.gate"
    assert attributes["gen_ai.evaluation.score.label"] == "fail"
    assert attributes["gen_ai.evaluation.explanation"] == "1 violations on 1 traces"
    assert first["severityText"] == "ERROR"


def test_a_result_about_a_trace_carries_its_id() -> None:
    attempts = [Attempt(TRACE, "pass", 1.0), Attempt("t-2", "fail", 0.0, "no refund")]
    made = report(test_report(too_much(trace_id=TRACE)), scenarios=[scenario(attempts=attempts)])
    about = [(one.get("traceId"), found.get("passmuster.trace_id")) for one, found in records(made)]
    assert (TRACE, TRACE) in about
    assert (None, "t-2") in about
    last, found = records(made)[-1]
    assert found["gen_ai.evaluation.score.value"] == 0.0
    assert found["gen_ai.evaluation.explanation"] == "no refund"
    assert last["severityNumber"] == 17


def test_metrics_are_values_without_a_label() -> None:
    (rate,) = [found for _, found in records(report()) if found["passmuster.kind"] == "metric"]
    assert rate["gen_ai.evaluation.name"] == "pass_rate"
    assert rate["gen_ai.evaluation.score.value"] == 0.9
    assert "gen_ai.evaluation.score.label" not in rate


def test_groups_have_metrics_of_their_own() -> None:
    group = GroupReport({"agent.version": "2.1"}, 10, 1, {"violation_rate": Metric(0.1, 10)}, {})
    (found,) = [found for _, found in records(report(groups=[group])) if found["passmuster.kind"] == "group"]
    assert found["gen_ai.evaluation.name"] == "violation_rate"
    assert found["passmuster.group.agent.version"] == "2.1"
