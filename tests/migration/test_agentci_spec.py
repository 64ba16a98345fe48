"""AgentCI's specs: run as they stand and migrated, they ask the same."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml
from tests.migration.migrating import Trace, call, migrate, notes, trace, verdicts

import passmuster
from passmuster._problems import InputError

SPEC = """\
version: 2.0
agent: shop
runner: shop.run:answer
baseline_dir: ./golden
queries:
  - query: Where is order 7?
    tags: [smoke]
    correctness:
      expected_in_answer: [shipped]
    path:
      expected_tools: [find_order]
      forbidden_tools: [refund]
    span_assertions:
      - selector: {kind: TOOL, name: find_order}
        asserts:
          - {type: contains, field: attributes.tool.args.id, value: "7"}
          - {type: not_contains, field: output_data, value: secret}
"""
QUERY = "Where is order 7?"
FOUND = call("find_order", arguments={"id": "order-7"}, result="shipped on Monday")

RUNS: list[tuple[str, Trace, int]] = [
    ("right", trace(QUERY, FOUND, answer="It was shipped."), 0),
    ("wrong answer", trace(QUERY, FOUND, answer="No idea."), 1),
    ("forbidden tool", trace(QUERY, FOUND, call("refund"), answer="It was shipped."), 1),
    ("another argument", trace(QUERY, call("find_order", arguments={"id": "8"}), answer="It was shipped."), 1),
    ("no argument", trace(QUERY, call("find_order", arguments={}), answer="It was shipped."), 1),
    ("a forbidden result", trace(QUERY, {**FOUND, "result": "secret"}, answer="It was shipped."), 1),
    ("not called", trace(QUERY, answer="It was shipped."), 1),
]


@pytest.mark.parametrize(("run", "code"), [case[1:] for case in RUNS], ids=[case[0] for case in RUNS])
def test_both_ways_give_the_same_verdict(tmp_path: Path, run: Trace, code: int) -> None:
    found = migrate(tmp_path, SPEC)
    assert verdicts(tmp_path, found, [run]) == (code, code)


def test_what_checks_nothing_is_told_and_leaves_the_suite_whole(tmp_path: Path) -> None:
    found = migrate(tmp_path, SPEC)
    assert notes(found) == [(3, "ignored"), (4, "ignored")]
    assert not found.asks_less
    suite = passmuster.load_suite(tmp_path / "agentci_spec.yaml")
    assert [problem.line for problem in suite.remarks] == [3, 4]
    assert suite.notices == ()


def test_each_scenario_names_its_origin(tmp_path: Path) -> None:
    assert "  # agentci_spec.yaml:6\n  - query: Where is order 7?" in migrate(tmp_path, SPEC).text


def test_violations_are_located_in_the_file_that_was_run(tmp_path: Path) -> None:
    (tmp_path / "agentci_spec.yaml").write_text(SPEC, encoding="utf-8")
    suite = passmuster.load_suite(tmp_path / "agentci_spec.yaml", root=tmp_path)
    report = passmuster.evaluate(suite, [trace(QUERY, FOUND, answer="No idea.")])
    (violation,) = report.scenarios[0].layers["correctness"].checks[0].violations
    assert (violation.policy_file, violation.policy_line) == ("agentci_spec.yaml", 9)


def test_a_mistake_is_located_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "agentci_spec.yaml").write_text(SPEC.replace("forbidden_tools", "forbiden_tools"), encoding="utf-8")
    with pytest.raises(passmuster.SuiteError, match=r"agentci_spec.yaml:12:7: .*did you mean 'forbidden_tools'"):
        passmuster.load_suite(tmp_path / "agentci_spec.yaml", root=tmp_path)


def test_other_files_are_not_translated(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text(SPEC, encoding="utf-8")
    with pytest.raises(passmuster.SuiteError, match="unknown key 'runner'"):
        passmuster.load_suite(tmp_path)


def one_query(more: str) -> str:
    return "agent: a\nqueries:\n  - query: Hi?\n" + textwrap.indent(textwrap.dedent(more), "    ")


LOSSES = [
    ("span_assertions: [{selector: {kind: NODE, name: n}, asserts: [{type: equals, field: x, value: y}]}]", "lost"),
    (
        "span_assertions: [{selector: {kind: TOOL, name: n}, asserts: [{type: llm_judge, field: result, rule: r}]}]",
        "lost",
    ),
    ("path: {max_tool_calls: 1, expected_handoffs_available: [billing]}", "lost"),
    ("retrieval: {tool: t, min_results: 1, result_format: list}", "ignored"),
    ("correctness: {refutes_premise: true, expected_in_answer: [x]}", "ignored"),
]


@pytest.mark.parametrize(("more", "kind"), LOSSES)
def test_what_is_left_out_is_noted(tmp_path: Path, more: str, kind: str) -> None:
    stated = "" if "correctness" in more else "correctness: {not_in_answer: [x]}\n"
    found = migrate(tmp_path, one_query(stated + more))
    assert kind in [note.kind for note in found.notes]
    assert found.asks_less == (kind == "lost")
    assert ("This suite asks less than its origin" in found.text) == (kind == "lost")


def test_a_loss_is_a_warning_of_a_run(tmp_path: Path) -> None:
    spec = one_query("correctness: {not_in_answer: [x]}\npath: {expected_handoffs_available: [billing]}")
    (tmp_path / "agentci_spec.yaml").write_text(spec, encoding="utf-8")
    suite = passmuster.load_suite(tmp_path / "agentci_spec.yaml", root=tmp_path)
    report = passmuster.evaluate(suite, [trace("Hi?", answer="a")])
    assert report.verdict == "warn"
    assert any("expected_handoffs_available" in line.message for line in report.gate)


def test_conversations_become_turns(tmp_path: Path) -> None:
    spec = """\
    agent: a
    scenarios:
      - name: Refund talk
        turns: [Hello, Refund order 7]
        max_turns: 4
        per_turn: {correctness: {not_in_answer: [idiot]}}
        outcome: {path: {expected_tools: [refund]}, correctness: {expected_in_answer: [refunded]}}
      - persona: An angry customer
        goal: Get a refund
    """
    found = migrate(tmp_path, textwrap.dedent(spec))
    assert [note.kind for note in found.notes] == ["ignored", "lost"]
    suite = passmuster.suite_from_dict(yaml.safe_load(found.text))
    (scenario,) = suite.scenarios
    assert scenario.id == "refund-talk"
    assert [turn.user for turn in scenario.turns] == ["Hello", "Refund order 7"]


def test_ensemble_that_is_not_enabled(tmp_path: Path) -> None:
    spec = """\
    agent: a
    judge_config: {model: claude-sonnet-4-6, ensemble: {enabled: false}}
    queries: [{query: Hi?, correctness: {llm_judge: [{rule: Is polite}]}}]
    """
    found = migrate(tmp_path, textwrap.dedent(spec))
    assert [note.kind for note in found.notes] == ["ignored"]
    assert "ensemble" not in yaml.safe_load(found.text)["judge_config"]


def test_judges_and_rubrics(tmp_path: Path) -> None:
    spec = """\
    agent: a
    judge_config:
      model: "openai:gpt-4o"
      structured_output: true
      ensemble: {enabled: true, models: [claude-sonnet-4-6, gpt-4o-mini], strategy: majority_vote}
    queries:
      - query: Hi?
        correctness:
          llm_judge:
            - rule: Is polite
              scale: ["1: rude", "5: polite"]
              few_shot_examples: [{input: a, output: b, score: 4, rationale: because}, {input: a}]
    """
    found = migrate(tmp_path, textwrap.dedent(spec))
    assert [note.kind for note in found.notes] == ["ignored", "changed", "lost"]
    assert "provider: anthropic" in found.text
    assert "model: gpt-4o\n" in found.text
    assert "provider: openai" in found.text
    assert "reason: because" in found.text


@pytest.mark.parametrize(
    "text",
    [
        "queries: [{query: a, retrieval: [1], correctness: {expected_in_answer: [x]}}]",
        "queries: [{query: a, retrieval: {tool: t, min_result: 3}, correctness: {expected_in_answer: [x]}}]",
        "queries: [{query: a, correctness: {refutes_premise: 'on', expected_in_answer: [x]}}]",
        "queries: [{query: a, retrieval: {tool: t, facts_in_context: 1}, correctness: {expected_in_answer: [x]}}]",
        "scenarios: [{name: a, turns: [b], per_turn: [1], correctness: {expected_in_answer: [x]}}]",
        "scenarios: [{name: a, turns: [b], outcome: {}, corectness: {expected_in_answer: [x]}}]",
    ],
)
def test_nothing_is_left_out_for_its_type_or_its_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        migrate(tmp_path, text)


LOOSE = """\
agent: shop
runner: shop.run:answer
team: payments
queries:
  - query: Where is order 7?
    owner: mia
    expected_tools: [find_order]
    max_tool_calls: 1
    not_in_answer: [sorry]
    path:
      expected_tools: null
      max_tool_calls: 2
    correctness: {}
    cost:
    retrieval: null
"""


@pytest.mark.parametrize(
    ("run", "code"),
    [(trace(QUERY, FOUND, answer="It was shipped."), 0), (trace(QUERY, FOUND, answer="I am sorry."), 1)],
)
def test_keys_outside_their_layer_are_checked_and_what_is_empty_is_left_out(
    tmp_path: Path, run: Trace, code: int
) -> None:
    found = migrate(tmp_path, LOOSE)
    assert [note.text.split(" ", 1)[0] + " " + note.kind for note in found.notes] == [
        "'runner' ignored",
        "'team' ignored",
        "'owner' ignored",
        "'expected_tools' changed",
        "'max_tool_calls' ignored",
        "'not_in_answer' changed",
    ]
    (query,) = yaml.safe_load(found.text)["queries"]
    assert query["path"] == {"expected_tools": ["find_order"], "max_tool_calls": 2, "max_loops": 3}
    assert query["correctness"] == {"not_in_answer": ["sorry"]}
    assert verdicts(tmp_path, found, [run]) == (code, code)


def test_a_misspelt_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key 'corectness'; did you mean 'correctness'"):
        migrate(tmp_path, LOOSE.replace("correctness", "corectness"))


TALK = """\
agent: shop
conversation_adapter: shop.run:respond
staging: false
scenarios:
  - name: no refund
    max_turns: 2
    turns: [Refund me., a@b.example]
    outcome:
      path: {forbidden_tools: [refund]}
    per_turn:
      correctness: {not_in_answer: ["[BLOCKED"]}
"""


@pytest.mark.parametrize(
    ("tool", "answer", "code"), [("find", "No.", 0), ("refund", "No.", 1), ("find", "[BLOCKED]", 1)]
)
def test_a_scripted_conversation(tmp_path: Path, tool: str, answer: str, code: int) -> None:
    found = migrate(tmp_path, TALK, "ciagent_spec.yaml")
    assert {kind for _, kind in notes(found)} == {"ignored"}
    steps = [
        {"type": "message", "role": "user", "content": "Refund me."},
        {"type": "message", "role": "assistant", "content": "Your mail?"},
        {"type": "message", "role": "user", "content": "a@b.example"},
        call(tool),
        {"type": "message", "role": "assistant", "content": answer},
    ]
    assert verdicts(tmp_path, found, [trace("Refund me.", *steps, answer=answer)]) == (code, code)


@pytest.mark.parametrize(("tools", "code"), [(["find", "tell"], 0), (["find", "look", "tell"], 1)])
def test_a_sequence_of_tools_is_all_that_may_be_called(tmp_path: Path, tools: list[str], code: int) -> None:
    spec = "layers: {path: block}\nqueries: [{query: q, path: {expected_tool_sequence: [find, tell]}}]\n"
    run = trace("q", *map(call, tools))
    assert verdicts(tmp_path, migrate(tmp_path, spec), [run]) == (code, code)
