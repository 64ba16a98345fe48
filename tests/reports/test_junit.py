"""JUnit agrees with the exit code, tells each violation whole, and is always well-formed."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.report_factory import line, report, rich_report, scenario, test_report, too_much, violation

from passmuster.reports._text import violation_lines
from passmuster.reports.formats import junit


def read_back(data: bytes) -> tuple[junitparser.JUnitXml, list[junitparser.TestCase]]:
    xml = junitparser.JUnitXml.fromstring(data)
    return xml, [case for suite in xml for case in suite]


def results(made: object) -> dict[tuple[str, str], tuple[str, str | None]]:
    _, found = read_back(junit.write(made))  # type: ignore[arg-type]
    return {
        (str(case.classname), str(case.name)): (str(case.result[0]._tag), case.result[0].message)
        if case.result
        else ("passed", None)
        for case in found
    }


def test_every_case_has_its_result() -> None:
    assert results(rich_report()) == {
        ("customer-service.tests", "check_all_args"): ("failure", "2 violations on 1 traces"),
        ("customer-service.tests", "auth_flow"): ("failure", "1 violations on 1 traces"),
        ("customer-service.tests", "tool_blocklist"): ("skipped", "warning: 1 violations on 1 traces"),
        ("customer-service.tests", "idle"): ("skipped", "never exercised"),
        ("customer-service.tests", "own"): ("error", "0 violations on 0 traces"),
        ("customer-service.tests", "watched"): ("passed", None),
        ("customer-service.scenarios", "SEC-001"): ("passed", None),
        ("customer-service.scenarios", "SEC-002"): ("failure", "no trace was recorded"),
        ("customer-service.scenarios", "OPT-1"): ("skipped", "failed, tolerated by optional_scenarios"),
        ("customer-service.threshold", "pass_rate"): ("failure", "pass_rate fail"),
        ("customer-service.threshold", "accuracy"): ("passed", None),
        ("customer-service.input", "waiver 2"): ("skipped", "warning: the waiver matched nothing"),
    }


def test_counts_and_times() -> None:
    xml, found = read_back(junit.write(rich_report()))
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == (12, 4, 1, 4)
    suite = next(iter(xml))
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("customer-service", 12, 4, 1, 4)
    assert suite.time == 1.235
    assert found[0].time == 0.002


def test_a_failure_holds_every_violation_whole() -> None:
    violations = [too_much(trace_id=f"t-{n}") for n in range(300)]
    _, found = read_back(junit.write(report(test_report(*violations, violation_count=9300))))
    text = found[0].result[0].text
    for each in violations:
        assert "\n".join(violation_lines(each)) in text
    assert text.endswith("… and 9000 more")


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("threshold", {"status": "undecided", "level": "warning"}, "skipped"),
        ("threshold", {"status": "undecided"}, "failure"),
        ("judge", {"status": "error"}, "error"),
        ("threshold", {"status": "error", "level": "warning", "tolerated_by": "pass_rate"}, "skipped"),
        ("required", {}, "failure"),
        ("baseline", {"level": "warning"}, "skipped"),
        ("composite", {"status": "pass"}, "passed"),
    ],
)
def test_suite_level_lines(kind: str, fields: dict[str, Any], expected: str) -> None:
    ((tag, _),) = results(report(gate=[line(kind, "x", **fields)])).values()
    assert tag == expected


def test_a_strict_run_fails_what_was_never_exercised() -> None:
    made = report(
        test_report(exercised=False),
        gate=[line("test", "check_all_args", "pass"), line("vacuous", "check_all_args", message="never exercised")],
    )
    assert results(made) == {("customer-service.tests", "check_all_args"): ("failure", "never exercised")}


def test_an_outside_error_leaves_a_line_undecided() -> None:
    made = report(gate=[line("threshold", "pass_rate", "undecided")], verdict="error", exit_code=3)
    ((tag, _),) = results(made).values()
    assert tag == "error"


def test_cases_of_the_same_name_stay_apart() -> None:
    made = report(gate=[line("input", "waiver", level="warning"), line("input", "waiver", level="warning")])
    assert {name for _, name in results(made)} == {"waiver", "waiver (2)"}


def test_a_number_that_makes_a_name_unique_is_not_taken_either() -> None:
    made = report(gate=[line("input", id_, level="warning") for id_ in ("a", "a (2)", "a", "a")])
    assert {name for _, name in results(made)} == {"a", "a (2)", "a (3)", "a (4)"}


def test_what_was_skipped_is_no_pass() -> None:
    made = report(scenarios=[scenario(status="skip")])
    ((tag, _),) = results(made).values()
    assert tag == "skipped"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31m \x00 \ufffe", "Violation: \\x1b[31m \\x00 \\ufffe"),
        ("]]> <b>&amp;</b> \"'", "Violation: ]]> <b>&amp;</b> \"'"),
        ("::error file=x::boo", "Violation: : :error file=x::boo"),
        ("\ud800", "Violation: \\ud800"),
    ],
)
def test_hostile_text(text: str, expected: str) -> None:
    made = report(
        test_report(violation(message=text), id=text, metric=text), suite=text, gate=[line("test", text, message=text)]
    )
    _, found = read_back(junit.write(made))
    assert found[0].result[0].text.endswith(expected)
    assert found[0].name == expected.removeprefix("Violation: ")


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_any_text_makes_well_formed_xml(text: str) -> None:
    made = report(test_report(violation(message=text, tool=text), error=text, status="error"), suite=text)
    root = ElementTree.fromstring(junit.write(made))
    error = root.find(".//error")
    assert error is not None
    assert error.text is not None
    assert "\n".join(violation_lines(violation(message=text, tool=text))) in error.text


def test_the_declaration_says_utf_8() -> None:
    assert junit.write(report(test_report(violation(message="é")))).startswith(
        b"<?xml version='1.0' encoding='utf-8'?>"
    )
