"""Nothing that a use case returns or writes holds a secret of the traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli_runner import CliRunner

from passmuster import api
from passmuster.cli import command

SECRET = "sk-" + "a1B2" * 12
SUITE = {
    "tests": [
        {"id": "args", "metric": "args_valid", "tool": "pay", "constraints": {"note": {"maxLength": 3}}},
        {"id": "none", "metric": "tool_blocklist", "blocklist": ["sk-*"]},
    ],
    "scenarios": [{"id": "S", "correctness": {"expected_in_answer": ["thanks"]}}],
    "baseline": {"file": "baseline.json"},
}
TRACE = {
    "scenario": "S",
    "trace_id": SECRET,
    "answer": f"the key is {SECRET}",
    "agent": {"name": "a", "version": SECRET},
    "steps": [
        {"type": "tool_call", "tool": "pay", "arguments": {"note": f"use {SECRET}"}},
        {"type": "tool_call", "tool": SECRET, "arguments": {}},
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    (tmp_path / "t.jsonl").write_text(json.dumps(TRACE))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_run_or_baseline_holds_a_secret(folder: Path) -> None:
    formats = ("console", "html", "json", "junit", "sarif")
    reports = tuple(api.Destination(name, str(folder / f"report.{name}")) for name in formats)
    options = api.RunOptions(traces=("t.jsonl",))
    with api.StandardInput() as stdin:
        saved = api.save_baseline(None, options, stdin)
        run = api.run(None, api.RunOptions(traces=("t.jsonl",), reports=reports), stdin)
    for rendered in run.rendered:
        api.write_report(rendered)
    api.add_to_history(run)
    found = [repr(saved), repr(run), repr(api.read_history()), repr(api.compare_runs(1, str(folder / "report.json")))]
    assert [text for text in found if SECRET in text] == []
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "t.jsonl"]
    assert [path.name for path in written if SECRET.encode() in path.read_bytes()] == []
    assert len(written) >= len(reports) + 3


PLAIN = "Zq7plainvalue"
"""Nothing but its name, `db_pass`, says that this is a secret."""
LOUD = """\
import passmuster
@passmuster.metric("loud")
def loud(trace, config):
    raise ValueError(f"cannot use {trace.tool_calls[0].arguments}")
@passmuster.metric("stats")
def stats(trace, config):
    said = str(trace.tool_calls[0].arguments["db_pass"])
    return passmuster.MetricResult(stats={said: said, "list": [said]}, violations=[f"{said} is bad", {"tool": said}])
"""
PLAIN_SUITE = {
    "plugins": ["loud"],
    "tests": [
        {"id": "args", "metric": "args_valid", "tool": "login", "constraints": {"db_pass": {"maxLength": 3}}},
        {"id": "none", "metric": "tool_blocklist", "blocklist": ["*"]},
        {"id": "rule", "metric": "sequence_valid", "rules": [{"type": "before", "first": "never", "then": "*"}]},
        {"id": "loud", "metric": "loud"},
        {"id": "stats", "metric": "stats"},
    ],
    "scenarios": [
        {
            "id": "S",
            "correctness": {"expected_in_answer": ["thanks"], "exact_match": "x"},
            "path": {"forbidden_tools": ["Zq7*"], "expected_calls": [{"tool": "login", "args": {"db_pass": "other"}}]},
            "expected_behaviors": ["said it"],
        }
    ],
}
PLAIN_TRACE = {
    "scenario": "S",
    "trace_id": f"run of {PLAIN}",
    "answer": f"I used {PLAIN}, as you said: {PLAIN}.",
    "steps": [
        {"type": "tool_call", "tool": "login", "arguments": {"db_pass": PLAIN}},
        {"type": "tool_call", "tool": PLAIN, "arguments": {"note": PLAIN}, "error": f"no {PLAIN}"},
        {"type": "tool_call", "tool": "done", "arguments": {}},
    ],
}


def test_a_value_hidden_for_its_name_comes_back_nowhere(folder: Path) -> None:
    (folder / "loud.py").write_text(LOUD)
    (folder / "passmuster.json").write_text(json.dumps(PLAIN_SUITE))
    (folder / "t.jsonl").write_text(json.dumps(PLAIN_TRACE))
    formats = ("console", "json", "junit", "sarif")
    reports = tuple(api.Destination(name, str(folder / f"report.{name}")) for name in formats)
    with api.StandardInput() as stdin:
        run = api.run(None, api.RunOptions(traces=("t.jsonl",), reports=reports), stdin)
    for rendered in run.rendered:
        api.write_report(rendered)
    api.add_to_history(run)
    assert run.report.exit_code == 1
    assert all(test.status in ("fail", "error") for test in run.report.tests), run.report.tests
    suite = api.load_suite("passmuster.json")
    library = api.evaluate(suite, api.read_traces("t.jsonl"))
    found = {"run": repr(run), "history": repr(api.read_history()), "library": repr(library)}
    written = {path.name: path.read_bytes().decode("latin-1") for path in folder.glob("report.*")}
    assert [name for name, text in {**found, **written}.items() if PLAIN in text] == []
    assert PLAIN in repr(api.evaluate(suite, api.read_traces("t.jsonl"), redact=False))


def test_messages_hide_what_looks_like_a_token(folder: Path) -> None:
    (folder / "t.jsonl").write_text(json.dumps({"steps": [{"type": SECRET}]}))
    for arguments in (["run", "--traces", "t.jsonl"], ["run", "--traces", SECRET], ["run", "--only", SECRET]):
        found = CliRunner().invoke(command, [*arguments, "--no-history"])
        assert (found.exit_code, SECRET in found.output) == (2, False), found.output
