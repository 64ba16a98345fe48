"""Asking for more never gives less: one more test, rule, check, bound or `--strict` turns no red gate green."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.checks.building import call, judge, trace
from tests.scoring.gated_suites import CHECKS, IDS, RATES, bound, gated_suites, runs
from tests.scoring.second_law import trials

import passmuster

Suite = dict[str, Any]

TOOLS = ["a", "b", "c"]
tools = st.sampled_from([*TOOLS, "a*", "[bc]", "z"])
selector = st.one_of(tools, st.lists(tools, min_size=1, max_size=2), st.just({"tool": "a", "failed": True}))
rule = st.one_of(
    st.fixed_dictionaries({"type": st.just("require"), "tool": selector}),
    st.fixed_dictionaries({"type": st.just("before"), "first": selector, "then": selector}),
    st.fixed_dictionaries({"type": st.just("immediately_before"), "first": selector, "then": selector}),
    st.fixed_dictionaries({"type": st.just("blocklist"), "tools": selector}),
    st.fixed_dictionaries({"type": st.just("allowlist"), "tools": selector}),
    st.fixed_dictionaries({"type": st.just("count"), "tool": selector, "max": st.integers(0, 2)}),
    st.fixed_dictionaries({"type": st.just("count"), "tool": selector, "exactly": st.integers(0, 2)}),
    st.fixed_dictionaries({"type": st.just("after"), "trigger": selector, "then": selector}),
    st.fixed_dictionaries({"type": st.just("never_after"), "trigger": selector, "forbidden": selector}),
    st.fixed_dictionaries({"type": st.just("eventually"), "tool": selector, "within": st.integers(1, 3)}),
    st.fixed_dictionaries({"type": st.just("sequence"), "tools": st.lists(tools, min_size=1, max_size=3)}),
)
selection: dict[str, st.SearchStrategy[Any]] = {
    "severity": st.sampled_from(["block", "warn", "log"]),
    "scenarios": st.sampled_from([["S-1"], ["S-2"], ["S-*"]]),
    "tags": st.sampled_from([["x"], ["y"]]),
}
test = st.one_of(
    st.fixed_dictionaries(
        {"metric": st.just("sequence_valid"), "rules": st.lists(rule, min_size=1, max_size=3)}, optional=selection
    ),
    st.fixed_dictionaries(
        {"metric": st.just("tool_blocklist"), "blocklist": st.lists(tools, min_size=1, max_size=2)}, optional=selection
    ),
    st.fixed_dictionaries(
        {
            "metric": st.just("args_valid"),
            "tool": tools,
            "constraints": st.fixed_dictionaries(
                {"x": st.sampled_from([{"max": 1}, {"required": True}, {"max": 1, "on_violation": "warn"}])}
            ),
        },
        optional={**selection, "strict": st.booleans()},
    ),
)
waiver = st.fixed_dictionaries(
    {
        "test": st.sampled_from(["t0", "t1"]),
        "reason": st.just("known"),
        "expires": st.sampled_from(["2026-05-31", "2026-06-01"]),
    },
    optional={"tool": tools, "scenario": st.just("S-1")},
)
recorded = st.lists(
    st.builds(
        lambda names, x, failed, fields, error: trace(
            [call(name, {} if x is None else {"x": x}, error="boom" if failed else None) for name in names],
            error=error,
            **fields,
        ),
        st.lists(st.sampled_from(TOOLS), max_size=4),
        st.sampled_from([None, 1, 2]),
        st.booleans(),
        st.sampled_from([{}, {"scenario": "S-1"}, {"scenario": "S-2"}, {"scenario": "S-9"}, {"tags": ["x", "y"]}]),
        st.sampled_from([None, None, None, "gave up", {"kind": "infra", "message": "down"}]),
    ),
    min_size=1,
    max_size=4,
)
# What always holds, so that the scenarios ask something and a strict run can be green.
ALWAYS = {"path": {"max_tool_calls": 9}}


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    tests = [{"id": f"t{n}", **draw(test)} for n in range(draw(st.integers(2, 3)))]
    stated = draw(st.sampled_from([{}, ALWAYS, ALWAYS]))
    return {
        "scenarios": [{"id": "S-1", "tags": ["x"], **stated}, {"id": "S-2", "tags": ["y"], **ALWAYS}],
        "tests": tests,
        "waivers": draw(st.lists(waiver, max_size=2)),
    }


def exit_code(suite: Suite, traces: list[dict[str, Any]], strict: bool) -> int:
    try:
        return judge(suite, traces, strict=strict).exit_code
    except passmuster.InputError:
        return 2


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(suites(), recorded, st.booleans(), st.data())
def test_one_more_of_anything_turns_no_red_gate_green(
    suite: Suite, traces: list[dict[str, Any]], strict: bool, data: st.DataObject
) -> None:
    before = exit_code(suite, traces, strict)
    assume(before in (1, 3))
    more = deepcopy(suite)
    ordered = [one for one in more["tests"] if one["metric"] == "sequence_valid"]
    what = data.draw(st.sampled_from(["a test", "a rule", "strict"]))
    if what == "a rule" and ordered:
        rules = data.draw(st.sampled_from(ordered))["rules"]
        rules.insert(data.draw(st.integers(0, len(rules))), data.draw(rule))
    elif what == "strict":
        strict = True
    else:
        place = data.draw(st.integers(0, len(more["tests"])))
        more["tests"].insert(place, {"id": "one more", **data.draw(test)})
    assert exit_code(more, traces, strict) != 0


def test_one_more_rule_that_fires_does_not_excuse_one_that_never_did() -> None:
    """Alone, the first rule makes a strict run fail, for its test was never exercised."""
    idle = {"type": "before", "first": "x", "then": "y"}
    fires = {"type": "blocklist", "tools": ["z"]}
    for rules in ([idle], [idle, fires], [fires, idle]):
        suite = {"tests": [{"id": "t", "metric": "sequence_valid", "rules": rules}]}
        assert judge(suite, [trace("a")], strict=True).exit_code == 1
        assert judge(suite, [trace("a")]).exit_code == 0


def test_a_violation_that_uses_up_a_waiver_leaves_a_warning_in_its_place() -> None:
    """Alone, the waiver makes a strict run fail, for nothing uses it."""
    waivers = [{"test": "t", "reason": "known", "expires": "2026-06-01"}]
    holds = {"type": "blocklist", "tools": ["z"]}
    breaks = {"type": "blocklist", "tools": ["a"]}
    for rules in ([holds], [holds, breaks]):
        suite = {"tests": [{"id": "t", "metric": "sequence_valid", "rules": rules}], "waivers": waivers}
        assert judge(suite, [trace("a")], strict=True).exit_code == 1


# ── Suites with scenarios ───────────────────────────────────────────────────────────────────────────────────


def with_more(suite: Suite, data: st.DataObject) -> Suite:
    """The suite with one thing more that is asked; unchanged where the one that was drawn is asked already."""
    more = deepcopy(suite)
    thresholds = more.setdefault("thresholds", {})
    what = data.draw(
        st.sampled_from(["threshold", "figure", "warning", "criterion", "required", "test", *["check"] * 6])
    )
    match what:
        case "threshold":
            thresholds["risk"] = {"critical": {data.draw(st.sampled_from(RATES)): "100%"}}
        case "figure":
            thresholds["risk"] = {"high": {data.draw(st.sampled_from(["latency_p95", "total_tokens"])): 500}}
        case "warning":
            thresholds["risk"] = {"low": {data.draw(st.sampled_from(RATES)): data.draw(bound)}}
        case "criterion":
            criteria = more.setdefault("pass_criteria", {})
            if data.draw(st.booleans()):
                criteria.setdefault("overall", "100%")
            else:
                categories = criteria.setdefault("by_category", {})
                categories.setdefault(data.draw(st.sampled_from(["adversarial", "happy"])), "100%")
        case "required":
            id_ = data.draw(st.sampled_from(IDS))
            if id_ not in more.get("required_scenarios", []):
                more["required_scenarios"] = [*more.get("required_scenarios", []), id_]
        case "check":
            stated = [(one, layer) for one in more["scenarios"] for layer in CHECKS if layer in one]
            if stated:
                scenario, layer = data.draw(st.sampled_from(stated))
                key = data.draw(st.sampled_from(list(CHECKS[layer])))
                scenario[layer].setdefault(key, data.draw(CHECKS[layer][key]))
        case _:
            more["tests"] = [{"id": "one more", **data.draw(test)}]
    if not thresholds:
        del more["thresholds"]
    return more


GRAVITY = (0, 3, 1, 2)
"""Exit codes from green to red."""


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(gated_suites(), runs(), st.booleans(), st.data())
def test_one_more_of_anything_makes_no_gate_of_scenarios_milder(
    suite: Suite, traces: list[dict[str, Any]], strict: bool, data: st.DataObject
) -> None:
    before = exit_code(suite, traces, strict)
    assume(before in (1, 3))
    after = exit_code(with_more(suite, data), traces, strict)
    assert GRAVITY.index(after) >= GRAVITY.index(before)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(gated_suites(), runs())
def test_strict_makes_no_gate_milder(suite: Suite, traces: list[dict[str, Any]]) -> None:
    loose, strict = (exit_code(suite, traces, asked) for asked in (False, True))
    assert GRAVITY.index(strict) >= GRAVITY.index(loose)


@pytest.mark.parametrize("seed", range(40))
def test_random_trials_with_undecided_checks(seed: int) -> None:
    """The short form of `tests.scoring.second_law`, whose runs lack figures, calls and arguments."""
    for one in trials(f"test-{seed}"):
        assert not one.is_milder, one
