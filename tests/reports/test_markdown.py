"""The Markdown report fits a comment, tells the worst first, and takes nothing in a trace for markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.reports.report_factory import line, report, rich_report, scenario, test_report, too_much, violation

from passmuster import api
from passmuster.reports import file_name, render
from passmuster.scoring import Report
from passmuster.scoring._report import GroupReport, Metric, RunPlace

LIMIT = 65_000
PARSER = MarkdownIt("commonmark").enable("table")
OWN_HTML = re.compile(
    r"<!-- passmuster:[0-9a-f]{16} -->|</?(details|sub)>"
    r"|<summary>(<code>(&#\d+;|[\w ])*</code>|Categories|Metrics)</summary>"
    r"|<code>[0-9a-f]*</code>|</?code>|&#\d+;|[\w ,]|\n"
)
ALLOWED = {
    *("inline", "text", "softbreak", "code_inline", "fence", "html_block", "html_inline"),
    *(f"{name}_{end}" for name in ("heading", "paragraph", "bullet_list", "list_item") for end in ("open", "close")),
    *(f"{name}_{end}" for name in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
    *("strong_open", "strong_close"),
}
HOSTILE = [
    "`x` ``y`` ```z",
    "```\n</details><script>alert(1)</script>",
    "@octocat #1 GH-2 owner/repo#3 a@example.com",
    "[click](https://example.com) ![i](https://example.com/x.png) <https://example.com>",
    "https://example.com www.example.com javascript:alert(1)",
    "| a | b |\n|---|---|",
    "<img src=x onerror=alert(1)> <!-- --> --> <![CDATA[",
    "**bold** _it_ ~~no~~ $math$ :smile: \\` \\",
    "::error file=x::y ##[error]z %0A::set-output",
    " ",
    "`",
    "\x1b[31m\u202e\u200b",
]


def written(made: Report) -> str:
    return render("markdown", made).decode()


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or ())]
    return found


def assert_safe(text: str) -> None:
    for token in tokens(text):
        assert token.type in ALLOWED, token
        if token.type == "text":  # all that a host looks for mentions, references and links in
            assert re.fullmatch(r"[\w ,.:…%(✅❌]*\)?[\w ,.:…%]*", token.content), token.content
            assert "www." not in token.content
        if token.type in ("html_block", "html_inline"):
            assert OWN_HTML.sub("", token.content) == "", token.content


def hostile_report(text: str) -> Report:
    bad = violation(
        tool=text,
        argument=text,
        value={text: text},
        has_value=True,
        message=text,
        trace_id=text,
        trace_file=text,
        policy_file=text,
        policy_line=3,
        suggestion=text,
    )
    return report(
        test_report(bad, id=text, metric=text),
        test_report(bad, id="w", status="warn"),
        suite=text,
        suite_file=text,
        agent_version=text,
        scenarios=[
            scenario(id=text, category=text, status="fail", worst_run=RunPlace(text, text, 2)),
            scenario(id="b", category="other"),
        ],
        metrics={text: Metric(0.5, 2, (0.1, 0.9))},
        uncovered_tools=[text],
        gate=[
            line("test", text, message=text),
            line("scenario", text, message=text),
            line("threshold", text, message=text, actual=text, expected=text, file=text, line=1),
            line("input", text, level="warning", message=text),
        ],
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_trace_is_never_markup(text: str) -> None:
    assert_safe(written(hostile_report(text)))


@settings(deadline=None)
@given(st.text(alphabet="`|<>[]()!*_~@#:/\\-+ &;\n\t\raé漢😀", max_size=40))
def test_no_text_is_markup(text: str) -> None:
    assert_safe(written(hostile_report(text)))


def test_a_report_begins_with_the_verdict_and_what_blocks() -> None:
    text = written(rich_report())
    assert_safe(text)
    order = [
        "## ❌ Failed: `customer-service`",
        "**Next:** ",
        "### What blocks",
        "- `test check_all_args on 1 of 12 traces: apply_discount.percent > 30, found 50; ",
        "### Details",
        "Violation: Value exceeds maximum (max: 30)",
        "### Warnings",
        "- `TOLERATED: 1 failed scenario by optional_scenarios: OPT-1",
        "<summary>Metrics</summary>",
        "| `pass_rate` | `90%` | `60% to 98%` | `10` |",
        "<sub>passmuster ",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)


def test_the_comment_of_a_suite_is_known_by_its_first_line() -> None:
    first = written(report(test_report())).splitlines()[0]
    assert re.fullmatch(r"<!-- passmuster:[0-9a-f]{16} -->", first)
    assert first == written(report(test_report(too_much()))).splitlines()[0]
    assert first != written(report(test_report(), suite_file="other.yaml")).splitlines()[0]


@pytest.mark.parametrize(("verdict", "heading"), [("pass", "✅ Passed"), ("warn", "✅ Passed with warnings")])
def test_a_run_that_passed_says_so(verdict: str, heading: str) -> None:
    text = written(report(test_report(), verdict=verdict))
    assert f"## {heading}: `customer-service`" in text
    assert "### What blocks" not in text


def test_10_000_failures_stay_under_the_limit(tmp_path: Path) -> None:
    suite = "suite: s\ntests:\n" + "".join(
        f"  - {{id: t{n}, metric: tool_blocklist, blocklist: ['*']}}\n" for n in range(10)
    )
    (tmp_path / "passmuster.yaml").write_text(suite, encoding="utf-8")
    with (tmp_path / "traces.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1_000):
            steps = [{"type": "tool_call", "tool": f"tool_{number}_{'😀`' * 40}"}]
            file.write(json.dumps({"trace_id": f"t-{number}", "steps": steps}) + "\n")
    with api.StandardInput() as stdin:
        options = api.RunOptions(traces=(str(tmp_path / "traces.jsonl"),))
        made = api.run(str(tmp_path), options, stdin).report
    assert sum(test.violation_count for test in made.tests) == 10_000
    text = written(made)
    assert len(text.encode("utf-16-le")) // 2 <= LIMIT
    assert len(text) > LIMIT / 4
    assert_safe(text)


def test_10_000_failed_scenarios_stay_under_the_limit() -> None:
    many = [scenario(id=f"S-{n}", category=f"c{n}", status="fail") for n in range(10_000)]
    gate = [line("scenario", one.id, message="x" * 900) for one in many]
    text = written(report(scenarios=many, gate=gate))
    assert len(text) <= LIMIT
    assert "more reasons" in text
    assert_safe(text)


def test_it_is_called_as_suites_name_it() -> None:
    assert file_name("markdown") == "report.md"


def test_groups_are_shown_as_text() -> None:
    group = GroupReport({"agent.name": "</details>`@me`"}, 10, 1, {"violation_rate": Metric(0.1, 10)}, {})
    text = render("markdown", report(groups=[group])).decode()
    shown = text.split("<summary>Groups and estimates</summary>")[1]
    assert "Groups by agent.name" in shown
    assert shown.index("</details>`@me`") < shown.rindex("</details>")
