"""What a page says about moved thresholds is what a run with the moved thresholds says."""

from __future__ import annotations

import copy
import datetime
import json
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passmuster.engine import evaluate_for_page, evaluate_sources, load_suite
from passmuster.scoring import Settings, WhatIf, verdict_with
from passmuster.scoring._evidence import MovableBound
from passmuster.traces import Source

CATEGORIES = ("adversarial", "billing", None)
RATES = st.integers(1, 99).map(lambda share: f"{share}%") | st.just("100%") | st.just("66.67%")
RATE_BOUNDS = RATES | st.builds(
    lambda share, blocks: {"min": f"{share}%", "confidence": "90%", **({"undecided": "block"} if blocks else {})},
    st.integers(1, 99),
    st.booleans(),
)
LATENCIES = st.integers(1, 3000).map(lambda number: f"< {number}ms") | st.integers(1, 3000)
METRICS = {"pass_rate": RATE_BOUNDS, "accuracy": RATES, "safety_rate": RATES, "latency_p95": LATENCIES}
BOUNDS = st.fixed_dictionaries({}, optional=METRICS).filter(bool)


@st.composite
def runs(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]], bool]:
    """A suite, its traces and whether the run is strict."""
    number = draw(st.integers(1, 6))
    scenarios, traces = [], []
    for at in range(number):
        id_ = f"S{at}"
        category = draw(st.sampled_from(CATEGORIES))
        scenario: dict[str, Any] = {"id": id_, "correctness": {"expected_in_answer": ["ok"]}}
        scenarios.append(scenario | ({"category": category} if category else {}))
        for run in range(draw(st.integers(0, 3))):
            answer = draw(st.sampled_from(["ok", "ok", "no"]))
            trace: dict[str, Any] = {"trace_id": f"{id_}-{run}", "scenario": id_, "answer": answer, "steps": []}
            trace["total_duration_ms"] = draw(st.integers(1, 3000))
            if draw(st.integers(0, 9)) == 0:
                trace["error"] = {"kind": "infra", "message": "down"}
            traces.append(trace)
    suite: dict[str, Any] = {"suite": "s", "scenarios": scenarios}
    thresholds: dict[str, Any] = draw(st.fixed_dictionaries({}, optional={"blocking": BOUNDS, "warning": BOUNDS}))
    if draw(st.booleans()):
        thresholds["risk"] = {draw(st.sampled_from(["critical", "low"])): draw(BOUNDS)}
    if draw(st.booleans()):
        thresholds["progressive"] = {"pass_rate": {"1.0": draw(RATES), "2.0": draw(RATES)}}
        suite["agent"] = {"name": "a", "version": draw(st.sampled_from(["0.9", "1.5", "2.0"]))}
    if thresholds:
        suite["thresholds"] = thresholds
    if draw(st.booleans()):
        suite["pass_criteria"] = {"overall": draw(RATES)}
    if any(one.get("category") == "billing" for one in scenarios) and draw(st.booleans()):
        suite.setdefault("pass_criteria", {})["by_category"] = {"billing": draw(RATES)}
    if draw(st.integers(0, 3)) == 0:
        suite["required_scenarios"] = ["S0"]
    elif draw(st.integers(0, 3)) == 0:
        suite["optional_scenarios"] = ["S0"]
    if draw(st.integers(0, 3)) == 0:
        suite["weights"] = {"by_category": {"billing": 2}} if "billing" in str(scenarios) else {}
        if not suite["weights"]:
            del suite["weights"]
    if draw(st.integers(0, 3)) == 0:
        suite["composite"] = {"pass": draw(st.sampled_from(["pass_rate >= 0.5", "accuracy > 0.9 OR pass_rate = 1"]))}
    if draw(st.integers(0, 3)) == 0:
        suite["repeat_policy"] = draw(st.sampled_from(["any", "majority", 0.5]))
    if draw(st.integers(0, 3)) == 0:
        suite["tests"] = [{"id": "t", "metric": "tool_blocklist", "blocklist": ["x"], "severity": "warn"}]
    return suite, traces or [{"answer": "ok", "steps": []}], draw(st.booleans())


def asked(strict: bool) -> Settings:
    return Settings(today=datetime.date(2026, 1, 1), strict=strict)


def written(line: MovableBound, value: float) -> str:
    """The number as the page writes it."""
    text = f"{value * line.scale:.6f}".rstrip("0").rstrip(".")
    return f"{text}{line.unit}"


def moved(suite: dict[str, Any], found: WhatIf, values: list[float]) -> dict[str, Any]:
    """The suite with the YAML that the page offers put in."""
    other = copy.deepcopy(suite)
    for line, value in zip(found.lines, values, strict=True):
        if value != line.value:
            place = other
            for key in line.path[:-1]:
                place = place[key]
            place[line.path[-1]] = yaml.safe_load(line.template.replace("VALUE", written(line, value)))
    return other


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs(), st.data())
def test_the_page_says_what_a_run_with_the_copied_yaml_says(
    made: tuple[dict[str, Any], list[dict[str, Any]], bool], data: st.DataObject
) -> None:
    suite, traces, strict = made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in traces))
        file = Path(folder) / "passmuster.json"
        file.write_text(json.dumps(suite))
        source = Source(str(path), "t.jsonl")
        gathered = evaluate_for_page(load_suite(file), [source], asked(strict))
        found = gathered.what_if
        if not any(key in suite for key in ("thresholds", "pass_criteria", "composite")):
            assert found is None
            return
        assert found is not None, "the model of the gate differs from the gate"
        for _ in range(3):
            values = [data.draw(_value(line)) for line in found.lines]
            file.write_text(json.dumps(moved(suite, found, values)))
            report = evaluate_sources(load_suite(file), [source], asked(strict))
            assert verdict_with(found, values) == report.verdict


def _value(line: MovableBound) -> st.SearchStrategy[float]:
    """A place of the slider, often one next to where the line changes."""
    steps = round((line.most - line.least) / line.step)
    anywhere = st.integers(0, max(0, steps)).map(lambda step: round(line.least + step * line.step, 9))
    near = [
        round(place, 9)
        for one in line.segments
        if one.upto is not None
        for offset in (-1, 0, 1)
        if line.least <= (place := round((one.upto / line.step) + offset) * line.step) <= line.most
    ]
    return st.one_of(anywhere, st.just(line.value), *([st.sampled_from(near)] if near else []))


def test_a_bound_that_cannot_be_moved_says_why(tmp_path: Path) -> None:
    suite = {
        "scenarios": [{"id": "S", "correctness": {"expected_in_answer": ["ok"]}}],
        "thresholds": {"blocking": {"normalized_latency": 90, "latency_p95": "< 5s", "pass_rate": "= 100%"}},
    }
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    (tmp_path / "t.jsonl").write_text('{"scenario": "S", "answer": "ok", "steps": [], "total_duration_ms": 10}\n')
    source = Source(str(tmp_path / "t.jsonl"), "t.jsonl")
    found = evaluate_for_page(load_suite(tmp_path / "passmuster.json"), [source], asked(False)).what_if
    assert found is not None
    assert [line.path for line in found.lines] == [("thresholds", "blocking", "normalized_latency")]
    assert found.fixed == [
        "thresholds.blocking.latency_p95 (normalized_latency takes its budget from it)",
        "thresholds.blocking.pass_rate (it asks for one value)",
    ]
