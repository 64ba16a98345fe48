"""`passmuster check`: every contradiction that can be told without traces is found, and none where there is none."""

from __future__ import annotations

import datetime
import fnmatch
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli_runner import CliRunner
from tests.test_docs import PAGES, blocks

from passmuster import api
from passmuster.checks import covers, fits_nothing, may_overlap
from passmuster.cli._main import command as group

REPOSITORY = Path(__file__).parents[2]
TODAY = datetime.date(2026, 6, 1)


def check(folder: Path, suite: str, policy: str | None = None) -> list[tuple[str, str, int | None, str]]:
    folder.mkdir(exist_ok=True)
    (folder / "passmuster.yaml").write_text(suite)
    if policy is not None:
        (folder / "policies").mkdir()
        (folder / "policies" / "p.yaml").write_text(policy)
    found = api.check_suite(str(folder), today=TODAY)
    return [(one.lint, one.level, one.line, one.message) for one in found.findings]


def rules(*listed: str) -> str:
    return "tests:\n- id: order\n  metric: sequence_valid\n  rules:\n" + "".join(f"  - {rule}\n" for rule in listed)


def scenario(path: str, more: str = "") -> str:
    return f"scenarios:\n- id: A\n  {path}\n{more}"


BLOCKED = "- {id: no, metric: tool_blocklist, blocklist: [pay, 'admin_*']}\n"
CONTRADICTIONS: dict[str, tuple[str, str, int]] = {
    # a tool both required and blocked
    "required and blocked": (rules("{type: require, tool: pay}") + BLOCKED, "contradiction", 5),
    "required and blocked by a glob": (rules("{type: require, tool: admin_ping}") + BLOCKED, "contradiction", 5),
    "required glob within a blocked one": (rules("{type: require, tool: 'admin_x*'}") + BLOCKED, "contradiction", 5),
    "one of several blocked": (rules("{type: require, tool: [search, pay]}") + BLOCKED, "contradiction", 5),
    "eventually and blocklist rule": (
        rules("{type: eventually, tool: pay}", "{type: blocklist, tools: [pay]}"),
        "contradiction",
        5,
    ),
    "sequence and no calls allowed": (
        rules("{type: sequence, tools: [a, pay]}", "{type: max_calls, tool: pay, max: 0}"),
        "contradiction",
        5,
    ),
    "minimum and blocked": (rules("{type: count, tool: pay, min: 2}") + BLOCKED, "contradiction", 5),
    "expected in a scenario and blocked": (
        scenario("path: {expected_tools: [pay]}", f"tests:\n{BLOCKED}"),
        "contradiction",
        3,
    ),
    "expected call and blocked": (
        scenario("path: {expected_calls: [search, {tool: pay, args: {a: 1}}]}", f"tests:\n{BLOCKED}"),
        "contradiction",
        3,
    ),
    "expected sequence and forbidden": (
        scenario("path: {expected_tool_sequence: [a, pay], forbidden_tools: ['p*']}"),
        "contradiction",
        3,
    ),
    "behavior expected and forbidden": (
        scenario("expected_behaviors: [{tool_called: pay}]\n  must_not: [{tool_called: 'p*'}]"),
        "contradiction",
        3,
    ),
    # before and its like on a blocked tool
    "before on a blocked tool": (
        rules("{type: before, first: look, then: pay}") + BLOCKED,
        "never_fires",
        5,
    ),
    "before a blocked tool": (rules("{type: before, first: pay, then: ship}") + BLOCKED, "contradiction", 5),
    "after a blocked tool": (rules("{type: after, trigger: pay, then: mail}") + BLOCKED, "never_fires", 5),
    "never after a blocked tool": (
        rules("{type: never_after, trigger: admin_x, forbidden: mail}") + BLOCKED,
        "never_fires",
        5,
    ),
    "directly before a blocked tool": (
        rules("{type: immediately_before, first: ask, then: pay}") + BLOCKED,
        "never_fires",
        5,
    ),
    "before on a tool that its only scenario forbids": (
        "tests:\n- id: order\n  metric: sequence_valid\n  scenarios: [A]\n  rules:\n"
        "  - {type: before, first: look, then: pay}\nscenarios: [{id: A, path: {forbidden_tools: [pay]}}]\n",
        "never_fires",
        6,
    ),
    # minimum above maximum
    "count": (rules("{type: count, tool: pay, min: 3, max: 2}"), "invalid", 5),
    "count in two rules": (
        rules("{type: count, tool: pay, min: 3}", "{type: max_calls, tool: 'p*', max: 2}"),
        "contradiction",
        5,
    ),
    "more tools expected than calls allowed": (
        scenario("path: {expected_tools: [a, b, c], max_tool_calls: 2}"),
        "contradiction",
        3,
    ),
    "longer sequence than calls allowed": (
        scenario("path: {expected_tool_sequence: [a, a, a], max_tool_calls: 2}"),
        "contradiction",
        3,
    ),
    # an allowlist that excludes a required tool
    "allowlist": (rules("{type: allowlist, tools: [look, 's*']}", "{type: require, tool: pay}"), "contradiction", 6),
    "allowlist and a scenario": (
        rules("{type: allowlist, tools: [look]}") + "scenarios: [{id: A, path: {expected_tools: [pay]}}]\n",
        "contradiction",
        6,
    ),
    "allowlist of nothing": (
        rules("{type: allowlist, tools: []}", "{type: require, tool: pay}"),
        "contradiction",
        6,
    ),
    "rule about a tool outside the allowlist": (
        rules("{type: allowlist, tools: [look]}", "{type: before, first: look, then: pay}"),
        "never_fires",
        6,
    ),
    # orders
    "each before the other": (
        rules("{type: before, first: a, then: b}", "{type: before, first: b, then: a}"),
        "contradiction",
        5,
    ),
    "after and never after": (
        rules("{type: after, trigger: a, then: b}", "{type: never_after, trigger: a, forbidden: b}"),
        "contradiction",
        5,
    ),
    # a shadowed glob
    "shadowed in a blocklist": (
        "tests:\n- id: no\n  metric: tool_blocklist\n  blocklist:\n  - admin_*\n  - admin_ping\n",
        "shadowed",
        6,
    ),
    "twice in an allowlist": (rules("{type: allowlist, tools: [a, a]}"), "shadowed", 5),
    "shadowed in a rule": (rules("{type: blocklist, tools: ['del_*', 'del_all_*']}"), "shadowed", 5),
    "shadowed in forbidden_tools": (scenario("path: {forbidden_tools: ['*', x]}"), "shadowed", 3),
    # a bound that no metric can reach or miss
    "bound nothing misses": (
        scenario("path: {forbidden_tools: [x]}", "thresholds: {blocking: {pass_rate: 0}}\n"),
        "invalid",
        4,
    ),
    "bound nothing reaches": (
        scenario("path: {forbidden_tools: [x]}", "thresholds: {blocking: {pass_rate: '> 100%'}}\n"),
        "invalid",
        4,
    ),
    "bounds that exclude each other": (
        scenario(
            "path: {forbidden_tools: [x]}",
            "thresholds:\n  blocking: {latency_p95: '> 5s'}\n  warning: {latency_p95: '< 4s'}\n",
        ),
        "impossible_bound",
        6,
    ),
    "warning behind a blocking bound": (
        scenario(
            "path: {forbidden_tools: [x]}",
            "thresholds:\n  blocking: {pass_rate: 90}\n  warning: {pass_rate: 80}\n",
        ),
        "impossible_bound",
        6,
    ),
    "metric that nothing feeds": (
        scenario("path: {forbidden_tools: [x]}", "thresholds: {blocking: {accuracy: 90}}\n"),
        "impossible_bound",
        4,
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_planted_contradiction_is_an_error(name: str, tmp_path: Path) -> None:
    suite, lint, line = CONTRADICTIONS[name]
    found = check(tmp_path, suite)
    assert [one[:3] for one in found] == [(lint, "error", line)], found


NOT_CONTRADICTING = {
    "order of tools that one scenario forbids": (
        rules("{type: before, first: look, then: pay}") + "scenarios: [{id: A, path: {max_tool_calls: 0}}]\n"
    ),
    "blocked elsewhere": (
        "tests:\n"
        "- {id: a, metric: tool_blocklist, blocklist: [pay], scenarios: [A]}\n"
        "- {id: b, metric: sequence_valid, scenarios: [B], rules: [{type: require, tool: pay}]}\n"
        "scenarios: [{id: A, path: {max_loops: 1}}, {id: B, path: {max_loops: 1}}]\n"
    ),
    "blocked with certain arguments": rules(
        "{type: require, tool: pay}", "{type: blocklist, tools: [{tool: pay, args: {amount: {$gt: 5}}}]}"
    ),
    "blocked only as a warning": rules("{type: require, tool: pay}")
    + "- {id: no, metric: tool_blocklist, blocklist: [pay], severity: warn}\n",
    "some of the glob is left": rules("{type: before, first: a, then: 'p*'}") + BLOCKED,
    "one turn forbids what another does": (
        "scenarios:\n- id: A\n  turns:\n  - {user: a, path: {forbidden_tools: [pay]}}\n"
        "  - {user: b, path: {expected_tools: [pay]}}\n"
    ),
    "any of several": rules("{type: require, tool: {tool: [pay, refund]}}") + BLOCKED,
}


@pytest.mark.parametrize("name", NOT_CONTRADICTING)
def test_what_can_be_met_is_no_contradiction(name: str, tmp_path: Path) -> None:
    assert check(tmp_path, NOT_CONTRADICTING[name]) == []


POLICY_TEST = "tests: [{id: a, metric: args_valid, policy: policies/p.yaml}]\n"
POLICIES = {
    "no number between": ("a: {type: number, min: 5, max: 3}", "invalid"),
    "no listed value of the type": ("a: {type: string, enum: [1, 2]}", "invalid"),
    "type of two kinds": ("schema", "{properties: {a: {allOf: [{type: string}, {type: number}]}}}"),
    "bounds apart": ("schema", "{properties: {a: {type: number, minimum: 5, allOf: [{maximum: 3}]}}}"),
    "required and impossible": (
        "schema",
        "{type: object, required: [a], properties: {a: {enum: [1], allOf: [{type: string}]}}}",
    ),
    "every choice impossible": (
        "schema",
        "{properties: {a: {type: string, anyOf: [{type: number}, {const: 5}]}}}",
    ),
    "through a reference": (
        "schema",
        "{$defs: {n: {type: number}}, properties: {a: {type: string, $ref: '#/$defs/n'}}}",
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_schema_that_nothing_satisfies_is_an_error(name: str, tmp_path: Path) -> None:
    first, second = POLICIES[name]
    entry = f"schema: {second}" if first == "schema" else f"arguments:\n      {first}"
    found = check(tmp_path, POLICY_TEST, f"tools:\n  pay:\n    {entry}\n")
    assert [one[1] for one in found] == ["error"], found
    assert found[0][0] in ("impossible_schema", "invalid")


def test_globs_of_a_policy_that_exclude_each_other(tmp_path: Path) -> None:
    policy = "tools:\n  'send_*': {arguments: {to: {type: string, required: true}}}\n"
    policy += "  '*_mail': {arguments: {to: {type: array, required: true}}}\n"
    ((lint, level, line, _),) = check(tmp_path, POLICY_TEST, policy)
    assert (lint, level, line) == ("impossible_schema", "error", 3)


def test_what_nobody_uses_or_covers_is_a_warning(tmp_path: Path) -> None:
    suite = (
        "behaviors: {asked: {tool_called: ask}, greeted: {answer_contains: hello}}\n"
        "tests: [{id: no, metric: tool_blocklist, blocklist: [x]}]\n"
        "scenarios:\n"
        "- {id: A, category: happy, expected_behaviors: [asked]}\n"
        "- {id: B, category: sad, path: {max_loops: 1}}\n"
        "weights: {by_category: {happy: 2}}\n"
        "waivers: [{test: no, reason: old, expires: 2026-05-31}, {test: no, reason: new, expires: 2026-06-01}]\n"
    )
    found = check(tmp_path, suite, "tools: {pay: {}}\n")
    assert [(lint, level, line) for lint, level, line, _ in found] == [
        ("unused", "warning", 1),
        ("uncovered_scenario", "warning", 5),
        ("expired_waiver", "warning", 7),
        ("unused", "warning", 1),
    ]
    assert "greeted" in found[0][3]


def test_nothing_is_found_in_the_example_and_in_a_learned_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = REPOSITORY / "examples" / "support-agent"
    assert api.check_suite(str(example)).findings == ()
    monkeypatch.chdir(tmp_path)
    api.init_suite([str(example / "traces" / "good.jsonl")], api.SourceOptions())
    assert api.check_suite(None).findings == ()


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_wrong_with_the_suites_of_a_page(page: str, tmp_path: Path) -> None:
    for block in blocks(page):
        if "/" in block.title or "." in block.title:
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.title).write_text(block.text)
    for number, block in enumerate(blocks(page)):
        fragment = block.language == "yaml" and not block.title
        if not fragment and not block.title.endswith("passmuster.yaml"):
            continue
        if block.title.startswith("contradicting/"):  # which shows what is found
            continue
        suite = tmp_path / block.title
        if fragment:
            suite = tmp_path / f"fragment-{number}" / "passmuster.yaml"
            suite.parent.mkdir()
            least = "" if "tests:" in block.text else "tests: [{id: any, metric: tool_blocklist, blocklist: [x]}]\n"
            suite.write_text(least + block.text)
        found = api.check_suite(str(suite), today=TODAY).findings
        meant = {"invalid", "notice", "unused", "uncovered_scenario"}  # pages show mistakes, and parts of suites
        assert [one for one in found if one.lint not in meant] == [], block.text


def test_the_command_prints_lines_json_and_sarif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("passmuster.yaml").write_text(CONTRADICTIONS["required and blocked"][0])
    done = CliRunner().invoke(group, ["check", "--report", "sarif=out.sarif"])
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "passmuster.yaml:5: error: the rule 'require' of 'order' asks for 'pay', which the blocklist of 'no' (line 6) "
        "forbids: no run can meet both [contradiction]",
        "passmuster.yaml: 1 error",
    ]
    (run,) = json.loads(Path("out.sarif").read_bytes())["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "suite/contradiction" == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 5}
    printed = json.loads(CliRunner().invoke(group, ["check", "--json"]).output)
    assert (printed["schema"], printed["errors"], printed["exit_code"]) == ("passmuster.check/1", 1, 1)
    assert CliRunner().invoke(group, ["check", "none"]).exit_code == 2
    Path("passmuster.yaml").write_text("tests: [{id: a, metric: tool_bloklist}]\n")
    broken = CliRunner().invoke(group, ["check"])
    assert (broken.exit_code, "did you mean 'tool_blocklist'" in broken.output) == (1, True)


def test_strict_makes_warnings_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("passmuster.yaml").write_text(
        "tests: [{id: no, metric: tool_blocklist, blocklist: [x]}]\n"
        "waivers: [{test: no, reason: old, expires: 2026-05-31}]\n"
    )
    options = ["check", "--today", "2026-06-01"]
    assert CliRunner().invoke(group, options).exit_code == 0
    assert CliRunner().invoke(group, [*options, "--strict"]).exit_code == 1


PATTERNS = st.text("ab*?", min_size=1, max_size=4)
NAMES = ["".join(letters) for length in range(1, 7) for letters in itertools.product("ab", repeat=length)]


@given(PATTERNS, PATTERNS)
def test_patterns_are_compared_by_the_names_that_fit_them(one: str, other: str) -> None:
    first, second = ({name for name in NAMES if fnmatch.fnmatchcase(name, pattern)} for pattern in (one, other))
    if covers(one, other):
        assert second <= first
    if not may_overlap(one, other):
        assert not first & second
    elif "*" not in one or "*" not in other:
        assert first & second


SCHEMAS = st.recursive(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer"}, {"type": ["number", "null"]}, {"enum": [1, "a"]}, {"const": 2}]
    )
    | st.builds(lambda low, high: {"minimum": low, "maximum": high}, st.integers(-2, 2), st.integers(-2, 2)),
    lambda inner: (
        st.builds(lambda a, b: {"allOf": [a, b]}, inner, inner)
        | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner)
        | st.builds(lambda a, b: {**a, **b}, inner, inner)
        | st.builds(lambda a: {"type": "object", "required": ["x"], "properties": {"x": a}}, inner)
    ),
    max_leaves=5,
)
VALUES: list[object] = [
    None,
    True,
    "a",
    "b",
    -2,
    -1,
    0,
    1,
    1.5,
    2,
    [],
    {},
    *({"x": one} for one in (None, "a", 0, 1, 2, {"x": 1})),
]


@given(SCHEMAS)
def test_a_schema_that_is_said_to_fit_nothing_fits_nothing(schema: dict[str, object]) -> None:
    from jsonschema_rs import Draft202012Validator

    if fits_nothing(schema):
        fits = Draft202012Validator(schema).is_valid
        assert not any(fits(value) for value in VALUES)


def test_every_lint_is_described_on_the_page() -> None:
    page = (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page.split("\n## passmuster check\n", 1)[1].split("\n## ", 1)[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) >= set(api.LINTS)
