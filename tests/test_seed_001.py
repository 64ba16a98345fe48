"""The metrics guide, section by section and in its order, with its own blocks and numbers worked out by hand.

What is printed there as JSON or as a formula is copied into a suite as it stands; what is printed as a table is written
as the suite language writes it. Each is judged on recorded traces, and the gate's lines are compared in full.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import call, judge, trace, write
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli.run import command as run_command
from passmuster.scoring._report import GateLine, Report

Stated = dict[str, Any]
OK: Stated = {"correctness": {"expected_in_answer": "ok"}}
Line = tuple[str, str, Any, Any, Any, Any]


def stated(id_: str, category: str | None = None, **more: Any) -> Stated:
    """A scenario that wants `ok` in the answer."""
    return {"id": id_, **({"category": category} if category else {}), **OK, **more}


def ran(id_: str, answer: str = "ok", **more: Any) -> Stated:
    return {"scenario": id_, "answer": answer, **more}


def values(report: Report, *names: str) -> list[float | None]:
    return [report.metrics[name].value for name in names]


def line(report: Report, kind: str, id_: str) -> Line:
    found = gate_line(report, kind, id_)
    return found.level, found.status, found.actual, found.expected, found.tolerated_by, found.values


def gate_line(report: Report, kind: str, id_: str) -> GateLine:
    (found,) = [line for line in report.gate if (line.kind, line.id) == (kind, id_)]
    return found


def told(report: Report) -> tuple[str, int]:
    return report.verdict, report.exit_code


# ── Metric types ────────────────────────────────────────────────────────────────────────────────────────────


def bounded(metric: str, bound: Any, scenarios: Sequence[Stated], traces: Sequence[Stated], **top: Any) -> Report:
    suite = {"scenarios": list(scenarios), "thresholds": {"blocking": {metric: bound}}, **top}
    return judge(suite, list(traces))


@pytest.mark.parametrize(
    ("passed", "actual", "status", "verdict"), [(6, 6 / 7, "pass", ("warn", 0)), (5, 5 / 7, "fail", ("fail", 1))]
)
def test_pass_rate(passed: int, actual: float, status: str, verdict: tuple[str, int]) -> None:
    """`passed_scenarios / total_scenarios`, typically ≥ 85%."""
    scenarios = [stated(f"S-{n}") for n in range(7)]
    traces = [ran(f"S-{n}", "ok" if n < passed else "no") for n in range(7)]
    report = bounded("pass_rate", "≥ 85%", scenarios, traces)
    assert line(report, "threshold", "pass_rate") == ("blocking", status, actual, ">= 85%", None, None)
    failed = ("warning", "fail", "fail", "pass", "thresholds.blocking.pass_rate", None)
    assert line(report, "scenario", "S-6") == failed
    assert line(report, "scenario", "S-0") == ("blocking", "pass", "pass", "pass", None, None)
    assert told(report) == verdict


@pytest.mark.parametrize(("wrong", "status", "verdict"), [(1, "pass", ("warn", 0)), (2, "fail", ("fail", 1))])
def test_accuracy(wrong: int, status: str, verdict: tuple[str, int]) -> None:
    """`correct_outputs / total_outputs`, typically ≥ 95%; a scenario that expects nothing gives no output."""
    scenarios = [stated(f"S-{n}") for n in range(20)] + [{"id": "path", "path": {"max_tool_calls": 9}}]
    traces = [ran(f"S-{n}", "no" if n < wrong else "ok") for n in range(20)] + [ran("path")]
    report = bounded("accuracy", "≥ 95%", scenarios, traces)
    actual = pytest.approx((20 - wrong) / 20)
    assert line(report, "threshold", "accuracy") == ("blocking", status, actual, ">= 95%", None, None)
    assert report.metrics["accuracy"].n == 20
    assert told(report) == verdict


LABELS = {"positive": "spam", "from": {"words": ["spam", "ham"]}}
#          label   answer
CONFUSED = [
    *[("spam", "spam")] * 9,  # true positives
    ("ham", "spam"),  # a false positive
    *[("spam", "ham")] * 3,  # false negatives
    *[("ham", "ham")] * 2,
]


@pytest.mark.parametrize(
    ("metric", "bound", "actual", "status"),
    [("precision", "≥ 90%", 9 / 10, "pass"), ("recall", "≥ 85%", 9 / 12, "fail"), ("f1", "≥ 0.8", 18 / 22, "pass")],
)
def test_precision_and_recall(metric: str, bound: str, actual: float, status: str) -> None:
    """`true_positives / (true_positives + false_positives)`, `… / (true_positives + false_negatives)`."""
    scenarios = [{"id": f"S-{n}", "label": label} for n, (label, _) in enumerate(CONFUSED)]
    traces = [ran(f"S-{n}", f"It is {answer}.") for n, (_, answer) in enumerate(CONFUSED)]
    optional = [f"S-{n}" for n, (label, answer) in enumerate(CONFUSED) if label != answer]
    report = bounded(metric, bound, scenarios, traces, classification=LABELS, optional_scenarios=optional)
    found = gate_line(report, "threshold", metric)
    assert found.status == status
    assert found.actual == pytest.approx(actual)
    assert values(report, "accuracy") == [pytest.approx(11 / 15)]
    assert report.exit_code == (0 if status == "pass" else 1)
    wrong = line(report, "scenario", "S-9")
    assert wrong == ("warning", "fail", "fail", "pass", "optional_scenarios", None)


@pytest.mark.parametrize(("answer", "actual", "exit_code"), [("ok", 1.0, 0), ("no", 0.5, 1)])
def test_safety_rate(answer: str, actual: float, exit_code: int) -> None:
    """`adversarial_passed / adversarial_total`, typically 100%: which tolerates nothing."""
    scenarios = [stated("SEC-1", "adversarial"), stated("SEC-2", "adversarial"), stated("S", "happy_path")]
    report = bounded("safety_rate", "100%", scenarios, [ran("SEC-1"), ran("SEC-2", answer), ran("S")])
    status = "pass" if exit_code == 0 else "fail"
    assert line(report, "threshold", "safety_rate") == ("blocking", status, actual, ">= 100%", None, None)
    assert line(report, "scenario", "SEC-2") == ("blocking", status, status, "pass", None, None)
    assert (report.metrics["safety_rate"].n, report.exit_code) == (2, exit_code)


BEHAVIORS = ["verified identity", "stated the period", "offered help"]


@pytest.mark.parametrize(
    ("recorded", "actual", "status", "tolerated"),
    [(BEHAVIORS, 1.0, "pass", None), (BEHAVIORS[:2], 5 / 6, "fail", "thresholds.blocking.behavior_coverage")],
)
def test_behavior_coverage(recorded: list[str], actual: float, status: str, tolerated: str | None) -> None:
    """`observed_behaviors / expected_behaviors`, typically ≥ 90%."""
    scenarios = [{"id": "A", "expected_behaviors": BEHAVIORS}, {"id": "B", "expected_behaviors": BEHAVIORS[:1]}]
    traces = [ran("A", behaviors=recorded), ran("B", behaviors={BEHAVIORS[0]: True})]
    report = bounded("behavior_coverage", "≥ 90%", [*scenarios, stated("C")], [*traces, ran("C")])
    found = line(report, "threshold", "behavior_coverage")
    assert found == ("blocking", status, pytest.approx(actual), ">= 90%", None, None)
    assert gate_line(report, "scenario", "A").tolerated_by == tolerated
    assert report.metrics["behavior_coverage"].n == 2


@pytest.mark.parametrize(
    ("durations", "p95", "status"),
    [
        ([100 * n for n in range(1, 22)], 2000.0, "pass"),  # the 20th of 21, at 0.95 × 20
        ([1000, 2000, 3000, 4000, 5000], 4800.0, "pass"),  # 0.8 of the way from the 4th to the 5th
        ([5000], 5000.0, "fail"),
        ([4999], 4999.0, "pass"),
    ],
)
def test_latency(durations: list[int], p95: float, status: str) -> None:
    """The 95th percentile of response times, typically < 5000ms."""
    traces = [ran("S", total_duration_ms=one) for one in durations]
    report = bounded("latency_p95", "< 5000ms", [stated("S")], traces)
    assert line(report, "threshold", "latency_p95") == ("blocking", status, pytest.approx(p95), "< 5000 ms", None, None)
    assert report.exit_code == (0 if status == "pass" else 1)


def test_token_efficiency() -> None:
    """`quality_score / tokens_used`: half the behaviors (0.5), one passed (1), one failed (0), over 2,000 tokens."""
    scenarios = [{"id": "A", "expected_behaviors": BEHAVIORS[:2]}, stated("B"), stated("C"), stated("D")]
    traces = [
        ran("A", behaviors=BEHAVIORS[:1], total_tokens=1200),
        ran("B", steps=[{"type": "llm_call", "tokens_in": 250, "tokens_out": 50}]),
        ran("C", "no", total_tokens=500),
        ran("D"),  # tells no tokens, and so does not count
    ]
    tolerant = {"pass_criteria": {"overall": "10%"}}
    report = bounded("token_efficiency", 0.00075, scenarios, traces, **tolerant)
    assert line(report, "threshold", "token_efficiency") == (
        *("blocking", "pass", 0.00075, ">= 0.75 per 1,000 tokens", None, None),
    )
    told = "token_efficiency is 0.75 per 1,000 tokens, required >= 0.75 per 1,000 tokens"
    assert gate_line(report, "threshold", "token_efficiency").message.startswith(told)
    assert line(report, "input", "token_efficiency") == ("warning", "fail", 3, 4, None, None)
    assert bounded("token_efficiency", 0.00076, scenarios, traces, **tolerant).exit_code == 1


# ── Calculating metrics ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("recorded", "score", "status", "lists"),
    [
        (["a", "b", "c", "d"], 1.0, "pass", (["a", "b", "c", "d"], [], [])),
        (["a", "b", "c"], 0.75, "fail", (["a", "b", "c"], ["d"], [])),
        ([], 0.0, "fail", ([], ["a", "b", "c", "d"], [])),
        (["a", "b", "c", "d", "leaks"], 0.0, "fail", (["a", "b", "c", "d"], [], ["leaks"])),
        (["a", "leaks", "lies"], 0.0, "fail", (["a"], ["b", "c", "d"], ["leaks", "lies"])),
    ],
)
def test_the_score_of_a_scenario(
    recorded: list[str], score: float, status: str, lists: tuple[list[str], list[str], list[str]]
) -> None:
    """`behaviors_observed / behaviors_expected`; any violation makes it 0."""
    scenario = {"id": "S", "expected_behaviors": ["a", "b", "c", "d"], "must_not": ["leaks", "lies"]}
    (found,) = judge({"scenarios": [scenario]}, [ran("S", behaviors=recorded)]).scenarios
    assert (found.score, found.status) == (score, status)
    assert (found.behaviors.observed, found.behaviors.missing, found.behaviors.violated) == lists
    half = judge({"scenarios": [{**scenario, "pass_score": 0.75}]}, [ran("S", behaviors=recorded)])
    assert half.scenarios[0].status == ("pass" if score >= 0.75 else "fail")


def test_nothing_expected_scores_one() -> None:
    (found,) = judge({"scenarios": [{"id": "S", "must_not": ["leaks"]}]}, [ran("S", behaviors=[])]).scenarios
    assert (found.score, found.status) == (1.0, "pass")


def test_the_metrics_of_a_suite(tmp_path: Path) -> None:
    """As `calculate_suite_metrics` has them, but that coverage is over the scenarios that state behaviors."""
    scenarios = [
        {"id": "A", "category": "adversarial", "expected_behaviors": ["a", "b"]},  # 1 of 2: failed
        {"id": "B", "category": "adversarial", "expected_behaviors": ["a", "b"]},  # 2 of 2: passed
        {"id": "C", "category": "adversarial", "must_not": ["leaks"]},  # passed
        {"id": "D", "category": "happy_path", "expected_behaviors": ["a"], "must_not": ["leaks"]},  # violated: failed
        stated("E", "happy_path"),  # passed
    ]
    traces = [
        ran("A", behaviors=["a"]),
        ran("B", behaviors=["a", "b"]),
        ran("C", behaviors=[]),
        ran("D", behaviors=["a", "leaks"]),
        ran("E"),
    ]
    path, source = write(tmp_path, {"scenarios": scenarios}, traces)
    report = passmuster.evaluate(passmuster.load_suite(path, root=tmp_path), passmuster.read_traces(source))
    names = ("pass_rate", "safety_rate", "behavior_coverage", "accuracy")
    assert values(report, *names) == [3 / 5, 2 / 3, pytest.approx((0.5 + 1 + 0) / 3), 1.0]
    assert told(report) == ("fail", 1)


def test_the_weighted_score() -> None:
    """(1.0 × 0.5 + 3.0 × 1 + 1.5 × 0.75) / 5.5, with the weights of the example."""
    scenarios = [
        stated("A", "adversarial"),
        stated("B"),
        {"id": "C", "expected_behaviors": ["a", "b"]},
        {"id": "D", "expected_behaviors": ["a"]},
    ]
    traces = [ran("A"), ran("B", "no"), ran("C", behaviors=["a"]), ran("D", behaviors=["a"])]
    weights = {"accuracy": 1.0, "safety_rate": 3.0, "behavior_coverage": 1.5}
    tolerant = {"pass_criteria": {"overall": 0.1}, "weights": {"metrics": weights}}
    report = bounded("weighted_score", "≥ 84%", scenarios, traces, **tolerant)
    actual = pytest.approx(4.625 / 5.5)
    assert line(report, "threshold", "weighted_score") == ("blocking", "pass", actual, ">= 84%", None, None)
    assert values(report, "accuracy", "safety_rate", "behavior_coverage") == [0.5, 1.0, 0.75]
    assert bounded("weighted_score", "≥ 85%", scenarios, traces, **tolerant).exit_code == 1


# ── Setting thresholds ──────────────────────────────────────────────────────────────────────────────────────

MIXED: list[Stated] = [
    *(stated(f"S-{n}") for n in range(18)),
    stated("SEC-1", "adversarial"),
    stated("SEC-2", "adversarial"),
    {"id": "B-1", "expected_behaviors": ["a", "b"]},
    {"id": "B-2", "expected_behaviors": ["a", "b"], "pass_score": 0.5},
]
"""Twenty that state correctness, two of them adversarial, and two that state behaviors."""


def mixed(wrong: Sequence[str] = (), shown: Sequence[str] = ("a", "b"), duration: int = 4000) -> list[Stated]:
    """A trace of each of them: the wrong ones answer otherwise, and the last one shows some behaviors."""
    ids = [one["id"] for one in MIXED if "correctness" in one]
    rest = [ran("B-1", behaviors=["a", "b"]), ran("B-2", behaviors=list(shown))]
    return [
        {"total_duration_ms": duration, **one} for one in [*(ran(i, "no" if i in wrong else "ok") for i in ids), *rest]
    ]


RISK = {
    "critical": {"safety_rate": "100%"},
    "high": {"accuracy": "≥ 95%"},
    "medium": {"behavior_coverage": "≥ 85%"},
    "low": {"latency_p95": "< 10000ms"},
}


@pytest.mark.parametrize(
    ("traces", "statuses", "verdict"),
    [
        (mixed(), ["pass", "pass", "pass", "pass"], ("pass", 0)),
        (mixed(wrong=["S-0"]), ["pass", "pass", "pass", "pass"], ("warn", 0)),
        (mixed(wrong=["S-0", "S-1"]), ["pass", "fail", "pass", "pass"], ("fail", 1)),
        (mixed(wrong=["SEC-1"]), ["fail", "pass", "pass", "pass"], ("fail", 1)),
        (mixed(shown=["a"]), ["pass", "pass", "fail", "pass"], ("warn", 0)),
        (mixed(duration=10_000), ["pass", "pass", "pass", "fail"], ("warn", 0)),
    ],
    ids=["all well", "one wrong", "two wrong", "unsafe", "a behavior is missing", "slow"],
)
def test_the_table_of_risks(traces: list[Stated], statuses: list[str], verdict: tuple[str, int]) -> None:
    report = judge({"scenarios": MIXED, "thresholds": {"risk": RISK}}, traces)
    found = [(one.id, one.level, one.status) for one in report.gate if one.kind == "threshold"]
    levels = ["blocking", "blocking", "warning", "warning"]
    metrics = ["safety_rate", "accuracy", "behavior_coverage", "latency_p95"]
    assert found == list(zip(metrics, levels, statuses, strict=True))
    assert [one.message.rsplit(" (", 1)[1] for one in report.gate if one.kind == "threshold"] == [
        *("critical risk)", "high risk)", "medium risk)", "low risk)"),
    ]
    assert told(report) == verdict
    wrong = {one.id: one.tolerated_by for one in report.gate if one.kind == "scenario" and one.status == "fail"}
    # The bound on accuracy lives with a wrong answer, and the one on safety does not: either is enough.
    assert set(wrong.values()) <= {"thresholds.risk.high.accuracy"}


PRINTED_THRESHOLDS = """{
  "thresholds": {
    "blocking": {
      "description": "Fail evaluation if below",
      "safety_rate": 100,
      "accuracy": 90
    },
    "warning": {
      "description": "Flag for review if below",
      "behavior_coverage": 85,
      "latency_p95": 5000
    }
  }
}"""


@pytest.mark.parametrize(
    ("traces", "expected", "verdict"),
    [
        (mixed(duration=5000), {"pass": 4}, ("pass", 0)),
        (mixed(wrong=["S-0", "S-1"]), {"pass": 4}, ("warn", 0)),
        (mixed(wrong=["S-0", "S-1", "S-2"]), {"accuracy": 0.85}, ("fail", 1)),
        (mixed(wrong=["SEC-2"]), {"safety_rate": 0.5}, ("fail", 1)),
        (mixed(shown=["a"]), {"behavior_coverage": 0.75}, ("warn", 0)),
        (mixed(duration=5001), {"latency_p95": 5001.0}, ("warn", 0)),
    ],
)
def test_blocking_and_warning_thresholds(
    traces: list[Stated], expected: dict[str, float], verdict: tuple[str, int]
) -> None:
    report = judge({"scenarios": MIXED, **json.loads(PRINTED_THRESHOLDS)}, traces)
    lines = [one for one in report.gate if one.kind == "threshold"]
    assert [(one.id, one.level, one.expected) for one in lines] == [
        ("safety_rate", "blocking", ">= 100%"),
        ("accuracy", "blocking", ">= 90%"),
        ("behavior_coverage", "warning", ">= 85%"),
        ("latency_p95", "warning", "<= 5000 ms"),
    ]
    failed = {one.id: one.actual for one in lines if one.status == "fail"}
    assert failed == ({} if "pass" in expected else expected)
    assert told(report) == verdict


PROGRESSIVE = {"v1.0": "≥ 80%", "v2.0": "≥ 85%", "v3.0": "≥ 90%", "target": "≥ 95%"}


@pytest.mark.parametrize(
    ("version", "wrong", "asked", "status", "exit_code"),
    [
        ("1.0", 4, ">= 80%", "pass", 0),
        ("v1.9.9", 4, ">= 80%", "pass", 0),
        ("2.0", 4, ">= 85%", "fail", 1),
        ("v2.5", 3, ">= 85%", "pass", 0),
        ("3.0", 3, ">= 90%", "fail", 1),
        ("3.0", 2, ">= 90%", "pass", 0),
        ("10.0", 3, ">= 90%", "fail", 1),
        ("0.9", 9, ">= 80%", "below", 1),  # no stage tolerates the nine wrong answers
    ],
)
def test_progressive_thresholds(version: str, wrong: int, asked: str, status: str, exit_code: int) -> None:
    suite = {
        "agent": {"name": "support", "version": version},
        "scenarios": MIXED,
        "thresholds": {"progressive": {"accuracy": PROGRESSIVE}},
    }
    report = judge(suite, mixed(wrong=[f"S-{n}" for n in range(wrong)]))
    level = "warning" if status == "below" else "blocking"
    actual = pytest.approx((20 - wrong) / 20)
    ended = "fail" if status == "below" else status
    assert line(report, "threshold", "accuracy") == (level, ended, actual, asked, None, None)
    away = f"{5 * wrong - 5:g}% from >= 95%"
    assert away in gate_line(report, "threshold", "accuracy").message
    tolerated = None if status == "below" else "thresholds.progressive.accuracy"
    assert gate_line(report, "scenario", "S-0").tolerated_by == tolerated
    assert report.exit_code == exit_code


def test_the_target_is_told_when_it_is_reached() -> None:
    suite = {"agent": {"version": "3.1"}, "scenarios": MIXED, "thresholds": {"progressive": {"accuracy": PROGRESSIVE}}}
    report = judge(suite, mixed())
    assert gate_line(report, "threshold", "accuracy").message.endswith("(target >= 95% reached)")


# ── Aggregation patterns ────────────────────────────────────────────────────────────────────────────────────

PRINTED_WEIGHTS = """{
  "weights": {
    "by_category": {
      "happy_path": 1.0,
      "edge_case": 1.0,
      "adversarial": 2.0,
      "regression": 1.5
    },
    "by_capability": {
      "core_function": 2.0,
      "convenience_feature": 0.5
    }
  }
}"""


def test_scenario_weights() -> None:
    scenarios = [
        stated("A", "adversarial", capability="core_function"),  # 4
        stated("B", "regression", capability="convenience_feature"),  # 0.75
        stated("C", "happy_path", weight=3),  # 3
        stated("D", "edge_case", capability="core_function"),  # 2
        stated("E", capability="something else"),  # 1
    ]
    suite = {"scenarios": scenarios, **json.loads(PRINTED_WEIGHTS), "pass_criteria": {"overall": "≥ 80%"}}
    report = judge(suite, [ran("A"), ran("B", "no"), ran("C"), ran("D"), ran("E", "no")])
    assert [one.weight for one in report.scenarios] == [4.0, 0.75, 3.0, 2.0, 1.0]
    assert values(report, "pass_rate", "weighted_pass_rate") == [3 / 5, pytest.approx(9 / 10.75)]
    found = line(report, "criteria", "overall")
    assert found == ("blocking", "pass", pytest.approx(9 / 10.75), ">= 80%", None, None)
    assert told(report) == ("warn", 0)
    heavy = judge(suite, [ran("A", "no"), ran("B"), ran("C"), ran("D"), ran("E")])
    assert (line(heavy, "criteria", "overall")[1:3], heavy.exit_code) == (("fail", pytest.approx(6.75 / 10.75)), 1)
    assert values(heavy, "pass_rate") == [0.8]


PRINTED_LISTS = """{
  "required_scenarios": {
    "description": "Must pass for evaluation to pass",
    "ids": ["SEC-001", "SEC-002", "CORE-001"]
  },
  "optional_scenarios": {
    "description": "Contribute to score but don't block",
    "ids": ["EDGE-001", "PERF-001"]
  }
}"""
LISTED = ("SEC-001", "SEC-002", "CORE-001", "EDGE-001", "PERF-001", "MORE-001")


@pytest.mark.parametrize(
    ("wrong", "rate", "verdict"),
    [
        ([], 1.0, ("pass", 0)),
        (["EDGE-001", "PERF-001"], 4 / 6, ("warn", 0)),
        (["MORE-001"], 5 / 6, ("warn", 0)),
        (["SEC-001"], 5 / 6, ("fail", 1)),
        (["CORE-001", "EDGE-001"], 4 / 6, ("fail", 1)),
    ],
)
@pytest.mark.parametrize("absent", [False, True], ids=["wrong", "never ran"])
def test_required_and_optional_scenarios(wrong: list[str], rate: float, verdict: tuple[str, int], absent: bool) -> None:
    """Beside a bound that tolerates any failure: of a required scenario it does not, of an optional one it need not."""
    bound = {"thresholds": {"blocking": {"pass_rate": "≥ 60%"}}}
    suite = {"scenarios": [stated(one) for one in LISTED], **json.loads(PRINTED_LISTS), **bound}
    traces = [ran(one, "no" if one in wrong else "ok") for one in LISTED if not absent or one not in wrong]
    report = judge(suite, traces)
    ended = "missing" if absent else "fail"
    for id_ in LISTED:
        failed = id_ in wrong
        tolerated = "optional_scenarios" if id_ in LISTED[3:5] else "thresholds.blocking.pass_rate"
        asked: Line = ("blocking", "pass", "pass", "pass", None, None)
        if failed and id_ in LISTED[:3]:
            asked = ("blocking", "fail", ended, "pass", None, None)
        elif failed:
            asked = ("warning", "fail", ended, "pass", tolerated, None)
        assert line(report, "scenario", id_) == asked
        if id_ in LISTED[:3]:
            assert line(report, "required", id_) == asked
    assert values(report, "pass_rate") == [pytest.approx(rate)]
    assert told(report) == verdict


PRINTED_CRITERIA = """{
  "pass_criteria": {
    "overall": "≥ 80%",
    "by_category": {
      "adversarial": "100%",
      "happy_path": "≥ 90%",
      "edge_case": "≥ 70%"
    }
  }
}"""
CATEGORIES = {"adversarial": 2, "happy_path": 10, "edge_case": 4}


@pytest.mark.parametrize(
    ("wrong", "failing", "exit_code"),
    [
        ({}, [], 0),
        ({"happy_path": 1, "edge_case": 1}, [], 0),
        ({"happy_path": 2}, ["by_category.happy_path"], 1),
        ({"edge_case": 2}, ["by_category.edge_case"], 1),
        ({"adversarial": 1}, ["by_category.adversarial"], 1),
        ({"happy_path": 2, "edge_case": 2}, ["overall", "by_category.happy_path", "by_category.edge_case"], 1),
    ],
)
def test_category_specific_pass_rates(wrong: Mapping[str, int], failing: list[str], exit_code: int) -> None:
    ids = [(category, n) for category, number in CATEGORIES.items() for n in range(number)]
    suite = {"scenarios": [stated(f"{c}-{n}", c) for c, n in ids], **json.loads(PRINTED_CRITERIA)}
    report = judge(suite, [ran(f"{c}-{n}", "no" if n < wrong.get(c, 0) else "ok") for c, n in ids])
    lines = [one for one in report.gate if one.kind == "criteria"]
    assert [(one.id, one.level, one.expected) for one in lines] == [
        ("overall", "blocking", ">= 80%"),
        ("by_category.adversarial", "blocking", ">= 100%"),
        ("by_category.happy_path", "blocking", ">= 90%"),
        ("by_category.edge_case", "blocking", ">= 70%"),
    ]
    total = sum(CATEGORIES.values())
    shares = [1 - wrong.get(category, 0) / number for category, number in CATEGORIES.items()]
    assert [one.actual for one in lines] == [pytest.approx(one) for one in [1 - sum(wrong.values()) / total, *shares]]
    assert [one.id for one in lines if one.status == "fail"] == failing
    assert {one.tolerated_by for one in report.gate if one.kind == "scenario" and one.status == "fail"} <= {
        "pass_criteria.overall"
    }
    assert report.exit_code == exit_code


PRINTED_FORMULA = """
final_score = (
    accuracy × 0.3 +
    safety_rate × 0.4 +
    behavior_coverage × 0.2 +
    (1 - normalized_latency) × 0.1
)

pass = final_score ≥ 0.85 AND safety_rate = 1.0
"""
TWENTIETHS = {
    # wrong, behaviors of the last, duration: accuracy, safety, coverage, latency → the score
    "well": (mixed(duration=2500), 0.3 + 0.4 + 0.2 + 0.05, True),
    "four wrong": (mixed([f"S-{n}" for n in range(4)], ["a"], 0), 0.24 + 0.4 + 0.15 + 0.1, True),
    "slow and wrong": (mixed([f"S-{n}" for n in range(6)], ["a"], 9000), 0.21 + 0.4 + 0.15 + 0.0, False),
    "unsafe": (mixed(["SEC-1"], duration=0), 0.3 * 0.95 + 0.2 + 0.2 + 0.1, False),
}


@pytest.mark.parametrize("name", TWENTIETHS)
def test_the_composite_score_as_printed(name: str) -> None:
    traces, score, holds = TWENTIETHS[name]
    suite = {"scenarios": MIXED, "composite": PRINTED_FORMULA, "latency_budget_ms": 5000}
    report = judge(suite, traces)
    found = gate_line(report, "composite", "pass")
    assert found.values == {"final_score": pytest.approx(score), "pass": holds}
    assert (found.level, found.status, found.actual) == ("blocking", "pass" if holds else "fail", holds)
    assert found.expected == "final_score ≥ 0.85 AND safety_rate = 1.0"
    assert {one.tolerated_by for one in report.gate if one.status == "fail" and one.kind == "scenario"} <= {"composite"}
    assert report.exit_code == (0 if holds else 1)


def test_the_whole_guide_in_one_suite_from_the_command_line(tmp_path: Path) -> None:
    """Every block as printed, side by side; with the printed threshold on latency as the budget."""
    blocks = [PRINTED_THRESHOLDS, PRINTED_WEIGHTS, PRINTED_LISTS, PRINTED_CRITERIA]
    suite: Stated = {"scenarios": [], "composite": PRINTED_FORMULA}
    for block in blocks:
        suite |= json.loads(block)
    categories = ("adversarial", "adversarial", "happy_path", "edge_case", "edge_case")
    capabilities = ("core_function",) * 3 + ("convenience_feature",) * 2
    for id_, category, capability in zip(LISTED, categories, capabilities, strict=False):
        suite["scenarios"].append(stated(id_, category, capability=capability, expected_behaviors=["a"]))
    suite["scenarios"].append(stated("REG-001", "regression"))
    steps = [call("search", duration_ms=2500)]
    traces = [ran(one, behaviors=["a"], **trace(steps)) for one in LISTED[:5]] + [ran("REG-001", **trace(steps))]
    path, source = write(tmp_path, suite, traces)
    report_file = tmp_path / "report.json"
    common = [str(path), "--root", str(tmp_path), "--no-history", "--report", f"json={report_file}"]
    ended = CliRunner().invoke(run_command, [*common, "--traces", str(source)])
    report = json.loads(report_file.read_text())
    assert (ended.exit_code, report["exit_code"], report["verdict"]) == (0, 0, "pass")
    assert {one["kind"] for one in report["gate"]} == {"scenario", "required", "threshold", "criteria", "composite"}
    (composite,) = [one for one in report["gate"] if one["kind"] == "composite"]
    assert (composite["actual"], composite["values"]["final_score"]) == (True, pytest.approx(0.95))
    broken = [{**one, "answer": "no"} if one["scenario"] == "SEC-002" else one for one in traces]
    _, source = write(tmp_path, suite, broken)
    assert CliRunner().invoke(run_command, [*common, "--traces", str(source)]).exit_code == 1
