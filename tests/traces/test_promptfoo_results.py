"""Results of promptfoo: a trace per result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import passmuster


def result(output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "r-1",
        "promptIdx": 0,
        "testIdx": 0,
        "prompt": {"raw": "Where is order 7?", "label": "{{question}}"},
        "response": {"output": output, "tokenUsage": {"total": 15, "prompt": 10, "completion": 5}},
        "latencyMs": 900,
        "cost": 0.02,
        "success": True,
        **fields,
    }


def evaluation(*results: Any) -> dict[str, Any]:
    return {"evalId": "eval-1", "results": {"version": 3, "results": list(results)}, "config": {}}


def read(folder: Path, *records: Any, ending: str = "json") -> list[passmuster.Trace]:
    path = folder / f"results.{ending}"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return list(passmuster.read_traces(path))


def test_an_evaluation_has_a_trace_per_result(tmp_path: Path) -> None:
    first, second = read(tmp_path, evaluation(result("It was shipped."), result({"status": "shipped"})))
    assert (first.query, first.answer, first.trace_id) == ("Where is order 7?", "It was shipped.", "r-1")
    assert (first.total_duration_ms, first.total_cost_usd) == (900, 0.02)
    assert second.answer == '{"status": "shipped"}'


def test_what_an_agent_did_for_its_answer_is_unknown(tmp_path: Path) -> None:
    (trace,) = read(tmp_path, evaluation(result("Done.")))
    suite = passmuster.suite_from_dict({"tests": [{"id": "t", "metric": "tool_blocklist", "blocklist": ["x"]}]})
    assert trace.calls_unknown
    assert passmuster.evaluate(suite, [trace]).verdict != "pass"


def test_an_output_of_calls_is_those_calls(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}
    (trace,) = read(tmp_path, result([call]), ending="jsonl")
    assert [(one.tool, one.arguments) for one in trace.tool_calls] == [("find", {"id": 7})]
    assert not trace.calls_unknown


def test_an_error_is_a_failure_of_the_agent(tmp_path: Path) -> None:
    failed = result(None, response={"error": "429 rate limit"})
    (trace,) = read(tmp_path, evaluation(failed))
    assert trace.error is not None
    assert trace.error.message == "429 rate limit"


def test_results_that_are_no_list_are_refused(tmp_path: Path) -> None:
    with pytest.raises(passmuster.TraceError, match="'results' are no list of objects"):
        read(tmp_path, evaluation("none"))
