"""The edges of the three layers: what merges, what is refused, what is skipped, and what a broken check does."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checks.building import Step, call, judge, trace
from tests.cli_runner import CliRunner

import passmuster
from passmuster.api._redact_report import redact_report
from passmuster.cli._main import command
from passmuster.engine._execution import ONE_PROCESS
from passmuster.engine._parts import cut
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine._run import evaluate_sources as judge_sources
from passmuster.engine.executors.inline import execute
from passmuster.redaction._redactor import Redactor
from passmuster.reports.formats.json import write as write_json
from passmuster.scoring._report import Report
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import merge
from passmuster.scoring._verdict import conclude
from passmuster.suite._model import Scenario
from passmuster.traces._locate import lines_of
from passmuster.traces._sources import Source

Statuses = dict[str, dict[str, str]]


def load(folder: Path, suite: str | Mapping[str, Any]) -> passmuster.Suite:
    path = folder / "passmuster.yaml"
    path.write_text(suite if isinstance(suite, str) else json.dumps(suite), encoding="utf-8")
    return passmuster.load_suite(path, root=folder)


def problems(folder: Path, suite: str | Mapping[str, Any]) -> list[str]:
    with pytest.raises(passmuster.SuiteError) as caught:
        load(folder, suite)
    return [str(problem) for problem in caught.value.problems]


def statuses(report: Report, scenario: int = 0) -> Statuses:
    return {
        name: {check.name: check.status for check in layer.checks}
        for name, layer in report.scenarios[scenario].layers.items()
    }


def messages(report: Report) -> str:
    layers = report.scenarios[0].layers.values()
    return " | ".join(check.message for layer in layers for check in layer.checks)


def on_path(path: Mapping[str, Any], *steps: str | list[Step], **options: Any) -> Report:
    """The report on one scenario with this path, each of `steps` a run of it."""
    top = options.pop("top", {})
    suite = {"scenarios": [{"id": "S", "path": path}], **top}
    return judge(suite, [trace(one, scenario="S") for one in steps], **options)


# ── Defaults ────────────────────────────────────────────────────────────────────────────────────────────────

DEFAULTS = {
    "tags": ["nightly"],
    "category": "shop",
    "correctness": {
        "not_in_answer": ["sorry"],
        "json_schema": {"type": "object", "properties": {"a": {"type": "null"}}},
    },
    "path": {"expected_tools": ["look"], "max_loops": 1},
}


def stated(scenario: Scenario) -> dict[str, Any]:
    """What a scenario states, in the words of the suite."""
    found: dict[str, Any] = {"tags": list(scenario.tags), "category": scenario.category}
    for name in ("correctness", "path", "cost"):
        layer = getattr(scenario, name)
        if layer is not None:
            found[name] = layer.values
    return found


@pytest.mark.parametrize(
    ("own", "changes"),
    [
        ({}, {}),
        ({"category": "billing"}, {"category": "billing"}),
        ({"tags": ["weekly"]}, {"tags": ["weekly"]}),
        ({"tags": None, "category": None}, {"tags": [], "category": None}),
        (
            {"path": {"max_tool_calls": 3}},
            {"path": {"expected_tools": ("look",), "max_loops": 1, "max_tool_calls": 3}},
        ),
        ({"path": {"expected_tools": ["pay", "ask"]}}, {"path": {"expected_tools": ("pay", "ask"), "max_loops": 1}}),
        ({"path": {"max_loops": None}}, {"path": {"expected_tools": ("look",)}}),
        ({"path": None}, {"path": None}),
        ({"path": {"max_loops": None, "expected_tools": None}}, {"path": None}),
        (
            {"correctness": {"json_schema": {"properties": {"b": {"const": 1}}}}},
            {
                "correctness": {
                    "not_in_answer": ("sorry",),
                    "json_schema": {"type": "object", "properties": {"a": {"type": "null"}, "b": {"const": 1}}},
                }
            },
        ),
    ],
    ids=json.dumps,
)
def test_defaults_merge_at_every_depth_lists_are_replaced_and_null_removes(
    tmp_path: Path, own: dict[str, Any], changes: dict[str, Any]
) -> None:
    suite = load(tmp_path, {"defaults": DEFAULTS, "scenarios": [{"id": "own", **own}, {"id": "other"}]})
    usual = stated(suite.scenarios[1])
    expected = {key: value for key, value in {**usual, **changes}.items() if value is not None or key == "category"}
    assert stated(suite.scenarios[0]) == expected


def test_a_null_within_a_schema_of_ones_own_is_a_value(tmp_path: Path) -> None:
    suite = load(tmp_path, {"scenarios": [{"id": "S", "correctness": {"json_schema": {"const": None}}}]})
    assert suite.scenarios[0].correctness is not None
    assert suite.scenarios[0].correctness.values["json_schema"] == {"const": None}


def test_own_settings_do_not_wipe_the_defaults_and_the_defaults_are_judged() -> None:
    suite = {
        "defaults": {"path": {"forbidden_tools": ["admin_*"]}},
        "scenarios": [{"id": "A", "path": {"max_tool_calls": 3}}],
        "queries": [{"query": "B?", "cost": {"max_llm_calls": 1}}],
    }
    report = judge(suite, [trace("admin_x", scenario="A"), trace("admin_x", query="B?", total_llm_calls=1)])
    assert statuses(report) == {"path": {"max_tool_calls": "pass", "forbidden_tools": "fail"}}
    assert statuses(report, 1) == {"path": {"forbidden_tools": "fail"}, "cost": {"max_llm_calls": "pass"}}
    assert report.exit_code == 1


# ── What a suite cannot mean ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ("corectness: {exact_match: x}", "unknown key 'corectness'; did you mean 'correctness'?"),
        (
            "correctness: {expected_in_anwser: x}",
            "unknown key 'expected_in_anwser'; did you mean 'expected_in_answer'?",
        ),
        ("correctness: {}", "scenarios[0].correctness: states nothing"),
        ("path: {max_lops: null, max_loops: 0}", "unknown key 'max_lops'; did you mean 'max_loops'?"),
        ("path: {max_lops: null}", "unknown key 'max_lops'; did you mean 'max_loops'?"),
        ("correctness: {regex_match: '('}", "scenarios[0].correctness.regex_match: not a regular expression"),
        ("correctness: {regex_match: [a, 'b{x}']}", "cannot be run with a time limit"),
        ("correctness: {expected_in_answer: []}", "the list is empty, so nothing would be checked"),
        ("correctness: {not_in_answer: ['']}", "is empty"),
        ("correctness: {exact_match: [a]}", "expected a string, found a list"),
        ("correctness: {json_schema: {type: nothing}}", "scenarios[0].correctness.json_schema: "),
        ("path: {min_tool_recall: 0.5}", "'min_tool_recall' means nothing without 'expected_tools'"),
        ("path: {min_tool_precision: 0.5}", "'min_tool_precision' means nothing without 'expected_tools'"),
        ("path: {min_tool_f1: 0.5}", "'min_tool_f1' means nothing without 'expected_tools'"),
        ("path: {similarity: edit}", "'similarity' means nothing without 'min_sequence_similarity'"),
        ("path: {expected_tools: [a], min_tool_recall: 90}", "expected a number from 0 to 1"),
        ("path: {max_loops: -1}", "expected a whole number of 0 or more"),
        ("path: {match_mode: subst}", "did you mean 'subset'?"),
        ("path: {forbidden_tools: []}", "the list is empty"),
        ("path: {forbidden_tools: ['a[']}", "never closed"),
        ("path: {expected_calls: ['a[']}", "never closed"),
        ("path: {expected_calls: [{tool: 'a['}]}", "never closed"),
        ("path: {expected_calls: {calls: []}}", "no call is listed and extras are allowed"),
        ("path: {expected_calls: {mode: exact}}", "'calls' is missing"),
        ("path: {expected_calls: {calls: [a], scope: effects}}", "needs 'effects.write' or 'effects.irreversible'"),
        ("path: {expected_calls: {calls: [a], mode: order}}", "expected one of any_order, in_order, exact"),
        ("path: {expected_handoff: {from: a}}", "'to' is missing"),
        ("cost: {max_cost_usd: -1}", "expected a number of 0 or more"),
        ("cost: {max_tokens: 1}", "unknown key 'max_tokens'"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(tmp_path: Path, layers: str, told: str) -> None:
    found = problems(tmp_path, f"scenarios:\n  - id: S\n    {layers}\n")
    assert any(told in problem and problem.startswith("passmuster.yaml:3:") for problem in found), found


@pytest.mark.parametrize(
    ("suite", "told"),
    [
        ("layers: {correctness: warn}", "a failure of correctness always fails"),
        ("layers: {path: blok}", "expected one of block, warn"),
        ("layers: {paths: block}", "did you mean 'path'?"),
        ("effects: {writes: [a]}", "did you mean 'write'?"),
        ("defaults: {id: x}", "defaults: unknown key 'id'"),
    ],
)
def test_what_cannot_be_meant_at_the_top_is_refused(tmp_path: Path, suite: str, told: str) -> None:
    found = problems(tmp_path, f"scenarios: [{{id: S, path: {{max_loops: 0}}}}]\n{suite}\n")
    assert any(told in problem for problem in found), found


def test_a_bad_regex_ends_with_exit_code_2_and_no_scenario_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text(
        "scenarios:\n  - {id: A, path: {max_loops: 0}}\n  - {id: B, correctness: {regex_match: '['}}\n"
    )
    (tmp_path / "t.jsonl").write_text('{"scenario": "A", "answer": ""}\n')
    ended = CliRunner().invoke(command, ["run", str(tmp_path), "--traces", str(tmp_path / "t.jsonl")])
    assert ended.exit_code == 2
    assert "passmuster.yaml:3" in ended.output


@pytest.mark.parametrize("keys", [("scenarios", "scenarios"), ("queries", "queries"), ("scenarios", "queries")])
def test_two_scenarios_with_the_same_text_need_ids(tmp_path: Path, keys: tuple[str, str]) -> None:
    def suite(*ids: str | None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, id_, loops in zip(keys, ids, (0, 5), strict=True):
            named = {"id": id_} if id_ else {}
            found.setdefault(key, []).append({"query": "Why  me?", "path": {"max_loops": loops}, **named})
        return found

    (problem,) = problems(tmp_path, suite(None, None))
    assert "has the same query as the scenario on line 1; give each an 'id'" in problem
    report = judge(suite("A", "B"), [trace("a a", scenario="A"), trace("a a", scenario="B")])
    assert [scenario.status for scenario in report.scenarios] == ["warn", "pass"]


# ── Tools, handoffs, references ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "steps", "expected"),
    [
        ({"expected_tools": []}, "", {"expected_tools": "pass"}),
        ({"expected_tools": []}, "a", {"expected_tools": "warn"}),
        ({"expected_tools": []}, "a!", {"expected_tools": "warn"}),
        ({"expected_tools": "a"}, "a!", {"expected_tools": "pass"}),  # an attempt is a use
        (
            {"expected_tools": ["a", "b"], "min_tool_recall": 0.5},
            "a",
            {"expected_tools": "pass", "min_tool_recall": "pass"},
        ),
        (
            {"expected_tools": ["a", "b"], "min_tool_recall": 0.6},
            "a",
            {"expected_tools": "warn", "min_tool_recall": "warn"},
        ),
        ({"expected_tools": ["a"], "match_mode": "superset"}, "a b", {"expected_tools": "pass", "match_mode": "warn"}),
        ({"expected_tools": [], "match_mode": "superset"}, "", {"expected_tools": "pass", "match_mode": "pass"}),
        ({"expected_tools": ["a"], "match_mode": "strict"}, "a", {"expected_tools": "pass", "match_mode": "skip"}),
        ({"expected_tool_sequence": []}, "a", {"expected_tool_sequence": "pass"}),
        ({"expected_tool_sequence": [], "match_mode": "strict"}, "a", {"match_mode": "warn"}),
        ({"min_sequence_similarity": 0.5}, "a", {"min_sequence_similarity": "skip"}),
        ({"max_tool_calls": 2}, "(a b)", {"max_tool_calls": "pass"}),
        ({"forbidden_tools": ["a*"]}, "ab!", {"forbidden_tools": "fail"}),
        ({"forbidden_tools": ["a"]}, "ab", {"forbidden_tools": "pass"}),
    ],
)
def test_what_a_path_holds_against_calls(path: dict[str, Any], steps: str, expected: dict[str, str]) -> None:
    assert statuses(on_path(path, steps))["path"] == expected


TO_BILLING = {"type": "handoff", "from": "triage", "to": "billing"}
TO_LEGAL = {"type": "handoff", "from": "billing", "to": "legal"}


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ("billing", True),
        ("legal", True),
        ("sales", False),
        ({"from": "triage", "to": "billing"}, True),
        ({"from": "legal", "to": "billing"}, False),
        (["billing", "legal"], True),
        (["legal", "billing"], False),
        (["billing", {"from": "billing", "to": "legal"}], True),
        (["billing", "billing"], False),
    ],
)
def test_handoffs_are_expected_by_name_in_order(expected: Any, holds: bool) -> None:
    report = on_path({"expected_handoff": expected}, [TO_BILLING, call("a"), TO_LEGAL])
    assert statuses(report)["path"] == {"expected_handoff": "pass" if holds else "warn"}
    assert statuses(on_path({"expected_handoff": expected}, "a"))["path"] == {"expected_handoff": "warn"}


GOLDEN = [trace("a b", scenario="S"), trace("a c", scenario="S")]


@pytest.mark.parametrize(
    ("path", "steps", "expected"),
    [
        ({"match_mode": "strict"}, "a c", {"match_mode": "pass"}),
        ({"match_mode": "strict"}, "a b c", {"match_mode": "warn"}),
        ({"min_sequence_similarity": 0.8}, "a c d", {"min_sequence_similarity": "pass"}),  # 2·2/5, the better of two
        ({"min_sequence_similarity": 0.81}, "a c d", {"min_sequence_similarity": "warn"}),
        ({"match_mode": "strict", "expected_tool_sequence": ["z"]}, "a c", {"match_mode": "warn"}),  # the suite's wins
        ({"match_mode": "superset", "expected_tools": ["a"]}, "a c", {"expected_tools": "pass", "match_mode": "warn"}),
        ({"match_mode": "strict", "expected_tools": ["a"]}, "a c", {"expected_tools": "pass", "match_mode": "pass"}),
    ],
)
def test_golden_traces_are_the_reference_where_the_suite_gives_none(
    path: dict[str, Any], steps: str, expected: dict[str, str]
) -> None:
    assert statuses(on_path(path, steps, baseline=GOLDEN))["path"] == expected


def test_a_baseline_that_knows_no_scenario_or_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(passmuster.UsageError, match="no trace of the baseline belongs to a scenario"):
        on_path({"max_loops": 0}, "a", baseline=[trace("a", scenario="other")])
    load(tmp_path, {"scenarios": [{"id": "S", "path": {"max_loops": 0}}]})
    (tmp_path / "t.jsonl").write_text('{"scenario": "S", "answer": ""}\n')
    arguments = ["run", str(tmp_path), "--traces", str(tmp_path / "t.jsonl"), "--baseline", str(tmp_path / "none")]
    assert CliRunner().invoke(command, arguments).exit_code == 2


# ── expected_calls ──────────────────────────────────────────────────────────────────────────────────────────

AB: list[Any] = ["a", "b"]
PAY = {"tool": "pay", "args": {"to": "x", "amount": {"$lte": 5}}}
EFFECTS = {"effects": {"read": ["a"], "write": ["b"], "irreversible": ["del_*"]}}


@pytest.mark.parametrize(
    ("expected", "steps", "holds"),
    [
        (AB, "b a", True),
        (AB, "a c b", True),
        (AB, "a", False),
        (["a", "a"], "a", False),
        (["[ab]", "a"], "a b", True),
        ({"calls": AB, "mode": "in_order"}, "b a", False),
        ({"calls": AB, "mode": "in_order"}, "a c b", True),
        ({"calls": AB, "mode": "in_order"}, "(b a)", True),
        ({"calls": AB, "mode": "exact"}, "a c b", False),
        ({"calls": AB, "mode": "exact", "extras": "allow"}, "a c b", False),
        ({"calls": AB, "mode": "exact"}, "a b", True),
        ({"calls": AB, "extras": "forbid"}, "b a", True),
        ({"calls": AB, "extras": "forbid"}, "b a a", False),
        ({"calls": [], "extras": "forbid"}, "a", False),
        ({"calls": [], "mode": "exact"}, "", True),
        (AB, "a! b", True),
        ({"calls": AB, "failed": "ignore"}, "a! b", False),
        ({"calls": AB, "failed": "ignore", "extras": "forbid"}, "a a! b", True),
        ({"calls": ["b"], "extras": "forbid", "scope": "effects"}, "a a b", True),
        ({"calls": ["b"], "extras": "forbid", "scope": "effects"}, "a b del_x", False),
        ([PAY], [call("pay", {"to": "x", "amount": 5, "note": "n"})], True),
        ([PAY], [call("pay", {"to": "x", "amount": 6})], False),
        ([PAY], [call("pay", {"amount": 5})], False),
        ({"calls": [PAY], "args": "exact"}, [call("pay", {"to": "x", "amount": 5, "note": "n"})], False),
        ({"calls": ["pay"], "args": "exact"}, [call("pay", {"to": "x"})], True),
        ({"calls": [{"tool": "pay", "args": {}}], "args": "exact"}, [call("pay", {"to": "x"})], False),
    ],
)
def test_expected_calls(expected: Any, steps: Any, holds: bool) -> None:
    report = on_path({"expected_calls": expected}, steps, top=EFFECTS)
    assert statuses(report)["path"] == {"expected_calls": "pass" if holds else "warn"}, messages(report)
    blocking = on_path({"expected_calls": expected}, steps, top={**EFFECTS, "layers": {"path": "block"}})
    assert blocking.exit_code == (0 if holds else 1)


# ── Checks that break, agents that crash, secrets ───────────────────────────────────────────────────────────

EVIL = "(a|a)+$"
LONG = "a" * 40 + "b"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passmuster.checks._regex_search.REGEX_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("layers", "where", "status"),
    [
        ({"correctness": {"regex_match": EVIL}}, "correctness", "error"),
        ({"correctness": {"regex_match": ["a", EVIL]}}, "correctness", "error"),
        ({"correctness": {"regex_match": ["absent", EVIL]}}, "correctness", "fail"),
        ({"path": {"expected_calls": [{"tool": "t", "args": {"x": {"$regex": EVIL}}}]}}, "path", "error"),
        ({"path": {"expected_calls": {"calls": ["t"], "failed": "ignore"}}}, "path", "error"),
    ],
)
def test_a_regex_that_takes_too_long_fails_its_scenario(layers: dict[str, Any], where: str, status: str) -> None:
    suite = {"scenarios": [{"id": "S", **layers}], "failed_when": [{"tool": "t", "result": {"$regex": EVIL}}]}
    one = trace([call("t", {"x": LONG}, result=LONG)], scenario="S", answer=LONG)
    report = judge(suite, [one])
    assert list(statuses(report)[where].values()) == [status]
    assert report.scenarios[0].layers[where].status == status
    assert (report.scenarios[0].status, report.exit_code) == ("fail", 1)
    assert "longer than a second" in messages(report) or status == "fail"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        ("boom", "fail", 1),
        ({"kind": "agent", "message": "boom"}, "fail", 1),
        ({"kind": "infra", "message": "boom"}, "error", 3),
    ],
)
def test_an_agent_that_crashes_fails_its_scenario_whatever_the_layers_say(error: Any, status: str, code: int) -> None:
    suite = {
        "queries": [{"query": "q", "correctness": {"not_in_answer": "x"}}, {"query": "r", "path": {"max_loops": 0}}]
    }
    report = judge(suite, [trace(query="q", answer="fine", error=error), trace(query="r")])
    assert [scenario.status for scenario in report.scenarios] == [status, "pass"]
    assert (report.exit_code, len(report.scenarios)) == (code, 2)
    (line,) = [line for line in report.gate if line.id == "q"]
    assert "boom" in line.message


@pytest.mark.parametrize(
    ("costs", "status"),
    [([0.1, 0.2], "pass"), ([0.1, 0.21], "warn"), ([0.1, None], "skip"), ([], "skip")],
)
def test_summed_costs_are_compared_as_people_add_and_unknown_ones_are_not_free(
    costs: list[float | None], status: str
) -> None:
    steps = [{"type": "llm_call", "model": "m", "cost_usd": cost} for cost in costs]
    report = judge({"scenarios": [{"id": "S", "cost": {"max_cost_usd": 0.3}}]}, [trace(steps, scenario="S", answer="")])
    assert statuses(report)["cost"] == {"max_cost_usd": status}


@pytest.mark.parametrize("before", range(40, 84, 7))
@pytest.mark.parametrize("secret", ["sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x", "cust_123456789"])
def test_a_message_never_shows_half_of_a_secret(before: int, secret: str) -> None:
    suite = {"scenarios": [{"id": "S", "correctness": {"exact_match": "x"}}], "redact": {"patterns": ["cust_[0-9]+"]}}
    report = judge(suite, [trace(scenario="S", answer=f"{'q' * before} {secret} and more words, many of them")])
    safe = write_json(redact_report(report, Redactor(("cust_[0-9]+",)))).decode()
    assert secret[:9] not in safe
    assert "q" * before in safe


CARD = "mycardnumber99"


@pytest.mark.parametrize(
    ("redact", "arguments"),
    [
        ({"arguments": ["pay.card"]}, {"card": CARD}),
        ({"arguments": ["pay.card"]}, {"card": {"number": CARD}}),
        ({}, {"card": [{"name": "CARD_TOKEN", "value": CARD}]}),
        ({}, {"card": "other", "password": CARD}),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_the_suite_hides_of_calls_is_in_no_report_of_a_scenario(
    redact: dict[str, Any], arguments: dict[str, Any], workers: str, tmp_path: Path
) -> None:
    scenario = {
        "id": "S",
        "path": {"expected_calls": [{"tool": "pay", "args": {"card": "visa-1"}}]},
        "correctness": {"expected_in_answer": "thanks", "exact_match": "x"},
        "expected_behaviors": [{"answer_contains": "thanks"}],
    }
    load(tmp_path, {"suite": "s", "traces": "t.jsonl", "redact": redact, "scenarios": [scenario]})
    made = trace([call("pay", arguments, result={"secret": "of-the-result"})], scenario="S", answer=f"paid with {CARD}")
    late = trace([call("pay", arguments)], scenario="S", answer=f"of-the-result, paid with {CARD}", trace_id="u")
    lines = "".join(json.dumps(one) + "\n" for one in (made, late))
    (tmp_path / "t.jsonl").write_text(lines, encoding="utf-8")
    options = [f"--report={name}={tmp_path / name}" for name in ("json", "junit", "sarif")]
    ran = CliRunner().invoke(
        command, ["run", str(tmp_path), "--root", str(tmp_path), "--no-history", f"--workers={workers}", *options]
    )
    assert ran.exit_code == 1
    for text in (ran.output, *((tmp_path / name).read_text("utf-8") for name in ("json", "junit", "sarif"))):
        assert "paid with [hidden #" in text
        assert CARD not in text
        assert "of-the-result" not in text


@pytest.mark.parametrize("before", range(0, 90, 3))
def test_a_message_never_shows_half_of_what_is_hidden_by_its_place(before: int) -> None:
    secret = "4111 2222 3333 4444"
    scenario = {
        "id": "S",
        "path": {"expected_calls": [{"tool": "pay", "args": {"card": "x"}}]},
        "correctness": {"exact_match": "x"},
    }
    suite = {"scenarios": [scenario], "redact": {"arguments": ["pay.card.number"]}}
    card = {"note": "q" * before, "number": secret, "more": "many words, " * 9}
    report = judge(
        suite, [trace([call("pay", {"card": card})], scenario="S", answer=f"{'q' * before} {secret} and more words")]
    )
    safe = redact_report(report, Redactor(arguments=["pay.card.number"]))
    assert "4111 2222" not in write_json(safe).decode()


# ── Repeats, and traces in any split ────────────────────────────────────────────────────────────────────────


def test_of_several_runs_the_layers_of_the_worst_are_shown_and_the_first_of_equals() -> None:
    report = on_path({"max_tool_calls": 1, "forbidden_tools": ["z"]}, "a", "a a", "a a z", "z", "a a a")
    assert [run.status for run in report.scenarios[0].attempts] == ["pass", "warn", "fail", "fail", "warn"]
    assert (report.scenarios[0].status, report.scenarios[0].runs) == ("fail", 5)
    assert report.scenarios[0].layers["path"].measures["tool_calls"] == 3


def test_a_check_skipped_on_another_run_than_the_one_shown_is_still_told() -> None:
    suite = {"scenarios": [{"id": "S", "cost": {"max_llm_calls": 1}}]}
    report = judge(suite, [trace(scenario="S", total_llm_calls=2), trace(scenario="S")])
    (line,) = [line for line in report.gate if line.kind == "vacuous"]
    assert line.message == "checks were skipped on 1 of 2 runs: not on the run shown"


SPLIT = {
    "layers": {"cost": "block"},
    "scenarios": [
        {"id": "S-1", "correctness": {"expected_in_answer": "yes"}, "path": {"expected_tools": ["a"], "max_loops": 0}},
        {"id": "S-2", "path": {"forbidden_tools": ["b"], "expected_calls": ["a"]}, "cost": {"max_llm_calls": 1}},
        {"id": "S-3", "cost": {"max_total_tokens": 5}, "path": {"match_mode": "strict"}},
    ],
}
RUNS = st.lists(
    st.fixed_dictionaries(
        {
            "scenario": st.sampled_from(["S-1", "S-2", "S-3"]),
            "answer": st.sampled_from([None, "", "yes", "no"]),
            "steps": st.lists(st.sampled_from([call("a"), call("b"), {"type": "llm_call", "model": "m"}]), max_size=3),
            "total_tokens": st.sampled_from([None, 5, 6]),
            "error": st.sampled_from([None, None, None, "boom"]),
        }
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RUNS, st.integers(1, 400), st.randoms())
def test_no_split_of_the_traces_changes_the_report(tmp_path: Path, runs: list[Any], part: int, chance: Any) -> None:
    suite, today = load(tmp_path, SPLIT), Settings(today=datetime.date(2026, 1, 1))
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f"{json.dumps(run)}\n" for run in runs))
    source = Source(str(path), "t.jsonl")
    tallies = [execute(Job(suite, today), [piece], ONE_PROCESS, Progress()) for piece in cut([source], 2, part)]
    chance.shuffle(tallies)
    together = merge(tallies)
    report = conclude(suite, together, today, lines_of(together.spots(), together.part_lines()))
    whole = judge_sources(suite, [source], today)
    assert report.scenarios == whole.scenarios
    assert (report.gate, report.exit_code, report.verdict) == (whole.gate, whole.exit_code, whole.verdict)


@pytest.mark.parametrize(("most", "status"), [(0, "warn"), (1, "warn"), (2, "pass"), (3, "pass")])
def test_the_number_of_handoffs_is_limited(most: int, status: str) -> None:
    report = on_path({"max_handoff_count": most}, [TO_BILLING, call("a"), TO_LEGAL])
    assert statuses(report)["path"] == {"max_handoff_count": status}


@pytest.mark.parametrize(
    ("asked", "steps", "status"),
    [
        ({"calls": ["a", {"tool": "b", "optional": True}]}, "a", "pass"),
        ({"calls": ["a", {"tool": "b", "optional": True}]}, "b", "warn"),
        ({"calls": ["a", {"tool": "b", "optional": True}], "extras": "forbid"}, "a b", "pass"),
        ({"calls": ["a", {"tool": "b", "optional": True}], "extras": "forbid"}, "a b b", "warn"),
        ({"calls": ["a", "b"], "missing": "allow", "extras": "forbid"}, "b", "pass"),
        ({"calls": ["a", "b"], "missing": "allow", "extras": "forbid"}, "", "pass"),
        ({"calls": ["a", "b"], "missing": "allow", "extras": "forbid"}, "b c", "warn"),
        ({"calls": ["a", "b"], "missing": "allow", "mode": "exact"}, "b", "pass"),
        ({"calls": ["a", "b"], "missing": "allow", "mode": "exact"}, "b a", "warn"),
        ({"calls": [{"tool": "a", "args": {}, "match": "exact"}, "b"]}, "a b", "pass"),
        ({"calls": [{"tool": "p", "args": {}, "match": "exact"}]}, [call("p", {"x": 1})], "warn"),
        ({"calls": [{"tool": "p", "args": {}, "match": "subset"}], "args": "exact"}, [call("p", {"x": 1})], "pass"),
        # Unknown arguments leave it open, unless it is broken or kept without them.
        ({"calls": [{"tool": "p", "args": {"x": 1}}]}, [{**call("p"), "arguments": None}], "skip"),
        ({"calls": [{"tool": "p", "args": {"x": {"$absent": True}}}]}, [{**call("p"), "arguments": None}], "skip"),
        ({"calls": ["p"]}, [{**call("p"), "arguments": None}], "pass"),
        ({"calls": [{"tool": "p", "args": {"x": 1}}, "q"]}, [{**call("p"), "arguments": None}], "warn"),
        (
            {"calls": [{"tool": "p", "args": {"x": 1}}]},
            [{**call("p"), "arguments": None}, call("p", {"x": 1})],
            "pass",
        ),
    ],
)
def test_calls_may_be_missing_optional_or_exact(asked: dict[str, Any], steps: Any, status: str) -> None:
    assert statuses(on_path({"expected_calls": asked}, steps))["path"] == {"expected_calls": status}


@pytest.mark.parametrize(
    "asked",
    [
        "[{tool: a, optional: true}]",
        "{calls: [{tool: a, optional: true}]}",
        "{calls: [a, b], missing: allow}",
        "{calls: [a], missing: allow, mode: in_order}",
    ],
)
def test_calls_that_may_all_be_missing_ask_nothing(tmp_path: Path, asked: str) -> None:
    (problem,) = problems(tmp_path, f"scenarios: [{{id: A, path: {{expected_calls: {asked}}}}}]")
    assert "every call may be missing and extras are allowed, so nothing would be checked" in problem
