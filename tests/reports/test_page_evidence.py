"""What a page shows besides its report: kept traces, source lines, earlier runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import test_redaction
from tests.reports.page_blocks import blocks

from passmuster import api

SECRET = "sk-" + "a1B2" * 12
SUITE = {
    "suite": "shop",
    "tests": [{"id": "pay", "metric": "args_valid", "tool": "pay", "constraints": {"amount": {"max": 30}}}],
    "scenarios": [
        {"id": "A", "correctness": {"expected_in_answer": ["done"]}, "repeat": 3},
        {"id": "B", "correctness": {"expected_in_answer": ["done"]}},
    ],
    "thresholds": {"blocking": {"pass_rate": 50}},
}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, "arguments": arguments, "result": {"ok": True}, "duration_ms": 5}


def trace(id_: str, scenario: str, answer: str, *steps: Any, **more: Any) -> dict[str, Any]:
    return {"trace_id": id_, "scenario": scenario, "query": "q", "answer": answer, "steps": list(steps), **more}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE, indent=1))
    return tmp_path


def page_of(folder: Path, *traces: Any, keep: bool = False, name: str = "t.jsonl", **options: Any) -> dict[str, Any]:
    (folder / name).write_text("".join(f"{json.dumps(one)}\n" for one in traces))
    chosen = api.RunOptions(traces=(name,), reports=(api.Destination("html", "page.html"),), **options)
    with api.StandardInput() as stdin:
        run = api.run(None, chosen, stdin)
    (folder / "page.html").write_bytes(run.rendered[0].data)
    if keep:
        api.add_to_history(run)
    return blocks(run.rendered[0].data)


def kept(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [found[f"trace-{number}"] for number in range(len(found["head"]["evidence"]["traces"]))]


def test_the_worst_run_comes_first_then_one_that_passed(folder: Path) -> None:
    found = page_of(
        folder,
        trace("b1", "B", "done"),
        trace("a1", "A", "done", call("get")),
        trace("a2", "A", "no", call("get"), call("pay", amount=50)),
        trace("a3", "A", "done"),
    )
    traces = kept(found)
    assert [one["trace_id"] for one in traces] == ["a2", "a1", "a3", "b1"]
    assert [one.get("status") for one in traces] == ["fail", "pass", "pass", "pass"]
    assert found["head"]["evidence"]["left_out"] == 0
    assert traces[0]["file"] == "t.jsonl"
    assert traces[0]["line"] == 3
    assert traces[0]["steps"][1]["call"] == 2
    assert traces[0]["steps"][1]["arguments"] == {"amount": 50}
    assert found["head"]["cases"]["tool_names"] == ["pay", "get"]


@pytest.mark.parametrize("form", ["event lines", "gzip"])
def test_traces_of_files_that_cannot_be_cut_are_found_again(folder: Path, form: str) -> None:
    import gzip

    if form == "event lines":
        lines: list[Any] = [
            {"type": "trace", "trace_id": "a1", "scenario": "A", "answer": "no"},
            {"type": "tool_call", "trace_id": "a1", "tool": "pay", "arguments": {"amount": 50}},
            {"type": "trace", "trace_id": "b1", "scenario": "B", "answer": "done"},
        ]
        found = page_of(folder, *lines)
    else:
        data = json.dumps(trace("a1", "A", "no", call("pay", amount=50))).encode()
        (folder / "t.jsonl.gz").write_bytes(gzip.compress(data))
        found = page_of(folder, trace("b1", "B", "done"), name="u.jsonl") and _gz(folder)
    assert kept(found)[0]["trace_id"] == "a1"
    assert kept(found)[0]["steps"][-1]["name"] == "pay"


def _gz(folder: Path) -> dict[str, Any]:
    chosen = api.RunOptions(traces=("t.jsonl.gz", "u.jsonl"), reports=(api.Destination("html", "page.html"),))
    with api.StandardInput() as stdin:
        return blocks(api.run(None, chosen, stdin).rendered[0].data)


def test_a_trace_is_redacted_and_cut(folder: Path) -> None:
    steps = [
        call("login", password="hunter2butlonger", note="x" * 1_000_000),
        {"type": "tool_call", "tool": "say", "arguments": {"text": "my word is hunter2butlonger"}, "result": SECRET},
        {"type": "message", "role": "user", "content": f"use {SECRET}"},
        {"type": "llm_call", "model": SECRET, "tokens_in": 5},
    ]
    found = page_of(folder, trace("a1", "A", f"{SECRET} and hunter2butlonger", *steps), trace(SECRET, "B", "no"))
    text = (folder / "page.html").read_text()
    assert SECRET not in text
    assert "hunter2butlonger" not in text
    assert "x" * 300 not in text
    assert len(text) < 200_000
    assert kept(found)[0]["steps"][0]["arguments"]["password"].startswith("[hidden #")
    names = {one["trace_id"] for one in kept(found)}
    report = found["scenarios-0"]
    assert {attempt["trace_id"] for one in report for attempt in one["attempts"]} == names


def test_no_secret_of_the_corpus_is_in_the_file(folder: Path) -> None:
    marks: Any = vars(test_redaction.test_a_known_shape_is_hidden_wherever_it_stands)["pytestmark"]
    corpus = ["".join(parts) for mark in marks if mark.args[0] == ("prefix", "rest") for parts in mark.args[1]]
    assert len(corpus) > 20
    steps = [
        step
        for secret in corpus
        for step in (
            {**call("get", key=secret, nested=[{"text": f"use {secret} now"}]), "result": {"token": secret}},
            {"type": "tool_call", "tool": "get", "arguments": {}, "error": f"refused: {secret}"},
            {"type": "message", "role": "user", "content": f"my key is {secret}"},
        )
    ]
    first = {**trace("a1", "A", " ".join(corpus), *steps), "query": " ".join(corpus)}
    page_of(folder, first, trace("b1", "B", "done"))
    text = (folder / "page.html").read_text()
    assert [secret for secret in corpus if secret in text] == []


@pytest.mark.parametrize(("megabytes", "fewest", "most"), [(0, 0, 0), (1, 3, 11), (10, 12, 12)])
def test_what_does_not_fit_is_left_out_and_said(folder: Path, megabytes: int, fewest: int, most: int) -> None:
    (folder / "passmuster.json").write_text(json.dumps(SUITE | {"output": {"trace_mb": megabytes}}))
    many = [call("get", **{f"note{n}": "y" * 200 for n in range(40)}) for _ in range(20)]
    found = page_of(
        folder,
        trace("b1", "B", "done"),
        *(trace(f"a{n}", "A", "no", *many) for n in range(8)),
        *(trace(f"u{n}", "B", "no", *many) for n in range(3)),
    )
    evidence = found["head"]["evidence"]
    assert fewest <= len(kept(found)) <= most
    assert evidence["left_out"] == 12 - len(kept(found))
    assert evidence["budget"] == f"{megabytes} MB"
    assert [one["trace_id"] for one in kept(found)][:1] in ([], ["a0"])


def test_nesting_groups_and_handoffs_are_kept(folder: Path) -> None:
    steps = [
        {"type": "tool_call", "id": "outer", "tool": "ask_expert", "arguments": {}},
        {"type": "tool_call", "id": "inner", "parent": "outer", "tool": "search", "arguments": {}, "agent": "expert"},
        {"type": "llm_call", "parent": "inner", "model": "m", "tokens_in": 3, "tokens_out": 4, "cost_usd": 0.5},
        {"type": "handoff", "from": "triage", "to": "billing"},
        {"type": "tool_call", "tool": "a", "arguments": {}, "group": 1},
        {"type": "tool_call", "tool": "b", "arguments": {}, "group": 1, "error": "boom"},
    ]
    found = kept(page_of(folder, trace("a1", "A", "no", *steps), trace("b1", "B", "done")))[0]["steps"]
    assert [step.get("depth", 0) for step in found] == [0, 1, 2, 0, 0, 0]
    assert [step["name"] for step in found] == ["ask_expert", "search", "m", "triage → billing", "a", "b"]
    assert found[1]["agent"] == "expert"
    assert [step.get("group") for step in found[4:]] == [1, 1]
    assert found[5]["error"] == "boom"


def test_the_lines_that_a_violation_names_are_there(folder: Path) -> None:
    found = page_of(folder, trace("a1", "A", "no", call("pay", amount=50)), trace("b1", "B", "done"))
    (violation,) = found["test-0"]["violations"]
    lines = found["head"]["evidence"]["lines"][violation["policy_file"]]
    assert '"max": 30' in lines[str(violation["policy_line"])]


def test_earlier_runs_and_what_changed_since(folder: Path) -> None:
    good, bad = trace("a1", "A", "done"), trace("a1", "A", "no")
    b = trace("b1", "B", "done", call("pay", amount=5))
    assert page_of(folder, good, b, keep=True)["head"]["evidence"]["changes"] is None
    evidence = page_of(folder, bad, b, keep=True)["head"]["evidence"]
    assert evidence["changes"]["since"].startswith("run 1 (")
    assert evidence["changes"]["worse"] == ["s:A"]
    assert evidence["changes"]["metrics"][0] == {"name": "pass_rate", "words": "−50 points", "tone": "bad"}
    evidence = page_of(folder, good, b)["head"]["evidence"]
    assert evidence["changes"]["fixed"] == ["s:A"]
    assert evidence["trails"] == ["pp", "pf", "pp"]
    assert [run["metrics"]["pass_rate"]["value"] for run in evidence["history"]] == [1.0, 0.5, 1.0]


def test_a_baseline_is_what_changes_are_told_since(folder: Path) -> None:
    good, b = trace("a1", "A", "done", call("get")), trace("b1", "B", "done", call("pay", amount=5))
    page_of(folder, good, b, keep=True)
    with api.StandardInput() as stdin:
        options = api.RunOptions(traces=("t.jsonl",), agent_version="2.1")
        api.save_baseline(None, options, stdin, output="baseline.json")
    evidence = page_of(folder, trace("a1", "A", "no"), b, baseline="baseline.json")["head"]["evidence"]
    assert evidence["changes"]["since"].startswith("the baseline (version 2.1")
    assert evidence["changes"]["worse"] == ["s:A"]
    assert evidence["sequences"]["A"] == [["get"]]


def test_golden_traces_are_there_to_compare_with(folder: Path) -> None:
    (folder / "golden.jsonl").write_text(json.dumps(trace("g", "A", "done", call("get"))))
    found = page_of(folder, trace("a1", "A", "no"), trace("b1", "B", "done"), baseline="golden.jsonl")
    (golden,) = [one for one in kept(found) if one["role"] == "baseline"]
    assert golden["scenario"] == "A"
    assert golden["steps"][0]["name"] == "get"
    assert found["head"]["evidence"]["sequences"] == {"A": [["get"]]}


def test_other_formats_gather_nothing(folder: Path) -> None:
    (folder / "t.jsonl").write_text(json.dumps(trace("a1", "A", "no")))
    chosen = api.RunOptions(traces=("t.jsonl",), reports=(api.Destination("json", "r.json"),))
    with api.StandardInput() as stdin:
        run = api.run(None, chosen, stdin)
    assert run.report.evidence is None
    assert b"evidence" not in run.rendered[0].data
