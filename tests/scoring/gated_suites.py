"""Random suites of scenarios, bounds and formulas, and runs of them that mostly do well."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.checks.building import trace

__all__ = ["CHECKS", "IDS", "RATES", "bound", "gated_suites", "runs"]

ALWAYS = {"path": {"max_tool_calls": 9}}
IDS = ("S-1", "S-2")
RATES = ("pass_rate", "weighted_pass_rate", "accuracy", "safety_rate", "behavior_coverage")
CHECKS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "correctness": {
        "expected_in_answer": st.sampled_from(["ok", "no"]),
        "not_in_answer": st.sampled_from(["ok", "no"]),
        "exact_match": st.just("ok"),
        "regex_match": st.sampled_from(["^o", "[nk]"]),
    },
    "path": {
        "max_tool_calls": st.integers(0, 2),
        "forbidden_tools": st.sampled_from([["b"], ["z"], ["z"]]),
        "expected_tools": st.sampled_from([["a"], ["a", "b"]]),
        "max_loops": st.integers(0, 1),
    },
    "cost": {
        "max_latency_ms": st.sampled_from([5, 50, 50]),
        "max_total_tokens": st.sampled_from([5, 50, 50]),
        "max_llm_calls": st.integers(0, 2),
    },
}
"""Runs tell every figure, so that no check of these is ever skipped: a scenario with nothing decided counts in no
rate, and one more check may bring it in."""
checks = st.sampled_from([(layer, key) for layer, keys in CHECKS.items() for key in keys])
# Few of them in one scenario, for what goes wrong for many reasons at once cannot come right by accident.
extras: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        *({}, {}, {}, {}, {"category": "adversarial"}, {"category": "happy"}, {"category": "happy", "weight": 0}),
        *({"repeat_policy": "any"}, {"repeat_policy": "majority", "repeat": 2}, {"weight": 2, "repeat_policy": 0.5}),
        *({"expected_behaviors": ["greets"]}, {"expected_behaviors": ["greets", "thanks"], "pass_score": 0.5}),
        *({"expected_behaviors": ["greets"], "must_not": ["swears"]}, {"must_not": [{"tool_called": "c"}]}),
    ]
)


@st.composite
def asking_scenarios(draw: st.DrawFn, id_: str) -> dict[str, Any]:
    scenario: dict[str, Any] = {"id": id_, **ALWAYS, "correctness": {"regex_match": "[nk]"}, **draw(extras)}
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        layer, key = draw(checks)
        scenario[layer] = {**scenario.get(layer, {}), key: draw(CHECKS[layer][key])}
    return scenario


bound = st.sampled_from(["10%", "10%", "20%", "30%", "50%", "60%", "100%", {"min": "10%", "confidence": "90%"}])
bounds = st.dictionaries(st.sampled_from(RATES), bound, min_size=1, max_size=2)
COMPOSITES = [
    "pass = accuracy >= 0.4",
    "score = accuracy * 0.5 + behavior_coverage * 0.5\npass = score >= 0.4 AND pass_rate > 0",
    "pass = pass_rate > 0.3 OR weighted_pass_rate = 1",
]
run = st.builds(
    lambda names, answer, told, tokens, error: trace(
        names,
        answer=answer,
        behaviors=told,
        total_tokens=tokens,
        total_llm_calls=1,
        total_duration_ms=tokens,
        total_cost_usd=0,
        error=error,
    ),
    st.sampled_from(["", "a", "a", "a b", "a a", "c"]),
    st.sampled_from(["ok", "ok", "ok", "ok", "no", None]),
    # A map without a name leaves it to the judge, and there is none: an outside part that failed.
    st.sampled_from([*[["greets", "thanks"]] * 4, ["greets"], ["greets", "swears"], {}]),
    st.sampled_from([1, 1, 10]),
    st.sampled_from([*[None] * 8, "gave up", {"kind": "infra", "message": "down"}]),
)


@st.composite
def runs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs of every scenario, but for one now and then that never ran."""
    numbers = st.sampled_from([1, 1, 1, 1, 1, 2, 2, 2, 0])
    found = [{**draw(run), "scenario": id_} for id_ in IDS for _ in range(draw(numbers))]
    return found or [{**draw(run), "scenario": IDS[0]}]


@st.composite
def gated_suites(draw: st.DrawFn) -> dict[str, Any]:
    scenarios = [draw(asking_scenarios(id_)) for id_ in IDS]
    suite: dict[str, Any] = {"scenarios": scenarios, "layers": {"cost": draw(st.sampled_from(["warn", "block"]))}}
    for key in draw(st.sampled_from([(), ("blocking",), ("blocking",), ("warning",), ("blocking", "warning")])):
        suite.setdefault("thresholds", {})[key] = draw(bounds)
    criteria: dict[str, Any] = {}
    if draw(st.sampled_from([True, True, False])):
        criteria["overall"] = draw(bound)
    if draw(st.sampled_from([False, False, True])):
        criteria["by_category"] = {"happy": draw(bound)}
    if criteria:
        suite["pass_criteria"] = criteria
    listed = draw(st.sampled_from([None, None, "required_scenarios", "optional_scenarios"]))
    if listed:
        suite[listed] = [draw(st.sampled_from(IDS))]
    if composite := draw(st.sampled_from([None, None, *COMPOSITES])):
        suite["composite"] = composite
    return suite
