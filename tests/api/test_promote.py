"""`passmuster promote`: the promoted trace passes, a mutated one fails, and the suite's text stays."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner

import passmuster
from passmuster import api
from passmuster._problems import UsageError
from passmuster.cli._main import command as group

Record = dict[str, Any]


def call(tool: str, **arguments: Any) -> Record:
    return {"type": "tool_call", "tool": tool, "arguments": arguments}


TRACE: Record = {
    "trace_id": "t-1",
    "query": 'My lamp came broken: #7, "now"!',
    "answer": "Refunded.",
    "steps": [
        call("get_order", order_id="ord_7"),
        call("issue_refund", order_id="ord_7", amount=20.5, note="> 1000", password="hunter2x"),
        call("send_email", to="a@example.com", body="x" * 500),
    ],
}


SUITES = {
    "block list": "# ours\ntests:\n  - {id: no, metric: tool_blocklist, blocklist: [x]} # keep\n"
    "scenarios:\n  - id: A # first\n    path: {max_loops: 3}\n    # more of A\n\nrepeat_policy: all # end\n",
    "items not indented": "scenarios:\n- id: A\n  path:\n    max_loops: 3\nrepeat_policy: all\n",
    "text in several lines": "scenarios:\n  - id: A\n    path: {max_loops: 3}\n    description: |\n      one\n"
    "      two\nversion: 1\n",
    "in brackets": "scenarios: [{id: A, path: {max_loops: 3}}] # all\nversion: 1\n",
    "brackets over lines": "scenarios: [\n  {id: A, path: {max_loops: 3}},\n]\n",
    "no scenarios": "tests: [{id: no, metric: tool_blocklist, blocklist: [x]}]\n# the end",
    "queries only": "queries:\n  - {query: Hi., path: {max_loops: 1}}\n",
    "all in braces": "{tests: [{id: no, metric: tool_blocklist, blocklist: [x]}]}\n",
    "windows": "scenarios:\r\n  - id: A\r\n    path: {max_loops: 3}\r\nversion: 1\r\n",
    "marked": "\ufeffscenarios:\n  - {id: A, path: {max_loops: 3}}\n",
    "effects": "effects: {write: [issue_refund], irreversible: [delete_x]}\n"
    "scenarios:\n  - {id: A, path: {max_loops: 3}}\n",
    "blocking path": "layers: {path: block}\nscenarios:\n  - {id: A, path: {max_loops: 3}}\n",
}


def promoted(folder: Path, suite: str, trace: Record = TRACE, name: str = "passmuster.yaml") -> api.Promoted:
    (folder / name).write_bytes(suite.encode())
    (folder / "t.jsonl").write_text(json.dumps(trace))
    return api.promote([str(folder / "t.jsonl")], api.SourceOptions(), suite=str(folder))


def verdict(folder: Path, trace: Record, id_: str) -> str:
    report = passmuster.evaluate(passmuster.load_suite(folder), [trace])
    return next(one.status for one in report.scenarios if one.id == id_)


@pytest.mark.parametrize("name", SUITES)
def test_the_suite_stays_as_it_is_but_for_the_scenario(name: str, tmp_path: Path) -> None:
    made = promoted(tmp_path, SUITES[name])
    after = (tmp_path / "passmuster.yaml").read_bytes().decode()
    rest = after
    for line in filter(None, SUITES[name].splitlines()):
        if name not in ("in brackets", "all in braces", "brackets over lines"):
            before, _, rest = rest.partition(line)
            assert "REG-001" not in before or line.startswith(("repeat_policy", "version"))
    assert ("\r\n" in after) == ("\r\n" in SUITES[name])
    assert not after.replace("\r\n", "").count("\n") or "\r\n" not in after
    assert after.count("#") >= SUITES[name].count("#")
    assert made.id == "REG-001"
    assert verdict(tmp_path, TRACE, "REG-001") == "pass"


def test_a_suite_in_json(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            '{"scenarios": [{"id": "A", "path": {"max_loops": 1}}]}',
            '{\n  "tests": [{"id": "a", "metric": "tool_blocklist", "blocklist": ["x"]}]\n}\n',
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        promoted(folder, text, name="passmuster.json")
        assert json.loads((folder / "passmuster.json").read_bytes())["scenarios"][-1]["id"] == "REG-001"
        assert verdict(folder, TRACE, "REG-001") == "pass"


def mutated(change: str) -> Record:
    trace = copy.deepcopy(TRACE)
    steps = trace["steps"]
    match change:
        case "argument":
            steps[1]["arguments"]["amount"] = 500
        case "call left out":
            del steps[1]
        case "call twice":
            steps.insert(2, steps[1])
        case "another tool":
            steps[1]["tool"] = "issue_credit"
        case "call failed":
            steps[1]["error"] = "declined"
        case "order":
            steps.reverse()
    return trace


CHANGES = ["argument", "call left out", "another tool", "call failed"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *((name, change) for name in ("block list", "effects", "blocking path") for change in CHANGES),
        ("block list", "call twice"),
        ("effects", "call twice"),
    ],
)
def test_a_mutated_trace_fails(name: str, change: str, tmp_path: Path) -> None:
    promoted(tmp_path, SUITES[name])
    assert verdict(tmp_path, mutated(change), "REG-001") == "fail"


def test_another_order_fails(tmp_path: Path) -> None:
    promoted(tmp_path, SUITES["block list"])
    assert verdict(tmp_path, mutated("order"), "REG-001") == "fail"


def test_secrets_and_long_values_are_left_out(tmp_path: Path) -> None:
    promoted(tmp_path, SUITES["block list"])
    text = (tmp_path / "passmuster.yaml").read_text()
    assert "hunter2x" not in text
    assert "xxxx" not in text
    assert "amount: 20.5" in text


PARALLEL = {
    "query": "Both.",
    "steps": [{**call("a", n=1), "group": 1}, {**call("b", n=2), "group": 1}, call("c")],
}


@pytest.mark.parametrize(
    "trace",
    [
        PARALLEL,
        {"query": "None.", "steps": [], "answer": "No."},
        {"scenario": "S-9", "steps": [call("a")]},
        {"query": "Tried.", "steps": [{**call("a"), "error": "no"}, call("a"), call("b")]},
        {"query": "Failed.", "steps": [{**call("a"), "error": "no"}]},
        {"query": "Odd.", "steps": [call("a[1]", **{"x.y": 1, "$gt": 2, " ": 3, "n": "*", "é": "\u2028"})]},
    ],
)
def test_any_trace_passes_what_it_was_promoted_to(trace: Record, tmp_path: Path) -> None:
    made = promoted(tmp_path, SUITES["block list"], trace)
    assert verdict(tmp_path, trace, made.id) == "pass"
    if any(not step.get("error") for step in trace["steps"]):
        assert verdict(tmp_path, {**trace, "steps": []}, made.id) == "fail"
    else:
        assert verdict(tmp_path, {**trace, "steps": [call("a"), call("b")]}, made.id) == "fail"


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        ({"steps": [call("a")]}, "neither a query nor a scenario"),
        ({"query": "a", "error": "broke", "steps": [call("a")]}, "the agent failed on this trace"),
        ({"query": "a", "answer": "b"}, "does not record its calls"),
        ({"scenario": "A", "steps": [call("a")]}, "has a scenario 'A' already"),
        ({"query": "My key is sk-proj-" + "a1B2" * 12, "steps": [call("a")]}, "looks like a secret"),
    ],
)
def test_what_cannot_be_promoted_is_refused_and_nothing_is_written(trace: Record, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        promoted(tmp_path, SUITES["block list"], trace)
    assert (tmp_path / "passmuster.yaml").read_text() == SUITES["block list"]


def test_scenarios_under_an_alias_are_not_edited(tmp_path: Path) -> None:
    suite = "x-all: &all [{id: A, path: {max_loops: 1}}]\nscenarios: *all\n"
    with pytest.raises(UsageError, match="no list that a scenario could be added to"):
        promoted(tmp_path, suite)


def test_several_traces_need_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("passmuster.yaml").write_text(SUITES["block list"])
    other = {**TRACE, "trace_id": "t-2", "query": "Other."}
    Path("t.jsonl").write_text(f"{json.dumps(TRACE)}\n{json.dumps(other)}\n")
    done = CliRunner().invoke(group, ["promote", "t.jsonl"])
    assert (done.exit_code, "there are 2 traces; choose one with --trace ID" in done.output) == (2, True)
    shown = CliRunner().invoke(group, ["promote", "t.jsonl", "--trace", "t-2", "--dry-run"])
    assert "- id: REG-001" in shown.output
    assert Path("passmuster.yaml").read_text() == SUITES["block list"]
    for trace in ("t-2", "#1"):
        assert CliRunner().invoke(group, ["promote", "t.jsonl", "--trace", trace]).exit_code == 0
    assert [one.id for one in passmuster.load_suite(".").scenarios] == ["A", "REG-001", "REG-002"]
    again = CliRunner().invoke(group, ["promote", "t.jsonl", "--trace", "t-2"])
    assert (again.exit_code, "has this query already" in again.output) == (2, True)
