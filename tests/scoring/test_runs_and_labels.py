"""Scenarios over several runs, and the labels read from answers: what they count for, in what part."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from tests.checks.building import judge, trace

from passmuster.reports.formats import console
from passmuster.scoring._report import GateLine, Report, ScenarioCounts

Stated = dict[str, Any]
OK: Stated = {"correctness": {"expected_in_answer": "ok"}}
INFRA = {"kind": "infra", "message": "rate limited"}


def line(report: Report, kind: str, id_: str) -> GateLine:
    (found,) = [line for line in report.gate if (line.kind, line.id) == (kind, id_)]
    return found


# ── Repeats ─────────────────────────────────────────────────────────────────────────────────────────────────


def repeated(policy: Any, answers: Sequence[str], **scenario: Any) -> Report:
    suite = {"scenarios": [{"id": "S", **OK, **scenario}], "repeat_policy": policy}
    return judge(suite, [{"scenario": "S", "answer": one, "trace_id": f"t{n}"} for n, one in enumerate(answers)])


@pytest.mark.parametrize(
    ("policy", "answers", "status"),
    [
        *(("all", ["ok", "ok"], "pass"), ("all", ["ok", "no"], "fail")),
        *(("any", ["no", "ok"], "pass"), ("any", ["no", "no"], "fail")),
        *(("majority", ["ok", "ok", "no"], "pass"), ("majority", ["ok", "no"], "fail"), ("majority", ["ok"], "pass")),
        *((0.5, ["ok", "no"], "pass"), ("50%", ["ok", "no"], "pass"), (60, ["ok", "no"], "fail")),
        *((2 / 3, ["ok", "ok", "no"], "pass"), ("67%", ["ok", "ok", "no"], "fail")),
    ],
)
def test_the_status_follows_the_policy(policy: Any, answers: list[str], status: str) -> None:
    report = repeated(policy, answers)
    assert (report.scenarios[0].status, report.exit_code) == (status, 0 if status == "pass" else 1)
    assert report.metrics["pass_rate"].value == pytest.approx(answers.count("ok") / len(answers))
    own = repeated("all" if policy == "any" else "any", answers, repeat_policy=policy)
    assert own.scenarios[0].status == status


@pytest.mark.parametrize(
    ("policy", "errors", "status"),
    [("all", ["ok", INFRA], "error"), ("all", ["no", INFRA], "fail"), ("any", ["ok", INFRA], "pass")],
)
def test_a_run_that_broke_counts_both_ways_in_a_policy(policy: str, errors: list[Any], status: str) -> None:
    traces = [
        {"scenario": "S", "answer": one} if isinstance(one, str) else {"scenario": "S", "answer": "ok", "error": one}
        for one in errors
    ]
    report = judge({"scenarios": [{"id": "S", **OK}], "repeat_policy": policy}, traces)
    assert (report.scenarios[0].status, report.exit_code) == (status, {"error": 3, "fail": 1, "pass": 0}[status])


def test_rates_are_means_of_fractions() -> None:
    """One scenario of four runs and one of one: (3/4 + 0) / 2, not 3/5."""
    said = [("A", "ok"), ("A", "ok"), ("A", "ok"), ("A", "no"), ("B", "no")]
    suite = {"scenarios": [{"id": "A", **OK}, {"id": "B", **OK}]}
    report = judge(suite, [{"scenario": id_, "answer": answer} for id_, answer in said])
    assert (report.metrics["pass_rate"].value, report.metrics["accuracy"].value) == (0.375, 0.375)
    assert report.metrics["pass_rate"].n == 2


def test_fewer_traces_than_asked_for_is_a_warning() -> None:
    report = repeated("all", ["ok", "ok"], repeat=3)
    found = line(report, "input", "S")
    assert (found.level, found.status, found.actual, found.expected) == ("warning", "fail", 2, 3)
    assert report.verdict == "warn"
    assert repeated("all", ["ok"] * 3, repeat=3).verdict == "pass"


def test_the_chances_of_k_tries() -> None:
    (scenario,) = repeated("any", ["ok", "ok", "no", "no"]).scenarios
    assert scenario.pass_rate == 0.5
    assert scenario.pass_at_k == {"1": 0.5, "2": pytest.approx(5 / 6), "3": 1.0, "4": 1.0}
    assert scenario.pass_hat_k == {"1": 0.5, "2": pytest.approx(1 / 6), "3": 0.0, "4": 0.0}
    assert repeated("all", ["ok"]).scenarios[0].pass_at_k is None


def test_runs_that_were_all_skipped_have_no_chances() -> None:
    suite = {"scenarios": [{"id": "S", "cost": {"max_total_tokens": 1}}]}
    report = judge(suite, [{"scenario": "S", "answer": "ok"}] * 3)
    (scenario,) = report.scenarios
    assert (scenario.status, scenario.runs, scenario.pass_rate, scenario.pass_at_k) == ("skip", 3, None, None)
    assert (report.verdict, report.exit_code) == ("warn", 0)


def test_flips_name_who_is_to_blame() -> None:
    runs: list[Stated] = [
        {"trace_id": "good", "answer": "ok"},
        {"trace_id": "changed", "answer": "no"},
        {"trace_id": "again", "answer": "no"},
        {"trace_id": "down", "answer": "ok", "error": INFRA},
    ]
    report = judge({"scenarios": [{"id": "S", **OK}]}, [{"scenario": "S", **one} for one in runs])
    flips = report.scenarios[0].flips or []
    assert [(flip.blame, flip.passed, flip.failed) for flip in flips] == [
        ("agent", "good", "changed"),
        ("infrastructure", "good", "down"),
    ]
    assert repeated("all", ["no", "no"]).scenarios[0].flips is None


def test_an_agent_that_gave_up_is_not_blamed_on_the_judge() -> None:
    """Though a judge may be asked, and calls and answer are the same."""
    suite = {"scenarios": [{"id": "S", "expected_behaviors": ["greets"]}]}
    told = {"scenario": "S", "answer": "ok", "behaviors": ["greets"]}
    report = judge(suite, [{**told, "trace_id": "a"}, {**told, "trace_id": "b", "error": "gave up"}])
    assert [flip.blame for flip in report.scenarios[0].flips or []] == ["agent"]


# ── Labels ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "right", "wrong", "none"),
    [
        (
            {"json": "$.result.labels[0]"},
            ['{"result": {"labels": ["spam"]}}', '{"result": {"labels": [" spam ", "ham"]}}'],
            ['{"result": {"labels": ["ham"]}}', '{"result": {"labels": ["SPAM"]}}'],
            [
                "spam",
                '{"result": {"labels": []}}',
                '{"result": {"labels": [null]}}',
                '{"result": {"labels": [["spam"]]}}',
                "",
            ],
        ),
        (
            {"regex": r"label: (\w+)"},
            ["label: spam", "label: spam, I repeat, label: spam"],
            ["label: ham", "label: SPAM"],
            ["spam", "label: spam label: ham", ""],
        ),
        ({"regex": "spam|ham"}, ["it is spam"], ["it is ham"], ["spam or ham", "spammer or ham", "eggs"]),
        (
            {"words": ["spam", "ham"]},
            ["Spam!", "SPAM, spam and spam"],
            ["ham."],
            ["spam or ham", "spammy hamster", "spam_ham", "", "eggs"],
        ),
    ],
    ids=["json", "regex with a group", "regex", "words"],
)
def test_labels_are_read_from_answers(source: Stated, right: list[str], wrong: list[str], none: list[str]) -> None:
    """None or several is no label, and wrong; only the positive label is a positive."""
    classification = {"positive": "spam", "from": source}
    for answer, status, quadrant in [
        *((one, "pass", "tp") for one in right),
        *((one, "fail", "fn") for one in [*wrong, *none]),
    ]:
        suite = {"scenarios": [{"id": "S", "label": "spam"}], "classification": classification}
        report = judge(suite, [{"scenario": "S", "answer": answer}])
        assert (answer, report.scenarios[0].status) == (answer, status)
        assert report.scenarios[0].layers["correctness"].checks[0].name == "label"
        assert report.metrics["recall"].value == (1.0 if quadrant == "tp" else 0.0)
        assert report.metrics["accuracy"].value == (1.0 if status == "pass" else 0.0)


def test_no_positive_prediction_gives_precision_no_value() -> None:
    classification = {"positive": "spam", "from": {"words": ["spam", "ham"]}}
    suite = {"scenarios": [{"id": "S", "label": "spam"}, {"id": "T", "label": "ham"}], "classification": classification}
    bounds = {"thresholds": {"blocking": {"precision": "50%"}}, "optional_scenarios": ["S"]}
    report = judge({**suite, **bounds}, [{"scenario": "S", "answer": "ham"}, {"scenario": "T", "answer": "ham"}])
    found = line(report, "threshold", "precision")
    assert (found.status, found.message) == ("fail", "precision has no value: no answer was given the positive label")
    assert report.exit_code == 1


def test_labels_of_repeats_count_by_their_fractions() -> None:
    """S: spam on two runs of three (tp 2/3, fn 1/3); T, ham: spam on one of two (fp 1/2); U never ran (fn)."""
    classification = {"positive": "spam", "from": {"words": ["spam", "ham"]}}
    named = [{"id": "S", "label": "spam"}, {"id": "T", "label": "ham"}, {"id": "U", "label": "spam"}]
    said = [("S", "spam"), ("S", "spam"), ("S", "ham"), ("T", "spam"), ("T", "ham")]
    report = judge(
        {"scenarios": named, "classification": classification}, [{"scenario": i, "answer": a} for i, a in said]
    )
    values = {name: report.metrics[name].value for name in ("precision", "recall", "f1")}
    assert values == {
        "precision": pytest.approx((2 / 3) / (2 / 3 + 1 / 2)),
        "recall": pytest.approx((2 / 3) / 2),
        "f1": pytest.approx((4 / 3) / (4 / 3 + 1 / 2 + 4 / 3)),
    }


def test_scenarios_are_counted_by_status_and_rates_by_runs() -> None:
    scenarios = [{"id": id_, "correctness": {"expected_in_answer": "ok"}} for id_ in "ABC"]
    suite = {
        "repeat_policy": "majority",
        "scenarios": [*scenarios, {"id": "D", "cost": {"max_cost_usd": 1}}, {"id": "E", "path": {"max_tool_calls": 0}}],
        "thresholds": {"blocking": {"pass_rate": "40%"}},
    }
    answers = {"A": "ok no ok", "B": "no no ok", "C": "ok ok ok", "D": "ok", "E": "ok"}
    traces = [trace("a", scenario=id_, answer=answer) for id_, told in answers.items() for answer in told.split()]
    report = judge(suite, traces)
    assert [one.status for one in report.scenarios] == ["pass", "fail", "pass", "skip", "warn"]
    assert report.scenario_counts == ScenarioCounts(
        total=5, passed=3, failed=1, skipped=1, passed_every_run=2, runs=10, runs_passed=7
    )
    assert report.metrics["pass_rate"].value == pytest.approx((2 / 3 + 1 / 3 + 1 + 1) / 4)
    shown = io.StringIO()
    console.show_console(report, shown)
    assert "✓ PASS: 3 of 5 scenarios, 2 of them with a warning" in shown.getvalue()
    assert (
        "2 of 5 scenarios passed every run, 3 by their repeat policy; pass_rate 75% is the mean share of runs that "
        "passed, over 4 scenarios, without 1 skipped (7 of 10 runs)"
    ) in shown.getvalue()
    assert "3 of 5 scenarios held on 11 traces" in shown.getvalue()
