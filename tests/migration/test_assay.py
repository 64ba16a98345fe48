"""Assay's evals and policies: what they ask, as they stand and migrated."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from tests.migration.migrating import Trace, call, migrate, trace, verdicts

import passmuster

POLICY = """\
version: "2.0"
name: files
tools:
  allow: [read_file, list_dir]
  deny: [exec*]
schemas:
  read_file:
    type: object
    properties: {path: {type: string, pattern: "^/app/"}}
    required: [path]
enforcement: {unconstrained_tools: warn}
signatures: {check_descriptions: true}
"""


def case(words: str) -> str:
    """An eval with one test."""
    stated = textwrap.indent(textwrap.dedent(words), "    ")
    top = "version: 1\nsuite: s\nmodel: trace\nsettings: {cache: false}\n"
    return f"{top}tests:\n  - id: t\n    input: {{prompt: Go}}\n{stated}\n"


READ = call("read_file", arguments={"path": "/app/x"})
BASH = [call("bash", arguments={"command": "cat .aws/credentials"}), call("bash", arguments={"command": "curl -d x"})]

CASES: list[tuple[str, str, Trace, int]] = [
    ("must_contain", "expected: {type: must_contain, must_contain: [Paris]}", trace("Go", answer="In Paris."), 0),
    ("the case counts", "expected: {type: must_contain, must_contain: [Paris]}", trace("Go", answer="In paris."), 1),
    ("legacy", "expected: {must_contain: Paris}", trace("Go", answer="In Rome."), 1),
    ("must_not", "expected: {type: must_not_contain, must_not_contain: [a.b]}", trace("Go", answer="say a.b"), 1),
    ("literally", "expected: {type: must_not_contain, must_not_contain: [a.b]}", trace("Go", answer="say axb"), 0),
    ("flags", 'expected: {type: regex_match, pattern: "hello", flags: [i]}', trace("Go", answer="HELLO"), 0),
    ("no match", 'expected: {type: regex_not_match, pattern: "hell+o"}', trace("Go", answer="hello"), 1),
    ("json", 'expected: {type: json_schema, json_schema: \'{"type": "array"}\'}', trace("Go", answer="{}"), 1),
    ("policy", "expected: {type: args_valid, policy: policy.yaml}", trace("Go", READ), 0),
    ("denied", "expected: {type: args_valid, policy: policy.yaml}", trace("Go", READ, call("exec_shell")), 1),
    ("not allowed", "expected: {type: args_valid, policy: policy.yaml}", trace("Go", READ, call("send")), 1),
    (
        "bad argument",
        "expected: {type: args_valid, policy: policy.yaml}",
        trace("Go", call("read_file", arguments={"path": "/etc"})),
        1,
    ),
    (
        "inline schema",
        "expected: {type: args_valid, schema: {send: {type: object, required: [to]}}}",
        trace("Go", call("send", arguments={})),
        1,
    ),
    (
        "order",
        "expected: {type: sequence_valid, rules: [{type: before, first: a, then: b}]}",
        trace("Go", call("b"), call("a")),
        1,
    ),
    (
        "a sequence",
        "expected: {type: sequence_valid, sequence: [a, b]}",
        trace("Go", call("a"), call("x"), call("b")),
        0,
    ),
    ("a broken one", "expected: {type: sequence_valid, sequence: [a, b]}", trace("Go", call("b"), call("a")), 1),
    (
        "arguments of rules",
        """\
        expected:
          type: sequence_valid
          rules:
            - type: never_after
              trigger: {tool: bash, args_match: {command: credentials}}
              forbidden: {tool: bash, args_match: {command: "^curl"}}
        """,
        trace("Go", *BASH),
        1,
    ),
    (
        "after means directly",
        "expected: {type: sequence_valid, rules: [{type: after, trigger: a, then: b}]}",
        trace("Go", call("a"), call("x"), call("b")),
        1,
    ),
    (
        "a part of a name",
        "expected: {type: sequence_valid, rules: [{type: blocklist, pattern: admin}]}",
        trace("Go", call("superadmin_x")),
        1,
    ),
    ("blocklist", "expected: {type: tool_blocklist, blocked: [drop]}", trace("Go", call("drop")), 1),
    ("must call", "assertions: [{type: trace_must_call_tool, tool: a}]", trace("Go", call("b")), 1),
    ("twice", "assertions: [{type: trace_must_call_tool, tool: a, min_calls: 2}]", trace("Go", call("a")), 1),
    ("must not call", "assertions: [{type: trace_must_not_call_tool, tool: a}]", trace("Go", call("a")), 1),
    (
        "with others",
        "assertions: [{type: trace_tool_sequence, sequence: [a, b], allow_other_tools: true}]",
        trace("Go", call("a"), call("x"), call("b")),
        0,
    ),
    (
        "without others",
        "assertions: [{type: trace_tool_sequence, sequence: [a, b], allow_other_tools: false}]",
        trace("Go", call("a"), call("x"), call("b")),
        1,
    ),
    ("no calls", "assertions: [{type: trace_must_call_tool, tool_name: a, max_calls: 0}]", trace("Go", call("a")), 1),
    (
        "at most",
        "assertions: [{type: trace_must_call_tool, tool: a, max_calls: 1}]",
        trace("Go", call("a"), call("a")),
        1,
    ),
    (
        "a pattern for an argument",
        "assertions: [{type: trace_tool_arg_match, tool_name: a, argument: n, regex: '(?i)paris'}]",
        trace("Go", call("a", arguments={"n": "Rome"})),
        1,
    ),
    (
        "the exact sequence",
        "assertions: [{type: trace_tool_sequence, sequence: [a, b], mode: exact}]",
        trace("Go", call("a"), call("x"), call("b")),
        1,
    ),
    ("flags twice", 'expected: {type: regex_match, pattern: "(?i)hello", flags: [i]}', trace("Go", answer="HELLO"), 0),
    ("most steps", "assertions: [{type: trace_max_steps, max: 1}]", trace("Go", call("a"), call("b")), 1),
]


@pytest.mark.parametrize(("words", "run", "code"), [one[1:] for one in CASES], ids=[one[0] for one in CASES])
def test_both_ways_give_the_verdict_of_assay(tmp_path: Path, words: str, run: Trace, code: int) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    found = migrate(tmp_path, case(words), "mcp-eval.yaml")
    assert verdicts(tmp_path, found, [run]) == (code, code)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("expected: {type: tool_output_valid, schemas: {}}\nassertions: [{type: trace_max_steps, max: 9}]", "lost"),
        ("expected: {type: mystery}\nassertions: [{type: trace_max_steps, max: 9}]", "lost"),
        ("assertions: [{type: trace_max_steps, max: 9}, {type: mystery}]", "lost"),
        ("expected: {type: semantic_similarity_to, text: Hi, threshold: 0.9}", "changed"),
        ("expected: {type: faithfulness, min_score: 0.9}", "changed"),
        (
            "expected: {must_contain: [x]}\nassertions: [{type: tool_blocklist, test_tool_calls: [a]}]",
            "ignored",
        ),
    ],
)
def test_what_cannot_be_carried_over_is_noted(tmp_path: Path, words: str, kind: str) -> None:
    found = migrate(tmp_path, case(words), "assay.yaml")
    assert kind in [note.kind for note in found.notes]


def test_native_tests_in_a_file_of_that_name_stay_as_they_are(tmp_path: Path) -> None:
    text = "tests: [{id: t, metric: tool_blocklist, blocklist: [drop]}]\n"
    (tmp_path / "mcp-eval.yaml").write_text(text, encoding="utf-8")
    assert passmuster.load_suite(tmp_path).tests[0].metric == "tool_blocklist"


POLICIES = [
    (POLICY, [READ], 0),
    (POLICY, [call("exec_it")], 1),
    (POLICY, [call("other")], 1),
    (POLICY, [call("read_file", arguments={"path": "/etc"})], 1),
    ("allow: [a, b]\ndeny: [c]\n", [call("a")], 0),
    ("allow: [a, b]\ndeny: [c]\n", [call("d")], 1),
    ("constraints: [{tool: a, params: {p: {matches: '^/tmp/'}}}]\n", [call("a", arguments={"p": "/tmp/x"})], 0),
    ("constraints: [{tool: a, params: {p: {matches: '^/tmp/'}}}]\n", [call("a", arguments={})], 1),
    ("tools: {arg_constraints: {a: {n: {max: 3}}}}\n", [call("a", arguments={"n": 4})], 1),
    ("tools: {require_args: {a: [n]}}\n", [call("a", arguments={})], 1),
    ("tools: {S: {args: {properties: {q: {pattern: '^[a-z]$'}}}}}\nallow: [S]\n", [call("S", arguments={"q": "1"})], 1),
    ("get: {type: object, properties: {k: {type: string}}, required: [k]}\n", [call("get", arguments={})], 1),
    ("version: '1'\nsequences: [{type: before, first: a, then: b}]\n", [call("b")], 1),
    ("version: '1'\naliases: {s: [a1, a2]}\nsequences: [{type: require, tool: s}]\n", [call("a1")], 1),
    ("get: {type: object, properties: {}}\n", [call("other")], 0),
    ("get: {type: object, required: [id]}\n", [call("get", arguments={})], 1),
    ("schemas: {get: {type: object}}\nenforcement: {unconstrained_tools: deny}\n", [call("other")], 1),
    ("limits: {max_tool_calls_total: 1}\n", [call("a"), call("a")], 1),
    ("allow: [a]\nlimits: {max_tool_calls_total: null}\n", [call("a"), call("a")], 0),
    ("constraints: {run: {deny_patterns: {cmd: '^rm'}}}\n", [call("run", arguments={"cmd": "rm -rf"})], 1),
    ("constraints: {run: {deny_patterns: {cmd: '^rm'}}}\n", [call("run", arguments={"cmd": "ls"})], 0),
    ("allow: [a]\nlimits: {max_tool_calls_total: 1}\n", [call("a"), call("a")], 1),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "calls", "code"), POLICIES)
def test_a_policy_becomes_a_suite(tmp_path: Path, policy: str, calls: list[Trace], code: int) -> None:
    found = migrate(tmp_path, policy, "policy.yaml")
    assert found.origin == "assay_policy"
    assert verdicts(tmp_path, found, [trace("Go", *calls)], runs=False).migrated == code


def test_a_star_inside_a_name_is_told(tmp_path: Path) -> None:
    (note,) = migrate(tmp_path, "deny: [read_*_file]\nallow: ['*']\n", "policy.yaml").notes
    assert (note.line, note.kind) == (1, "changed")


def test_what_enforces_at_run_time_is_told(tmp_path: Path) -> None:
    policy = "tools: {allow: [a], approval_required: [a]}\nkill_switch: {triggers: []}\n"
    found = migrate(tmp_path, policy, "policy.yaml")
    assert sorted(note.kind for note in found.notes) == ["ignored", "lost"]


def test_a_schema_file_outside_the_root_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"type": "object"}', encoding="utf-8")
    words = "expected: {type: json_schema, json_schema: '{}', schema_file: ../secret.json}"
    inner = case(words) + "  - {id: u, input: U, expected: {must_contain: u}}\n"
    found = migrate(tmp_path / "evals", inner, "assay.yaml")
    assert [note.kind for note in found.notes if "secret.json" in note.text] == ["lost"]


SAME_QUERY = """\
suite: s
model: trace
policies: {gate: {assertions: [{type: trace_must_call_tool, tool_name: look}]}}
tests:
  - {id: one, policy: gate, input: {prompt: Go}, expected: {type: must_contain, must_contain: [never]}}
  - {id: two, input: {prompt: Go}, expected: {type: regex_match, pattern: "toxic"}}
  - {id: three, input: {prompt: Go}, expected: {type: args_valid, schema: {look: {type: object, required: [at]}}}}
"""
LOOK = call("look", arguments={"at": 1})


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (trace("Go", LOOK, answer="never, it is toxic"), 0),
        (trace("Go", LOOK, answer="never"), 1),
        (trace("Go", LOOK, answer="toxic"), 1),
        (trace("Go", answer="never, it is toxic"), 1),
        (trace("Go", call("look", arguments={}), answer="never, it is toxic"), 1),
    ],
)
def test_tests_with_the_same_query_become_one_scenario(tmp_path: Path, run: Trace, code: int) -> None:
    found = migrate(tmp_path, SAME_QUERY, "mcp-eval.yaml")
    assert verdicts(tmp_path, found, [run]) == (code, code)
    assert [note.kind for note in found.notes].count("changed") == 2


def test_a_file_that_states_nothing_about_traces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(passmuster.UsageError, match="no file that can be migrated"):
        migrate(tmp_path, "caller: {id: ci}\nallowances: [{action_class: deploy}]\n", "policy.yaml")


ONLY_ASSERTIONS = """\
expected: {type: must_not_contain, must_not_contain: []}
assertions:
  - {type: trace_must_not_call_tool, tool: send}
  - {type: trace_must_not_call_tool, tool: send}
  - {type: trace_no_tool_errors}
"""


@pytest.mark.parametrize(
    ("calls", "code"),
    [([call("look")], 0), ([call("send")], 1), ([call("look", error="not found")], 1)],
)
def test_an_empty_expectation_and_an_assertion_that_is_stated_twice(
    tmp_path: Path, calls: list[Trace], code: int
) -> None:
    found = migrate(tmp_path, case(ONLY_ASSERTIONS), "mcp-eval.yaml")
    assert not found.asks_less
    assert "'must_not_contain: []' checks nothing" in found.text
    assert verdicts(tmp_path, found, [trace("Go", *calls)]) == (code, code)


@pytest.mark.parametrize("words", ["thresholds: {max_drop: 0.1}", "settings: {thresholding: {mode: relative}}"])
def test_what_compares_with_a_baseline_is_told(tmp_path: Path, words: str) -> None:
    text = f"suite: s\nmodel: m\n{words}\ntests: [{{id: a, input: b, expected: {{must_contain: x}}}}]\n"
    found = migrate(tmp_path, text, "mcp-eval.yaml")
    assert [note.kind for note in found.notes if "--baseline" in note.text] == ["lost"]
