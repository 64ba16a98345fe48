"""Live runs with capture: the example, whose model works or does not, and an agent that exports telemetry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agents.capture.children import INSTRUMENTED
from tests.agents.live import ONE, run, script, traces, write_suite

from passmuster.reports import render

EXAMPLE = Path(__file__).parents[2] / "examples" / "live-agent"


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("parcels-1", 0, ["PASS: 2 tests and 3 scenarios held on 3 traces"]),
        (
            "parcels-2",
            1,
            ["refund.amount > 50, found 1250", "refund called without prior get_parcel", "'Friday' not in"],
        ),
    ],
)
def test_the_example(tmp_path: Path, model: str, code: int, said: list[str]) -> None:
    folder = tmp_path / "live-agent"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "model_server.py", sys.executable, "-m", "passmuster", "run", "--live", "--root", "."]
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, "PARCELS_MODEL": model}, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    for words in said:
        assert words in ended.stdout


def test_calls_that_nobody_saw_are_unknown_and_the_report_says_so(tmp_path: Path) -> None:
    blocked = [{"id": "no_pay", "metric": "tool_blocklist", "blocklist": ["pay"]}]
    write_suite(tmp_path, {"command": script(tmp_path, "print('hello')")}, [ONE], tests=blocked)
    report = run(tmp_path)
    assert traces(tmp_path)[0]["calls_unknown"] is True
    assert report.tests[0].status == "skip"
    assert report.verdict == "warn"
    (note,) = [line for line in report.gate if line.id == "capture"]
    assert "capture" in note.message
    assert f"Capture: {note.message}" in render("console", report).decode()


def test_a_model_that_cannot_be_reached_is_not_the_agents_failure(tmp_path: Path) -> None:
    code = """
        import os, urllib.request
        asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", b'{"messages": []}')
        print(urllib.request.urlopen(asked).read())
    """
    capture = {"from": "model_api", "openai": "http://127.0.0.1:1/v1"}
    write_suite(tmp_path, {"command": script(tmp_path, code), "capture": capture})
    assert run(tmp_path).exit_code == 3
    assert traces(tmp_path)[0]["error"]["kind"] == "infra"


def test_telemetry_of_a_function_arrives_before_its_run_ends(tmp_path: Path) -> None:
    """The exporter sends in batches, so that the spans leave the process when it ends, after the answer."""
    (tmp_path / "agent.py").write_text(
        INSTRUMENTED
        + "def answer(query):\n"
        + "    with agent():\n"
        + "        chat(1, None, [('look', 'c1', {'n': 1})])\n"
        + "        tool('look', 'c1', {'n': 1})\n"
        + "        chat(2, 'hello', [])\n"
        + "    return 'hello'\n"
    )
    looked = {**ONE, "path": {"expected_tools": ["look"], "max_tool_calls": 1}, "repeat": 2}
    write_suite(tmp_path, {"python": "agent:answer", "capture": "opentelemetry"}, [looked], layers={"path": "block"})
    report = run(tmp_path)
    assert (report.exit_code, report.verdict) == (0, "pass"), report.gate
    for trace in traces(tmp_path):
        (call,) = [step for step in trace["steps"] if step["type"] == "tool_call"]
        assert (call["tool"], call["arguments"], call["id"]) == ("look", {"n": 1}, "c1")
        assert sum(step.get("tokens_in", 0) for step in trace["steps"]) == 20
