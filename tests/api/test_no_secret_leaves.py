"""Nothing that a use case returns or writes holds a secret of the traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from passmuster import api

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
    formats = ("console", "json", "junit", "sarif")
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
