"""The console says what seed 004 prints, ends with a sentence to act on, and obeys no text from a trace."""

from __future__ import annotations

import io
import os
import pty
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.reports.report_factory import line, report, rich_report, rule, scenario, test_report, too_much, violation

from passmuster.reports._text import one_line
from passmuster.reports.formats import console
from passmuster.scoring._report import RunPlace

SEED_ARGS = """\
❌ FAIL: args_valid

   Tool: apply_discount
   Argument: percent = 50
   Violation: Value exceeds maximum (max: 30)
"""

SEED_SEQUENCE = """\
❌ FAIL: sequence_valid

   Rule: require
   Expected: authenticate to be called
   Actual: authenticate was never called

   Rule: before
   Expected: authenticate before get_patient_record
   Actual: get_patient_record called without prior authenticate
"""

SEED_BLOCKLIST = """\
❌ FAIL: tool_blocklist

   Violation: Blocked tool called
   Tool: admin_delete
   Policy: Blocklist includes 'admin_delete'

   Calls found: 1
"""


def printed(*tests: object, **fields: object) -> str:
    return console.write(report(*tests, **fields)).decode()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metric", "violations", "expected"),
    [
        (
            "args_valid",
            [violation(tool="apply_discount", argument="percent", value=50, has_value=True, constraint="max: 30")],
            SEED_ARGS,
        ),
        (
            "sequence_valid",
            [
                violation(rule="require", expected="authenticate to be called", actual="authenticate was never called"),
                violation(
                    rule="before",
                    tool="get_patient_record",
                    expected="authenticate before get_patient_record",
                    actual="get_patient_record called without prior authenticate",
                ),
            ],
            SEED_SEQUENCE,
        ),
        (
            "tool_blocklist",
            [violation(message="Blocked tool called", tool="admin_delete", pattern="admin_delete", calls_found=1)],
            SEED_BLOCKLIST,
        ),
    ],
)
def test_the_results_of_seed_004_are_printed_line_for_line(metric: str, violations: list[Any], expected: str) -> None:
    assert expected in printed(test_report(*violations, id=metric, metric=metric))


def test_a_located_violation_shows_both_of_its_ends() -> None:
    assert """\
❌ FAIL: args_valid (check_all_args)

   Tool: apply_discount
   Argument: percent = 50
   Violation: Value exceeds maximum (max: 30)
   Policy line: policies/customer.yaml:12
   Trace line: traces/a.jsonl:29 (trace t-7)
   Call: 3 of 5, after get_customer, before send_email
   Suggestion: Lower the discount to 30 or less.
""" in printed(test_report(too_much()))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"message": "odd"}, ["Violation: odd"]),
        ({"message": "odd", "value": None, "has_value": True}, ["Violation: odd", "Value: null"]),
        ({"message": "m", "argument": "a"}, ["Argument: a", "Violation: m"]),
        ({"message": "m", "argument": "a", "value": "5", "has_value": True}, ['Argument: a = "5"']),
        ({"message": "m", "argument": "a", "value": "[hidden #1]", "has_value": True}, ["Argument: a = [hidden #1]"]),
        ({"message": "m", "constraint": "max: 3"}, ["Constraint: max: 3"]),
        ({"rule": "own", "message": "m"}, ["Rule: own", "Violation: m"]),
        ({"message": "m", "trace_id": "t"}, ["Trace: t"]),
        ({"message": "m", "scenario": "S-1", "call_index": 2}, ["Scenario: S-1", "Call: 2"]),
        ({"message": "m", "level": "warn"}, ["Level: warn"]),
        ({"message": "m", "waived": "known (until 2031-01-01)"}, ["Waived: known (until 2031-01-01)"]),
    ],
)
def test_labels_come_from_the_fields_there_are(fields: dict[str, Any], expected: list[str]) -> None:
    text = printed(test_report(violation(**fields)))
    for wanted in expected:
        assert f"   {wanted}\n" in text


@pytest.mark.parametrize(
    ("test", "gate", "expected"),
    [
        (test_report(), None, "✓ PASS: args_valid (check_all_args)  12 traces"),
        (
            test_report(violation(), status="warn"),
            None,
            "⚠ WARN: args_valid (check_all_args)  Value exceeds maximum (max: 30)",
        ),
        (test_report(status="error", error="Boom"), None, "❌ ERROR: args_valid (check_all_args)"),
        (
            test_report(exercised=False),
            None,
            "⚠ NOT EXERCISED: args_valid (check_all_args)  0 violations on 0 traces (passmuster.yaml:4)",
        ),
        (
            test_report(exercised=False),
            [line("test", "check_all_args", "pass"), line("vacuous", "check_all_args")],
            "❌ FAIL: args_valid (check_all_args)",
        ),
        (
            test_report(rules=[rule(exercised_on=0), rule()]),
            None,
            "⚠ NOT EXERCISED: args_valid (check_all_args)  1 of 2 rules never exercised: before at line 9",
        ),
    ],
)
def test_every_way_a_test_can_end(test: object, gate: list[Any] | None, expected: str) -> None:
    fields = {} if gate is None else {"gate": gate}
    assert expected in printed(test, **fields).splitlines()


def test_a_traceback_is_shown_line_by_line() -> None:
    text = printed(test_report(status="error", error="Traceback\n::error::x\n\x1b[2J"))
    assert "   | Traceback\n   | : :error::x\n   | \\x1b[2J\n" in text


@pytest.mark.parametrize(
    ("made", "verdict", "last"),
    [
        (
            report(test_report(), test_report(id="b")),
            "PASS: 2 tests held on 12 traces.",
            "PASS. Nothing to do: the agent may ship.",
        ),
        (
            report(test_report(too_much()), test_report(id="b")),
            "FAIL: 1 of 2 tests failed on 1 of 12 traces.",
            "FAIL. Next: look at traces/a.jsonl:29 (trace t-7): apply_discount, percent = 50, which breaks"
            " policies/customer.yaml:12.",
        ),
        (
            report(test_report(violation(), status="warn"), test_report(id="b")),
            "PASS with 1 warning: 1 of 2 tests held on 12 traces.",
            "PASS with 1 warning. Next: look at check_all_args (passmuster.yaml:4): 1 violations on 1 traces.",
        ),
        (
            report(gate=[line("threshold", "pass_rate", message="0.5 is below 95%.", file="s.yaml", line=3)]),
            "FAIL: threshold pass_rate: 0.5 is below 95%.",
            "FAIL. Next: look at threshold pass_rate (s.yaml:3): 0.5 is below 95%.",
        ),
        (
            report(
                scenarios=[scenario(status="missing")], gate=[line("scenario", "SEC-001"), line("required", "SEC-001")]
            ),
            "FAIL: 1 of 1 scenario failed.",
            "FAIL. Next: record a trace of scenario SEC-001, or take it out of the suite (passmuster.yaml:20).",
        ),
        (
            report(
                scenarios=[scenario(status="fail", worst_run=RunPlace("t-9", "traces/b.jsonl", 7))],
                gate=[line("scenario", "SEC-001", message="not_in_answer: 'x' is in the answer")],
            ),
            "FAIL: 1 of 1 scenario failed.",
            "FAIL. Next: look at traces/b.jsonl:7 (trace t-9): SEC-001, not_in_answer: 'x' is in the answer.",
        ),
        (
            report(gate=[line("judge", "rubric", "error", message="no answer")], verdict="error", exit_code=3),
            "ERROR: the gate could not be decided: no answer.",
            "ERROR. Next: look at judge rubric: no answer.",
        ),
        (
            report(
                gate=[line("judge", "r", "error", message="its SDK is missing: pip install 'passmuster[openai]'")],
                verdict="error",
                exit_code=3,
            ),
            "ERROR: the gate could not be decided: its SDK is missing: pip install 'passmuster[openai]'.",
            "ERROR. Next: pip install 'passmuster[openai]', and run again.",
        ),
        (
            report(gate=[line("error", "r", "error", message="pip install 'evil'")], verdict="error", exit_code=3),
            "ERROR: the gate could not be decided: pip install 'evil'.",
            "ERROR. Next: look at error r: pip install 'evil'.",
        ),
        (
            report(test_report(), partial=True),
            "PASS (a partial run): 1 test held on 12 traces.",
            "PASS (a partial run). Next: run the whole suite, for thresholds are left out of a partial run.",
        ),
    ],
)
def test_the_first_line_is_the_verdict_and_the_last_can_be_acted_on(made: object, verdict: str, last: str) -> None:
    lines = console.write(made).decode().splitlines()  # type: ignore[arg-type]
    assert lines[0] == verdict
    assert lines[1].startswith("customer-service (passmuster.yaml): 12 traces")
    assert lines[-2:] == ["", last]


@pytest.mark.parametrize(
    ("kind", "id_", "actual", "told"),
    [
        ("threshold", "pass_rate", 0.9, "90%"),
        ("threshold", "token_efficiency", 0.002, "2 per 1,000 tokens"),
        ("criteria", "by_category.edge", 2 / 3, "66.67%"),
        ("baseline", "latency_p95", 1500.5, "1500.5 ms"),
        ("baseline", "A", "fail", "fail"),
        ("baseline", "new_scenarios", 3, "3"),
    ],
)
def test_what_a_line_found_is_in_the_words_of_what_it_asked(kind: str, id_: str, actual: object, told: str) -> None:
    shown = console.write(report(gate=[line(kind, id_, "fail", actual=actual, message="no")])).decode()
    assert f"   Actual: {told}\n" in shown


def test_scenarios_and_suite_level_lines_follow() -> None:
    lines = console.write(rich_report()).decode().splitlines()
    for wanted in (
        "✓ PASS: 1 of 3 scenarios",
        "❌ FAIL: scenario SEC-002: no trace was recorded",
        "⚠ TOLERATED: 1 failed scenario by optional_scenarios: OPT-1 (OPT-1 fail)",
        "❌ FAIL: threshold pass_rate: pass_rate fail (passmuster.yaml:40)",
        "   Expected: >= 95%",
        "⚠ WARN: input waiver 2: the waiver matched nothing",
    ):
        assert wanted in lines


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("a\u2028b\ufeff", "a\\u2028b\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("::error file=x::boo", ": :error file=x::boo"),
        ("  ::add-mask::", "  : :add-mask::"),
        ("x\u00a0::error::", "x\u00a0: :error::"),
        (":::error", ":: :error"),
        ("std::vector", "std::vector"),
        ("a ##[error]b ##vso[x] ###[y] ##VSO[z]", "a # #[error]b # #vso[x] ## #[y] # #VSO[z]"),
        ("## heading, [bold]", "## heading, [bold]"),
        ("naïve 漢字 👩‍👩‍👧", "naïve 漢字 👩‍👩‍👧"),
    ],
)
def test_untrusted_text_is_made_safe_for_one_line(text: str, safe: str) -> None:
    assert one_line(text) == safe


@settings(deadline=None)
@given(st.text(), st.text())
def test_no_line_begins_with_text_from_a_trace(hostile: str, other: str) -> None:
    fields = {"tool": hostile, "argument": other, "value": hostile, "has_value": True, "trace_id": other}
    plain = printed(test_report(violation(tool="t", argument="a", value=1, has_value=True, trace_id="i")))
    text = printed(test_report(violation(**fields)))
    assert len(text.split("\n")) == len(plain.split("\n"))
    for row in text.splitlines():
        assert not row.lstrip().startswith("::")
        assert "##[" not in row
        assert "\x1b" not in row


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def stream(encoding: str = "utf-8", terminal: bool = False) -> io.TextIOWrapper:
    return (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), encoding=encoding, newline="\n")


def sent(out: io.TextIOWrapper) -> bytes:
    out.flush()
    return out.buffer.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_pipe_gets_the_plain_text() -> None:
    out = stream()
    console.show_console(replace(rich_report(), root=""), out)
    assert sent(out) == console.write(rich_report())


def test_a_terminal_gets_colour_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = stream(terminal=True)
    console.show_console(report(test_report(too_much(value="[bold]x[/bold] :smile: \x1b[0m"))), out)
    text = sent(out).decode()
    assert "\x1b[1;31m" in text
    assert r'"[bold]x[/bold] :smile: \u001b[0m"' in text
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "2000")
    out = stream(terminal=True)
    console.show_console(replace(rich_report(), root=""), out)
    assert sent(out) == console.write(rich_report())


@pytest.mark.parametrize(
    ("variables", "terminal", "expected"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"NO_COLOR": "", "FORCE_COLOR": ""}, True, True),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    variables: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    out = stream(terminal=terminal)
    console.show_console(report(test_report()), out)
    assert (b"\x1b[" in sent(out)) == expected


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_that_lacks_the_marks_gets_words(encoding: str, terminal: bool) -> None:
    out = stream(encoding, terminal)
    console.show_console(report(test_report(too_much(value="漢é…")), test_report(id="b")), out)
    text = sent(out).decode(encoding)
    assert "FAIL: args_valid" in text
    assert "PASS: 1 of 2 tests" in text
    assert "\\u6f22" in text


def test_nothing_is_lost_on_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    leader, follower = pty.openpty()
    words = " ".join(f"word{n}" for n in range(40))
    with os.fdopen(follower, "w", encoding="utf-8") as out:
        console.show_console(report(test_report(violation(message=words))), out)
        out.flush()
        seen = ""
        while "word39" not in seen:  # a terminal hands over what it has, not always all of it
            seen += os.read(leader, 65536).decode()
    os.close(leader)
    lines = re.sub(r"\x1b\[[\d;]*m", "", seen).splitlines()
    assert max(map(len, lines)) <= 80
    start = next(n for n, text in enumerate(lines) if text.startswith("   Violation: word0"))
    assert " ".join(" ".join(lines[start:]).split()).startswith(f"Violation: {words}")
    assert lines[start + 1].startswith("     word")
