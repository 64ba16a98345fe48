"""However the traces are split, and in whatever order the parts come together, the report is the same."""

from __future__ import annotations

import copy
import datetime
import io
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checks.building import call, trace, write
from tests.scoring.gated_suites import gated_suites, runs

import passmuster
from passmuster.engine._plan import Plan
from passmuster.engine.executors._messages import WorkerTally, receive_answer, send
from passmuster.reports.formats import json as json_report
from passmuster.scoring import _scenario_tally as scenario_tally
from passmuster.scoring import _tally as tallying
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import Tally, merge
from passmuster.scoring._verdict import conclude
from passmuster.traces._locate import lines_of

TODAY = datetime.date(2026, 6, 1)
METRIC = """\
import passmuster

@passmuster.metric("share")
def share(trace, config):
    names = [call.tool for call in trace.tool_calls]
    if "c" in names and "d" in names:
        raise RuntimeError(f"cannot say anything of {names}")
    kinds = [names[:2], len(names), len(names) / 7, {name: 0.1 for name in names}]
    found = [n + 1 for n, name in enumerate(names) if name == "b"]
    return passmuster.MetricResult(
        violations=[{"message": "b", "call_index": n, "value": names} for n in found],
        score=len(set(names)) / 4,
        stats={"sum": len(names) / 3, "varied": kinds[len(names) % 4], "by": dict.fromkeys(names, 1)},
    )
"""
SUITE: dict[str, Any] = {
    "plugins": ["shares"],
    "scenarios": [{"id": "S-1", "query": "one"}, {"id": "S-2", "query": "two"}, {"id": "S-3", "query": "two"}],
    "waivers": [{"test": "blocked", "tool": "a", "reason": "known", "expires": "2026-12-31"}],
    "tests": [
        {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["a", "b"]},
        {"id": "limits", "metric": "args_valid", "tool": "a", "constraints": {"x": {"max": 3, "required": True}}},
        {
            "id": "order",
            "metric": "sequence_valid",
            "rules": [
                {"type": "before", "first": "a", "then": "b"},
                {"type": "after", "trigger": "c", "then": "d", "within": 1},
                {"type": "count", "tool": ["a", "b"], "max": 1},
            ],
        },
        {"id": "shares", "metric": "share"},
        {"id": "named", "metric": "tool_blocklist", "blocklist": ["c"], "scenarios": ["S-1"], "severity": "warn"},
    ],
}

recorded = st.lists(
    st.builds(
        lambda names, arguments, origin, error: trace([call(name, arguments) for name in names], error=error, **origin),
        st.lists(st.sampled_from("abcd"), max_size=5),
        st.sampled_from([{}, {"x": 2}, {"x": 9, "note": "é" * 3}]),
        st.sampled_from(
            [{}, {"scenario": "S-1"}, {"query": "two"}, {"scenario": "S-9"}, {"scenario": "S-8"}, {"trace_id": "same"}]
        ),
        st.sampled_from([None, None, None, "gave up", {"kind": "infra", "message": "down"}]),
    ),
    min_size=1,
    max_size=25,
)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    path, _ = write(tmp_path_factory.mktemp("suite"), SUITE, shares__py=METRIC)
    return Plan(passmuster.load_suite(path), TODAY)


def reported(plan: Plan, tally: Tally) -> str:
    """The JSON report without its durations."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: None if key == "duration_ms" else timeless(inner) for key, inner in value.items()}
        return [timeless(inner) for inner in value] if isinstance(value, list) else value

    lines = lines_of(tally.spots(), tally.part_lines())
    written = json_report.write(conclude(plan.suite, tally, Settings(today=TODAY), lines))
    return json.dumps(timeless(json.loads(written)), indent=1)


def travelled(tally: Tally) -> Tally:
    """The tally as it arrives from a worker."""
    pipe = io.BytesIO()
    send(pipe, WorkerTally(tally))
    pipe.seek(0)
    answer = receive_answer(pipe)
    assert isinstance(answer, WorkerTally)
    return answer.tally


def merged_in_some_order(parts: list[Tally], order: Random) -> Tally:
    """Merged pair by pair: any two at a time, either into the other."""
    parts = list(parts)
    while len(parts) > 1:
        order.shuffle(parts)
        one, other = parts.pop(), parts.pop()
        parts.append(merge([one, other]))
    return parts[0]


@pytest.mark.parametrize("kept", [3, 5_000], ids=["more violations than are kept", "all are kept"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(traces=recorded, parts=st.integers(1, 3), order=st.integers(0, 2**32).map(Random))
def test_any_split_and_any_order_give_the_same_report(
    plan: Plan, kept: int, traces: list[dict[str, Any]], parts: int, order: Random
) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallying, "KEPT", kept)
        patch.setattr(scenario_tally, "RUNS", kept)
        patch.setattr(tallying, "_REPEATED", kept)
        _, source = write(Path(place), SUITE, traces)
        read = list(passmuster.read_traces(source))
        whole = plan.tally()
        for one in read:
            whole.add(plan.evaluate(one))
        expected = reported(plan, whole)

        order.shuffle(read)
        tallies = [plan.tally() for _ in range(parts)]
        for one in read:
            order.choice(tallies).add(plan.evaluate(one))
        assert reported(plan, merged_in_some_order([travelled(part) for part in tallies], order)) == expected
        assert reported(plan, merged_in_some_order(tallies, order)) == expected


CLASSIFIED = {
    "scenarios": [
        {"id": "L-1", "label": "spam", "category": "adversarial", "repeat_policy": "majority"},
        {"id": "L-2", "label": "ham", "weight": 2},
    ],
    "classification": {"positive": "spam", "from": {"words": ["spam", "ham"]}},
}
labelled = st.lists(
    st.fixed_dictionaries(
        {
            "scenario": st.sampled_from(["L-1", "L-2"]),
            "answer": st.sampled_from(["spam", "ham", "spam or ham", None]),
            "steps": st.just([]),
        },
        optional={
            "total_tokens": st.sampled_from([0, 7, 10**18, 2**63 - 1]),
            "total_cost_usd": st.sampled_from([0.1, 0.2, 1e-300, 1e308]),
            "total_duration_ms": st.sampled_from([0.1, 3, 1e308]),
            "agent": st.sampled_from([{"version": "1"}, {"version": "2"}]),
        },
    ),
    max_size=12,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    suite=gated_suites(), traces=runs(), more=labelled, parts=st.integers(1, 4), order=st.integers(0, 2**32).map(Random)
)
def test_any_split_gives_the_same_verdict_on_scenarios_behaviors_labels_and_metrics(
    suite: dict[str, Any], traces: list[dict[str, Any]], more: list[dict[str, Any]], parts: int, order: Random
) -> None:
    asked = {**suite, "scenarios": [*suite["scenarios"], *CLASSIFIED["scenarios"]]}
    asked["classification"] = CLASSIFIED["classification"]
    asked["latency_budget_ms"] = 5
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenario_tally, "RUNS", 2)
        path, source = write(Path(place), asked, [*traces, *more])
        plan = Plan(passmuster.load_suite(path, root=place), TODAY)
        read = list(passmuster.read_traces(source))
        whole = plan.tally()
        for one in read:
            whole.add(plan.evaluate(one))
        expected = reported(plan, whole)
        order.shuffle(read)
        tallies = [plan.tally() for _ in range(parts)]
        for one in read:
            order.choice(tallies).add(plan.evaluate(one))
        assert reported(plan, merged_in_some_order([travelled(part) for part in tallies], order)) == expected


@settings(max_examples=60, deadline=None)
@given(traces=recorded, order=st.integers(0, 2**32).map(Random))
def test_merging_is_associative_and_commutative(plan: Plan, traces: list[dict[str, Any]], order: Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        _, source = write(Path(place), SUITE, traces)
        parts = [plan.tally() for _ in range(3)]
        for one in passmuster.read_traces(source):
            order.choice(parts).add(plan.evaluate(one))

    def together(*tallies: Tally) -> Tally:
        return merge([copy.deepcopy(one) for one in tallies])

    a, b, c = parts
    assert reported(plan, together(together(a, b), c)) == reported(plan, together(a, together(b, c)))
    assert reported(plan, together(a, b, c)) == reported(plan, together(c, a, b))
    assert reported(plan, together(a, plan.tally())) == reported(plan, together(plan.tally(), a))


def test_the_first_violations_are_kept_and_all_are_counted(plan: Plan, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tallying, "KEPT", 10)
        _, source = write(tmp_path, SUITE, [trace("b b", trace_id=f"t-{n}") for n in range(100)])
        read = list(passmuster.read_traces(source))
        for order in (read, read[::-1], read[50:] + read[:50]):
            tally = plan.tally()
            for one in order:
                tally.add(plan.evaluate(one))
            test = conclude(plan.suite, tally, Settings(today=TODAY), lines_of(tally.spots())).tests[0]
            assert test.violation_count == 100
            assert [found.trace_line for found in test.violations] == list(range(1, 11))


def test_what_is_kept_of_a_large_violation_is_small(plan: Plan, tmp_path: Path) -> None:
    name, value = "b" + "x" * 100_000, {"x": ["y" * 20_000] * 200}
    suite = {"tests": [{"id": "t", "metric": "args_valid", "tool": "b*", "constraints": {"x": {"type": "string"}}}]}
    path, source = write(tmp_path, suite, [trace([call(name, value)], trace_id="z" * 100_000)])
    plan = Plan(passmuster.load_suite(path), TODAY)
    tally = plan.tally()
    for one in passmuster.read_traces(source):
        tally.add(plan.evaluate(one))
    (found,) = tally.tests[0].found
    sizes = {field: len(str(getattr(found.violation, field))) for field in found.violation.__struct_fields__}
    assert {field: size for field, size in sizes.items() if field != "value" and size > 20_000} == {}
    assert sizes["value"] < 2_000_000
