"""What changed between two reports: tables of single changes, and laws over any documents."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports import report_factory as made

from passmuster.reports._comparison_text import comparison_lines
from passmuster.reports.formats.json import encoded, write
from passmuster.scoring._comparison import CaseChange, Comparison, CountChange, compare
from passmuster.scoring._report import Metric, Report


def document(report: Report, **keys: Any) -> dict[str, Any]:
    return {**msgspec.json.decode(write(report)), **keys}


def text(comparison: Comparison) -> str:
    return "\n".join(comparison_lines(comparison, "run 1", "run 2"))


def of_violations(*before: Any, after: list[Any]) -> Comparison:
    return compare(document(made.report(made.test_report(*before))), document(made.report(made.test_report(*after))))


# ── Nothing, and the verdict ────────────────────────────────────────────────────────────────────────────────


def test_the_same_report_is_no_change() -> None:
    one = document(made.rich_report(), tools={"a": 3})
    later = copy.deepcopy(one)
    later["duration_ms"] = 9.0
    later["tests"][0]["duration_ms"] = 9.0
    assert not compare(one, later).changed
    assert text(compare(one, later)) == "run 1 → run 2: customer-service (passmuster.yaml)\n\nNothing changed."


def test_the_verdict_and_the_exit_code_are_told() -> None:
    passing, failing = made.report(made.test_report()), made.report(made.test_report(made.too_much()))
    comparison = compare(document(passing), document(failing))
    assert (comparison.before.verdict, comparison.after.verdict) == ("pass", "fail")
    assert "Verdict: pass → fail (exit code 0 → 1)" in text(comparison)
    same = compare(document(failing), document(failing, metrics={}))
    assert "Verdict: fail, as before (exit code 1)" in text(same)


@pytest.mark.parametrize(
    ("keys", "note"),
    [
        ({"suite": "other"}, "these are two different suites; the first is customer-service (passmuster.yaml)"),
        ({"suite_file": "b.yaml"}, "these are two different suites"),
        ({"provenance": {"version": "0.1.0", "suite_sha256": "cd"}}, "the suite file was changed in between"),
        ({"provenance": {"version": "0.2.0", "suite_sha256": "ab" * 32}}, "written by passmuster 0.1.0 and 0.2.0"),
        ({"partial": True}, "the second is a partial run"),
    ],
)
def test_what_makes_two_reports_hard_to_compare_is_noted(keys: dict[str, Any], note: str) -> None:
    report = made.report(made.test_report())
    shown = text(compare(document(report), document(report, **keys)))
    assert f"Note: {note}" in shown
    assert shown.endswith("Nothing changed.")


# ── The gate ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        (made.line("threshold", "x", "pass"), made.line("threshold", "x"), ("failing", "pass", "fail")),
        (None, made.line("threshold", "x"), ("failing", None, "fail")),
        (made.line("threshold", "x"), made.line("threshold", "x", "pass"), ("fixed", "fail", "pass")),
        (made.line("threshold", "x"), None, ("gone", "fail", None)),
        (made.line("vacuous", "x", level="warning"), None, ("fixed", "warning", None)),
        (made.line("scenario", "x"), made.line("scenario", "x", level="warning"), ("changed", "fail", "warning")),
        (
            made.line("scenario", "x", "pass"),
            made.line("scenario", "x", level="warning", tolerated_by="optional_scenarios"),
            ("failing", "pass", "tolerated"),
        ),
        (made.line("judge", "x", "undecided"), made.line("judge", "x", "error"), ("changed", "undecided", "error")),
        (made.line("threshold", "x", "pass"), None, None),
        (None, made.line("threshold", "x", "pass"), None),
        (made.line("threshold", "x"), made.line("threshold", "x", message="other words"), None),
    ],
)
def test_gate_lines_turn(before: Any, after: Any, turn: tuple[str, ...] | None) -> None:
    comparison = compare(
        document(made.report(gate=[before] if before else [])), document(made.report(gate=[after] if after else []))
    )
    assert [(line.turn, line.before, line.after) for line in comparison.gate] == ([turn] if turn else [])


def test_of_several_lines_about_one_thing_the_gravest_counts() -> None:
    both = [made.line("threshold", "x", "pass"), made.line("threshold", "x", level="warning", message="too low")]
    (line,) = compare(document(made.report(gate=both[:1])), document(made.report(gate=both))).gate
    assert (line.before, line.after, line.message) == ("pass", "warning", "too low")


# ── Metrics and counts ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "before", "after", "shown"),
    [
        ("pass_rate", 0.9, 0.85, "90% → 85%  −5 points"),
        ("safety_rate", 0.5, 1.0, "50% → 100%  +50 points"),
        ("total_cost_usd", 0.02, 0.03, "0.02 USD → 0.03 USD  +50%"),
        ("latency_p95", 2000.0, 1500.0, "2000 ms → 1500 ms  −25%"),
        ("total_tokens", 1000, 1100, "1000 tokens → 1100 tokens  +10%"),
        ("total_cost_usd", 0.0, 0.03, "0 USD → 0.03 USD  +0.03 USD"),
        ("weighted_score", None, 0.5, "– → 50%"),
        ("token_efficiency", 0.002, 0.001, "2 per 1,000 tokens → 1 per 1,000 tokens  −50%"),
        ("own", 0.5, 0.25, "50% → 25%  −25 points"),
    ],
)
def test_a_metric_changes_in_its_own_unit(name: str, before: float | None, after: float | None, shown: str) -> None:
    reports = [made.report(metrics={name: Metric(value, 10)}) for value in (before, after)]
    comparison = compare(*map(document, reports))
    assert f"   {name}  {shown}" in text(comparison)
    assert not compare(document(reports[0]), document(reports[0])).changed


def test_intervals_stand_side_by_side() -> None:
    reports = [made.report(metrics={"f1": metric}) for metric in (Metric(0.9, 10, (0.6, 0.98)), Metric(0.8, 10))]
    comparison = compare(*map(document, reports))
    assert "f1  90% → 80%  −10 points  95%: 60% to 98% → none" in text(comparison)


def test_a_metric_that_comes_or_goes_is_told() -> None:
    bare, rated = made.report(metrics={}), made.report(metrics={"f1": Metric(0.9, 10)})
    assert "f1  not there → 90%" in text(compare(document(bare), document(rated)))
    assert "f1  90% → not there" in text(compare(document(rated), document(bare)))


def test_tool_calls_are_compared_where_both_reports_count_them() -> None:
    report = made.report(made.test_report())
    some = document(report, tools={"a": 3, "b": 1, "c": 2})
    more = document(report, tools={"a": 3, "b": 4, "d": 1})
    assert compare(some, more).tools == [CountChange("b", 1, 4), CountChange("d", 0, 1), CountChange("c", 2, 0)]
    assert "   b  1 → 4  +3\n   d  0 → 1  +1\n   c  2 → 0  −2" in text(compare(some, more))
    older = document(report)
    older.pop("tools", None)
    assert compare(older, more).tools == compare(more, older).tools == []


# ── Tests, scenarios and violations ─────────────────────────────────────────────────────────────────────────


def test_cases_change_come_and_go() -> None:
    before = made.report(
        scenarios=[made.scenario(), made.scenario(id="b", score=0.5), made.scenario(id="c"), made.scenario(id="e")]
    )
    after = made.report(
        scenarios=[
            made.scenario(status="fail", score=0.0),
            made.scenario(id="b", score=0.75),
            made.scenario(id="d"),
            made.scenario(id="e"),
        ]
    )
    comparison = compare(document(before), document(after))
    assert comparison.scenarios == [
        CaseChange("SEC-001", "pass", "fail", 1.0, 0.0),
        CaseChange("b", "pass", "pass", 0.5, 0.75),
        CaseChange("d", None, "pass", None, 1.0),
        CaseChange("c", "pass", None, 1.0, None),
    ]
    for line in (
        "   SEC-001  pass → fail     score 1 → 0",
        "   b        pass            score 0.5 → 0.75",
        "   d        new, pass",
        "   c        gone, was pass",
    ):
        assert line in text(comparison).splitlines()


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"value": 60, "call_index": 9, "message": "other words", "expected": "x", "actual": "y"}, True),
        ({"policy_file": "moved.yaml", "policy_line": 99, "trace_file": "b.jsonl", "trace_line": 1}, True),
        ({"level": "warn", "suggestion": None, "neighbours": None}, True),
        ({"tool": "other"}, False),
        ({"argument": "amount"}, False),
        ({"constraint": "max: 20"}, False),
        ({"rule": "before"}, False),
        ({"pattern": "a*"}, False),
        ({"trace_id": "t-8"}, False),
        ({"scenario": "S-1"}, False),
    ],
)
def test_a_violation_is_known_again_after_unrelated_edits(change: dict[str, Any], same: bool) -> None:
    comparison = of_violations(made.too_much(), after=[made.too_much(**change)])
    assert [violation.turn for violation in comparison.violations] == ([] if same else ["new", "fixed"])


def test_in_a_scenario_a_trace_recorded_anew_is_no_change() -> None:
    first, again = (made.too_much(scenario="S-1", trace_id=name) for name in ("2.1.0-a", "2.2.0-a"))
    assert of_violations(first, after=[again]).violations == []
    twice = of_violations(first, after=[again, made.too_much(scenario="S-1", trace_id="2.2.0-b")])
    assert [(each.turn, each.before, each.after) for each in twice.violations] == [("new", 1, 2)]


def test_violations_are_told_in_words() -> None:
    rule = made.violation(rule="require", message="Expected a; it was never called", trace_id="t-1")
    blocked = made.violation(message="Blocked tool called", tool="admin_delete", pattern="admin_*")
    shown = text(of_violations(made.too_much(), after=[rule, rule, blocked]))
    assert "Violations: 3 new, 1 fixed" in shown
    assert "   + check_all_args: require: Expected a; it was never called (t-1), 2 times" in shown
    assert "   + check_all_args: admin_delete, admin_*" in shown
    assert "   − check_all_args: apply_discount, percent, max: 30 (t-7)" in shown


def test_violations_of_a_test_that_is_gone_are_not_fixed() -> None:
    comparison = compare(document(made.report(made.test_report(made.too_much()))), document(made.report()))
    assert [violation.turn for violation in comparison.violations] == ["gone"]
    assert "Violations: 1 gone with their test" in text(comparison)


def test_more_violations_than_are_listed_are_counted_and_said_to_be() -> None:
    reports = [made.report(made.test_report(made.too_much(), violation_count=count)) for count in (7_000, 9_000)]
    comparison = compare(*map(document, reports))
    assert comparison.changed
    assert "Note: check_all_args: 7000 → 9000 violations; 1 and 1 are listed and compared" in text(comparison)


def test_a_long_list_is_cut_in_text_only() -> None:
    many = [made.too_much(trace_id=f"t-{number}") for number in range(100)]
    comparison = of_violations(after=many)
    assert len(comparison.violations) == 100
    assert "… and 80 more (--json has them all)" in text(comparison)
    assert "Violations: 100 new" in text(comparison)


def test_nothing_from_a_report_reaches_the_terminal_raw() -> None:
    evil = "a\x1b[31m\u202e\n##[error]b"
    bad = made.too_much(tool=evil, argument=evil, constraint=evil, rule=evil, message=evil, trace_id=evil)
    report = made.report(
        made.test_report(bad, id=evil),
        suite=evil,
        suite_file=evil,
        metrics={evil: Metric(0.5, 1)},
        gate=[made.line("input", evil, message=evil)],
        scenarios=[made.scenario(id=evil)],
    )
    foreign = document(report, verdict=evil, tools={evil: 1}, provenance={"version": evil})
    foreign["tests"][0]["status"] = foreign["scenarios"][0]["status"] = foreign["gate"][0]["kind"] = evil
    plain = document(made.report(), tools={})
    for comparison in (compare(plain, foreign), compare(foreign, plain)):
        shown = "\n".join(comparison_lines(comparison, evil, evil))
        assert not set(shown) & {"\x1b", "\u202e", "\r"}
        assert "##[" not in shown
        assert shown.count(r"\x1b[31m") > 10


# ── Laws ────────────────────────────────────────────────────────────────────────────────────────────────────

NONSENSE: list[Any] = [None, True, -7, 10**400, float("inf"), "", "\ud800", [], [[]], [None, 3], {}, {"a": {"id": []}}]
JSON = st.sampled_from(NONSENSE)
ID = st.sampled_from(["a", "b", "c"])


def entries(**parts: Any) -> Any:
    """Lists of what a report has, some of it missing and some of it nonsense."""
    whole = st.fixed_dictionaries({}, optional={name: part | JSON for name, part in parts.items()})
    return st.lists(whole | JSON, max_size=3)


VIOLATIONS = entries(tool=ID, rule=ID, scenario=ID, trace_id=ID, constraint=ID, message=ID)
METRIC = st.fixed_dictionaries(
    {},
    optional={
        "value": st.floats(0, 1) | JSON,
        "n": st.integers(0, 9),
        "ci95": st.lists(st.floats(0, 1), max_size=3) | JSON,
    },
)
STATUS = st.sampled_from(["pass", "fail", "warn", "skip", "error"])
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "suite": ID | JSON,
        "verdict": STATUS | JSON,
        "exit_code": st.integers(0, 3) | JSON,
        "metrics": st.dictionaries(ID, METRIC | JSON, max_size=2) | JSON,
        "gate": entries(kind=ID, id=ID, level=ID, status=STATUS, message=ID) | JSON,
        "tests": entries(id=ID, status=STATUS, violations=VIOLATIONS, violation_count=st.integers(0, 9)) | JSON,
        "scenarios": entries(id=ID, status=STATUS, score=st.floats(0, 1)) | JSON,
        "tools": st.dictionaries(ID, st.integers(0, 9) | JSON, max_size=3) | JSON,
        "provenance": JSON,
        "traces": JSON,
    },
)


@given(DOCUMENTS, DOCUMENTS)
def test_any_two_documents_can_be_compared_and_told(before: dict[str, Any], after: dict[str, Any]) -> None:
    comparison = compare(before, after)
    assert comparison_lines(comparison, "a", "b")
    assert encoded(msgspec.to_builtins(comparison))


@given(DOCUMENTS)
def test_nothing_ever_changes_between_a_report_and_itself(document: dict[str, Any]) -> None:
    assert not compare(document, document).changed


@given(DOCUMENTS, DOCUMENTS)
def test_what_came_one_way_went_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    there, back = compare(before, after), compare(after, before)
    assert there.changed == back.changed
    for name in ("tests", "scenarios", "tools", "traces"):
        forth = {(change[0], change[1], change[2]) for change in map(msgspec.structs.astuple, getattr(there, name))}
        mirrored = {(change[0], change[2], change[1]) for change in map(msgspec.structs.astuple, getattr(back, name))}
        assert forth == mirrored
    assert sum(each.after - each.before for each in there.violations) == sum(
        each.before - each.after for each in back.violations
    )
