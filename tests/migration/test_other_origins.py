"""Files of promptfoo, LangChain and AgentCI's first version: what they ask, and what cannot be carried over."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.migration.migrating import Trace, call, migrate, notes, trace, verdicts

import passmuster
from passmuster import api
from passmuster._problems import InputError
from passmuster.migration import ORIGINS, migrated
from passmuster.suite import node_of


def promptfoo(*assertions: str) -> str:
    listed = "".join(f"      - {one}\n" for one in assertions)
    return (
        "description: Shop\nproviders: [openai:gpt]\nprompts: ['Answer: {{question}}']\n"
        f"tests:\n  - vars: {{question: Go}}\n    assert:\n{listed}"
    )


Q = "Answer: Go"
PROMPTFOO: list[tuple[str, Trace, int]] = [
    ("{type: contains, value: Paris}", trace(Q, answer="In Paris."), 0),
    ("{type: contains, value: Paris}", trace(Q, answer="In paris."), 1),
    ("{type: icontains, value: Paris}", trace(Q, answer="In paris."), 0),
    ("{type: contains-any, value: [Rome, Paris]}", trace(Q, answer="In Paris."), 0),
    ("{type: contains-all, value: [Rome, Paris]}", trace(Q, answer="In Paris."), 1),
    ("{type: not-contains, value: Paris}", trace(Q, answer="In Paris."), 1),
    ("{type: not-icontains, value: Paris}", trace(Q, answer="In paris."), 1),
    ("{type: equals, value: Yes.}", trace(Q, answer="Yes!"), 1),
    ("{type: starts-with, value: Yes}", trace(Q, answer="Yes, sir"), 0),
    ("{type: regex, value: '[0-9]+'}", trace(Q, answer="none"), 1),
    ("{type: is-json}", trace(Q, answer="not json"), 1),
    ("{type: is-json, value: {type: object, required: [a]}}", trace(Q, answer='{"a": 1}'), 0),
    ("{type: cost, threshold: 0.1}", trace(Q, total_cost_usd=0.2), 1),
    ("{type: latency, threshold: 100}", trace(Q, total_duration_ms=90), 0),
    ("{type: 'trajectory:tool-used', value: find}", trace(Q, call("other")), 1),
    ("{type: 'not-trajectory:tool-used', value: drop}", trace(Q, call("drop")), 1),
    ("{type: 'trajectory:tool-sequence', value: {steps: [a, b]}}", trace(Q, call("a"), call("x"), call("b")), 0),
    ("{type: 'trajectory:tool-sequence', value: {mode: exact, steps: [a, b]}}", trace(Q, call("a"), call("x")), 1),
    (
        "{type: 'trajectory:tool-args-match', value: {name: a, args: {n: 1}}}",
        trace(Q, call("a", arguments={"n": 2})),
        1,
    ),
    ("{type: 'trajectory:step-count', value: {type: tool, max: 1}}", trace(Q, call("a"), call("a")), 1),
    ("{type: tool-call-f1, value: [a, b], threshold: 0.9}", trace(Q, call("a")), 1),
]


@pytest.mark.parametrize(("assertion", "run", "code"), PROMPTFOO)
def test_promptfoo(tmp_path: Path, assertion: str, run: Trace, code: int) -> None:
    found = migrate(tmp_path, promptfoo(assertion), "promptfooconfig.yaml")
    assert found.origin == "promptfoo"
    assert verdicts(tmp_path, found, [run], runs=False).migrated == code


@pytest.mark.parametrize(
    ("assertion", "run", "code"),
    [
        ("{type: contains-any, value: 'Rome,,Paris'}", trace(Q, answer="In Oslo."), 1),
        ("{type: icontains-any, value: [Rome, '']}", trace(Q, answer="In Oslo."), 1),
        ("{type: starts-with, value: ['', Rome]}", trace(Q, answer="In Oslo."), 1),
        ("{type: not-contains, value: '{{ question }}'}", trace(Q, answer="Go there."), 1),
        ("{type: contains, value: '{{question}}'}", trace(Q, answer="Go there."), 0),
        ("""{type: is-json, value: '{"required": ["a"]}'}""", trace(Q, answer="{}"), 1),
    ],
)
def test_no_promptfoo_assertion_becomes_one_that_always_holds(
    tmp_path: Path, assertion: str, run: Trace, code: int
) -> None:
    found = migrate(tmp_path, promptfoo(assertion), "promptfooconfig.yaml")
    assert verdicts(tmp_path, found, [run], runs=False).migrated == code


@pytest.mark.parametrize(
    "assertion",
    [
        "{type: contains, value: {a: 1}}",
        "{type: starts-with}",
        "{type: icontains-any, value: ''}",
        "{type: contains-all, value: []}",
        "{type: not-equals, value: {a: 1}}",
        "{type: is-json, value: no schema}",
        "{type: 'trajectory:tool-used', value: []}",
        "{type: 'not-trajectory:tool-used', value: []}",
        "{type: not-contains, value: '{{ unknown }}'}",
        "{type: not-contains, value: '{% if question %}x{% endif %}'}",
    ],
)
def test_what_states_nothing_is_noted(tmp_path: Path, assertion: str) -> None:
    found = migrate(tmp_path, promptfoo(assertion, "{type: contains, value: x}"), "promptfooconfig.yaml")
    assert ("lost", 7) in [(note.kind, note.line) for note in found.notes]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("promptfooconfig.yaml", promptfoo("{type: contains, value: x}") + "    asserts: []\n"),
        ("promptfooconfig.yaml", promptfoo("{type: contains, value: x}") + "defaultTest: file://default.yaml\n"),
        ("promptfooconfig.yaml", promptfoo("{type: contains, value: x}") + "scenarios: [{config: []}]\n"),
        ("agentci.yaml", "tests: [{name: a, input: b, max_cost_usd: 1, max_latency: 3}]"),
        (
            "mcp-eval.yaml",
            "tests: [{id: a, input: b, policy: none, expected: {type: must_contain, must_contain: [x]}}]",
        ),
        ("mcp-eval.yaml", "tests: [{id: a, input: b, expected: [{must_contain: ''}, {must_contain: [x]}]}]"),
        ("mcp-eval.yaml", "tests: [{id: a, input: b, expects: [], expected: {must_contain: [x]}}]"),
        (
            "references.json",
            '{"examples": [{"inputs": "", "reference": [{"role": "", "tool_calls": [{"name": "t", "args": [1]}]}]}]}',
        ),
    ],
)
def test_what_is_not_known_is_noted(tmp_path: Path, name: str, text: str) -> None:
    assert migrate(tmp_path, text, name).asks_less


@pytest.mark.parametrize("threshold", [".nan", ".inf", "high", "{a: 1}"])
def test_a_threshold_that_is_no_number_is_refused(tmp_path: Path, threshold: str) -> None:
    with pytest.raises(InputError, match="expected a number"):
        migrate(tmp_path, promptfoo(f"{{type: llm-rubric, value: Good, threshold: {threshold}}}"))


def test_a_threshold_that_every_score_reaches_is_noted(tmp_path: Path) -> None:
    found = migrate(tmp_path, promptfoo("{type: llm-rubric, value: Good, threshold: -1}", "{type: contains, value: x}"))
    assert "llm_judge" not in found.text
    assert "ignored" in [note.kind for note in found.notes if note.line == 7]


@pytest.mark.parametrize("kind", ["javascript", "python", "contains-xml", "not-cost", "unknown"])
def test_what_promptfoo_asks_of_code_is_noted(tmp_path: Path, kind: str) -> None:
    found = migrate(tmp_path, promptfoo(f"{{type: {kind}, value: x}}", "{type: contains, value: x}"))
    assert "lost" in [note.kind for note in found.notes]


def test_promptfoo_rubrics_and_defaults(tmp_path: Path) -> None:
    config = """\
    targets: [file://agent.py]
    defaultTest: {assert: [{type: llm-rubric, value: Is polite}, {type: not-contains, value: idiot}]}
    tests:
      - {description: First, vars: {query: Hi}, threshold: 0.5}
      - {description: First, vars: {query: Ho}, assert: [{type: assert-set, assert: [{type: contains, value: x}]}]}
      - file://more.yaml
    """
    found = migrate(tmp_path, textwrap.dedent(config), "promptfooconfig.yaml")
    assert "id: first-2" in found.text
    assert found.text.count("rule: Is polite") == 2
    assert [note.kind for note in found.notes].count("lost") == 1


MODES: list[tuple[str, list[str], int]] = [
    ("strict", ["a", "b"], 0),
    ("strict", ["b", "a"], 1),
    ("unordered", ["b", "a"], 0),
    ("unordered", ["b", "a", "c"], 1),
    ("subset", ["a"], 0),
    ("subset", ["a", "c"], 1),
    ("superset", ["c", "b", "a"], 0),
    ("superset", ["a"], 1),
]


def reference(mode: str, **more: Any) -> str:
    calls = [{"function": {"name": name, "arguments": '{"n": 1}'}} for name in "ab"]
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "tool_calls": calls}]
    example = {"inputs": {"question": "Go"}, "reference_outputs": messages}
    return json.dumps({"trajectory_match_mode": mode, "examples": [example], **more})


@pytest.mark.parametrize(("mode", "tools", "code"), MODES)
def test_langchain(tmp_path: Path, mode: str, tools: list[str], code: int) -> None:
    found = migrate(tmp_path, reference(mode), "references.json")
    assert found.origin == "langchain_references"
    run = trace("Go", *(call(name, arguments={"n": 1}) for name in tools))
    assert verdicts(tmp_path, found, [run], runs=False).migrated == code


@pytest.mark.parametrize(("how", "given", "code"), [("exact", {"n": 1, "m": 2}, 1), ("ignore", {"n": 9}, 0)])
def test_langchain_arguments(tmp_path: Path, how: str, given: Any, code: int) -> None:
    found = migrate(tmp_path, reference("unordered", tool_args_match_mode=how), "references.json")
    run = trace("Go", call("a", arguments=given), call("b", arguments={"n": 1}))
    assert verdicts(tmp_path, found, [run], runs=False).migrated == code


COMPARED = [
    ("superset", "superset", {"n": 1, "m": 2}, 0),
    ("superset", "superset", {}, 1),
    ("superset", "subset", {"n": 1, "m": 2}, 1),
    ("superset", "subset", {}, 0),
    ("subset", "superset", {"n": 1, "m": 2}, 1),
    ("subset", "superset", {}, 0),
    ("subset", "subset", {"n": 1, "m": 2}, 0),
    ("unordered", "superset", {"n": 1, "m": 2}, 1),
    ("unordered", "subset", {}, 1),
    ("strict", "subset", {"n": 2}, 1),
]


@pytest.mark.parametrize(("mode", "how", "given", "code"), COMPARED)
def test_langchain_arguments_that_are_a_part(tmp_path: Path, mode: str, how: str, given: Any, code: int) -> None:
    found = migrate(tmp_path, reference(mode, tool_args_match_mode=how), "references.json")
    run = trace("Go", call("a", arguments=given), call("b", arguments={"n": 1}))
    assert verdicts(tmp_path, found, [run], runs=False).migrated == code


def test_langchain_a_superset_of_no_calls_checks_nothing(tmp_path: Path) -> None:
    said = {"reference_outputs": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    examples = {"trajectory_match_mode": "superset", "examples": [said, *json.loads(reference(""))["examples"]]}
    found = migrate(tmp_path, json.dumps(examples), "references.json")
    assert [note.kind for note in found.notes] == ["ignored"]


def agentci(assertion: str) -> str:
    return (
        "name: t\nagent: m:f\nframework: langgraph\ndefaults: {max_cost_usd: 1}\n"
        f"tests: [{{name: One, input: Go, assertions: [{assertion}]}}]\n"
    )


AGENTCI: list[tuple[str, Trace, int]] = [
    ("{type: tool_called, tool: a}", trace("Go", call("a")), 0),
    ("{type: tool_called, tool: a}", trace("Go", call("b")), 1),
    ("{type: tool_not_called, tool: a}", trace("Go", call("a")), 1),
    ("{type: tool_call_count, tool: a, value: 2}", trace("Go", call("a")), 1),
    ("{type: arg_equals, tool: a, field: n, value: 2}", trace("Go", call("a", arguments={"n": 2})), 0),
    ("{type: arg_contains, tool: a, field: n, value: x}", trace("Go", call("a", arguments={"n": "y"})), 1),
    ("{type: cost_under, threshold: 0.1}", trace("Go", total_cost_usd=0.2), 1),
    ("{type: steps_under, threshold: 3}", trace("Go", total_llm_calls=4), 1),
    ("{type: output_contains, value: Done}", trace("Go"), 0),
    ("{type: output_not_contains, value: Done}", trace("Go"), 1),
]


@pytest.mark.parametrize(("assertion", "run", "code"), AGENTCI)
def test_the_first_format_of_agentci(tmp_path: Path, assertion: str, run: Trace, code: int) -> None:
    found = migrate(tmp_path, agentci(assertion), "agentci.yaml")
    assert found.origin == "agentci_tests"
    assert verdicts(tmp_path, found, [{"total_cost_usd": 0, **run}], runs=False).migrated == code


@pytest.mark.parametrize(
    "name", [b"bytes-\xff.yaml", b"line\nsuite: injected.yaml", "line\u2028tests: [].yaml".encode()]
)
def test_the_name_of_a_file_stays_in_its_comments(tmp_path: Path, name: bytes) -> None:
    found = migrate(tmp_path, promptfoo("{type: contains, value: x}"), os.fsdecode(name))
    assert verdicts(tmp_path, found, [trace(Q, answer="y")], runs=False).migrated == 1
    assert yaml.safe_load(found.text).keys() == {"description", "scenarios"}


@pytest.mark.parametrize("in_the_way", ["file", "link", "folder is a file"])
def test_what_came_up_in_the_meantime_is_not_overwritten(tmp_path: Path, in_the_way: str) -> None:
    (tmp_path / "promptfooconfig.yaml").write_text(promptfoo("{type: contains, value: x}"))
    target = tmp_path / "evals" / "passmuster.yaml"
    found = api.migrate([str(tmp_path / "promptfooconfig.yaml")], str(target.parent))
    if in_the_way == "folder is a file":
        target.parent.write_text("mine")
    else:
        target.parent.mkdir()
        target.write_text("mine") if in_the_way == "file" else target.symlink_to("nowhere")
    with pytest.raises(InputError, match="nothing is overwritten"):
        api.write_migrated(found)


# ── Nonsense ────────────────────────────────────────────────────────────────────────────────────────────────

_KEYS = [
    *("tests", "queries", "scenarios", "input", "id", "name", "expected", "assertions", "assert", "type", "value"),
    *("vars", "prompts", "providers", "tools", "allow", "deny", "schemas", "constraints", "path", "correctness"),
    *("llm_judge", "turns", "span_assertions", "selector", "asserts", "reference_outputs", "inputs", "messages"),
    *("role", "tool_calls", "sequences"),
]
_WORDS = st.sampled_from(_KEYS)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=5) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=300)
@given(_VALUES, st.sampled_from(sorted(ORIGINS)))
def test_nonsense_is_translated_or_refused(value: Any, origin: str) -> None:
    document = node_of(value)
    for name in ORIGINS:
        ORIGINS[name].recognize(document)
    try:
        migrated(document, Path("x.yaml"), "x.yaml", origin)
    except InputError:
        return


@pytest.mark.parametrize(
    ("answer", "code"), [('{"a": 1, "b": 2}', 0), ('{"a": 1}', 1), ('{"b": 1}', 1), ("no JSON", 1)]
)
def test_an_assertion_that_is_stated_twice_has_to_hold_both_times(tmp_path: Path, answer: str, code: int) -> None:
    both = ["{type: is-json, value: {required: [a]}}", "{type: is-json, value: {required: [b]}}", "{type: is-json}"]
    found = migrate(tmp_path, promptfoo(*both), "promptfooconfig.yaml")
    assert not found.asks_less
    query = yaml.safe_load(found.text)["scenarios"][0]["query"]
    assert verdicts(tmp_path, found, [trace(query, answer=answer)], runs=False).migrated == code


def test_the_lower_of_two_limits_counts_and_what_cannot_hold_both_times_is_told(tmp_path: Path) -> None:
    both = ["{type: cost, threshold: 2}", "{type: cost, threshold: 1}", "{type: contains, value: x}"]
    found = migrate(tmp_path, promptfoo(*both), "promptfooconfig.yaml")
    assert yaml.safe_load(found.text)["scenarios"][0]["cost"] == {"max_cost_usd": 1}
    exact = "{type: 'trajectory:tool-sequence', value: {mode: exact, steps: [%s]}}"
    found = migrate(tmp_path, promptfoo(exact % "a", exact % "b"), "promptfooconfig.yaml")
    assert [note.text for note in found.notes if note.kind == "weaker"]
    assert found.asks_less


def test_of_a_file_that_checks_nothing_in_traces_the_reasons_are_told(tmp_path: Path) -> None:
    with pytest.raises(passmuster.UsageError, match=r"nothing of this file can be checked.*lost.*javascript"):
        migrate(tmp_path, promptfoo("{type: javascript, value: output.length > 3}"), "promptfooconfig.yaml")


EVAL = "tests: [{id: a, input: b, expected: {type: args_valid, policy: rules/policy.yaml}}]\n"


@pytest.mark.parametrize("repository", [True, False], ids=["in a repository", "outside of one"])
def test_paths_are_relative_to_where_the_suite_is_written(tmp_path: Path, repository: bool) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "policy.yaml").write_text("deny: [send]\n", encoding="utf-8")
    (tmp_path / "mcp-eval.yaml").write_text(EVAL, encoding="utf-8")
    if repository:
        (tmp_path / ".git").mkdir()
    (found,) = api.migrate([str(tmp_path / "mcp-eval.yaml")], str(tmp_path / "evals"))
    api.write_migrated([found])
    assert any("--root" in note.text for note in found.notes) != repository
    suite = passmuster.load_suite(tmp_path / "evals", root=None if repository else tmp_path)
    assert "policy: ../rules/policy.yaml" in found.text
    assert [test.id for test in suite.tests] == ["a_args_valid"]


PROMPTFOO_TEST = (
    "tests: [{vars: {question: 'Is {{place}} open?', place: Ulm}, assert: [{type: contains, value: yes}]}]\n"
)


@pytest.mark.parametrize(
    ("prompts", "query", "kinds"),
    [
        ("['Answer: {{question}}']", "Answer: Is Ulm open?", []),
        ("['{{question}}', 'Be brief. {{question}}']", "Is Ulm open?", ["lost"]),
        ("[file://prompts/a.txt]", "Is Ulm open?", ["weaker"]),
        ("[prompts/a.json]", "Is Ulm open?", ["weaker"]),
        ("[{id: file://a.txt, label: A}]", "Is Ulm open?", ["weaker"]),
        ('[\'[{"role": "user", "content": "{{question}}"}]\']', "Is Ulm open?", ["weaker"]),
    ],
)
def test_runs_of_promptfoo_that_belong_to_no_test_are_noted(
    tmp_path: Path, prompts: str, query: str, kinds: list[str]
) -> None:
    found = migrate(tmp_path, f"prompts: {prompts}\n{PROMPTFOO_TEST}", "promptfooconfig.yaml")
    assert [one["query"] for one in yaml.safe_load(found.text)["scenarios"]] == [query]
    assert [kind for _, kind in notes(found)] == kinds
