"""Unknown is not none: traces that do not record their calls, and calls that do not record their arguments."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import call, judge

SILENT = {"scenario": "A", "answer": "ok"}
"""No `steps` at all: which calls were made is unknown."""
NONE = {**SILENT, "steps": []}
OK = {"correctness": {"expected_in_answer": "ok"}}
PLUGIN = "import passmuster\n\n\n@passmuster.metric('m')\ndef m(trace, config):\n    return passmuster.MetricResult()\n"

ON_CALLS: list[dict[str, Any]] = [
    {"path": {"forbidden_tools": ["pay"]}},
    {"path": {"max_tool_calls": 3}},
    {"path": {"max_loops": 3}},
    {"path": {"expected_tools": []}},
    {"path": {"expected_calls": {"calls": [], "extras": "forbid"}}},
    {"path": {"expected_tool_sequence": []}},
    {"path": {"expected_tool_sequence": [], "match_mode": "superset"}},
    {"must_not": [{"tool_called": "pay"}]},
    {"must_not": [{"tool_called": {"tool": "*", "args": {"amount": {"$gt": 5}}}}]},
    {"must_not": [{"type": "require", "tool": "pay"}]},
    {"expected_behaviors": [{"tool_not_called": "pay"}]},
    {"expected_behaviors": [{"type": "blocklist", "tools": ["pay"]}]},
    {"expected_behaviors": [{"type": "count", "tool": "pay", "max": 1}]},
]


def judged(stated: dict[str, Any], traces: list[dict[str, Any]], **more: Any) -> tuple[str, int]:
    report = judge({"scenarios": [{"id": "A", **stated}], **more}, traces)
    return report.scenarios[0].status, report.exit_code


@pytest.mark.parametrize("beside", [{}, OK])
@pytest.mark.parametrize("stated", ON_CALLS, ids=str)
def test_a_required_scenario_fails_where_calls_are_unknown(stated: dict[str, Any], beside: dict[str, Any]) -> None:
    required = {"required_scenarios": ["A"]}
    assert judged({**stated, **beside}, [SILENT], **required)[1] == 1
    assert judged({**stated, **beside}, [NONE], **required) == ("pass", 0)
    assert judged({**stated, **beside}, [NONE, SILENT], **required)[1] == (
        0 if "path" in stated and "forbidden_tools" not in stated["path"] else 1
    )


@pytest.mark.parametrize("stated", ON_CALLS, ids=str)
def test_any_other_scenario_warns(stated: dict[str, Any]) -> None:
    status, code = judged(stated, [SILENT])
    assert (status, code) == ("skip", 0)
    report = judge({"scenarios": [{"id": "A", **stated, **OK}]}, [SILENT])
    assert report.verdict == "warn"
    assert any("does not record its tool calls" in line.message for line in report.gate)
    assert judge({"scenarios": [{"id": "A", **stated, **OK}]}, [SILENT], strict=True).exit_code == 1


@pytest.mark.parametrize("layer", [{"path": {"max_tool_calls": 3}}, {"path": {"forbidden_tools": ["pay"]}}])
def test_a_layer_that_blocks_fails(layer: dict[str, Any]) -> None:
    assert judged({**layer, **OK}, [SILENT], layers={"path": "block"}) == ("fail", 1)


CALLED = {"steps": [call("pay", {"amount": 1})]}


@pytest.mark.parametrize(
    "test",
    [
        {"metric": "tool_blocklist", "blocklist": ["drop"]},
        {"metric": "sequence_valid", "rules": [{"type": "allowlist", "tools": ["pay"]}]},
        {"metric": "sequence_valid", "rules": [{"type": "require", "tool": "pay"}]},
        {"metric": "args_valid", "tool": "pay", "constraints": {"amount": {"max": 5}}, "strict": True},
    ],
)
def test_tests_skip_such_traces_with_one_line(test: dict[str, Any]) -> None:
    suite = {"tests": [{"id": "t", **test}]}
    silent = [{"answer": "x"}, {"answer": "y"}]
    report = judge(suite, [*silent, CALLED])
    (line,) = (line for line in report.gate if line.status != "pass")
    assert (line.kind, line.level, line.actual) == ("vacuous", "warning", 2)
    assert line.message == f"{test['metric']} was skipped on 2 of 3: the trace does not record its tool calls"
    assert (report.verdict, report.exit_code) == ("warn", 0)
    assert judge(suite, [*silent, CALLED], strict=True).exit_code == 1
    assert judge(suite, silent).verdict == "warn"


def test_a_metric_of_ones_own_sees_such_traces() -> None:
    suite = {"plugins": ["own"], "tests": [{"id": "t", "metric": "m"}]}
    assert judge(suite, [SILENT], files={"own.py": PLUGIN}).verdict == "pass"


def test_event_lines_would_have_shown_calls() -> None:
    events = [
        {"type": "trace", "scenario": "A"},
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": "ok"},
    ]
    stated = {"path": {"forbidden_tools": ["pay"]}}
    assert judged(stated, events, required_scenarios=["A"]) == ("pass", 0)


def test_golden_traces_without_calls_are_no_reference() -> None:
    suite = {"scenarios": [{"id": "A", "path": {"match_mode": "strict"}}]}
    assert judge(suite, [NONE], baseline=[SILENT]).scenarios[0].status == "skip"
    assert judge(suite, [NONE], baseline=[NONE]).scenarios[0].status == "pass"


# ── Arguments ───────────────────────────────────────────────────────────────────────────────────────────────

LARGE = {"tool": "pay", "args": {"amount": {"$gt": 5}}}
ABSENT = {"tool": "pay", "args": {"amount": {"$absent": True}}}


@pytest.mark.parametrize(
    ("stated", "unclear"),
    [
        ({"must_not": [{"tool_called": LARGE}]}, True),
        ({"must_not": [{"tool_called": ABSENT}]}, True),
        ({"must_not": [{"type": "require", "tool": LARGE}]}, True),
        ({"expected_behaviors": [{"tool_not_called": LARGE}]}, True),
        ({"expected_behaviors": [{"tool_called": ABSENT}]}, True),
        ({"expected_behaviors": [{"type": "blocklist", "tools": [LARGE]}]}, True),
        ({"must_not": [{"tool_called": {**LARGE, "tool": "send"}}]}, False),
        ({"expected_behaviors": [{"tool_called": "pay"}]}, False),
    ],
)
def test_matchers_of_unknown_arguments_are_undecided(stated: dict[str, Any], unclear: bool) -> None:
    traces = [{**SILENT, "steps": [{"type": "tool_call", "tool": "pay", "arguments": None}]}]
    assert judged({**stated, **OK}, traces, required_scenarios=["A"])[1] == int(unclear)
    certain = [{**SILENT, "steps": [*traces[0]["steps"], call("pay", {"amount": 9})]}]
    if "must_not" in stated and unclear and ABSENT not in stated["must_not"][0].values():
        assert judged({**stated, **OK}, certain) == ("fail", 1)


def test_a_rule_on_unknown_arguments_is_skipped() -> None:
    suite = {"tests": [{"id": "t", "metric": "sequence_valid", "rules": [{"type": "blocklist", "tools": [LARGE]}]}]}
    unknown = {"steps": [{"type": "tool_call", "tool": "pay", "arguments": None}]}
    known = {"steps": [call("pay", {"amount": 1})]}
    report = judge(suite, [unknown, known])
    assert [line.message for line in report.gate if line.status != "pass"] == [
        "sequence_valid was skipped on 1 of 2: a call that a rule may mean does not record its arguments"
    ]
    broken = {"steps": [*unknown["steps"], call("pay", {"amount": 9})]}
    assert judge(suite, [broken]).exit_code == 1
