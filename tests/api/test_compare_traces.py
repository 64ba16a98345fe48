"""`passmuster compare` on traces: where runs diverge, call by call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.cli_runner import CliRunner

from passmuster import api
from passmuster.api._compare_traces import _compared
from passmuster.cli._main import command as group
from passmuster.traces import traces_of

Record = dict[str, Any]


def call(tool: str, error: str | None = None, **arguments: Any) -> Record:
    return {"type": "tool_call", "tool": tool, "arguments": arguments, "error": error}


def compared(folder: Path, before: list[Record], after: list[Record]) -> api.TraceComparison:
    for name, records in (("a.jsonl", before), ("b.jsonl", after)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return api.compare_traces(str(folder / "a.jsonl"), str(folder / "b.jsonl"), api.SourceOptions())


def test_calls_are_aligned_and_their_arguments_compared(tmp_path: Path) -> None:
    before = {
        "scenario": "S",
        "answer": "a",
        "steps": [call("look", id=1), call("check"), call("pay", amount=20, to="x")],
    }
    after = {"scenario": "S", "answer": "b", "steps": [call("look", id=1), call("pay", "no", amount=50), call("mail")]}
    (pair,) = compared(tmp_path, [before], [after]).pairs
    assert [(step.turn, step.tool, step.before, step.after) for step in pair.steps] == [
        ("same", "look", 1, 1),
        ("gone", "check", 2, None),
        ("changed", "pay", 3, 2),
        ("new", "mail", None, 3),
    ]
    assert pair.steps[2].differences == ("amount: 20 → 50", "to: 'x' → none", "succeeded → failed")
    assert pair.others == ("answer: 'a' → 'b'",)
    assert pair.diverges


def test_runs_are_paired_by_scenario_query_and_id(tmp_path: Path) -> None:
    before: list[Record] = [
        {"query": "Hi  there", "steps": []},
        {"scenario": "S", "steps": []},
        {"trace_id": "x", "steps": []},
    ]
    after: list[Record] = [
        {"scenario": "S", "steps": []},
        {"query": "Hi there", "steps": []},
        {"scenario": "S", "steps": [call("a")]},
    ]
    found = compared(tmp_path, before, after)
    assert [pair.name for pair in found.pairs] == ["Hi there", "S"]
    assert not any(pair.diverges for pair in found.pairs)
    assert [one.partition(" ")[0] for one in (*found.gone, *found.new)] == ["x", "S"]
    assert found.changed


def test_totals_alone_are_no_divergence(tmp_path: Path) -> None:
    found = compared(tmp_path, [{"steps": [], "total_tokens": 5}], [{"steps": [], "total_tokens": 6}])
    assert found.pairs[0].others == ("total tokens: 5 → 6",)
    assert not found.changed


def test_secrets_stay_hidden(tmp_path: Path) -> None:
    token = "sk-proj-" + "a1B2" * 12
    traces = [
        {"answer": f"{token}{end}", "steps": [call("a", password=f"hunter{end}", key=token + end)]} for end in "ab"
    ]
    found = compared(tmp_path, traces[:1], traces[1:])
    told = json.dumps([*found.pairs[0].steps[0].differences, *found.pairs[0].others])
    assert len(found.pairs[0].steps[0].differences) == 2
    assert token not in told
    assert "huntera" not in told


def test_the_command_shows_traces_and_still_compares_reports(tmp_path: Path) -> None:
    compared(tmp_path, [{"steps": [call("a")]}], [{"steps": [call("b")]}])
    files = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    shown = CliRunner().invoke(group, ["compare", *files])
    assert shown.exit_code == 0
    assert "diverges at call 1" in shown.output
    printed = json.loads(CliRunner().invoke(group, ["compare", *files, "--json"]).output)
    assert (printed["schema"], printed["changed"]) == ("passmuster.trace-comparison/1", True)
    assert CliRunner().invoke(group, ["compare", files[0], "none.jsonl"]).exit_code == 2
    missing = CliRunner().invoke(group, ["compare", "none.json", "none.json"])
    assert (missing.exit_code, "there is no such report file" in missing.output) == (2, True)


CALLS = st.lists(st.builds(lambda tool, n: call(tool, n=n), st.sampled_from("abc"), st.integers(0, 1)), max_size=8)


@given(CALLS, CALLS)
def test_the_steps_are_both_runs_in_their_order(before: list[Record], after: list[Record]) -> None:
    first, second = traces_of([{"steps": before}, {"steps": after}])
    found = _compared("x", first, second)
    assert [step.before for step in found.steps if step.before] == list(range(1, len(before) + 1))
    assert [step.after for step in found.steps if step.after] == list(range(1, len(after) + 1))
    assert found.diverges == (before != after)
