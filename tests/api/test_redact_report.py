"""Everything from a trace passes the one door: no writer sees a secret or a value without end."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace
from tests.reports.report_factory import line, report, rich_report, scenario, test_report, violation

from passmuster._problems import UsageError
from passmuster.api._redact_report import redact_report
from passmuster.checks._outcome import Neighbours
from passmuster.checks._scenario_outcome import Behaviors, CheckReport, LayerReport
from passmuster.redaction._redactor import Redactor
from passmuster.reports import FORMATS, render
from passmuster.scoring._report import Attempt, Report

SECRET = "sk-" + "abcdefghijklmnopqrstuvwx"


def everywhere(text: str) -> Report:
    """A report with the text in every place that a trace or custom code can fill."""
    broken = violation(
        message=text,
        tool=text,
        argument=text,
        value={text: [text]},
        has_value=True,
        constraint=text,
        rule=text,
        pattern=text,
        expected=text,
        actual=text,
        trace_id=text,
        scenario=text,
        neighbours=Neighbours(calls=2, before=text, after=text),
        suggestion=text,
        waived=text,
    )
    return report(
        test_report(broken, stats={text: {text: text}}, error=text, status="error"),
        scenarios=[
            scenario(
                status="fail",
                layers={"path": LayerReport("fail", [CheckReport(name="x", status="fail", message=text)])},
                behaviors=Behaviors([text], [text], [text], [text]),
                attempts=[Attempt(text, "fail", 0.0, text)],
            )
        ],
        gate=[
            line("test", "check_all_args", "error", message=text),
            line("scenario", "SEC-001", message=text, actual=text, expected=text),
            line("input", text, level="warning", message=text),
        ],
    )


@pytest.mark.parametrize("name", FORMATS)
def test_no_report_shows_a_secret(name: str) -> None:
    shown = render(name, redact_report(everywhere(f"use {SECRET} now"), Redactor())).decode()
    assert SECRET not in shown
    assert "[hidden #1]" in shown
    assert "[hidden #2]" not in shown


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "\x00\x1b[2J\u202e\u2028",
        "]]><![CDATA[ &amp;",
        "[bold]x[/bold]",
        "::error file=x::boo",
        "\ud800",
    ],
    ids=["long", "controls", "markup", "rich", "command", "surrogate"],
)
def test_hostile_text_passes_every_writer(name: str, text: str) -> None:
    shown = render(name, redact_report(everywhere(text), Redactor()))
    own = 120_000 if name == "html" else 0  # the page's script and style
    assert len(shown) < 60_000 + own
    shown.decode("utf-8")
    if name == "json":
        json.loads(shown)


def test_what_was_hidden_in_a_value_does_not_come_back_in_a_sentence() -> None:
    broken = violation(
        tool="login",
        argument="password",
        value="hunter2",
        has_value=True,
        message="'hunter2' is too short",
        actual="got hunter2",
    )
    pin = violation(tool="pay", argument="pin", value=7, has_value=True, message="7 is less than 17 (min: 17)")
    made = report(
        test_report(broken, pin, stats={"last": "hunter2"}, error="ValueError: hunter2"),
        gate=[line("test", "check_all_args", message="login(password='hunter2') failed")],
    )
    safe = redact_report(made, Redactor(arguments=["pay.pin"]))
    first, second = safe.tests[0].violations
    assert first.message == "'[hidden #1]' is too short"
    assert first.actual == "got [hidden #1]"
    assert second.message == "[hidden #2] is less than 17 (min: 17)"
    assert safe.gate[0].message == "login(password='[hidden #1]') failed"
    assert safe.tests[0].stats == {"last": "[hidden #1]"}
    assert safe.tests[0].error == "ValueError: [hidden #1]"


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_run_of_a_scenario_hides_comes_back_nowhere(name: str) -> None:
    secret = "mycardnumber99"
    made = everywhere(f"paid with {secret} now")
    broken = violation(tool="t", argument="note", value=secret, has_value=True, message=f"{secret} is too long")
    judged = CheckReport(name="kind", status="fail", message=f"said {secret}", violations=(broken,))
    said = Behaviors(missing=["kind"], checks=[judged])
    made = replace(
        made,
        tests=[test_report(broken, error=f"ValueError: {secret}", stats={"x": secret})],
        scenarios=[replace(made.scenarios[0], behaviors=said, secrets=(secret, "short"))],
    )
    safe = redact_report(made, Redactor())
    assert safe.scenarios[0].secrets == ()
    shown = render(name, safe).decode()
    assert secret not in shown
    assert "[hidden #1]" in shown


def test_the_json_report_lists_no_secrets_even_of_a_report_that_did_not_pass_the_door() -> None:
    made = report(scenarios=[scenario(secrets=("mycardnumber99",))])
    assert "secrets" not in json.loads(render("json", made))["scenarios"][0]


def test_a_report_with_many_secrets_takes_a_moment() -> None:
    broken = [
        violation(
            tool="t", argument="password", value=f"secret-{n:09}", has_value=True, message=f"secret-{n:09} is bad"
        )
        for n in range(4000)
    ]
    start = time.process_time()
    safe = redact_report(report(test_report(*broken)), Redactor())
    # A search for each of them in each sentence took several times as long.
    assert time.process_time() - start < 4
    assert safe.tests[0].violations[-1].message == "[hidden #4000] is bad"


def test_long_values_are_cut_and_a_traceback_keeps_its_end() -> None:
    safe = redact_report(everywhere("x" * 10_000 + " END"), Redactor())
    broken = safe.tests[0].violations[0]
    assert broken.tool == "x" * 200 + "… (10004 characters)"
    assert broken.message == "x" * 600 + "… (10004 characters)"
    assert safe.tests[0].error is not None
    assert safe.tests[0].error.endswith("x END")
    assert len(safe.tests[0].error) < 4100


def test_numbers_that_json_lacks_become_words() -> None:
    made = report(test_report(violation(value=math.inf, has_value=True), stats={"x": math.nan}))
    safe = redact_report(made, Redactor()).tests[0]
    assert safe.violations[0].value == "Infinity"
    assert safe.stats == {"x": "NaN"}


def test_a_clean_report_passes_unchanged() -> None:
    assert redact_report(rich_report(), Redactor()) == rich_report()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pdf", "there is no report format 'pdf'; there are console, "),
        ("jnuit", "did you mean 'junit'"),
        ("", "there is no report format ''"),
    ],
)
def test_formats_that_cannot_be_written(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        render(name, rich_report())


def test_every_format_declares_a_file_of_its_own_and_what_it_is_for() -> None:
    assert len({writer.FILE_NAME for writer in FORMATS.values()}) == len(FORMATS)
    assert all(writer.DESCRIPTION for writer in FORMATS.values())


def test_writers_are_imported_only_when_asked_for() -> None:
    code = (
        "import sys, passmuster.reports; print([m for m in sys.modules if 'sarif' in m or 'junit' in m or m == 'rich'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_traces_say_of_tools_and_versions_is_made_safe_too() -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 6
    made = report(tools={f"call {secret}": 2, "look": 1}, agent_version=secret)
    safe = redact_report(made, Redactor())
    assert secret not in repr(safe)
    assert sum(safe.tools.values()) == 3
