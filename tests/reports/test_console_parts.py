"""What the console report is made of: reasons in order, groups of violations, paths from here, and figures."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.reports.report_factory import line, report, scenario, test_report, too_much, violation

from passmuster.checks import Behaviors, CheckReport, LayerReport, Neighbours, Violation
from passmuster.reports import show_console
from passmuster.reports._cases import cases
from passmuster.reports._overview import category_rows, fact_lines, metric_rows
from passmuster.reports._reasons import reasons
from passmuster.reports._relative_report import relative_report
from passmuster.reports._screen import cells, wrapped
from passmuster.reports._text import place_lines
from passmuster.reports._violation_groups import group_line, grouped
from passmuster.reports._warnings import warning_lines
from passmuster.scoring import Report
from passmuster.scoring._report import (
    Attempt,
    JudgeUse,
    LineBound,
    Metric,
    RunPlace,
    ScenarioCounts,
    Stage,
)


def bound(metric: str, actual: float | None, value: float) -> dict[str, object]:
    return {"actual": actual, "bound": LineBound(metric, ">=", value)}


def test_the_worst_comes_first() -> None:
    forbidden = LayerReport("fail", [CheckReport(name="forbidden_tools", status="fail")])
    made = report(
        test_report(violation(), id="one_in_ten", traces=10, failed_traces=1),
        test_report(violation(tool="x"), id="blocked", metric="tool_blocklist", traces=100, failed_traces=1),
        test_report(violation(), id="all", traces=10, failed_traces=10),
        scenarios=[
            scenario(id="half", status="fail", pass_rate=0.5),
            scenario(id="did_it", status="fail", pass_rate=0.9, layers={"path": forbidden}),
            scenario(id="said_it", status="fail", pass_rate=0.0, behaviors=Behaviors(violated=["b"])),
            scenario(id="must", status="missing"),
        ],
        gate=[
            *(line("test", id_) for id_ in ("one_in_ten", "blocked", "all")),
            *(line("scenario", id_) for id_ in ("half", "did_it", "said_it", "must")),
            line("composite", "pass"),
            line("threshold", "pass_rate", **bound("pass_rate", 0.7, 0.9)),  # type: ignore[arg-type]
            line("threshold", "latency_p95", **bound("latency_p95", 5300.0, 1000.0)),  # type: ignore[arg-type]
            line("required", "must"),
            line("threshold", "held", "pass"),
            line("scenario", "optional", level="warning", tolerated_by="optional_scenarios"),
        ],
    )
    found = [case.id for case in reasons(made, cases(made))]
    assert found == [
        "must",  # required, and told once though it has two lines
        *("said_it", "did_it", "blocked"),  # forbidden
        *("all", "latency_p95", "half", "pass_rate", "one_in_ten"),  # by distance
        "pass",
    ]


def test_equal_violations_are_one_group() -> None:
    many = [too_much(value=31 + n % 5, trace_id=f"t-{n}", trace_line=n + 1) for n in range(17)]
    (group,) = grouped(many)
    assert (group.count, group.traces) == (17, 17)
    assert group_line(group) == (
        "17× apply_discount.percent > 30, found 31, 32, 33, …; "
        "policy policies/customer.yaml:12; first: traces/a.jsonl:1"
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"constraint": "min: 5", "value": 1}, "apply_discount.percent < 5, found 1; "),
        ({"constraint": "exclusiveMaximum: 5", "value": 5}, "apply_discount.percent >= 5, found 5; "),
        (
            {"constraint": "type: string", "message": "Expected string"},
            "apply_discount.percent: Expected string, found",
        ),
        (
            {"rule": "before", "actual": "b was first", "description": "look first"},
            "before: b was first (look first); ",
        ),
        ({"waived": "known (until 2031-01-01)"}, "apply_discount.percent > 30, found 50; waived: known (until "),
    ],
)
def test_a_group_says_what_was_found(fields: dict[str, object], told: str) -> None:
    assert group_line(grouped([too_much(**fields)])[0]).startswith(told)


def test_a_tool_never_called_and_one_that_failed_are_not_the_same() -> None:
    never, failed = (
        violation(rule="require", expected="verify to be called", actual=actual, policy_file="p", policy_line=9)
        for actual in ("verify was never called", "verify was called once and failed")
    )
    assert [group.count for group in grouped([never, failed, never])] == [2, 1]


def test_groups_differ_by_constraint_tool_and_place_and_not_by_item() -> None:
    items = [too_much(argument=f"items[{n}].price") for n in range(3)]
    others = [too_much(tool="other"), too_much(policy_line=13), too_much(level="warn"), too_much(constraint="min: 1")]
    assert [group.count for group in grouped([*others, *items])] == [3, 1, 1, 1, 1]
    assert grouped([*others, *items])[-1].first.level == "warn"  # what blocks comes first


@pytest.mark.parametrize(
    ("here", "policy", "trace"),
    [
        ("/srv/shop", "policies/customer.yaml", "traces/a.jsonl"),
        ("/srv/shop/traces", "../policies/customer.yaml", "a.jsonl"),
        ("/srv", "shop/policies/customer.yaml", "shop/traces/a.jsonl"),
        ("/srv/other", "/srv/shop/policies/customer.yaml", "/srv/shop/traces/a.jsonl"),
    ],
)
def test_files_are_named_from_where_the_reader_stands(here: str, policy: str, trace: str) -> None:
    run = RunPlace("traces/a.jsonl:29", "traces/a.jsonl", 29)
    made = report(
        test_report(too_much(trace_id="traces/a.jsonl:29"), too_much(trace_file="<stdin>")),
        scenarios=[scenario(worst_run=run)],
    )
    moved = relative_report(made, here)
    first, second = moved.tests[0].violations
    assert (first.policy_file, first.trace_file, first.trace_id) == (policy, trace, f"{trace}:29")
    assert second.trace_file == "<stdin>"
    assert moved.scenarios[0].worst_run == RunPlace(f"{trace}:29", trace, 29)


def test_a_folder_that_is_gone_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    out = io.StringIO()
    show_console(report(test_report(too_much())), out)
    assert "Policy line: policies/customer.yaml:12" in out.getvalue()
    os.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("one two three", 40, ["one two three"]),
        ("one two three", 7, ["one two", "  three"]),
        ("   Label: one two", 13, ["   Label: one", "     two"]),
        ("averylongwordindeed b", 5, ["averylongwordindeed", "  b"]),
        ("漢字 漢字 ab", 9, ["漢字 漢字", "  ab"]),
        ("❌ ab", 4, ["❌", "  ab"]),
        ("a  b   c", 4, ["a  b", "  c"]),
        ("", 4, [""]),
    ],
)
def test_lines_break_between_words_and_the_rest_is_indented(text: str, width: int, expected: list[str]) -> None:
    assert [found for found, _ in wrapped([(text, "")], width)] == expected
    assert [found for found, _ in wrapped([(text, "")], None)] == [text]


def test_wide_characters_take_two_columns_and_marks_on_letters_none() -> None:
    assert (cells("abc"), cells("漢字"), cells("é"), cells("e\u0301"), cells("❌")) == (3, 4, 1, 1, 2)


def facts(**fields: object) -> list[str]:
    made: Report = replace(report(), **fields)
    return list(fact_lines(made))


def test_what_else_to_know_is_one_line_each() -> None:
    runs = [Attempt(f"t-{n}", "pass" if n else "fail", 1.0) for n in range(4)]
    flaky = scenario(id="S-1", status="pass", runs=4, pass_rate=0.75, attempts=runs)
    assert facts(scenarios=[scenario(pass_rate=1.0), flaky]) == ["Flaky (runs that passed): S-1 3/4"]
    assert facts(uncovered_tools=[f"t{n}" for n in range(7)]) == [
        "Tools that no policy covers: t0, t1, t2, t3, t4 and 2 more"
    ]
    assert facts(agent_version="2.1", stages=[Stage("accuracy", ">= 85%", ">= 95%", 0.9)]) == [
        "Stage: version 2.1 requires >= 85% for accuracy, target >= 95% (now 90%)"
    ]
    assert facts(agent_version="0.1", stages=[Stage("accuracy", None, None, None)]) == [
        "Stage: version 0.1 is below the first stage for accuracy (now no value)"
    ]
    assert facts(judging=JudgeUse(5, 2, 0.0123)) == ["Judges: 5 questions, 2 calls, 0.0123 USD"]
    assert facts(judging=JudgeUse(5, 1)) == ["Judges: 5 questions, 1 call, at unknown cost"]
    assert facts(judging=JudgeUse(5, 0, 0.0)) == ["Judges: 5 questions, 0 calls"]


def test_the_count_of_scenarios_is_reconciled_with_the_rate() -> None:
    counts = ScenarioCounts(total=40, passed=37, failed=3, skipped=0, passed_every_run=27, runs=200, runs_passed=177)
    assert facts(scenario_counts=counts, metrics={"pass_rate": Metric(0.885, 40)}) == [
        "27 of 40 scenarios passed every run, 37 by their repeat policy; pass_rate 88.5% is the mean share of runs "
        "that passed, over 40 scenarios (177 of 200 runs)"
    ]
    assert facts(scenario_counts=counts, metrics={"pass_rate": Metric(37 / 40, 40)}) == []


def test_tables_show_the_lowest_and_what_is_required_first() -> None:
    many = [
        scenario(id=f"S-{n}", category=f"c{n}", status="fail" if n == 3 else "pass", pass_rate=float(n != 3))
        for n in range(5)
    ]
    rows = category_rows(report(scenarios=many), 2)
    assert rows[1].split()[:4] == ["c3", "0", "of", "1"]
    assert rows[-1] == "… and 3 more"
    assert category_rows(report(scenarios=many[:1])) == []
    metrics = {f"m{n}": Metric(n / 10, 3) for n in range(9)}
    gate = [line("threshold", "m8", expected=">= 90%", **bound("m8", 0.8, 0.9))]  # type: ignore[arg-type]
    found = metric_rows(report(metrics=metrics, gate=gate), 2)
    assert [row.split()[0] for row in found] == ["metric", "m0", "m8", "…"]
    assert found[2].endswith(">= 90% ❌")


@pytest.mark.parametrize(
    ("message", "last"),
    [
        ("80% < 90%; lowered by S-1", "FAIL. Next: look at scenario S-1 (a.jsonl:3), which lowers m."),
        ("5300 ms > 1000 ms", "FAIL. Next: look at threshold m (s.yaml:2): 5300 ms > 1000 ms."),
    ],
)
def test_a_bound_leads_to_the_scenario_that_lowers_it(message: str, last: str) -> None:
    failed = scenario(id="S-1", status="fail", worst_run=RunPlace("t", "a.jsonl", 3))
    gate = [
        line("scenario", "S-1", level="warning", tolerated_by="thresholds.blocking.m"),
        line("threshold", "m", message=message, file="s.yaml", line=2, **bound("m", 0.8, 0.9)),  # type: ignore[arg-type]
    ]
    out = io.StringIO()
    show_console(report(scenarios=[failed], gate=gate, root=""), out)
    assert out.getvalue().splitlines()[-1] == last


def test_tests_that_were_skipped_for_one_reason_share_a_line() -> None:
    why = "was skipped on 2 of 10: the trace does not record its tool calls"
    made = report(
        gate=[
            *(line("vacuous", id_, level="warning", message=f"args_valid {why}") for id_ in ("a", "b")),
            line("vacuous", "c", level="warning", message="args_valid was skipped on 1 of 10: no calls"),
        ]
    )
    assert [text for text, _ in warning_lines(made, cases(made))] == [
        "⚠ WARN: 2 tests skipped on 2 of 10 traces (a, b): the trace does not record its tool calls",
        "⚠ WARN: not checked: c: args_valid was skipped on 1 of 10: no calls",
    ]


def test_a_missing_call_has_a_place_and_no_number_among_the_calls() -> None:
    where = Neighbours(3, before="get_quote")
    extra = Violation(message="m", kind="extra", call_index=3, neighbours=where)
    missing = Violation(message="m", kind="missing", call_index=4, neighbours=where)
    assert place_lines(extra) == ["Call: 3 of 3, after get_quote"]
    assert place_lines(missing) == ["Call: missing at place 4, after get_quote"]
