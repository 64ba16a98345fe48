"""The reference of the three layers, row by row and in its order, with the document's own numbers.

Each row is one scenario of a real suite on one recorded trace. What is printed beside it is the status of its checks
as the report has them, and their words where the document gives a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.checks.building import Step, calls, judge, trace

from passmuster._problems import plural
from passmuster.metrics import (
    MATCH_MODES,
    judge_threshold,
    loop_count,
    match,
    sequence_edit,
    sequence_lcs,
    tool_f1,
    tool_precision,
    tool_recall,
)
from passmuster.scoring._report import Report, ScenarioReport

Layer = Mapping[str, Any]
NO_ANSWER: Any = None


def run(layers: Mapping[str, Layer], one: Step, **options: Any) -> Report:
    """The report on one trace of one scenario with these layers; further keys of the suite under `top`."""
    suite = {"scenarios": [{"id": "S", **layers}], **options.pop("top", {})}
    return judge(suite, [{"scenario": "S", **one}], **options)


def seen(report: Report) -> ScenarioReport:
    (scenario,) = report.scenarios
    return scenario


def statuses(report: Report, layer: str) -> dict[str, str]:
    return {check.name: check.status for check in seen(report).layers[layer].checks}


def message(report: Report, layer: str, name: str) -> str:
    (found,) = [check.message for check in seen(report).layers[layer].checks if check.name == name]
    return str(found)


# ── Layer 1: Correctness (hard fail) ────────────────────────────────────────────────────────────────────────

SCHEMA = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("check", "asked", "passes", "fails"),
    [
        ("expected_in_answer", ["REFUND", "30 days"], "A refund takes 30 Days.", "A refund takes a month."),
        ("not_in_answer", ["Guarantee", "promise"], "We will try.", "I GUARANTEE it."),
        ("exact_match", " yes ", "\nyes  ", "Yes"),
        ("regex_match", r"ord_\d+", "see ord_77, please", "see ORD_77"),
        ("json_schema", SCHEMA, ' {"ok": true} ', '{"ok": "true"}'),
        ("json_schema", SCHEMA, '{"ok": false}', 'Sure: {"ok": true}'),
    ],
)
def test_each_rule_of_correctness(check: str, asked: Any, passes: str, fails: str) -> None:
    good = run({"correctness": {check: asked}}, trace(answer=passes))
    assert (statuses(good, "correctness"), good.verdict) == ({check: "pass"}, "pass")
    bad = run({"correctness": {check: asked}}, trace(answer=fails))
    assert (statuses(bad, "correctness"), bad.exit_code) == ({check: "fail"}, 1)
    silent = run({"correctness": {check: asked}}, trace(answer=NO_ANSWER))
    assert (statuses(silent, "correctness"), silent.exit_code) == ({check: "fail"}, 1)
    assert message(silent, "correctness", check) == "there is no answer"


def test_any_single_failure_fails_the_layer() -> None:
    report = run({"correctness": {"expected_in_answer": "a", "not_in_answer": "b"}}, trace(answer="a and b"))
    assert statuses(report, "correctness") == {"expected_in_answer": "pass", "not_in_answer": "fail"}
    assert (seen(report).layers["correctness"].status, seen(report).status, report.exit_code) == ("fail", "fail", 1)


def test_the_order_of_evaluation_and_that_every_deterministic_check_runs() -> None:
    """However the suite lists them, and though the first one has failed already."""
    written = {"json_schema": SCHEMA, "regex_match": "x", "exact_match": "x", "not_in_answer": "no"}
    report = run({"correctness": {**written, "expected_in_answer": "yes"}}, trace(answer="no"))
    ordered = ["expected_in_answer", "not_in_answer", "exact_match", "regex_match", "json_schema"]
    assert list(statuses(report, "correctness")) == ordered
    assert set(statuses(report, "correctness").values()) == {"fail"}
    (line,) = [line for line in report.gate if line.kind == "scenario"]
    assert all(f"{name}: " in line.message for name in ordered)


# ── Layer 2: Path (soft warning) ────────────────────────────────────────────────────────────────────────────


def test_an_exceedance_warns_and_a_forbidden_tool_fails() -> None:
    soft = run({"path": {"max_tool_calls": 1}}, trace("search search"))
    assert (statuses(soft, "path"), soft.verdict, soft.exit_code) == ({"max_tool_calls": "warn"}, "warn", 0)
    hard = run({"path": {"max_tool_calls": 1, "forbidden_tools": ["admin_*"]}}, trace("search admin_reset"))
    assert statuses(hard, "path") == {"max_tool_calls": "warn", "forbidden_tools": "fail"}
    assert (seen(hard).layers["path"].status, hard.exit_code) == ("fail", 1)
    assert message(hard, "path", "forbidden_tools") == "forbidden and called: admin_reset"


@pytest.mark.parametrize(
    ("expected", "used", "recall", "precision", "f1"),
    [
        (["search", "rerank", "generate"], "search generate", 2 / 3, 1.0, 0.8),
        (["search", "generate"], "search rerank generate", 1.0, 2 / 3, 0.8),
        (["search"], "search search search", 1.0, 1.0, 1.0),
        (["search"], "email", 0.0, 0.0, 0.0),
        (["search"], "", 0.0, 0.0, 0.0),
        ([], "", 1.0, 1.0, 1.0),
        ([], "search", 1.0, 0.0, 0.0),
    ],
)
def test_the_set_based_metrics(expected: list[str], used: str, recall: float, precision: float, f1: float) -> None:
    report = run({"path": {"expected_tools": expected}}, trace(used))
    measures = seen(report).layers["path"].measures
    names = used.split()
    for name, function, value in (
        ("tool_recall", tool_recall, recall),
        ("tool_precision", tool_precision, precision),
        ("tool_f1", tool_f1, f1),
    ):
        assert measures[name] == pytest.approx(value)
        assert function(expected, names) == pytest.approx(value)


def test_recall_is_told_with_what_is_missing() -> None:
    report = run({"path": {"expected_tools": ["search", "rerank", "generate"]}}, trace("search generate"))
    assert message(report, "path", "expected_tools") == "tool_recall 0.667 < 1.0: missing rerank"


PREDICTED, REFERENCE = "search rerank generate", ["search", "generate"]


@pytest.mark.parametrize(
    ("similarity", "used", "reference", "value"),
    [
        ("lcs", PREDICTED, REFERENCE, 0.80),
        ("lcs", "search generate", PREDICTED.split(), 0.80),
        ("lcs", "search generate", REFERENCE, 1.0),
        ("lcs", "email", REFERENCE, 0.0),
        ("edit", PREDICTED, REFERENCE, 2 / 3),
        ("edit", "search generate", REFERENCE, 1.0),
        ("edit", "email chat", REFERENCE, 0.0),
    ],
)
def test_the_sequence_based_metrics(similarity: str, used: str, reference: list[str], value: float) -> None:
    function = sequence_lcs if similarity == "lcs" else sequence_edit
    assert function(used.split(), reference) == pytest.approx(value)
    path = {"expected_tool_sequence": reference, "similarity": similarity}
    enough = run({"path": {**path, "min_sequence_similarity": value}}, trace(used))
    assert statuses(enough, "path")["min_sequence_similarity"] == "pass"
    assert seen(enough).layers["path"].measures[f"sequence_{similarity}"] == pytest.approx(value)
    if value < 1:
        more = run({"path": {**path, "min_sequence_similarity": value + 0.01}}, trace(used))
        assert statuses(more, "path")["min_sequence_similarity"] == "warn"


def test_lcs_is_the_default() -> None:
    path = {"expected_tool_sequence": REFERENCE, "min_sequence_similarity": 0.9}
    report = run({"path": path}, trace(PREDICTED))
    assert message(report, "path", "min_sequence_similarity").startswith("sequence_lcs 0.8 < 0.9: ")


MODES = {
    # the calls made: strict unordered subset superset in_order, with the reference [search, generate]
    "search generate": (True, True, True, True, True),
    "generate search": (False, True, True, True, False),
    "search search generate": (False, True, True, True, True),
    "search rerank generate": (False, False, True, False, True),
    "generate search generate": (False, True, True, True, True),
    "search": (False, False, False, True, False),
    "": (False, False, False, True, False),
    "email": (False, False, False, False, False),
}


@pytest.mark.parametrize("used", MODES)
@pytest.mark.parametrize(("place", "mode"), list(enumerate(MATCH_MODES)))
def test_the_match_modes(used: str, place: int, mode: str) -> None:
    holds = MODES[used][place]
    assert match(used.split(), REFERENCE, mode) == holds
    report = run({"path": {"expected_tool_sequence": REFERENCE, "match_mode": mode}}, trace(used))
    assert statuses(report, "path") == {"match_mode": "pass" if holds else "warn"}
    if mode == "in_order":  # a written sequence asks for its order
        default = run({"path": {"expected_tool_sequence": REFERENCE}}, trace(used))
        assert statuses(default, "path") == {"expected_tool_sequence": "pass" if holds else "warn"}


@pytest.mark.parametrize(
    ("used", "reference", "holds"),
    [
        ("(b a)", ["a", "b"], True),
        ("(b a)", ["a", "b", "a"], False),
        ("(b a) a", ["a", "b", "a"], True),
        ("a (c b) d", ["a", "b", "c", "d"], True),
        ("(a b) (c d)", ["d", "a"], False),
        ("a! b", ["a", "b"], True),  # any attempt counts in a path
        ("(a a) b", ["a", "a", "b"], True),
        ("(a x) (a y)", ["y", "x"], False),
    ],
)
def test_parallel_calls_are_in_any_order(used: str, reference: list[str], holds: bool) -> None:
    report = run({"path": {"expected_tool_sequence": reference}}, trace(used))
    assert statuses(report, "path") == {"expected_tool_sequence": "pass" if holds else "warn"}
    report = run({"path": {"expected_tool_sequence": reference, "match_mode": "in_order"}}, trace(used))
    assert statuses(report, "path") == {"match_mode": "pass" if holds else "warn"}


def test_a_sequence_with_a_similarity_is_only_its_reference() -> None:
    path = {"expected_tool_sequence": ["a", "b"], "min_sequence_similarity": 0.5}
    assert statuses(run({"path": path}, trace("b a")), "path") == {"min_sequence_similarity": "pass"}


def test_a_set_of_tools_is_no_reference_for_an_order() -> None:
    path = {"expected_tools": ["a", "b"], "match_mode": "in_order"}
    assert statuses(run({"path": path}, trace("a b")), "path") == {"expected_tools": "pass", "match_mode": "skip"}


@pytest.mark.parametrize(
    ("used", "loops"),
    [
        ("search search grade grade grade", 3),
        ("search grade search grade", 0),
        ("search (grade grade grade)", 0),
        ("grade (grade grade)", 1),
        ("(grade grade) grade", 1),
        ("", 0),
    ],
)
def test_loops_are_repeated_calls_but_not_parallel_ones(used: str, loops: int) -> None:
    if "(" not in used:
        assert loop_count([step["tool"] for step in calls(used)]) == loops
    within = run({"path": {"max_loops": loops}}, trace(used))
    assert statuses(within, "path") == {"max_loops": "pass"}
    assert seen(within).layers["path"].measures["loop_count"] == loops
    if loops:
        beyond = run({"path": {"max_loops": loops - 1}}, trace(used))
        assert (statuses(beyond, "path"), beyond.exit_code) == ({"max_loops": "warn"}, 0)
        assert message(beyond, "path", "max_loops") == f"{plural(loops, 'loop')} > {loops - 1}"


# ── Layer 3: Cost (soft warning) ────────────────────────────────────────────────────────────────────────────

LIMITS: list[tuple[str, str, float, str]] = [
    ("max_total_tokens", "total_tokens", 1234567, "tokens"),
    ("max_llm_calls", "total_llm_calls", 3, "model calls"),
    ("max_latency_ms", "total_duration_ms", 5000, "ms"),
    ("max_cost_usd", "total_cost_usd", 0.05, "USD"),
]


@pytest.mark.parametrize(("key", "field", "limit", "unit"), LIMITS)
def test_equal_to_a_limit_is_within_it_and_above_warns(key: str, field: str, limit: float, unit: str) -> None:
    within = run({"cost": {key: limit}}, {"answer": "", field: limit})
    assert (statuses(within, "cost"), within.verdict) == ({key: "pass"}, "pass")
    above = limit + 1 if limit >= 1 else 0.06
    beyond = run({"cost": {key: limit}}, {"answer": "", field: above})
    assert (statuses(beyond, "cost"), beyond.verdict, beyond.exit_code) == ({key: "warn"}, "warn", 0)
    assert message(beyond, "cost", key) == f"{above} {unit} > {limit}"


@pytest.mark.parametrize(("key", "field", "limit", "unit"), LIMITS)
def test_an_unknown_figure_is_no_zero(key: str, field: str, limit: float, unit: str) -> None:
    """Skipped with a warning line, a failure under `--strict`, and in a layer that blocks."""
    asked: dict[str, Layer] = {"correctness": {"expected_in_answer": "hi"}, "cost": {key: limit}}
    figure = {"ms": "duration", "USD": "cost"}.get(unit, unit)
    told = f"{key}: unknown: the trace does not state its {figure}"
    report = run(asked, trace("search", answer="hi"))
    assert (statuses(report, "cost"), seen(report).status, report.verdict) == ({key: "skip"}, "pass", "warn")
    (line,) = [line for line in report.gate if line.kind == "vacuous"]
    assert (line.level, line.message) == ("warning", f"checks were skipped on 1 of 1 run: {told}")
    assert run(asked, trace("search", answer="hi"), strict=True).exit_code == 1
    blocking = run(asked, trace("search", answer="hi"), top={"layers": {"cost": "block"}})
    assert (statuses(blocking, "cost"), blocking.exit_code) == ({key: "fail"}, 1)
    alone = run({"cost": {key: limit}}, trace("search"))
    assert (seen(alone).layers["cost"].status, seen(alone).status, alone.verdict) == ("skip", "skip", "warn")


@pytest.mark.parametrize(
    ("golden", "cost", "status"),
    [
        ([0.01], 0.02, "pass"),
        ([0.01], 0.021, "warn"),
        ([0.1], 0.2, "pass"),
        ([0.01, 0.03, 0.5], 0.06, "pass"),  # twice their median
        ([0.01, 0.03, 0.5], 0.07, "warn"),
        ([0], 0.02, "skip"),
        ([None], 0.02, "skip"),
        ([0.01, None], 0.02, "skip"),
        ([], 0.02, "skip"),
        ([0.01], None, "skip"),
    ],
)
def test_the_cost_multiplier_needs_a_baseline_that_cost_something(
    golden: list[float | None], cost: float | None, status: str
) -> None:
    asked = {"cost": {"max_cost_multiplier": 2.0}}
    recorded = [{"scenario": "S", "answer": "", "total_cost_usd": one} for one in golden]
    report = run(asked, trace(total_cost_usd=cost), baseline=recorded)
    assert statuses(report, "cost") == {"max_cost_multiplier": status}
    assert report.exit_code == 0
    tight = run(asked, trace(total_cost_usd=cost), baseline=recorded, top={"layers": {"cost": "block"}})
    assert tight.exit_code == (0 if status == "pass" else 1)


def test_the_multiplier_is_told() -> None:
    recorded = [{"scenario": "S", "answer": "", "total_cost_usd": 0.01}]
    report = run({"cost": {"max_cost_multiplier": 2}}, trace(total_cost_usd=0.03), baseline=recorded)
    assert message(report, "cost", "max_cost_multiplier") == "0.03 USD is 3 × the baseline's 0.01 USD > 2 ×"


# ── Judge score mapping, and the recommended thresholds ─────────────────────────────────────────────────────


@pytest.mark.parametrize(("threshold", "score"), [(0.0, 1), (0.2, 1), (0.5, 3), (0.7, 4), (0.8, 4), (1.0, 5)])
def test_the_judge_score_mapping(threshold: float, score: int) -> None:
    assert judge_threshold(threshold) == score


def test_the_recommended_thresholds_load_and_judge() -> None:
    path = {
        "expected_tools": ["search"],
        "min_tool_recall": 1.0,
        "expected_tool_sequence": ["search", "generate"],
        "min_sequence_similarity": 0.6,
        "max_tool_calls": 0,
    }
    report = run({"path": path, "cost": {"max_cost_multiplier": 3.0}}, trace("search"))
    assert statuses(report, "path") == {
        "expected_tools": "pass",
        "min_tool_recall": "pass",
        "min_sequence_similarity": "pass",
        "max_tool_calls": "warn",
    }
    assert message(report, "path", "max_tool_calls") == "1 call > 0"
