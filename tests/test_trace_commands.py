"""`passmuster formats`, `show` and `import`: what traces hold, and traces of any format in the native form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner, Result
from tests.traces.building import Json, call, lines, read, trace, write
from tests.traces.test_message_formats import ANTHROPIC, FORMS, exchanges
from tests.traces.test_message_formats import anthropic_response as responded
from tests.traces.test_session_formats import ADK, MCP, SAMPLE, SESSION

from passmuster.cli._main import command
from passmuster.traces import FACTS, FORMATS
from passmuster.traces._model import Trace, decoded


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


# ── formats ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_says_what_it_lacks(name: str) -> None:
    module = FORMATS[name]
    assert set(module.LACKS) <= set(FACTS)
    assert module.DESCRIPTION.endswith(".")
    text = invoke("formats").output
    assert f"\n{name}\n  {module.DESCRIPTION}\n  Detected by: {module.SHAPE}\n" in f"\n{text}"


def test_formats_as_json() -> None:
    document = json.loads(invoke("formats", "--json").output)
    assert document["schema"] == "passmuster.formats/1"
    assert [one["name"] for one in document["formats"]] == sorted(FORMATS)
    for one in document["formats"]:
        assert set(one["carries"]) | set(one["lacks"]) == set(FACTS)


# ── show ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_files_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", lines({"messages": ANTHROPIC, "id": "r1"}))
    write(tmp_path / "b.jsonl", lines(*SESSION))
    shown = invoke("show", ".")
    assert shown.exit_code == 0
    text = shown.output
    assert text.startswith("2 runs in 2 files, unknown tokens\n")
    assert "r1" in text
    assert "weather      2       1" in text
    assert "Read         2       1" in text
    assert "Not recorded: tokens in 1 of 2" in text


def test_one_trace_as_a_timeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", lines({"messages": ANTHROPIC, "id": "r1"}))
    text = invoke("show", "a.jsonl", "--trace", "r1").output
    assert text == (
        "Trace r1 (a.jsonl:1)\n"
        "Query: Weather in Rome and Oslo?\n"
        "\n"
        "   1  user: Weather in Rome and Oslo?\n"
        "   2  model\n"
        "   3  assistant: Let me see.\n"
        '   4  | weather {"city":"Rome"}\n'
        '      |   → {"sky":"sun"}\n'
        '   5  | weather {"city":"Oslo"}\n'
        "      |   failed: no such city\n"
        "   6  model\n"
        "   7  assistant: Rome is sunny.\n"
        "\n"
        "Answer: Rome is sunny.\n"
        "2 model calls, 2 tool calls (1 failed), unknown tokens, unknown cost\n"
    )
    assert invoke("show", "a.jsonl", "--trace", "#1").output == text
    document = json.loads(invoke("show", "a.jsonl", "--trace", "r1", "--json").output)
    assert document["traces"][0]["record"]["trace_id"] == "r1"


def test_calls_inside_others_are_indented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path / "a.jsonl", lines(trace(call("task", id="t"), call("look", parent="t", agent="critic"), trace_id="x"))
    )
    assert "   2     look {} (critic)\n" in invoke("show", "a.jsonl", "--trace", "x").output


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines(trace(call(), trace_id="run-1")))
    shown = invoke("show", path, "--trace", "run-2")
    assert shown.exit_code == 2
    assert "there is no trace 'run-2' among 1; did you mean 'run-1'?" in shown.output


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "A1b2" * 20
    made = call("login", arguments={"password": "hunter2!", "note": key}, result={"ok": key})
    path = write(tmp_path / "a.jsonl", lines(trace(made, trace_id="x", query=f"use {key}", answer="hunter2! it is")))
    for arguments in (("--trace", "x"), ("--trace", "x", "--json"), (), ("--json",)):
        text = invoke("show", path, *arguments).output
        assert key not in text
        assert "hunter2!" not in text


# ── import ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_secret_in_a_name_is_not_shown(tmp_path: Path) -> None:
    token = "sk-proj-" + "a1B2" * 12
    step = {"type": "tool_call", "tool": f"send {token}", "agent": f"agent {token}", "arguments": {token: {token: 1}}}
    model = {"type": "llm_call", "model": f"model {token}"}
    (tmp_path / "t.jsonl").write_text(json.dumps({"trace_id": "a", "steps": [step, model]}))
    for more in ([], ["--json"], ["--trace", "a"], ["--trace", "a", "--json"]):
        shown = invoke("show", tmp_path / "t.jsonl", *more)
        assert (shown.exit_code, token in shown.output) == (0, False)
    assert invoke("import", tmp_path / "t.jsonl", "-o", tmp_path / "out.jsonl", "--redact").exit_code == 0
    assert token not in (tmp_path / "out.jsonl").read_text()


def test_numbers_that_no_double_can_hold_are_shown_and_imported(tmp_path: Path) -> None:
    text = '{"trace_id":"a","steps":[{"type":"tool_call","tool":"t","arguments":{"x":1e999,"y":%s}}]}\n' % (10**30)
    (tmp_path / "t.jsonl").write_text(text)
    assert invoke("show", tmp_path / "t.jsonl", "--trace", "a").exit_code == 0
    assert invoke("import", tmp_path / "t.jsonl", "-o", tmp_path / "out.jsonl", "--redact").exit_code == 0
    assert (tmp_path / "out.jsonl").read_text() == text


def alike(one: Trace) -> Any:
    """What a trace says, but for where it is."""
    steps = [
        (type(step).__name__, *(getattr(step, name) for name in step.__struct_fields__ if name != "result_json"))
        for step in one.steps
    ]
    results = [made.result for made in one.tool_calls]
    said = (one.trace_id, one.scenario, one.query, one.answer, one.run, one.inferred, one.error, one.calls_unknown)
    return said, steps, results, one.total_tokens, one.total_llm_calls, one.started_at, decoded(one.metadata_json)


UNKNOWN = {"steps": [{"type": "message", "role": "user", "content": "Hi"}], "calls_unknown": True, "metadata": {"a": 1}}
"""What was said is known, what was called is not."""
SOURCES: list[tuple[str, bytes | Json | list[Json]]] = [
    *((f"{name}-{number}.jsonl", lines({"messages": said})) for number, (name, said, _) in enumerate(FORMS)),
    ("pairs.jsonl", lines(*exchanges(ANTHROPIC, responded))),
    ("claude.jsonl", lines(*SESSION)),
    ("mcp.jsonl", lines(*MCP)),
    ("adk.jsonl", lines(*ADK)),
    ("inspect.json", {"eval": {}, "samples": [SAMPLE]}),
    (
        "native.jsonl",
        lines({"answer": "x"}, UNKNOWN, trace(call(arguments=None)), trace(call(arguments={"n": 10**400}))),
    ),
]


@pytest.mark.parametrize(("name", "data"), SOURCES)
def test_what_is_imported_reads_the_same(tmp_path: Path, name: str, data: Any) -> None:
    source = write(tmp_path / name, data)
    before = read(source)
    done = invoke("import", source, "-o", tmp_path / "out.jsonl")
    assert done.exit_code == 0, done.output
    after = read(tmp_path / "out.jsonl")
    assert [alike(one) for one in after] == [alike(one) for one in before]


def test_the_report_says_what_checks_will_lack(tmp_path: Path) -> None:
    source = write(tmp_path / "t.jsonl", lines(*MCP, {"jsonrpc": "2.0", "id": 9, "error": {"message": "x"}}))
    text = invoke("import", source, "-o", tmp_path / "out.jsonl").output
    assert f"Wrote 1 trace of 1 file to {tmp_path / 'out.jsonl'}." in text
    assert "No query: a scenario is found by its id only." in text
    assert "No tokens: max_total_tokens will be skipped." in text
    assert "Lost (1):" in text
    assert "t.jsonl:15: has an answer to a request that is not there (id 9)" in text
    document = json.loads(invoke("import", source, "-o", tmp_path / "out.jsonl", "--json").output)
    assert document["schema"] == "passmuster.import/1"
    assert document["lacking"][0]["fact"] == "query"


def test_unknown_arguments_are_told(tmp_path: Path) -> None:
    source = write(
        tmp_path / "t.jsonl", lines({"role": "assistant", "content": [{"type": "tool_use", "name": "look"}]})
    )
    text = invoke("import", source, "-o", tmp_path / "out.jsonl").output
    assert "No arguments: args_valid cannot run" in text
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in text


def test_nothing_is_written_over_what_is_read(tmp_path: Path) -> None:
    source = write(tmp_path / "t.jsonl", lines(*MCP))
    assert invoke("import", source, "-o", source).exit_code == 2
    assert source.read_bytes() == lines(*MCP)


def test_a_file_that_cannot_be_read_leaves_no_output(tmp_path: Path) -> None:
    source = write(tmp_path / "t.jsonl", lines(*MCP) + b"{")
    assert invoke("import", source, "-o", tmp_path / "out.jsonl").exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_secrets_are_kept_unless_asked(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "A1b2" * 20
    source = write(tmp_path / "t.jsonl", lines(trace(call("look", arguments={"note": key}))))
    told = invoke("import", source, "-o", tmp_path / "out.jsonl")
    assert "1 trace may hold secrets; --redact hides them." in told.output
    assert key in (tmp_path / "out.jsonl").read_text()
    invoke("import", source, "-o", tmp_path / "out.jsonl", "--redact")
    assert key not in (tmp_path / "out.jsonl").read_text()
    assert len(read(tmp_path / "out.jsonl")) == 1


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_in_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    asked = {"query": "Where is my parcel? " * 9, "trace_id": "0af7651916cd43dd8448eb211c80319c"}
    write(folder / "a.jsonl", lines(*[{**trace(call("pay", arguments={"note": "x" * 300})), **asked}] * 12))
    monkeypatch.setenv("COLUMNS", str(columns))
    table = invoke("show", folder).output.split("\n\n")[1].splitlines()
    assert len(table) == 13
    assert max(map(len, table)) <= columns
    assert table[12].split()[:3] == ["12", "0af76…80319c", "a.jsonl:12"]
    timeline = invoke("show", folder, "--trace", "#1").output.split("\n\n")[1].splitlines()
    assert max(map(len, timeline)) == columns
