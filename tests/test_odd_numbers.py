"""Numbers and depths at the edge of what can be computed: a refusal or a result, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner, Result

import passmuster
from passmuster.cli import command

HUGE = 10**400
LIMITS = {"max_total_tokens": 5, "max_llm_calls": 5, "max_latency_ms": 5, "max_cost_usd": 5}
SUITE: dict[str, Any] = {"scenarios": [{"id": "A", "cost": LIMITS, "correctness": {"expected_in_answer": "x"}}]}


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(suite: dict[str, Any], *traces: object) -> Result:
    Path("passmuster.json").write_text(json.dumps(suite))
    Path("t.jsonl").write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in traces))
    found = CliRunner().invoke(command, ["run", "--traces", "t.jsonl", "--no-history", "--report", "json=r.json"])
    assert "Traceback" not in found.output
    assert "unexpected failure" not in found.output
    return found


@pytest.mark.parametrize("number", [HUGE, 2**63, 2**64, 10**4000])
@pytest.mark.parametrize("field", ["total_tokens", "total_llm_calls", "tokens_in", "tokens_out"])
def test_a_count_that_no_program_counts_to_is_refused(field: str, number: int) -> None:
    step = {"type": "llm_call", "tokens_in": 1, "tokens_out": 1}
    fields = {field: number} if field.startswith("total") else {"steps": [{**step, field: number}]}
    found = run(SUITE, {"scenario": "A", "answer": "x", **fields})
    assert (found.exit_code, "t.jsonl:1" in found.stderr) == (2, True), found.output


@pytest.mark.parametrize("field", ["total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd"])
@pytest.mark.parametrize("number", [2**63 - 1, 1.7e308, 5e-324])
def test_large_figures_are_counted(field: str, number: float) -> None:
    if field in ("total_tokens", "total_llm_calls") and isinstance(number, float):
        number = 2**62
    traces = [{"scenario": "A", "answer": "x", field: number} for _ in range(3)]
    assert run(SUITE, *traces).exit_code in (0, 1)


@pytest.mark.parametrize("field", ["total_tokens", "total_llm_calls"])
def test_a_trace_made_in_python_may_state_any_number(field: str) -> None:
    suite = passmuster.suite_from_dict(SUITE)
    stated: dict[str, Any] = {field: HUGE}
    report = passmuster.evaluate(suite, [passmuster.Trace(scenario="A", answer="x", **stated)])
    assert report.exit_code in (0, 1)


@pytest.mark.parametrize("depth", [100, 254, 255, 256, 400, 1000, 5000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("kind", ["json_schema", "args_valid", "label"])
def test_depth_costs_no_other_result(depth: int, brackets: str, kind: str) -> None:
    opening = "[" if brackets == "[]" else '{"a":'
    nested = opening * depth + "1" + brackets[1] * depth
    suite = {
        "tests": [
            {"id": "args", "metric": "args_valid", "tool": "t", "constraints": {"x": {"type": "string"}}},
            {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["t"]},
        ],
        "scenarios": [{"id": "A", "correctness": {"json_schema": {"type": "object", "required": ["q"]}}}],
    }
    answer = json.dumps(nested) if kind == "json_schema" else '"no"'
    arguments = f'{{"x": {nested}}}' if kind == "args_valid" else "{}"
    steps = f'[{{"type": "tool_call", "tool": "t", "arguments": {arguments}}}]'
    found = run(suite, f'{{"scenario": "A", "answer": {answer}, "steps": {steps}}}\n')
    assert found.exit_code in (1, 2)
    if found.exit_code == 1:
        tests = {test["id"]: test for test in json.loads(Path("r.json").read_text())["tests"]}
        assert tests["blocked"]["status"] == "fail"
        assert "Traceback" not in json.dumps(tests)


WEIGHTS = [(1e16, 1), (1e100, 1e-100), (1e100, 1e100), (5e-324, 1), (5e-324, 5e-324), (0, 1), (1, 0), (1e-9, 1e100)]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("runs", [(1, 1), (2, 1), (3, 3), (1, 4)])
@pytest.mark.parametrize("passed", [True, False])
def test_weights_may_lie_far_apart(weights: tuple[float, float], runs: tuple[int, int], passed: bool) -> None:
    scenarios = [
        {"id": name, "category": name, "capability": name, "weight": weight, "correctness": {"expected_in_answer": "x"}}
        for name, weight in zip("AB", weights, strict=True)
    ]
    by_name = dict(zip("AB", weights, strict=True))
    suite = {
        "scenarios": scenarios,
        "weights": {"by_category": by_name, "by_capability": by_name, "metrics": {"pass_rate": weights[1] or 1}},
        "thresholds": {"blocking": {"weighted_pass_rate": {"min": "10%", "confidence": "95%"}}},
        "pass_criteria": {"overall": "10%"},
    }
    traces = [
        {"scenario": name, "answer": "x" if passed or place else "no"}
        for name, count in zip("AB", runs, strict=True)
        for place in range(count)
    ]
    assert run(suite, *traces).exit_code in (0, 1)


@pytest.mark.parametrize("weight", [1e101, 1e308, HUGE, -1, 10**1000])
def test_a_weight_beyond_what_can_be_multiplied_is_refused(weight: float) -> None:
    scenario = {"id": "A", "weight": weight, "correctness": {"expected_in_answer": "x"}}
    found = run({"scenarios": [scenario]}, {"scenario": "A", "answer": "x"})
    assert (found.exit_code, "passmuster.json:1" in found.stderr) == (2, True), found.output
