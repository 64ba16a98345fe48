"""Each way of being green by accident, shown not to be: the wrong suite, trace or command in, the gate's own words out.

A case is a suite, its traces and what comes of them: the exit code, and either the messages on standard error (exit
code 2) or lines of the gate, written `kind id level status: how its message begins`. Where the exit code is 0 the
verdict is a warning that names its reason, never a plain pass.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli._main import command

SOURCE = Path(passmuster.__file__).parent.parent
Trace = dict[str, Any]


def call(tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, "arguments": {}, **fields}


def run(scenario: str | None, *calls: str | dict[str, Any], **fields: Any) -> Trace:
    """A trace of these calls, which answers `ok` unless told otherwise."""
    named = {} if scenario is None else {"scenario": scenario}
    steps = [call(one) if isinstance(one, str) else one for one in calls]
    return {**named, "steps": steps, "answer": "ok", **fields}


class Case(NamedTuple):
    """A suite and its traces, and what has to come of them."""

    suite: str
    traces: list[Trace] | str
    code: int
    says: list[str]
    arguments: tuple[str, ...] = ()
    files: dict[str, str] = {}  # noqa: RUF012


class Ended(NamedTuple):
    """How a run ended, with its report if there is one."""

    code: int
    errors: list[str]
    report: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        return [f"{one['kind']} {one['id']} {one['level']} {one['status']}: {one['message']}" for one in self.gate]

    @property
    def gate(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.report["gate"]
        return found


def lay(folder: Path, case: Case) -> None:
    for name, content in {"passmuster.yaml": case.suite, **case.files}.items():
        (folder / name).write_text(content, encoding="utf-8")
    text = case.traces if isinstance(case.traces, str) else "".join(json.dumps(one) + "\n" for one in case.traces)
    (folder / "t.jsonl").write_text(text, encoding="utf-8")


def judge(folder: Path, case: Case, *more: str) -> Ended:
    lay(folder, case)
    arguments = ["run", "--traces", "t.jsonl", "--report", "json=r.json", "--quiet", *case.arguments, *more]
    with contextlib.chdir(folder):
        result = CliRunner().invoke(command, arguments)
    written = folder / "r.json"
    report = json.loads(written.read_bytes()) if written.exists() else {}
    errors = [line.removeprefix("error: ") for line in result.stderr.splitlines() if line.startswith("error: ")]
    return Ended(result.exit_code, errors, report)


def said(found: list[str], beginning: str) -> bool:
    return any(line.startswith(beginning) for line in found)


def check(folder: Path, case: Case) -> None:
    ended = judge(folder, case)
    assert ended.code == case.code, (ended.errors, ended.report.get("gate"))
    if case.code == 2:
        assert not ended.report, "something was judged"
        assert len(ended.errors) == len(case.says), ended.errors
    else:
        assert ended.report["exit_code"] == case.code
        assert ended.report["verdict"] == {0: "warn", 1: "fail", 3: "error"}[case.code]
    told = ended.errors if case.code == 2 else ended.lines
    for beginning in case.says:
        assert said(told, beginning), told


# ── Suites to be wrong with ─────────────────────────────────────────────────────────────────────────────────

ASKS = "correctness: {expected_in_answer: ok}"
NONE = "tests: [{id: none, metric: tool_blocklist, blocklist: [bad_*]}]\n"
WRONG = {"answer": "no"}


def scenarios(*written: str) -> str:
    return "scenarios:\n" + "".join(f"  - {{{one}}}\n" for one in written)


def asking(more: str = "") -> str:
    """A suite with the scenario A, which wants an `ok`."""
    return scenarios(f"id: A, {ASKS}") + more


def two(more: str = "", a: str = "", b: str = "") -> str:
    return scenarios(f"id: A, {ASKS}{a}", f"id: B, {ASKS}{b}") + more


def rules(*written: str) -> str:
    return f"tests: [{{id: r, metric: sequence_valid, rules: [{', '.join(f'{{{one}}}' for one in written)}]}}]\n"


def constraint(written: str) -> str:
    return f"tests: [{{id: args, metric: args_valid, tool: t, constraints: {{n: {{{written}}}}}}}]\n"


def policy(written: str, **options: str) -> tuple[str, dict[str, str]]:
    extra = "".join(f", {name}: {value}" for name, value in options.items())
    return f"tests: [{{id: args, metric: args_valid, policy: p.yaml{extra}}}]\n", {"p.yaml": written}


def plugin(name: str, body: str, more: str = "") -> tuple[str, dict[str, str]]:
    """A suite whose one test is the metric `m`, which does this."""
    text = f"import passmuster\n\n\n@passmuster.metric('m')\ndef m(trace, config):\n    {body}\n"
    return f"plugins: [{name}]\ntests: [{{id: m, metric: m}}]\n{more}", {f"{name}.py": text}


def refused(suite: str, *says: str, traces: list[Trace] | None = None, files: dict[str, str] | None = None) -> Case:
    return Case(suite, [run("A", "t")] if traces is None else traces, 2, list(says), files=files or {})


BROKEN = "passmuster.yaml:"
FAILED_A = "scenario A blocking fail: "


# ── Mistakes seen in others ─────────────────────────────────────────────────────────────────────────────────

PEERS = {
    "a query on which the agent crashed is dropped": Case(
        two("thresholds: {blocking: {accuracy: 50}}\n"),
        [run("A"), run("B", error="KeyError: 'choices'")],
        1,
        ["scenario B blocking fail: the agent failed: KeyError: 'choices'"],
    ),
    "a crash without a word is no crash": Case(
        asking(), [run("A", error={})], 1, [f"{FAILED_A}the agent failed: no reason recorded"]
    ),
    "corectness is accepted": refused(
        scenarios("id: A, corectness: {expected_in_answer: ok}, path: {max_tool_calls: 3}"),
        f"{BROKEN}2:13: scenarios[0]: unknown key 'corectness'; did you mean 'correctness'?",
    ),
    "two scenarios with the same text share one spec": refused(
        f"queries:\n  - {{query: What is it?, {ASKS}}}\n  - {{query: 'What  is it?', path: {{max_loops: 0}}}}\n",
        f"{BROKEN}3:5: queries[1]: has the same query as the scenario on line 2; give each an 'id'",
    ),
    "a trace goes to one of two scenarios with its text": Case(
        scenarios(f"id: A, query: q, {ASKS}", f"id: B, query: q, {ASKS}"),
        [{"query": "q", "answer": "ok"}],
        1,
        [
            f"{FAILED_A}no trace belongs to this scenario: it never ran",
            "input A / B warning fail: by its query 1 trace fitted all of these; state 'scenario'",
        ],
    ),
    "v9 beats v10": Case(
        asking("thresholds: {progressive: {pass_rate: {v9: 10, v10: 90}}}\n"),
        [run("A"), run("A", **WRONG)],
        1,
        ["threshold pass_rate blocking fail: pass_rate is 50%, required >= 90%"],
        ("--agent-version", "v10"),
    ),
    "settings of a scenario wipe the defaults": Case(
        "defaults: {correctness: {expected_in_answer: ok}}\n" + scenarios("id: A, correctness: {not_in_answer: maybe}"),
        [run("A", **WRONG)],
        1,
        [f"{FAILED_A}expected_in_answer: 'ok' not in the answer 'no'"],
    ),
    "an unknown model costs nothing": Case(
        asking("thresholds: {blocking: {total_cost_usd: 1}}\n"),
        [run("A", {"type": "llm_call", "model": "gpt-99", "tokens_in": 10, "tokens_out": 10})],
        1,
        ["threshold total_cost_usd blocking fail: total_cost_usd has no value: 1 of 1 traces do not state their cost"],
    ),
    "a pattern with two stars blocks nothing": Case(
        "tests: [{id: none, metric: tool_blocklist, blocklist: [read_*_file]}]\n",
        [run(None, "read_any_file")],
        1,
        ["test none blocking fail: 1 violation of tool_blocklist"],
    ),
    "a typo in an option of a rule is dropped": refused(
        rules("type: after, trigger: a, then: b, whithin: 1"),
        f"{BROKEN}1:84: tests.r.rules[0] (after): unknown key 'whithin'; did you mean 'within'?",
    ),
    "pairing is greedy: two like calls serve two wishes": Case(
        scenarios(
            "id: A, path: {expected_calls: [{tool: t, args: {n: 1}}, {tool: t, args: {n: 2}}]}",
            "id: B, path: {expected_calls: [{tool: t, args: {n: 2}}, {tool: t, args: {n: 1}}]}",
        )
        + "layers: {path: block}\n",
        [run(name, *[call("t", arguments={"n": 1})] * 2) for name in "AB"],
        1,
        [
            f"{FAILED_A}expected_calls: different: t, call 2: n = 1, expected 2",
            "scenario B blocking fail: expected_calls: different: t, call 1: n = 1, expected 2",
        ],
    ),
    "extra calls are free": Case(
        scenarios("id: A, path: {expected_tools: [a], min_tool_precision: 1}") + "layers: {path: block}\n",
        [run("A", "a", "b")],
        1,
        [f"{FAILED_A}min_tool_precision: tool_precision 0.5 < 1.0: not expected b"],
    ),
    "an empty call list scores 1": Case(
        scenarios("id: A, path: {expected_tools: [a], min_tool_f1: 0.5}") + "layers: {path: block}\n",
        [run("A")],
        1,
        [f"{FAILED_A}expected_tools: tool_recall 0.0 < 1.0: missing a; min_tool_f1: tool_f1 0.0 < 0.5"],
    ),
    "a threshold of 0 always passes": refused(
        asking("thresholds: {blocking: {pass_rate: 0}, warning: {accuracy: '>= 0%'}}\n"),
        f"{BROKEN}3:36: thresholds.blocking.pass_rate: 'pass_rate >= 0%' could never fail",
        f"{BROKEN}3:60: thresholds.warning.accuracy: 'accuracy >= 0%' could never fail",
    ),
    "parallel calls are taken for a sequence": Case(
        rules("type: before, first: verify, then: pay"),
        [run(None, call("verify", group=1), call("pay", group=1))],
        1,
        ["test r blocking fail: 1 violation of sequence_valid"],
    ),
    "a failed call is taken for a done one": Case(
        rules("type: before, first: verify, then: pay", "type: require, tool: verify"),
        [run(None, call("verify", error="wrong code"), "pay")],
        1,
        ["test r blocking fail: 2 violations of sequence_valid"],
    ),
    "a failure without an error flag is taken for a done call": Case(
        rules("type: require, tool: pay") + "failed_when: [{tool: pay, result: {status: declined}}]\n",
        [run(None, call("pay", result={"status": "declined"}))],
        1,
        ["test r blocking fail: 1 violation of sequence_valid"],
    ),
    "a failed attempt does not count against never_after": Case(
        rules("type: never_after, trigger: close, forbidden: pay"),
        [run(None, call("close", error="no"), call("pay", error="no"))],
        1,
        ["test r blocking fail: 1 violation of sequence_valid"],
    ),
}


@pytest.mark.parametrize("case", PEERS.values(), ids=PEERS)
def test_a_mistake_of_others(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


# ── The first law: what did not happen is no pass ───────────────────────────────────────────────────────────

RAISES = plugin("green_raises", "raise RuntimeError('no weather')")
NOTHING = plugin("green_nothing", "return None")
TRUE = plugin("green_true", "return True")
NAN = plugin("green_nan", "return passmuster.MetricResult(score=float('nan'))")
CASED = plugin("green_cased", "return passmuster.MetricResult(status='Pass')")
SKIPS = plugin("green_skips", "return passmuster.MetricResult(status='skip')")
NO_SCORE = plugin("green_no_score", "return passmuster.MetricResult()", "thresholds: {blocking: {m: 90}}\n")
LOGGED = plugin("green_logged", "raise RuntimeError('x')")
TOKENS = scenarios("id: A, cost: {max_total_tokens: 5}")
UNKNOWN_TOKENS = "max_total_tokens: unknown: the trace does not state its tokens"
JUDGED = scenarios("id: A, correctness: {llm_judge: {rule: is kind}}")
STRICT_MATCH = scenarios("id: A, path: {match_mode: strict}")
NO_REFERENCE = "match_mode: strict: no reference, neither in the suite nor in a baseline"

FIRST_LAW = {
    "a metric that raises": Case(
        RAISES[0], [run(None)], 1, ["test m blocking error: m broke: RuntimeError: no weather"], files=RAISES[1]
    ),
    "a metric that raises, with severity log": Case(
        LOGGED[0].replace("metric: m", "metric: m, severity: log"),
        [run(None)],
        1,
        ["test m blocking error: m broke: RuntimeError: x"],
        files=LOGGED[1],
    ),
    "a metric that returns nothing": Case(
        NOTHING[0],
        [run(None)],
        1,
        ["test m blocking error: m broke: TypeError: the metric returned NoneType"],
        files=NOTHING[1],
    ),
    "a metric that returns true": Case(
        TRUE[0], [run(None)], 1, ["test m blocking error: m broke: TypeError: the metric returned bool"], files=TRUE[1]
    ),
    "a score that is not a number": Case(
        NAN[0],
        [run(None)],
        1,
        ["test m blocking error: m broke: ValueError: the metric returned score nan"],
        files=NAN[1],
    ),
    "a status in other letters": Case(
        CASED[0],
        [run(None)],
        1,
        ["test m blocking error: m broke: ValueError: the metric returned status 'Pass'"],
        files=CASED[1],
    ),
    "a metric that always skips": Case(
        SKIPS[0], [run(None)], 0, ["vacuous m warning fail: m was never exercised on 1 trace"], files=SKIPS[1]
    ),
    "a bound on a score nobody gave": Case(
        NO_SCORE[0],
        [run(None)],
        1,
        ["threshold m blocking fail: m has no value: no trace gave a score"],
        files=NO_SCORE[1],
    ),
    "a scenario that never ran": Case(
        two(), [run("A")], 1, ["scenario B blocking fail: no trace belongs to this scenario: it never ran"]
    ),
    "a typo in the scenario of a trace": Case(
        scenarios(f"id: SEC-001, {ASKS}"),
        [run("SEC-01")],
        1,
        [
            "scenario SEC-001 blocking fail: no trace belongs",
            "input SEC-01 warning fail: the suite does not have this scenario, which 1 trace named; did you mean",
        ],
    ),
    "a typo in the scenario of the run that went wrong": Case(
        asking(), [run("A"), run("a", **WRONG)], 0, ["input a warning fail: the suite does not have this scenario"]
    ),
    "a rule that never fired": Case(
        rules("type: before, first: verify, then: pay"),
        [run(None, "look")],
        0,
        ["vacuous r warning fail: sequence_valid was never exercised on 1 trace"],
    ),
    "a rule that never fired beside one that did": Case(
        rules("type: before, first: verify, then: pay", "type: require, tool: look"),
        [run(None, "look")],
        1,
        ["vacuous r.rules[0] blocking fail: the rule 'before' on line 1 was never exercised"],
        ("--strict",),
    ),
    "a blocklist on traces without a call": Case(
        NONE, [run(None)], 0, ["vacuous none warning fail: tool_blocklist was never exercised on 1 trace"]
    ),
    "a policy in other letters than the calls": Case(
        constraint("max: 1"),
        [run(None, call("T", arguments={"n": 5}))],
        0,
        ["vacuous args warning fail: args_valid was"],
    ),
    "a behavior that nothing put to the test": Case(
        scenarios("id: A, expected_behaviors: [{type: before, first: verify, then: pay}]"),
        [run("A")],
        0,
        ["vacuous A warning fail: the behavior 'before rule on line 2' was not exercised on 1 of 1 run"],
    ),
    "a required scenario that asks nothing": Case(
        scenarios("id: A", f"id: B, {ASKS}") + "required_scenarios: [A]\n",
        [run("A"), run("B")],
        0,
        ["vacuous A warning fail: checks nothing: it states no expectation"],
    ),
    "the only scenario was skipped": Case(TOKENS, [run("A")], 0, [f"scenario A warning fail: {UNKNOWN_TOKENS}"]),
    "the only scenario was skipped, and all have to pass": Case(
        TOKENS + "thresholds: {blocking: {pass_rate: 100}}\n",
        [run("A")],
        1,
        ["threshold pass_rate blocking fail: pass_rate has no value: all 1 scenarios were skipped"],
    ),
    "a required scenario was skipped": Case(
        TOKENS + "required_scenarios: [A]\n", [run("A")], 1, [f"required A blocking fail: {UNKNOWN_TOKENS}"]
    ),
    "an unknown total where cost blocks": Case(
        TOKENS + "layers: {cost: block}\n", [run("A")], 1, [f"{FAILED_A}{UNKNOWN_TOKENS}"]
    ),
    "a total of which one call is unknown": Case(
        scenarios("id: A, cost: {max_cost_usd: 5}") + "layers: {cost: block}\n",
        [run("A", {"type": "llm_call", "cost_usd": 1}, {"type": "llm_call"})],
        1,
        [f"{FAILED_A}max_cost_usd: unknown: the trace does not state its cost"],
    ),
    "no baseline to compare the cost with": Case(
        scenarios("id: A, cost: {max_cost_multiplier: 2}") + "layers: {cost: block}\n",
        [run("A")],
        1,
        [f"{FAILED_A}max_cost_multiplier: no baseline with a cost above 0"],
    ),
    "no golden run to compare the path with": Case(
        STRICT_MATCH, [run("A", "x")], 0, [f"scenario A warning fail: {NO_REFERENCE}"]
    ),
    "no golden run where the path blocks": Case(
        STRICT_MATCH + "layers: {path: block}\n", [run("A", "x")], 1, [f"{FAILED_A}{NO_REFERENCE}"]
    ),
    "some traces do not state their duration": Case(
        asking("thresholds: {blocking: {latency_p95: 5000}}\n"),
        [run("A", total_duration_ms=1), run("A")],
        0,
        ["input latency_p95 warning fail: latency_p95 is over the 1 of 2 traces that state the value"],
    ),
    "no judge is configured": Case(
        JUDGED,
        [run("A")],
        3,
        ["scenario A blocking error: could not be evaluated: llm_judge: no verdict (is kind): no judge"],
    ),
    "nobody can tell whether it leaked": Case(
        scenarios("id: A, must_not: [leaks a key]"),
        [run("A")],
        3,
        ["scenario A blocking error: could not be evaluated: no verdict on: leaks a key"],
    ),
    "a verdict that is not in the cache": Case(
        JUDGED + "judge_config: {provider: openai, model: m, cache: none.jsonl}\n",
        [run("A")],
        3,
        ["scenario A blocking error: could not be evaluated: llm_judge: no verdict (is kind)"],
        ("--judge", "cached"),
    ),
    "judges are off and nothing else is asked": Case(
        JUDGED, [run("A")], 0, ["scenario A warning fail: llm_judge: not asked: judges are off"], ("--judge", "off")
    ),
    "judges are off and all have to pass": Case(
        JUDGED + "pass_criteria: {overall: 100}\n",
        [run("A")],
        1,
        ["criteria overall blocking fail: pass_rate has no value: all 1 scenarios were skipped"],
        ("--judge", "off"),
    ),
    "judges are off and a must_not is undecided": Case(
        scenarios("id: A, must_not: [leaks], expected_behaviors: [{tool_called: t}]"),
        [run("A", "t")],
        0,
        ["scenario A warning fail: undecided: leaks"],
        ("--judge", "off"),
    ),
    "what the agent ran on broke down": Case(
        asking(),
        [run("A", error={"kind": "infra", "message": "no memory"})],
        3,
        ["scenario A blocking error: could not be evaluated: no memory"],
    ),
    "the agent failed, and so there is no answer": Case(
        scenarios("id: A, correctness: {expected_in_answer: yes}"),
        [run("A", answer=None, error="KeyError: 'choices'")],
        1,
        [f"{FAILED_A}the agent failed: KeyError: 'choices'; expected_in_answer: there is no answer"],
    ),
    "the agent failed outside any scenario": Case(
        NONE,
        [run(None, "look", error="gave up")],
        0,
        ["input agent_errors warning fail: on 1 trace without a scenario the agent itself failed"],
    ),
    "no answer, and so nothing forbidden in it": Case(
        scenarios("id: A, correctness: {not_in_answer: secret}"),
        [run("A", answer=None)],
        1,
        [f"{FAILED_A}not_in_answer: there is no answer"],
    ),
    "no answer, as exactly expected": Case(
        scenarios("id: A, correctness: {exact_match: ''}"),
        [run("A", answer=None)],
        1,
        [f"{FAILED_A}exact_match: there is no answer"],
    ),
    "a number no double can hold": Case(
        constraint("type: integer, min: 0"),
        '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {"n": ' + "9" * 400 + "}}]}\n",
        1,
        ["test args blocking fail: 1 violation of args_valid"],
    ),
    "true is taken for a number": Case(
        constraint("type: number, max: 30"),
        [run(None, call("t", arguments={"n": True}))],
        1,
        ["test args blocking fail: 1 violation of args_valid"],
    ),
    "a number in quotes slips under a maximum": Case(
        constraint("max: 30"),
        [run(None, call("t", arguments={"n": "500"}))],
        1,
        ["test args blocking fail: 1 violation of args_valid"],
    ),
    "a tool that the policy does not know": Case(
        policy("tools: {refund: {arguments: {n: {max: 1}}}}\n", strict="true")[0],
        [run(None, "refnd")],
        1,
        ["test args blocking fail: 1 violation of args_valid"],
        files=policy("tools: {refund: {arguments: {n: {max: 1}}}}\n")[1],
    ),
    "fewer runs than were asked for": Case(
        scenarios(f"id: A, {ASKS}, repeat: 3"),
        [run("A")],
        0,
        ["input A warning fail: 1 run of 3: fewer traces than 'repeat' states"],
    ),
    "too few scenarios to be sure": Case(
        asking("thresholds: {blocking: {pass_rate: {min: 90%, confidence: 95%}}}\n"),
        [run("A")],
        0,
        ["threshold pass_rate warning undecided: pass_rate is 100%, required >= 90% with 95 % confidence: undecided"],
    ),
    "an agent below the first stage": Case(
        asking("thresholds: {progressive: {pass_rate: {'1.0': 90}}}\n"),
        [run("A")],
        0,
        ["threshold pass_rate warning fail: the agent's version is below the first stage (1.0: >= 90%)"],
        ("--agent-version", "0.9"),
    ),
}


@pytest.mark.parametrize("case", FIRST_LAW.values(), ids=FIRST_LAW)
def test_what_did_not_happen_is_no_pass(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@pytest.mark.parametrize("name", [name for name, case in FIRST_LAW.items() if case.code == 0])
def test_strict_fails_it(tmp_path: Path, name: str) -> None:
    assert judge(tmp_path, FIRST_LAW[name], "--strict").code == 1


# ── No value is no value ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("bound", "why"),
    [
        ("latency_p95: 5000", "no trace states its duration"),
        ("mean_cost_usd: 1", "1 of 1 traces do not state their cost"),
        ("total_tokens: 9000", "1 of 1 traces do not state their tokens"),
        ("token_efficiency: 0.1", "no run of a scenario states its tokens"),
        ("safety_rate: 50", "the suite has no adversarial scenario"),
        ("behavior_coverage: 50", "no scenario states expected_behaviors"),
    ],
)
@pytest.mark.parametrize("level", ["blocking", "risk"])
def test_a_bound_on_a_metric_without_a_value(tmp_path: Path, level: str, bound: str, why: str) -> None:
    metric = bound.partition(":")[0]
    inner = f"{{critical: {{{bound}}}}}" if level == "risk" else f"{{{bound}}}"
    suite = asking(f"thresholds: {{{level}: {inner}}}\n")
    check(tmp_path, Case(suite, [run("A")], 1, [f"threshold {metric} blocking fail: {metric} has no value: {why}"]))


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("safety_rate >= 0.5", "has no value; safety_rate: the suite has no adversarial scenario"),
        ("NOT (safety_rate < 0.5)", "has no value; safety_rate: the suite has no adversarial scenario"),
        ("accuracy > 0 OR latency_p95 < 10", "has no value; latency_p95: no trace states its duration"),
    ],
)
def test_a_formula_without_a_value(tmp_path: Path, formula: str, why: str) -> None:
    suite = asking(f"composite: 'pass = {formula}'\n")
    check(tmp_path, Case(suite, [run("A")], 1, [f"composite pass blocking fail: {formula} {why}"]))


# ── What tolerates, and what it does not ────────────────────────────────────────────────────────────────────

TOLERANCE = {
    "every scenario is optional": Case(
        asking("optional_scenarios: [A]\n"),
        [run("A", **WRONG)],
        0,
        ["scenario A warning fail: expected_in_answer: 'ok' not in the answer 'no'"],
    ),
    "every scenario is optional, and a rate is asked": Case(
        asking("optional_scenarios: [A]\nthresholds: {blocking: {pass_rate: 50}}\n"),
        [run("A", **WRONG)],
        1,
        ["threshold pass_rate blocking fail: pass_rate is 0%, required >= 50%"],
    ),
    "an optional scenario never ran": Case(
        two("optional_scenarios: [A]\n"), [run("B")], 0, ["scenario A warning fail: no trace belongs to this scenario"]
    ),
    "a bound excuses a required scenario": Case(
        two("required_scenarios: [A]\nthresholds: {blocking: {pass_rate: 10}}\n"),
        [run("A", **WRONG), run("B")],
        1,
        [FAILED_A, "required A blocking fail: expected_in_answer"],
    ),
    "a bound excuses a forbidden tool": Case(
        scenarios("id: A, path: {forbidden_tools: [drop_*]}", f"id: B, {ASKS}")
        + "thresholds: {blocking: {pass_rate: 10}}\n",
        [run("A", "drop_table"), run("B")],
        1,
        [f"{FAILED_A}forbidden_tools: forbidden and called: drop_table"],
    ),
    "a waiver excuses a forbidden tool": Case(
        scenarios("id: A, path: {forbidden_tools: [bad_*]}")
        + NONE
        + "waivers: [{test: none, reason: r, expires: 2999-01-01}]\n",
        [run("A", "bad_one")],
        1,
        ["test none warning fail: 1 violation of tool_blocklist; 1 waived: r", f"{FAILED_A}forbidden_tools"],
    ),
    "accuracy excuses a scenario that never ran": Case(
        two("thresholds: {blocking: {accuracy: 50}}\n"), [run("A")], 1, ["scenario B blocking fail: no trace belongs"]
    ),
    "coverage excuses a must_not": Case(
        scenarios("id: A, expected_behaviors: [{tool_called: a}], must_not: [{tool_called: b}]")
        + "thresholds: {blocking: {behavior_coverage: 1%}}\n",
        [run("A", "a", "b")],
        1,
        [f"{FAILED_A}must not: tool_called: b"],
    ),
    "a scenario that weighs nothing is excused by weight": Case(
        two("thresholds: {blocking: {weighted_pass_rate: 50}}\n", a=", weight: 0"),
        [run("A", **WRONG), run("B")],
        1,
        [FAILED_A, "threshold weighted_pass_rate blocking pass: weighted_pass_rate is 100%"],
    ),
    "no scenario weighs anything": Case(
        scenarios(f"id: A, {ASKS}, weight: 0") + "pass_criteria: {overall: 50}\n",
        [run("A")],
        1,
        ["criteria overall blocking fail: weighted_pass_rate has no value: their weights are all 0"],
    ),
    "a criterion of a category no scenario has": Case(
        scenarios(f"id: A, category: edge_case, {ASKS}") + "pass_criteria: {by_category: {edge_cases: 50}}\n",
        [run("A")],
        1,
        [
            "criteria by_category.edge_cases blocking fail: pass_rate has no value: the suite has no edge_cases",
            "input suite warning fail: pass_criteria.by_category: no scenario has the category 'edge_cases'; did you",
        ],
    ),
    "one pass of five is any": Case(
        scenarios(f"id: A, {ASKS}, repeat_policy: any") + "thresholds: {blocking: {pass_rate: 50}}\n",
        [run("A"), *[run("A", **WRONG)] * 4],
        1,
        ["threshold pass_rate blocking fail: pass_rate is 20%, required >= 50%"],
    ),
    "a tie is a majority": Case(
        scenarios(f"id: A, {ASKS}, repeat_policy: majority"), [run("A"), run("A", **WRONG)], 1, [FAILED_A]
    ),
    "a half written .5 is all or nothing": Case(
        scenarios(f"id: A, {ASKS}", f"id: B, {ASKS}", f"id: C, {ASKS}") + "thresholds: {blocking: {pass_rate: .5}}\n",
        [run("A"), run("B", **WRONG), run("C", **WRONG)],
        1,
        ["threshold pass_rate blocking fail: pass_rate is 33.33%, required >= 50%"],
    ),
    "1 is taken for one percent": Case(
        two("thresholds: {blocking: {pass_rate: 1}}\n"),
        [run("A"), run("B", **WRONG)],
        1,
        ["threshold pass_rate blocking fail: pass_rate is 50%, required >= 100%"],
    ),
    "an expired waiver": Case(
        NONE + "waivers: [{test: none, reason: soon gone, expires: 2026-01-31}]\n",
        [run(None, "bad_one")],
        1,
        [
            "test none blocking fail: 1 violation",
            "input waiver:none warning fail: the waiver 'soon gone' expired on 2026",
        ],
        ("--today", "2026-02-01"),
    ),
    "a waiver of another tool": Case(
        NONE + "waivers: [{test: none, tool: bad_two, reason: r, expires: 2999-01-01}]\n",
        [run(None, "bad_one")],
        1,
        ["test none blocking fail: 1 violation", "input waiver:none warning fail: the waiver 'r' matched no violation"],
    ),
    "a label among others": Case(
        scenarios("id: A, label: spam") + "classification: {positive: spam, from: {words: [spam, ham]}}\n",
        [run("A", answer="Spam, or ham.")],
        1,
        [f"{FAILED_A}label: expected the label 'spam', the answer gives labels ['ham', 'spam']"],
    ),
    "no label at all": Case(
        scenarios("id: A, label: ham") + "classification: {positive: spam, from: {words: [spam, ham]}}\n",
        [run("A", answer="Hm.")],
        1,
        [f"{FAILED_A}label: expected the label 'ham', the answer gives no label"],
    ),
    "only other scenarios ran": Case(
        two(), [run("A")], 1, ["scenario B blocking fail: no trace belongs to this scenario"], ("--only", "B")
    ),
}


@pytest.mark.parametrize("case", TOLERANCE.values(), ids=TOLERANCE)
def test_tolerance_has_its_limits(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


@pytest.mark.parametrize("arguments", [("--only", "A"), ("--tag", "quick")])
def test_a_part_that_leaves_a_required_scenario_out_says_that_it_is_a_part(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    suite = two("required_scenarios: [B]\nthresholds: {blocking: {pass_rate: 100}}\n", a=", tags: [quick]")
    ended = judge(tmp_path, Case(suite, [run("A")], 0, [], arguments))
    assert (ended.code, ended.report["partial"]) == (0, True)
    assert ended.lines == ["scenario A blocking pass: 1 run"]
    with contextlib.chdir(tmp_path):
        shown = CliRunner().invoke(command, ["run", "--traces", "t.jsonl", *arguments]).stdout
    assert "partial run" in shown


# ── Suites that could not fail, or say something else than they seem to ─────────────────────────────────────

SCHEMA_TYPO = policy("tools:\n  t:\n    schema:\n      properties:\n        n: {maximun: 30}\n")
SCHEMA_OURS = policy("tools:\n  t:\n    schema: {properties: {n: {max: 30}}}\n")
FOREIGN_REF = policy("tools: {t: {schema: {$ref: 'https://example.org/s.json'}}}\n")
OTHER_TOOL = policy("tools: {refund: {arguments: {n: {max: 1}}}}\n", tools="[refnd]")

IDLE = {
    "weights are all 0": refused(
        scenarios(f"id: A, category: c, {ASKS}") + "weights: {by_category: {c: 0}}\n",
        f"{BROKEN}3:11: weights.by_category: every weight is 0, so nothing would count",
    ),
    "a weight below 0": refused(
        scenarios(f"id: A, {ASKS}, weight: -1"),
        f"{BROKEN}2:60: scenarios[0].weight: expected a weight from 0 to 1e100, found a number ('-1')",
    ),
    "a weight that is not a number": refused(
        scenarios(f"id: A, {ASKS}, weight: .nan"),
        f"{BROKEN}2:60: scenarios[0].weight: expected a weight from 0 to 1e100",
    ),
    "a pass_score of 0": refused(
        scenarios("id: A, expected_behaviors: [{tool_called: a}], pass_score: 0"),
        f"{BROKEN}2:53: scenarios[0]: 'pass_score: 0' gates nothing by itself; add a 'must_not', or a layer",
    ),
    "a pass_score so small that nothing reaches it": refused(
        scenarios("id: A, expected_behaviors: [{tool_called: a}], pass_score: 1.0e-12"),
        f"{BROKEN}2:65: scenarios[0].pass_score: expected a number from 0 to 1; so small a score could never fail",
    ),
    "a pass_score in percent": refused(
        scenarios("id: A, expected_behaviors: [{tool_called: a}], pass_score: 80"),
        f"{BROKEN}2:65: scenarios[0].pass_score: expected a number from 0 to 1",
    ),
    "a repeat_policy of 0": refused(
        scenarios(f"id: A, {ASKS}, repeat_policy: 0"), f"{BROKEN}2:67: scenarios[0].repeat_policy: expected all, any,"
    ),
    "a repeat_policy so small that no pass reaches it": refused(
        scenarios(f"id: A, {ASKS}, repeat_policy: 1.0e-9"), f"{BROKEN}2:67: scenarios[0].repeat_policy: expected all,"
    ),
    "a formula that holds whatever happens": refused(
        asking("composite: 'pass = pass_rate >= 0'\n"),
        f"{BROKEN}3:20: composite.pass: 'pass_rate >= 0' could never fail",
    ),
    "a formula that holds whatever happens, the other way round": refused(
        asking("composite: 'pass = -1 < accuracy AND pass_rate > 0.5'\n"),
        f"{BROKEN}3:20: composite.pass: 'accuracy > -1' could never fail",
    ),
    "a formula without a metric": refused(
        asking("composite: 'pass = 1 = 1'\n"), f"{BROKEN}3: composite.pass: uses no metric"
    ),
    "a formula whose pass is spelled otherwise": refused(
        asking("composite: 'Pass = accuracy >= 0.9'\n"),
        f"{BROKEN}3:12: composite: needs a formula 'pass', which decides",
    ),
    "a formula over a metric nobody knows": refused(
        asking("composite: 'pass = acuracy >= 0.9'\n"),
        f"{BROKEN}3:20: composite.pass: unknown name 'acuracy'; did you mean 'accuracy'?",
    ),
    "a percentage that a formula reads as a fraction": refused(
        asking("composite: 'pass = accuracy <= 90'\n"),
        f"{BROKEN}3:32: composite.pass: 'accuracy' lies between 0 and 1, so it cannot be compared with 90; write 90%",
    ),
    "a bound on labels without a classification": refused(
        asking("thresholds: {blocking: {f1: 50}}\n"), f"{BROKEN}3:29: thresholds: nothing can feed 'f1' without"
    ),
    "a limit that nothing feeds": refused(
        scenarios("id: A, path: {min_tool_precision: 0.5}"),
        f"{BROKEN}2:20: scenarios[0].path: 'min_tool_precision' means nothing without 'expected_tools'",
    ),
    "confidence in all of a rate": refused(
        asking("thresholds: {blocking: {pass_rate: {min: 100%, confidence: 95%}}}\n"),
        f"{BROKEN}3:48: thresholds.blocking.pass_rate.confidence: no sample can show that a rate is 100%",
    ),
    "confidence that may mean either": refused(
        asking("thresholds: {blocking: {pass_rate: {min: 90, confidence: 95}}}\n"),
        f"{BROKEN}3:58: thresholds.blocking.pass_rate.confidence: '95' may mean a percentage or a fraction",
    ),
    "a drop of 1 that may mean all": refused(
        asking("baseline: {max_drop: 1}\n"), f"{BROKEN}3:22: baseline.max_drop: '1' may mean a percentage or a fraction"
    ),
    "a drop of everything": refused(
        asking("baseline: {max_drop: 100%}\n"), f"{BROKEN}3:22: baseline.max_drop: a drop of 100% could never fail"
    ),
    "a baseline that is not there": refused(
        asking("baseline: {file: b.json}\n"), f"{BROKEN}3: baseline.file: there is no file or folder 'b.json'"
    ),
    "required_scenarios with nothing below": refused(
        asking("required_scenarios:\n"), f"{BROKEN}3:20: required_scenarios: expected a string, found null"
    ),
    "thresholds with nothing below": refused(
        asking("thresholds:\n  blocking:\n"), f"{BROKEN}4:12: thresholds.blocking: expected a map, found null"
    ),
    "an empty list of required scenarios": refused(
        asking("required_scenarios: []\n"), f"{BROKEN}3:21: required_scenarios: the list is empty"
    ),
    "a required scenario nobody has": refused(
        asking("required_scenarios: [a]\n"), f"{BROKEN}3:22: required_scenarios: no scenario 'a'"
    ),
    "optional by a star": refused(
        asking("optional_scenarios: ['*']\n"), f"{BROKEN}3:22: optional_scenarios: no scenario '*'"
    ),
    "required and optional at once": refused(
        asking("required_scenarios: [A]\noptional_scenarios: [A]\n"),
        f"{BROKEN}4:22: optional_scenarios: 'A' is in 'required_scenarios' on line 3; it cannot be both",
    ),
    "a layer that states nothing": refused(
        scenarios("id: A, correctness: {}", f"id: B, {ASKS}"), f"{BROKEN}2:26: scenarios[0].correctness: states nothing"
    ),
    "all that is left of a layer is a remark": refused(
        scenarios("id: A, correctness: {x-expected_in_answer: ok}"),
        f"{BROKEN}2:26: scenarios[0].correctness: states nothing",
    ),
    "every default is taken back": refused(
        f"defaults: {{{ASKS}}}\n" + scenarios("id: A, correctness: {expected_in_answer: null}"),
        f"{BROKEN}1:1: the suite checks nothing",
    ),
    "defaults without a scenario": refused(
        NONE + "defaults: {path: {forbidden_tools: [rm]}}\n",
        f"{BROKEN}2:11: defaults: there is no scenario that they could apply to",
    ),
    "a test of scenarios that are not there": refused(
        asking(NONE.replace("id: none", "id: none, scenarios: [B-*]")),
        f"{BROKEN}3:32: tests.none.scenarios: 'B-*' selects no scenario",
    ),
    "a test by a tag nobody has": refused(
        asking(NONE.replace("id: none", "id: none, tags: [pay]")),
        f"{BROKEN}3: tests.none.tags: pay select nothing: no scenario and no trace has them",
    ),
    "a blocklist in one line of text": refused(
        NONE.replace("[bad_*]", "'bad_*, worse_*'"),
        f"{BROKEN}1:55: tests.none.blocklist: the pattern 'bad_*, worse_*' would have to be one name; write several",
    ),
    "a blocklist with a space too many": refused(
        NONE.replace("[bad_*]", "['bad_one ']"),
        f"{BROKEN}1:56: tests.none.blocklist: the pattern 'bad_one ' begins or ends with white space",
    ),
    "a blocklist of nothing": refused(
        NONE.replace("[bad_*]", "[]"), f"{BROKEN}1:55: tests.none.blocklist: the list is empty"
    ),
    "constraints of nothing": refused(
        "tests: [{id: args, metric: args_valid, tool: t, constraints: {}}]\n",
        f"{BROKEN}1:62: tests.args: 'constraints' states nothing, so no argument would be checked",
    ),
    "expected calls of nothing": refused(
        scenarios("id: A, path: {expected_calls: []}"),
        f"{BROKEN}2:36: scenarios[0].path.expected_calls: no call is listed and extras are allowed",
    ),
    "forbidden tools of nothing": refused(
        scenarios("id: A, path: {forbidden_tools: []}"),
        f"{BROKEN}2:37: scenarios[0].path.forbidden_tools: the list is empty",
    ),
    "an expectation of nothing": refused(
        scenarios("id: A, correctness: {expected_in_answer: ' '}"),
        f"{BROKEN}2:47: scenarios[0].correctness.expected_in_answer: is empty",
    ),
    "a count that can never fail": refused(
        rules("type: count, tool: t, min: 0"), f"{BROKEN}1:49: tests.r.rules[0]: 'min: 0' alone can never fail"
    ),
    "a limit on a string that is for numbers": refused(
        constraint("type: string, max: 3"),
        f"{BROKEN}1:81: tests.args.constraints.n: 'max' means nothing for type string",
    ),
    "a format nobody checks": refused(
        constraint("format: emial"), f"{BROKEN}1:75: tests.args.constraints.n.format: unknown format 'emial'"
    ),
    "a keyword of JSON Schema with a typo": refused(
        SCHEMA_TYPO[0],
        "p.yaml:5:1: tools.t.schema: properties.n.maximun: 'maximun' is not a keyword of JSON Schema",
        files=SCHEMA_TYPO[1],
    ),
    "a word of ours in JSON Schema": refused(
        SCHEMA_OURS[0],
        "p.yaml:3:1: tools.t.schema: properties.n.max: 'max' is not a keyword of JSON Schema, so nothing "
        "would be checked; did you mean 'maximum'?",
        files=SCHEMA_OURS[1],
    ),
    "a typo in the schema of an answer": refused(
        scenarios("id: A, correctness: {json_schema: {type: object, requird: [a]}}"),
        f"{BROKEN}2:55: scenarios[0].correctness.json_schema: requird: 'requird' is not a keyword of JSON Schema",
    ),
    "a schema that would have to be fetched": refused(
        FOREIGN_REF[0],
        "p.yaml:1:1: tools.t.schema: Resource 'https://example.org/s.json' is not present",
        files=FOREIGN_REF[1],
    ),
    "tools that the policy does not have": refused(
        OTHER_TOOL[0], f"{BROKEN}1:64: tests.args: no tool in the policy matches 'refnd'", files=OTHER_TOOL[1]
    ),
    "a severity of off": refused(
        NONE.replace("id: none", "id: none, severity: off"),
        f"{BROKEN}1:30: tests.none.severity: expected one of block, warn, log, found a string ('off')",
    ),
    "a layer that blocks, with a typo": refused(
        asking("layers: {paths: block}\n"), f"{BROKEN}3:10: layers: unknown key 'paths'; did you mean 'path'?"
    ),
    "a waiver without an end": refused(
        NONE + "waivers: [{test: none, reason: r}]\n", f"{BROKEN}2:11: waivers[0]: 'expires' is missing"
    ),
    "a waiver of every test": refused(
        NONE + "waivers: [{test: '*', reason: r, expires: 2999-01-01}]\n", f"{BROKEN}2:18: waivers[0].test: no test '*'"
    ),
    "a second document": refused(
        NONE + "---\n" + asking(), f"{BROKEN}2:1: a second document begins here; put each suite in a file of its own"
    ),
    "an alias of nothing": refused(
        scenarios("id: A, correctness: {expected_in_answer: *ok}"),
        f"{BROKEN}2:47: scenarios[0].correctness.expected_in_answer: no anchor is named 'ok'",
    ),
    "a version nobody told": refused(
        asking("thresholds: {progressive: {pass_rate: {'1.0': 90}}}\n"),
        f"{BROKEN}3: thresholds.progressive needs the agent's version, and neither the suite nor the traces state it",
    ),
    "two versions in one run": refused(
        asking("thresholds: {progressive: {pass_rate: {'1.0': 90}}}\n"),
        f"{BROKEN}3: thresholds.progressive needs the agent's version, and the traces have several: 1.0, 2.0",
        traces=[run("A", agent={"name": "a", "version": version}) for version in ("1.0", "2.0")],
    ),
    "a metric that takes a built-in name": refused(
        plugin("green_builtin", "return passmuster.MetricResult()")[0],
        f"{BROKEN}1:11: plugins: a metric cannot take the built-in name 'tool_blocklist'",
        f"{BROKEN}2:25: tests.m: unknown metric 'm'",
        files={
            "green_builtin.py": "import passmuster\n\n\n@passmuster.metric('tool_blocklist')\ndef m(trace, config):\n"
            "    return passmuster.MetricResult()\n"
        },
    ),
}


@pytest.mark.parametrize("case", IDLE.values(), ids=IDLE)
def test_a_suite_that_would_check_nothing_or_something_else(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


# ── Traces that hide something ──────────────────────────────────────────────────────────────────────────────

CHAT_CALL = {"id": "1", "type": "function", "function": {"name": "bad_one", "arguments": "{}"}}
HIDING = {
    "a call inside a message": Case(
        NONE,
        [run(None, "look", {"type": "message", "role": "assistant", "content": "", "tool_calls": [CHAT_CALL]})],
        2,
        ["t.jsonl:1: step 2 holds a call of 'bad_one' in 'tool_calls', which is not read: give each call as a step"],
    ),
    "a step of an unknown type": Case(
        NONE, [run(None, {"type": "toolcall", "tool": "bad_one"})], 2, ["t.jsonl:1: Invalid value 'toolcall'"]
    ),
    "a tool under another name": Case(
        NONE,
        [run(None, {"type": "tool_call", "name": "bad_one"})],
        2,
        ["t.jsonl:1: Object missing required field `tool`"],
    ),
    "arguments under another name": Case(
        constraint("max: 30"),
        [run(None, {"type": "tool_call", "tool": "t", "args": {"n": 50}})],
        2,
        ["t.jsonl:1: the call of 't' has 'args' where its 'arguments' are expected"],
    ),
    "less than nothing was used": Case(
        TOKENS, [run("A", total_tokens=-100)], 2, ["t.jsonl:1: Expected `int` >= 0 - at `$.total_tokens`"]
    ),
    "a fault of a kind nobody knows": Case(
        asking(), [run("A", error={"kind": "Infra"})], 2, ["t.jsonl:1: Invalid enum value 'Infra' - at `$.error.kind`"]
    ),
    "a behavior that is text": Case(
        scenarios("id: A, expected_behaviors: [polite]"),
        [run("A", behaviors={"polite": "false"})],
        2,
        ["t.jsonl:1: Expected `bool`, got `str` - at `$.behaviors[...]`"],
    ),
    "a scenario's id with a space": Case(
        asking(), [run("A ")], 1, [FAILED_A, "input A  warning fail: the suite does not have this scenario"]
    ),
    "a scenario's id in another alphabet": Case(
        asking(),
        [run("\u0410")],
        1,
        [FAILED_A, "input \u0410 warning fail: the suite does not have this scenario"],
    ),
    "a blocked tool with a space": Case(
        NONE, [run(None, "bad_one ")], 2, ["t.jsonl:1: the tool 'bad_one ' begins or ends with white space"]
    ),
    "a blocked tool with a line break": Case(
        NONE, [run(None, "bad_\none")], 2, ["t.jsonl:1: the tool 'bad_\\none' has the character U+000A"]
    ),
    "a category in other letters": Case(
        scenarios(f"id: A, category: Adversarial, {ASKS}", f"id: B, category: adversarial, {ASKS}")
        + "thresholds: {blocking: {safety_rate: 100, pass_rate: 50}}\n",
        [run("A", **WRONG), run("B")],
        0,
        ["input suite warning fail: scenario 'A': the category 'Adversarial' is not 'adversarial', which it"],
    ),
    "a category with a space": Case(
        scenarios(f"id: A, category: 'edge ', {ASKS}", f"id: B, category: edge, {ASKS}")
        + "pass_criteria: {by_category: {edge: 100, 'edge ': 10}}\n",
        [run("A"), run("B")],
        0,
        ["input suite warning fail: scenario 'B': the category 'edge' is not 'edge ', which it looks like"],
    ),
}


@pytest.mark.parametrize("case", HIDING.values(), ids=HIDING)
def test_a_trace_that_hides_something(tmp_path: Path, case: Case) -> None:
    check(tmp_path, case)


def test_a_summary_of_calls_in_a_result_or_an_empty_list_hides_nothing(tmp_path: Path) -> None:
    spoken = {"type": "message", "role": "assistant", "content": "", "tool_calls": []}
    look = call("look", result={"steps": ["a", "b"], "tool_calls": 3}, arguments={"steps": [1]})
    ended = judge(tmp_path, Case(NONE, [run(None, look, spoken)], 0, []))
    assert (ended.code, ended.report["verdict"]) == (0, "pass")


# ── Whole processes ─────────────────────────────────────────────────────────────────────────────────────────


def process(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, after some lines of Python."""
    lines = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); sys.argv = {['passmuster', *arguments]!r}"
    program = f"{lines}\n{before}\nfrom passmuster.__main__ import main\nsys.exit(main())\n"
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60)


def test_a_validator_that_is_missing_passes_no_schema(tmp_path: Path) -> None:
    lay(tmp_path, Case(scenarios("id: A, correctness: {json_schema: {type: object}}"), [run("A", answer="[]")], 1, []))
    ended = process(tmp_path, "run", "--traces", "t.jsonl", before="sys.modules['jsonschema_rs'] = None")
    assert ended.returncode == 3
    assert ended.stdout == ""
    assert "ModuleNotFoundError: import of jsonschema_rs halted" in ended.stderr
    assert "The gate could not be decided." in ended.stderr
    ended = process(tmp_path, "run", "--traces", "t.jsonl")
    assert ended.returncode == 1
    assert "FAIL: scenario A" in ended.stdout


@pytest.mark.parametrize("order", ["::error::all is well", "##[command]rm", "##vso[task.complete result=Succeeded;]"])
def test_an_answer_gives_the_ci_no_orders(tmp_path: Path, order: str) -> None:
    answer = f"no\n{order}\r{order}\u2028{order}"
    calls = [call(f"bad_{order}", error=f"x\n{order}"), call("x", arguments={f"\n{order}": f"\n{order}"})]
    lay(tmp_path, Case(asking(NONE), [run("A", *calls, answer=answer), run(f"B\n{order}", error=f"\n{order}")], 1, []))
    ended = process(tmp_path, "run", "--traces", "t.jsonl")
    assert ended.returncode == 1
    assert "FAIL: scenario A" in ended.stdout
    for line in (ended.stdout + ended.stderr).splitlines():
        assert not line.lstrip().startswith(("::", "##[", "##vso")), line


def test_a_file_with_a_loud_name_is_not_left_out_of_its_folder(tmp_path: Path) -> None:
    lay(tmp_path, Case(asking(), [run("A")], 1, []))
    (tmp_path / "T2.JSONL").write_text(json.dumps(run("A", **WRONG)) + "\n")
    ended = judge(tmp_path, Case(asking(), [run("A")], 1, [], ("--traces", ".")))
    assert (ended.code, ended.report["traces"]["read"]) == (1, 2)
    assert said(ended.lines, f"{FAILED_A}expected_in_answer: 'ok' not in the answer 'no'")


def test_one_file_by_two_paths_is_one_run(tmp_path: Path) -> None:
    case = Case(
        scenarios(f"id: A, {ASKS}, repeat: 2"), [run("A")], 0, [], ("--traces", "./t.jsonl", "--traces", "link")
    )
    (tmp_path / "link").symlink_to("t.jsonl")
    ended = judge(tmp_path, case)
    assert (ended.code, ended.report["verdict"], ended.report["traces"]["read"]) == (0, "warn", 1)
    assert said(ended.lines, "input A warning fail: 1 run of 2: fewer traces than 'repeat' states")


def test_nothing_on_standard_input_is_nothing_to_judge(tmp_path: Path) -> None:
    lay(tmp_path, Case(asking(), [], 2, []))
    with contextlib.chdir(tmp_path):
        ended = CliRunner().invoke(command, ["run", "--traces", "-"], input="")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: <stdin>: is empty: it holds no trace\n")


def test_the_library_is_no_back_door(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text(asking("thresholds: {blocking: {safety_rate: 50}}\n"))
    (tmp_path / "t.jsonl").write_text(json.dumps(run("A")) + "\n")
    suite = passmuster.load_suite(tmp_path)
    report = passmuster.evaluate(suite, passmuster.read_traces(tmp_path / "t.jsonl"))
    assert (report.verdict, report.exit_code) == ("fail", 1)
    with pytest.raises(passmuster.TraceError, match="no trace found"):
        passmuster.evaluate(suite, [])
