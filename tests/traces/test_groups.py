"""Only adjacent calls form a group."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import judge_one, rules, trace

from passmuster import read_traces
from passmuster.traces import positions_of, total_duration_ms

A: dict[str, Any] = {"type": "tool_call", "tool": "a", "id": "a1", "group": 1, "duration_ms": 30}
B: dict[str, Any] = {"type": "tool_call", "tool": "b", "id": "b1", "group": 1, "duration_ms": 20}
MODEL: dict[str, Any] = {"type": "llm_call", "id": "m1", "duration_ms": 5}


@pytest.mark.parametrize(
    ("steps", "positions", "duration"),
    [
        ([A, B], [0, 0], 30),
        ([MODEL, A, B, MODEL], [0, 0], 40),
        ([A, MODEL, B], [0, 1], 55),
        ([A, {"type": "message", "role": "user", "content": "and now?"}, B], [0, 1], 50),
        ([A, {"type": "message", "role": "assistant", "content": "one moment"}, B], [0, 1], 50),
        ([A, {"type": "handoff", "from": "x", "to": "y"}, B], [0, 1], 50),
        ([A, {**A, "group": 2}, B], [0, 1, 2], 80),
        ([A, {**A, "group": None}, B], [0, 1, 2], 80),
        ([A, {**MODEL, "parent": "a1"}, B], [0, 0], 35),
        ([A, {**MODEL, "parent": "a1"}, {**MODEL, "id": "m2", "parent": "m1"}, B], [0, 0], 40),
        ([A, {**MODEL, "parent": "z9"}, B], [0, 1], 55),
        ([A, B, MODEL, A, B], [0, 0, 1, 1], 65),
        ([{**A, "group": 0}, {**B, "group": 0}], [0, 0], 30),
    ],
)
def test_what_stands_between_two_calls_parts_them(
    tmp_path: Any, steps: list[dict[str, Any]], positions: list[int], duration: float
) -> None:
    import json

    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"trace_id": "t", "steps": steps}) + "\n")
    (read,) = read_traces(path)
    assert positions_of(read) == positions
    assert total_duration_ms(read) == duration


def test_a_call_of_a_later_turn_is_after_one_with_the_same_group() -> None:
    rule = {"type": "never_after", "trigger": "a", "forbidden": "b"}
    assert judge_one(rules(rule), trace([A, MODEL, B])).status == "fail"
    assert judge_one(rules(rule), trace([A, B])).status == "pass"
