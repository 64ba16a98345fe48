"""`passmuster explain`: the reasons are those of the evaluation, and the two never disagree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli_runner import CliRunner

import passmuster
from passmuster import api
from passmuster._problems import UsageError
from passmuster.cli._main import command as group

Record = dict[str, Any]
REPOSITORY = Path(__file__).parents[2]
EXAMPLE = str(REPOSITORY / "examples" / "support-agent")

TOOLS = st.sampled_from(["a", "b", "c", "d"])
PATTERNS = st.sampled_from(["a", "b", "c", "[ab]", "*", "x*"])
SELECTORS = PATTERNS | st.builds(
    lambda tool, args: {"tool": tool, "args": args}, PATTERNS, st.sampled_from([{"n": 1}, {"n": {"$gt": 1}}])
)
FEW = st.lists(SELECTORS, min_size=1, max_size=2)
RULES = st.one_of(
    st.builds(lambda x, y: {"type": "before", "first": x, "then": y}, FEW, FEW),
    st.builds(lambda x, y: {"type": "immediately_before", "first": x, "then": y}, FEW, FEW),
    st.builds(lambda x, y: {"type": "after", "trigger": x, "then": y}, FEW, FEW),
    st.builds(lambda x, y: {"type": "never_after", "trigger": x, "forbidden": y}, FEW, FEW),
    st.builds(lambda x: {"type": "require", "tool": x}, FEW),
    st.builds(lambda x: {"type": "eventually", "tool": x, "within": 2}, FEW),
    st.builds(lambda x, n: {"type": "count", "tool": x, "min": n, "max": n + 1}, FEW, st.integers(0, 2)),
    st.builds(lambda x, n: {"type": "max_calls", "tool": x, "max": n}, FEW, st.integers(0, 2)),
    st.builds(lambda x: {"type": "blocklist", "tools": x}, FEW),
    st.builds(lambda x: {"type": "allowlist", "tools": x}, FEW),
    st.builds(lambda x: {"type": "sequence", "tools": x}, FEW),
)
ARGUMENT = st.sampled_from([{"type": "number"}, {"type": "string"}, {"type": "number", "max": 1, "required": True}])
TESTS = st.one_of(
    st.builds(lambda rules: {"metric": "sequence_valid", "rules": rules}, st.lists(RULES, min_size=1, max_size=4)),
    st.builds(
        lambda found: {"metric": "tool_blocklist", "blocklist": found}, st.lists(PATTERNS, min_size=1, max_size=3)
    ),
    st.builds(lambda tool, n: {"metric": "args_valid", "tool": tool, "constraints": {"n": n}}, PATTERNS, ARGUMENT),
    st.builds(lambda n: {"metric": "run_limits", "max_tool_calls": n, "max_cost_usd": 0.5}, st.integers(0, 4)),
)
SCENARIOS = st.fixed_dictionaries(
    {"id": st.just("S")},
    optional={
        "path": st.builds(
            lambda found, n: {"expected_tools": found, "max_tool_calls": n},
            st.lists(TOOLS, max_size=2),
            st.integers(0, 3),
        ),
        "correctness": st.just({"expected_in_answer": "yes"}),
        "must_not": st.just([{"tool_called": "d"}]),
        "expected_behaviors": st.just([{"tool_called": "a"}, {"answer_contains": "yes"}]),
    },
).filter(lambda one: len(one) > 1)
CALLS = st.fixed_dictionaries(
    {"type": st.just("tool_call"), "tool": TOOLS, "arguments": st.sampled_from([{}, {"n": 1}, {"n": 2}, {"n": "x"}])},
    optional={"error": st.just("no"), "group": st.integers(0, 1)},
)
TRACES = st.fixed_dictionaries(
    {"scenario": st.just("S"), "answer": st.sampled_from(["yes", "no"])},
    optional={"steps": st.lists(CALLS, max_size=6), "total_cost_usd": st.sampled_from([0.1, 0.9])},
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TESTS, st.sampled_from(["block", "warn", "log"])), min_size=1, max_size=3), SCENARIOS, TRACES)
def test_explain_and_run_never_disagree(
    tmp_path: Path, tests: list[tuple[Record, str]], scenario: Record, trace: Record
) -> None:
    numbered = [{"id": f"t{place}", "severity": level, **test} for place, (test, level) in enumerate(tests)]
    (tmp_path / "passmuster.json").write_text(json.dumps({"tests": numbered, "scenarios": [scenario]}, indent=1))
    (tmp_path / "t.jsonl").write_text(json.dumps(trace))
    suite = passmuster.load_suite(tmp_path)
    report = passmuster.evaluate(suite, passmuster.read_traces(tmp_path / "t.jsonl"), judge="off")
    (why,) = api.explain(str(tmp_path), [str(tmp_path / "t.jsonl")], api.SourceOptions()).traces
    told = {one.name: one for one in why.tests}
    for judged in report.tests:
        explained = told[judged.id]
        assert explained.exercised == judged.exercised
        if judged.exercised or judged.status != "warn":  # a test that no trace exercised warns, over all traces
            assert explained.status == judged.status
        broken = [violation for part in explained.parts for violation in part.violations]
        assert sorted(one.message for one in broken) == sorted(one.message for one in judged.violations)
        assert sorted(one.level for one in broken) == sorted(one.level for one in judged.violations)
        assert ("broken" in {part.status for part in explained.parts}) == bool(judged.violations)
        for part, rule in zip(explained.parts, judged.rules or (), strict=bool(judged.rules)):
            assert (part.status == "broken") == (rule.violated_on > 0)
            assert (part.status in ("held", "broken")) == (rule.exercised_on > 0) or part.status == "undecided"
    (shown,) = report.scenarios
    for name, layer in shown.layers.items():
        explained = told[f"S {name}"]
        assert explained.status == layer.status
        assert [(part.name, part.status) for part in explained.parts] == [
            (check.name, check.status) for check in layer.checks
        ]


def test_a_rule_and_a_trace_are_chosen_by_name() -> None:
    broken = f"{EXAMPLE}/traces/broken.jsonl"
    (why,) = api.explain(EXAMPLE, [broken], api.SourceOptions(), trace_id="#3", rule="identity_before_changes:1").traces
    (test,) = why.tests
    (part,) = test.parts
    assert (test.name, part.name, part.status) == ("identity_before_changes", "rule 1: before", "broken")
    assert "then update_customer or delete_customer or issue_refund: call " in part.steps[1]
    for rule in ("no_such_test", "identity_before_changes:9", "identity_before_changes:x", ":1"):
        with pytest.raises(UsageError, match="--rule: "):
            api.explain(EXAMPLE, [broken], api.SourceOptions(), rule=rule)
    with pytest.raises(UsageError, match="there is no trace 'none'"):
        api.explain(EXAMPLE, [broken], api.SourceOptions(), trace_id="none")


def test_a_trace_without_an_id_is_called_by_the_number_that_chooses_it(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text("tests: [{id: a, metric: tool_blocklist, blocklist: [x]}]\n")
    (tmp_path / "t.json").write_text('[{"steps": []}, {"steps": [{"type": "tool_call", "tool": "x"}]}]')
    words = ["explain", str(tmp_path), str(tmp_path / "t.json")]
    told = CliRunner().invoke(group, words).stdout
    assert [line.split()[1] for line in told.splitlines() if line.startswith("Trace ")] == ["#1", "#2"]
    assert CliRunner().invoke(group, [*words, "--trace", "#2"]).stdout == told[told.index("Trace #2") :]


def test_a_trace_without_recorded_calls_leaves_rules_undecided(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text(
        "tests: [{id: a, metric: sequence_valid, rules: [{type: require, tool: x}, {type: blocklist, tools: [y]}]}]\n"
    )
    (tmp_path / "t.jsonl").write_text('{"answer": "Hello."}\n')
    (why,) = api.explain(str(tmp_path), [str(tmp_path / "t.jsonl")], api.SourceOptions()).traces
    assert why.tests[0].status == "skip"
    assert {part.status for part in why.tests[0].parts} == {"undecided"}


def test_secrets_stay_hidden_and_text_of_traces_commands_nothing(tmp_path: Path) -> None:
    token = "sk-proj-" + "a1B2" * 12
    (tmp_path / "passmuster.yaml").write_text(
        "tests: [{id: a, metric: args_valid, tool: '*', constraints: {key: {type: number}, n: {type: number}}}]\n"
    )
    trace = {"steps": [{"type": "tool_call", "tool": "x\u202ey", "arguments": {"key": token, "n": "\n::error::hi"}}]}
    trace["steps"][0]["tool"] = "deploy"
    (tmp_path / "t.jsonl").write_text(json.dumps(trace))
    done = CliRunner().invoke(group, ["explain", str(tmp_path), str(tmp_path / "t.jsonl")])
    assert done.exit_code == 0
    assert token not in done.output
    assert "\n::error" not in done.output
    printed = CliRunner().invoke(group, ["explain", str(tmp_path), str(tmp_path / "t.jsonl"), "--json"])
    assert token not in printed.output
    assert json.loads(printed.output)["schema"] == "passmuster.explanation/1"
