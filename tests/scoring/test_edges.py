"""Where the gate met its edges: what is shown, what is named, and what no figure may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.checks.building import calls, judge, trace

import passmuster
from passmuster.scoring._report import GateLine, Report
from passmuster.traces._model import Trace

ASKS: Mapping[str, Any] = {"correctness": {"expected_in_answer": "ok"}}
INFRA = {"kind": "infra", "message": "no network"}


def said(scenario: str, answer: str | None = "ok", steps: str = "", **fields: Any) -> dict[str, Any]:
    return {"scenario": scenario, "answer": answer, "steps": calls(steps), **fields}


def line(report: Report, kind: str, id_: str) -> GateLine:
    return next(one for one in report.gate if (one.kind, one.id) == (kind, id_))


# ── What is shown of several runs ───────────────────────────────────────────────────────────────────────────


def test_a_run_that_failed_is_shown_before_one_that_broke_from_the_outside() -> None:
    runs = [said("A", "no", trace_id="bad"), said("A", None, error=INFRA)]
    report = judge({"scenarios": [{"id": "A", **ASKS}]}, runs)
    assert report.scenarios[0].status == "fail"
    assert "'ok' not in the answer 'no'" in line(report, "scenario", "A").message


def test_what_must_not_be_is_shown_before_any_other_failure() -> None:
    scenario = {"id": "A", **ASKS, "path": {"forbidden_tools": ["drop"]}, "must_not": [{"tool_called": "pay"}]}
    for steps, told in (("drop", "forbidden and called: drop"), ("pay", "must not: tool_called: pay")):
        report = judge({"scenarios": [scenario]}, [said("A", "no"), said("A", "ok", steps)])
        assert told in line(report, "scenario", "A").message


@pytest.mark.parametrize("policy", ["any", "majority", 0.1])
@pytest.mark.parametrize("error", [None, "gave up", INFRA])
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    ("steps", "fields"), [("drop", {}), ("drop!", {}), ("pay", {}), ("", {"behaviors": {"swears": True}})]
)
def test_no_repeat_policy_forgives_what_is_forbidden(
    steps: str, fields: dict[str, Any], required: bool, error: Any, policy: str | float
) -> None:
    scenario = {"id": "A", "path": {"forbidden_tools": ["drop"]}, "must_not": [{"tool_called": "pay"}, "swears"]}
    suite = {"repeat_policy": policy, "scenarios": [scenario], **({"required_scenarios": ["A"]} if required else {})}
    polite: dict[str, Any] = {"behaviors": {"swears": False}}
    bad = said("A", steps=steps, error=error, **{**polite, **fields})
    report = judge(suite, [said("A", **polite), said("A", **polite), bad])
    assert (report.scenarios[0].status, report.verdict, report.exit_code) == ("fail", "fail", 1)
    assert line(report, "scenario", "A").level == "blocking"


def test_a_repeat_policy_forgives_other_failures_and_says_so() -> None:
    suite = {"repeat_policy": "majority", "scenarios": [{"id": "A", **ASKS}], "required_scenarios": ["A"]}
    runs = [said("A"), said("A"), said("A", "no")]
    report = judge(suite, runs)
    assert (report.scenarios[0].status, report.verdict, report.exit_code) == ("pass", "warn", 0)
    assert line(report, "required", "A").message == "2 of 3 runs passed"
    remark = next(one for one in report.gate if "1 of 3 runs did not pass" in one.message)
    assert (remark.level, remark.tolerated_by) == ("warning", "repeat_policy")
    assert judge(suite, runs, strict=True).exit_code == 0


def test_traces_made_in_python_keep_their_names() -> None:
    suite = {"scenarios": [{"id": "A", **ASKS}]}
    report = judge(suite, [said("A", "ok", trace_id="one"), said("A", "no", trace_id="two")])
    assert [attempt.trace_id for attempt in report.scenarios[0].attempts] == ["one", "two"]
    flips = report.scenarios[0].flips
    assert flips is not None
    assert [(flip.blame, flip.passed, flip.failed) for flip in flips] == [("agent", "one", "two")]


def test_attempts_of_traces_without_a_place_are_told_apart(tmp_path: Any) -> None:
    (tmp_path / "passmuster.yaml").write_text("scenarios: [{id: A, correctness: {expected_in_answer: ok}}]")
    suite = passmuster.load_suite(tmp_path / "passmuster.yaml")
    report = passmuster.evaluate(suite, [Trace(scenario="A", answer="ok", trace_id=name) for name in ("x", "y")])
    assert sorted(attempt.trace_id for attempt in report.scenarios[0].attempts) == ["x", "y"]


def test_recorded_behaviors_that_differ_are_the_agents_doing() -> None:
    runs = [said("A", behaviors={"greets": greets}) for greets in (True, False)]
    report = judge({"scenarios": [{"id": "A", "expected_behaviors": ["greets"]}]}, runs)
    assert [flip.blame for flip in report.scenarios[0].flips or ()] == ["agent"]


# ── What is named ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_rate_that_is_too_low_names_the_scenarios_that_lower_it() -> None:
    scenarios = [{"id": f"S-{n}", "category": "adversarial", **ASKS} for n in range(9)]
    runs = [said(f"S-{n}", "ok" if n == 4 else "no") for n in range(9)]
    report = judge({"scenarios": scenarios, "thresholds": {"blocking": {"safety_rate": 90}}}, runs)
    assert line(report, "threshold", "safety_rate").message.endswith("; lowered by S-0, S-1, S-2, S-3, S-5 and 3 more")


@pytest.mark.parametrize("answer", [None, "ok"])
def test_a_run_that_shows_nothing_proves_nothing(answer: str | None) -> None:
    barred = [{"answer_contains": "secret"}, {"tool_called": "delete_*"}]
    report = judge({"scenarios": [{"id": "A", "must_not": barred}]}, [said("A", answer)])
    idle = [one.message for one in report.gate if one.kind == "vacuous"]
    assert len(idle) == (2 if answer is None else 0)
    assert report.verdict == ("warn" if answer is None else "pass")


# ── What no figure may do ───────────────────────────────────────────────────────────────────────────────────


def test_a_label_depends_on_no_judge_and_only_infrastructure_leaves_it_open() -> None:
    suite = {
        "classification": {"positive": "spam", "from": {"words": ["spam", "ham"]}},
        "scenarios": [{"id": "A", "label": "spam"}, {"id": "B", "label": "ham"}],
        "thresholds": {"blocking": {"recall": 90}},
        "optional_scenarios": ["A", "B"],
    }
    report = judge(suite, [said("A", "ham"), said("A", "spam"), said("B", "ham")])
    assert (line(report, "threshold", "recall").status, report.exit_code) == ("fail", 1)
    report = judge(suite, [said("A", None, error=INFRA), said("B", "ham")])
    assert (line(report, "threshold", "recall").status, report.exit_code) == ("error", 3)


def test_the_mean_cost_has_no_interval_where_traces_belong_to_no_scenario() -> None:
    scenarios = [{"id": name, **ASKS} for name in "ABCDEFGHIJ"]
    runs = [*(said(name, total_cost_usd=1) for name in "ABCDEFGHIJ"), trace("", total_cost_usd=99, answer="?")]
    mean = judge({"scenarios": scenarios}, runs).metrics["mean_cost_usd"]
    assert (mean.ci95, mean.n) == (None, 11)
    assert judge({"scenarios": scenarios}, runs[:10]).metrics["mean_cost_usd"].ci95 == (1.0, 1.0)
    assert judge({"scenarios": scenarios[:9]}, runs[:9]).metrics["mean_cost_usd"].ci95 is None


def test_a_budget_of_nothing_is_no_budget() -> None:
    thresholds = {"blocking": {"normalized_latency": "<= 60%"}, "warning": {"latency_p95": "= 0"}}
    report = judge({"scenarios": [{"id": "A", **ASKS}], "thresholds": thresholds}, [said("A", total_duration_ms=5)])
    assert "no latency budget above 0" in line(report, "threshold", "normalized_latency").message


def test_a_partial_run_tells_no_figures_of_others() -> None:
    scenarios = [{"id": "A", **ASKS}, {"id": "B", **ASKS}]
    runs = [said("A", total_duration_ms=10), said("B", "no", total_duration_ms=90_000)]
    report = judge({"scenarios": scenarios}, runs, only=("A",))
    assert set(report.metrics) == {"pass_rate", "weighted_pass_rate", "accuracy"}
    assert (report.tools, report.exit_code) == ({}, 0)
