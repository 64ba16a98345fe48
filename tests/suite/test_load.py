"""A suite file becomes a typed suite, or a list of everything that is wrong with it, each with its place."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from tests.suite.suite_files import VALID, load, problems, write

import passmuster
from passmuster._problems import SuiteError
from passmuster.reports import FORMATS
from passmuster.suite import Test, fields_of
from passmuster.suite._model import Scenario
from passmuster.suite._suite_file import SuiteFile

A_TEST = "tests: [{id: t, metric: tool_blocklist, blocklist: [x]}]\n"


def test_a_suite_that_uses_every_key_loads(tmp_path: Path) -> None:
    assert VALID.keys() | {"plugins"} == fields_of(SuiteFile).keys()
    suite = load(tmp_path, VALID)
    assert (suite.name, suite.file, suite.root) == ("a-suite", "passmuster.yaml", tmp_path)
    assert (suite.agent.name, suite.agent.version) == ("support", "2.10")
    assert suite.traces == ("traces/*.jsonl",)
    assert [scenario.id for scenario in suite.scenarios] == ["S-1", "delete-my-account-please", "what-do-you-cost"]
    assert {scenario.cost.values["max_total_tokens"] for scenario in suite.scenarios if scenario.cost} == {9000}
    assert suite.scenarios[2].correctness is not None
    assert suite.effects.irreversible == ("delete_*",)
    assert suite.tightened == {"path"}
    assert [(test.id, test.severity) for test in suite.tests] == [
        ("policy", "block"),
        ("inline", "warn"),
        ("order", "block"),
        ("blocked", "log"),
    ]
    assert suite.tests[2].scenarios == ("S-1",)
    assert suite.tests[2].tags == ("ticket",)
    assert [(waiver.test, waiver.expires) for waiver in suite.waivers] == [("order", datetime.date(2030, 1, 31))]
    assert suite.failed_when[0].tool == "pay"
    assert suite.redact.arguments == ("pay.card.number",)
    assert (suite.output.formats, suite.output.folder) == (("json", "junit"), "reports")


def test_the_least_suite_has_the_defaults(tmp_path: Path) -> None:
    suite = load(tmp_path, A_TEST)
    assert suite.name == tmp_path.name
    assert (suite.agent.name, suite.traces, suite.scenarios, suite.waivers) == (None, (), (), ())
    assert (suite.output.formats, suite.output.folder) == ((), "passmuster-report")
    (test,) = suite.tests
    assert (test.severity, test.scenarios, test.tags, test.line) == ("block", None, None, 1)


LANGUAGE = """
version, suite, description, agent, traces, plugins, tests, scenarios, queries, defaults, behaviors, effects, layers,
classification, judge_config, thresholds, weights, required_scenarios, optional_scenarios, pass_criteria, composite,
latency_budget_ms, prices, repeat_policy, baseline, waivers, failed_when, redact, output
"""
SCENARIO_LANGUAGE = """
id, query, category, capability, description, tags, correctness, path, cost, expected_behaviors, must_not, label,
weight, pass_score, repeat, repeat_policy, answer_scope, turns
"""


def test_every_key_of_the_language_is_read() -> None:
    assert {key.strip() for key in LANGUAGE.split(",")} == set(fields_of(SuiteFile))
    assert {key.strip() for key in SCENARIO_LANGUAGE.split(",")} == set(fields_of(Scenario))
    assert tuple(fields_of(Test)) == ("id", "metric", "description", "tags", "scenarios", "severity")


@pytest.mark.parametrize("name", ["docx", "pdf"])
def test_an_unknown_report_format_is_refused(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, f"{A_TEST}output: {{format: [json, {name}]}}\n")
    known = ", ".join(FORMATS)
    assert problem == f"passmuster.yaml:2:25: output.format: expected one of {known}, found a string ('{name}')"


@pytest.mark.parametrize(
    ("suite", "problem"),
    [
        (f"{A_TEST}senarios: []\n", "2:1: suite: unknown key 'senarios'; did you mean 'scenarios'?"),
        (f"{A_TEST}qqq: []\n", "2:1: suite: unknown key 'qqq'; known: version, suite"),
        ("tests:\n- id: t\n  metric: tool_blocklist\n  blocklst: [x]\n  blocklist: [y]\n", "did you mean 'blocklist'?"),
        (f"{A_TEST}scenarios: [{{id: s, querry: q}}]\n", "2:21: scenarios[0]: unknown key 'querry'; did you mean"),
        (f"{A_TEST}agent: {{nam: x}}\n", "2:9: agent: unknown key 'nam'; did you mean 'name'?"),
        (f"{A_TEST}redact: {{pattern: [x]}}\n", "2:10: redact: unknown key 'pattern'; did you mean 'patterns'?"),
        (f"{A_TEST}output: {{formats: [json]}}\n", "2:10: output: unknown key 'formats'; did you mean 'format'?"),
        (f"{A_TEST}failed_when: [{{reslt: 1, result: 2}}]\n", "2:16: failed_when[0]: unknown key 'reslt'; did you"),
        ("tests: [{id: t, metric: tool_bloklist}]\n", "1:25: tests.t: unknown metric 'tool_bloklist'; did you mean"),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: befor}]}]\n",
            "1:56: tests.t.rules[0]: unknown rule type 'befor'; did you mean 'before'?",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: count, tool: a, maxx: 1, max: 2}]}]\n",
            "1:72: tests.t.rules[0] (count): unknown key 'maxx'; did you mean 'max'?",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: require, tool: {tol: a}}]}]\n",
            "1:72: tests.t.rules[0].tool: unknown key 'tol'; did you mean 'tool'?",
        ),
        (
            "tests: [{id: t, metric: args_valid, tool: a, constraints: {n: {mxa: 1}}}]\n",
            "1:64: tests.t.constraints.n: unknown key 'mxa'; did you mean 'max'?",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: require, tool: {tool: a, args: {n: {$gtt: 1}}}}]}]",
            "1:92: tests.t.rules[0].tool.args.n: unknown matcher '$gtt'; did you mean '$gt'?",
        ),
    ],
)
def test_an_unknown_word_is_located_and_the_nearest_known_one_is_named(
    tmp_path: Path, suite: str, problem: str
) -> None:
    assert any(problem in found for found in problems(tmp_path, suite))


@pytest.mark.parametrize(
    ("suite", "problem"),
    [
        (f"{A_TEST}suite: a\nsuite: b\n", "3:1: the key 'suite' is already used on line 2; keep one of the two"),
        (
            "tests:\n" + "- {id: t, metric: tool_blocklist, blocklist: [x]}\n" * 2,
            "3:8: tests[1]: the id 't' is taken on line 2",
        ),
        (f"{A_TEST}scenarios:\n- id: s\n- id: s\n", "4:7: scenarios[1]: the id 's' is taken on line 3"),
        (
            f"{A_TEST}scenarios:\n- query: Where is  it?\n- query: Where is it?\n",
            "4:3: scenarios[1]: has the same query as the scenario on line 3; give each an 'id'",
        ),
        (f"{A_TEST}scenarios: [{{category: c}}]\n", "2:13: scenarios[0]: needs an 'id' or a 'query'"),
        ("tests:\n- metric: tool_blocklist\n  blocklist: [x]\n", "2:3: tests[0]: 'id' is missing"),
        ("tests:\n- id: t\n", "2:3: tests.t: 'metric' is missing"),
        ("suite: s\n", "1:1: the suite checks nothing: it has no tests, and no scenario states an expectation"),
        ("scenarios: [{id: s}]\n", "1:1: the suite checks nothing"),
        (f"{A_TEST}version: 2\n", "2:10: version: this program reads version 1, found '2'"),
        ("tests: [{id: t, metric: tool_blocklist, blocklist: []}]\n", "the list is empty, so nothing would be checked"),
        ("tests: [{id: t, metric: sequence_valid, rules: []}]\n", "the list is empty, so nothing would be checked"),
        ("tests: [{id: t, metric: sequence_valid}]\n", "1:9: tests.t: 'rules' is missing"),
        ("tests: [{id: t, metric: tool_blocklist}]\n", "1:9: tests.t: 'blocklist' is missing"),
        ("tests: [{id: t, metric: args_valid}]\n", "needs 'policy' (a file), or 'tool' and 'constraints'"),
        ("tests: [{id: t, metric: args_valid, tool: x}]\n", "needs 'policy' (a file), or 'tool' and 'constraints'"),
        ("tests: [{id: t, metric: tool_blocklist, blocklist: ['a[']}]\n", "'[' in the pattern 'a[' is never closed"),
        ("tests: [{id: t, metric: tool_blocklist, blocklist: ['']}]\n", "a tool pattern cannot be empty"),
        ("tests: [{id: t, metric: tool_blocklist, blocklist: [x], tags: []}]\n", "an empty list selects nothing"),
        ("tests: [{id: t, metric: tool_blocklist, blocklist: [x], scenarios: []}]\n", "an empty list selects no"),
        (
            f"{A_TEST[:-3]}, scenarios: [S-2]}}]\nscenarios: [{{id: S-1}}]\n",
            "tests.t.scenarios: 'S-2' selects no scenario; did you mean 'S-1'?",
        ),
        (f"{A_TEST[:-3]}, scenarios: ['S-[']}}]\nscenarios: [{{id: S-1}}]\n", "'[' in the pattern 'S-[' is never"),
        (f"{A_TEST}redact: {{patterns: ['(']}}\n", "redact.patterns: not a regular expression"),
        (f"{A_TEST}redact: {{patterns: ['cost{{s}}']}}\n", "write '\\{' for a literal brace"),
        (f"{A_TEST}redact: {{patterns: ['[[:alpha:]]']}}\n", "means different things to different engines"),
        (f"{A_TEST}redact: {{arguments: [card]}}\n", "expected TOOL.path, such as 'pay.card', found 'card'"),
        (f"{A_TEST}failed_when: [{{tool: a}}]\n", "failed_when[0]: 'result' is missing"),
        (f"{A_TEST}plugins: [no_such_module]\n", "plugins: there is no module 'no_such_module'"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, suite: str, problem: str) -> None:
    assert any(problem in found for found in problems(tmp_path, suite))


@pytest.mark.parametrize(
    ("waiver", "problem"),
    [
        ("{reason: r, expires: 2030-01-31}", "waivers[0]: 'test' is missing"),
        ("{test: t, expires: 2030-01-31}", "waivers[0]: 'reason' is missing"),
        ("{test: t, reason: r}", "waivers[0]: 'expires' is missing"),
        ("{test: tt, reason: r, expires: 2030-01-31}", "waivers[0].test: no test 'tt'; did you mean 't'?"),
        (
            "{test: t, reason: r, expires: soon}",
            "waivers[0].expires: expected a day such as 2027-01-31, found a string",
        ),
        ("{test: t, reason: r, expires: 2030-02-31}", "waivers[0].expires: expected a day"),
        ("{test: t, reason: r, expires: 2030-01-31, scenario: S}", "waivers[0].scenario: no scenario 'S'"),
        ("{test: t, reason: r, expires: 2030-01-31, scenario: 'S['}", "'[' in the pattern 'S[' is never closed"),
        ("{test: t, reason: r, expires: 2030-01-31, tool: 'a['}", "'[' in the pattern 'a[' is never closed"),
        ("{test: t, reason: '', expires: 2030-01-31}", "waivers[0].reason: is empty"),
        ("{test: t, reason: r, expires: 2030-01-31, until: x}", "waivers[0]: unknown key 'until'"),
    ],
)
def test_a_waiver_says_what_why_and_until_when(tmp_path: Path, waiver: str, problem: str) -> None:
    assert [problem in found for found in problems(tmp_path, f"{A_TEST}waivers: [{waiver}]\n")] == [True]


@pytest.mark.parametrize(
    ("suite", "problem"),
    [
        ("- a\n", "suite: expected a map, found a list"),
        ("text\n", "suite: expected a map, found a string ('text')"),
        (f"{A_TEST}version: [1]\n", "version: expected a string, found a list"),
        (f"{A_TEST}suite: true\n", "suite: expected a string, found a boolean ('true')"),
        (f"{A_TEST}suite: ''\n", "suite: is empty"),
        (f"{A_TEST}description: {{}}\n", "description: expected a string, found a map"),
        (f"{A_TEST}agent: [a]\n", "agent: expected a map, found a list"),
        (f"{A_TEST}agent: {{version: null}}\n", "agent.version: expected a string, found null"),
        (f"{A_TEST}traces: {{}}\n", "traces: expected a string, found a map"),
        (f"{A_TEST}plugins: [[a]]\n", "plugins: expected a string, found a list"),
        ("tests: {}\n", "tests: expected a list, found a map"),
        ("tests:\n", "tests: expected a list, found null"),
        ("tests: [a]\n", "tests[0]: expected a map, found a string ('a')"),
        (
            "tests: [{id: [a], metric: tool_blocklist, blocklist: [x]}]\n",
            "tests[0].id: expected a string, found a list",
        ),
        ("tests: [{id: a, metric: 7}]\n", "tests.a: unknown metric '7'"),
        ("tests: [{id: a, metric: {}}]\n", "tests.a.metric: expected a string, found a map"),
        (f"{A_TEST[:-3]}, severity: fatal}}]\n", "tests.t.severity: expected one of block, warn, log, found a string"),
        (f"{A_TEST[:-3]}, tags: {{}}}}]\n", "tests.t.tags: expected a string, found a map"),
        (f"{A_TEST[:-3]}, description: [a]}}]\n", "tests.t.description: expected a string, found a list"),
        (f"{A_TEST}scenarios: {{}}\n", "scenarios: expected a list, found a map"),
        (f"{A_TEST}scenarios: [a]\n", "scenarios[0]: expected a map, found a string ('a')"),
        (f"{A_TEST}scenarios: [{{id: s, tags: [[a]]}}]\n", "scenarios[0].tags: expected a string, found a list"),
        (f"{A_TEST}scenarios: [{{query: [a]}}]\n", "scenarios[0].query: expected a string, found a list"),
        (f"{A_TEST}waivers: {{}}\n", "waivers: expected a list, found a map"),
        (f"{A_TEST}waivers: [a]\n", "waivers[0]: expected a map, found a string ('a')"),
        (f"{A_TEST}failed_when: {{}}\n", "failed_when: expected a list, found a map"),
        (f"{A_TEST}redact: [a]\n", "redact: expected a map, found a list"),
        (f"{A_TEST}output: [json]\n", "output: expected a map, found a list"),
        (f"{A_TEST}output: {{format: jsn}}\n", "output.format: expected one of console, "),
        (f"{A_TEST}output: {{dir: []}}\n", "output.dir: expected a string, found a list"),
        (
            "tests: [{id: t, metric: tool_blocklist, blocklist: [7]}]\n",
            "expected a tool name or pattern, found a number",
        ),
        ("tests: [{id: t, metric: args_valid, policy: p, strict: yes}]\n", "t.strict: expected true or false, found a"),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: count, tool: a, max: -1}]}]\n",
            "tests.t.rules[0].max: expected a whole number of 0 or more, found a number ('-1')",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: after, trigger: a, then: b, within: 0}]}]\n",
            "tests.t.rules[0].within: expected a whole number of 1 or more, found a number ('0')",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: require, tool: []}]}]\n",
            "tests.t.rules[0].tool: the list is empty, so nothing would be checked",
        ),
        (
            "tests: [{id: t, metric: sequence_valid, rules: [{type: require, tool: [[]]}]}]\n",
            "tests.t.rules[0].tool[0]: the list is empty, so nothing would be checked",
        ),
    ],
)
def test_a_wrong_type_says_what_was_expected_and_what_was_found(tmp_path: Path, suite: str, problem: str) -> None:
    assert any(problem in found for found in problems(tmp_path, suite))


def test_all_problems_are_told_at_once_each_with_its_file(tmp_path: Path) -> None:
    suite = """\
suit: typo
tests:
  - id: a
    metric: args_valid
    policy: policies/p.yaml
  - id: a
    metric: args_valid
    policy: policies/missing.yaml
  - id: c
    metric: args_valid
    policy: policies/broken.yaml
  - id: d
    metric: tool_blocklist
    blocklist: ["["]
waivers:
  - {test: a, reason: r, expires: never}
"""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "broken.yaml").write_text("tools: {a: [\n")
    found = problems(tmp_path, suite, policy="tools:\n  pay:\n    arguments:\n      n: {type: strin, mx: 3}\n")
    assert [problem.split(": ")[0] for problem in found] == [
        "passmuster.yaml:1:1",
        "passmuster.yaml:6:9",
        "passmuster.yaml:8:13",
        "passmuster.yaml:14:17",
        "passmuster.yaml:16:35",
        "policies/broken.yaml:2:1",
        "policies/p.yaml:4:17",
        "policies/p.yaml:4:24",
    ]


def test_a_mistake_in_the_defaults_is_told_once(tmp_path: Path) -> None:
    asks = "correctness: {expected_in_answer: x}"
    suite = f"defaults: {{repeat: no}}\nscenarios:\n  - {{id: A, {asks}}}\n  - {{id: B, {asks}}}\n"
    found = problems(tmp_path, suite)
    assert found == [
        "passmuster.yaml:1:20: defaults.repeat: expected a whole number of 1 or more, found a string ('no')"
    ]


@pytest.mark.parametrize(
    ("defaults", "own", "where"),
    [
        ("tags: null", "path: {max_loops: 1}", "defaults.tags: is empty"),
        ("correctness: null", "correctness: {expected_in_answer: x}", "defaults.correctness: is empty"),
        ("path: {max_loops: null}", "path: {max_loops: 1}", "defaults.path.max_loops: is empty"),
        ("path: {max_loops: 1}", "cost: null", "scenarios[0].cost: is empty, and 'defaults' has nothing"),
        ("path: {max_loops: 1}", "path: {max_tool_calls: null}", "scenarios[0].path.max_tool_calls"),
        ("path: {expected_calls: {calls: [a]}}", "path: {expected_calls: {mode: null}}", "path.expected_calls.mode"),
        (
            "correctness: {safety_check: {threshold: 1}}",
            "correctness: {safety_check: {rule: null}}",
            "safety_check.rule",
        ),
    ],
)
def test_a_key_left_empty_with_no_default_to_remove_is_a_mistake(
    tmp_path: Path, defaults: str, own: str, where: str
) -> None:
    (found,) = problems(tmp_path, f"defaults: {{{defaults}}}\nscenarios: [{{id: A, {own}}}]\n")
    assert where in found


def test_a_behavior_with_nearly_the_name_of_one_that_is_defined_is_noticed(tmp_path: Path) -> None:
    scenarios = "scenarios:\n  - {id: A, must_not: [pays frist, pays first, sings]}\n"
    suite = f"behaviors: {{pays first: {{tool_called: pay}}}}\n{scenarios}"
    (notice,) = load(tmp_path, suite).notices
    assert str(notice).endswith("'behaviors' does not have 'pays frist'; did you mean 'pays first'?")


def test_a_policy_that_two_tests_share_is_read_and_complained_of_once(tmp_path: Path) -> None:
    suite = "tests:\n" + "".join(f"- {{id: {id_}, metric: args_valid, policy: policies/p.yaml}}\n" for id_ in "ab")
    assert len(problems(tmp_path, suite, policy="tools: {pay: {argments: {}}}\n")) == 1


@pytest.mark.parametrize("word", ["no", "on", "off", "yes", "y", "12:30", "2030-01-31", "1_000"])
def test_words_are_read_as_yaml_1_2_reads_them(tmp_path: Path, word: str) -> None:
    suite = load(tmp_path, f"{A_TEST}suite: {word}\nscenarios: [{{id: {word}, tags: [{word}]}}]\n")
    assert (suite.name, suite.scenarios[0].id, suite.scenarios[0].tags) == (word, word, (word,))


@pytest.mark.parametrize("version", ["2.10", "1.0", "007", "1e3", "0x1F"])
def test_a_version_keeps_its_text(tmp_path: Path, version: str) -> None:
    assert load(tmp_path, f"{A_TEST}agent: {{name: a, version: {version}}}\n").agent.version == version


def test_an_agent_may_be_its_name_alone(tmp_path: Path) -> None:
    assert load(tmp_path, f"{A_TEST}agent: support\n").agent.name == "support"


def test_x_keys_are_ignored_wherever_keys_are_ours(tmp_path: Path) -> None:
    suite = """\
x-owner: team
agent: {name: a, x-a: 1}
scenarios: [{id: s, x-a: [1, {b: 2}]}]
tests:
  - id: order
    metric: sequence_valid
    x-a: 1
    rules:
      - {type: require, tool: {tool: a, x-a: 1, args: {n: {$gt: 1, x-why: because}}}, x-a: 1}
  - id: policy
    metric: args_valid
    policy: policies/p.yaml
waivers: [{test: order, reason: r, expires: 2030-01-31, x-ticket: 7}]
failed_when: [{result: 1, x-a: 1}]
redact: {patterns: [a], x-a: 1}
output: {format: json, x-a: 1}
"""
    policy = "x-a: 1\ntools: {pay: {x-a: 1, arguments: {n: {type: number, x-a: 1}}}}\n"
    write(tmp_path, suite, policy=policy)
    assert len(passmuster.load_suite(tmp_path).tests) == 2


def test_positions_of_what_was_read(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        "# first\nscenarios:\n  - id: s\n\n  - query: q\ntests:\n  - id: t\n    metric: tool_blocklist\n"
        "    blocklist: [x]\nwaivers:\n  - {test: t, reason: r, expires: 2030-01-31}\n",
    )
    assert [scenario.line for scenario in suite.scenarios] == [3, 5]
    assert [test.line for test in suite.tests] == [7]
    assert [waiver.line for waiver in suite.waivers] == [11]


@pytest.mark.parametrize(
    ("queries", "ids"),
    [
        (["Where is my order?"], ["where-is-my-order"]),
        (["Wo ist  die  Straße?"], ["wo-ist-die-straße"]),
        (["???"], ["query"]),
        (["a b", "a, b!", "a-b"], ["a-b", "a-b-2", "a-b-3"]),
        (["word " * 30], ["-".join(["word"] * 12)]),
    ],
)
def test_an_id_is_made_from_the_words_of_a_query(tmp_path: Path, queries: list[str], ids: list[str]) -> None:
    data = {"tests": VALID["tests"][3:], "scenarios": [{"query": query} for query in queries]}  # type: ignore[index]
    assert [scenario.id for scenario in load(tmp_path, data).scenarios] == ids


def test_an_id_that_is_written_is_kept_from_those_that_are_made(tmp_path: Path) -> None:
    suite = load(tmp_path, f"{A_TEST}scenarios: [{{query: a b}}, {{id: a-b}}]\n")
    assert [scenario.id for scenario in suite.scenarios] == ["a-b-2", "a-b"]


def test_scenarios_are_selected_by_id_or_glob_and_an_id_wins(tmp_path: Path) -> None:
    names = "scenarios: [{id: 'S[1]'}, {id: S1}, {id: S2}]\n"
    chosen = [
        load(tmp_path, f"{A_TEST[:-3]}, scenarios: {pattern}}}]\n{names}").tests[0].scenarios
        for pattern in ("S*", "['S[1]']", "[S2, S1, 'S?']")
    ]
    assert chosen == [("S[1]", "S1", "S2"), ("S[1]",), ("S2", "S1")]


def test_plugins_are_refused_where_none_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "refused_plugin.py").write_text("raise SystemExit('imported')\n")
    path = write(tmp_path, f"{A_TEST}plugins:\n  - refused_plugin\n")
    with pytest.raises(SuiteError) as caught:
        passmuster.load_suite(path, plugins=False)
    assert str(caught.value) == (
        "passmuster.yaml:3:5: plugins: 'refused_plugin' is refused, because this run allows no plugins"
    )


def test_a_plugin_that_cannot_be_imported_is_told_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken_plugin.py").write_text("1 / 0\n")
    (tmp_path / "empty_plugin.py").write_text("")
    found = problems(tmp_path, f"{A_TEST}plugins: [broken_plugin, empty_plugin]\n")
    assert found == [
        "passmuster.yaml:2:11: plugins: importing 'broken_plugin' failed: ZeroDivisionError: division by zero",
        "passmuster.yaml:2:26: plugins: the module 'empty_plugin' defines no metric; "
        'mark one with @passmuster.metric("name")',
    ]


def test_the_same_format_twice_is_one_report(tmp_path: Path) -> None:
    assert load(tmp_path, f"{A_TEST}output: {{format: [json, json]}}\n").output.formats == ("json",)


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        (
            "tests: [{id: t}, {id: t, metric: tool_blocklist, blocklist: [x]}]\n"
            "waivers: [{test: t, reason: r, expires: 2030-01-01}]\n",
            ["1:9: tests.t: 'metric' is missing", "1:23: tests[1]: the id 't' is taken on line 1"],
        ),
        (
            "tests:\n  - {id: '', metric: tool_blocklist, blocklist: [x]}\n"
            "  - {id: ' ', metric: tool_blocklist, blocklist: [x]}\n",
            ["2:10: tests[0].id: is empty", "3:10: tests[1].id: is empty"],
        ),
        (
            "defaults: {bogus: 1}\nscenarios: [{id: a, path: {max_loops: 1}}]\n",
            ["1:12: defaults: unknown key 'bogus'"],
        ),
    ],
)
def test_one_mistake_is_told_once_and_hides_no_other(tmp_path: Path, suite: str, expected: list[str]) -> None:
    found = problems(tmp_path, suite)
    assert len(found) == len(expected)
    for problem, start in zip(found, expected, strict=True):
        assert problem.startswith(f"passmuster.yaml:{start}")
