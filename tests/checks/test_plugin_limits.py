"""What a plugin cannot do: change what other checks see, or end the run as if it had passed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import judge

from passmuster.scoring import Report

HEAD = "import os, sys, threading\nimport msgspec\nfrom passmuster import MetricResult, metric\n\n@metric('mine')\n"
COMMAND = [sys.executable, "-m", "passmuster", "run", "--traces", "t.jsonl", "--no-history", "--report"]
TRACE = {
    "scenario": "S",
    "answer": "no",
    "tags": ["a"],
    "agent": {"name": "x", "version": "1.0"},
    "behaviors": {"leaked": True},
    "total_tokens": 100,
    "steps": [
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"type": "llm_call", "model": "m", "tokens_in": 60, "tokens_out": 40},
        {
            "type": "tool_call",
            "tool": "drop",
            "arguments": {"deep": [{"n": 5}]},
            "result": {"ok": 1},
            "error": {"a": []},
        },
        {"type": "handoff", "to": "billing"},
    ],
}
SUITE = {
    "plugins": ["mine"],
    "layers": {"path": "block", "cost": "block"},
    "tests": [
        {"id": "mine", "metric": "mine"},
        {
            "id": "args",
            "metric": "args_valid",
            "tool": "drop",
            "constraints": {"deep": {"type": "array", "maxItems": 0}},
        },
        {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["drop"]},
    ],
    "scenarios": [
        {
            "id": "S",
            "must_not": ["leaked"],
            "correctness": {"expected_in_answer": ["yes"]},
            "path": {"forbidden_tools": ["drop"], "expected_handoff": "sales"},
            "cost": {"max_total_tokens": 10},
        }
    ],
}


def report(body: str) -> Report:
    function = HEAD + "def mine(trace, config):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return judge(SUITE, [TRACE], files={"mine__py": f"{function}    return MetricResult()\n"})


def without_the_metric(found: Report) -> Any:
    scenarios = [(one.status, one.layers, one.behaviors) for one in found.scenarios]
    return [(test.id, test.status, test.violations) for test in found.tests[1:]], scenarios


@pytest.mark.parametrize(
    "change",
    [
        "trace.behaviors.clear()",
        "trace.behaviors['leaked'] = False",
        "trace.tool_calls[0].arguments.clear()",
        "trace.tool_calls[0].arguments['deep'].clear()",
        "trace.tool_calls[0].error.clear()",
        "trace.steps[0].content.clear()",
        "trace.tool_calls.clear()",
        "trace.model_calls.clear()",
        "trace.call_steps.clear()",
        "msgspec.structs.force_setattr(trace, 'answer', 'yes')",
        "msgspec.structs.force_setattr(trace, 'steps', ())",
        "msgspec.structs.force_setattr(trace, 'total_tokens', 1)",
        "msgspec.structs.force_setattr(trace.tool_calls[0], 'tool', 'safe')",
        "msgspec.structs.force_setattr(trace.steps[1], 'tokens_in', 0)",
        "msgspec.structs.force_setattr(trace.steps[3], 'to', 'sales')",
        "msgspec.structs.force_setattr(trace.agent, 'version', '9')",
        "msgspec.structs.force_setattr(trace.origin, 'file', 'elsewhere')",
        "trace.__dict__['tool_calls'] = []",
    ],
)
def test_it_changes_the_trace_for_itself_only(change: str) -> None:
    changed, untouched = report(change), report("pass")
    assert [test.status for test in changed.tests] == ["pass", "fail", "fail"]
    assert without_the_metric(changed) == without_the_metric(untouched)


@pytest.mark.parametrize(
    "ending",
    [
        "os._exit(0)",
        "os._exit(status=0)",
        "sys.exit(0)",
        "raise SystemExit",
        "os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
        "os.execlp(sys.executable, sys.executable, '-c', 'pass')",
        "raise GeneratorExit",
        "from os import _exit; _exit(0)",
    ],
)
@pytest.mark.parametrize("where", ["metric", "import", "repr", "atexit"])
def test_it_cannot_end_the_run_with_a_pass(ending: str, where: str, tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in ending.split("; "))
    calls = {"metric": "end()", "import": "", "atexit": "", "repr": "return MetricResult(stats={'x': Odd()})"}[where]
    code = HEAD.partition("@")[0] + f"def end():\n{lines}\nclass Odd:\n    def __repr__(self):\n        end()\n\n"
    code += {"import": "end()\n", "atexit": "import atexit\natexit.register(end)\n"}.get(where, "")
    code += f"@metric('mine')\ndef mine(trace, config):\n    {calls or 'pass'}\n    return MetricResult()\n"
    (tmp_path / "mine.py").write_text(code)
    blocked = {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["drop"]}
    suite = {"plugins": ["mine"], "tests": [{"id": "mine", "metric": "mine"}, blocked]}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    (tmp_path / "t.jsonl").write_text(json.dumps(TRACE))
    run = subprocess.run([*COMMAND, "json=r.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == (2 if where == "import" else 1), run.stderr
    if where in ("metric", "repr"):
        statuses = {test["id"]: test["status"] for test in json.loads((tmp_path / "r.json").read_text())["tests"]}
        assert statuses == {"mine": "error", "blocked": "fail"}


def test_processes_that_it_starts_end_as_they_like(tmp_path: Path) -> None:
    body = """\
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7"""
    assert report(body).tests[0].status == "pass"


@pytest.mark.parametrize(
    "stats",
    [
        "{'seen': {'x', 'y', 'z'}}",
        "{'seen': frozenset(['x', 'y', 'z'])}",
        "{'deep': [{'seen': {'x', 'y', ('z', 1)}}]}",
        "{'mixed': {1, 'a', None, (1, 2), 2.5}}",
        "{'object': object()}",
        "{'keys': {'x', 'y', 'z'}.__iter__.__self__}",
    ],
)
def test_its_stats_are_the_same_in_every_run(stats: str, tmp_path: Path) -> None:
    result = f"MetricResult(stats={stats}, violations=[dict(message='m', value={stats})])"
    function = f"{HEAD}def mine(trace, config):\n    return {result}\n"
    (tmp_path / "mine.py").write_text(function)
    (tmp_path / "passmuster.json").write_text(
        json.dumps({"plugins": ["mine"], "tests": [{"id": "t", "metric": "mine"}]})
    )
    (tmp_path / "t.jsonl").write_text(json.dumps(TRACE))
    found = set()
    for seed in "123":
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        output = subprocess.run([*COMMAND, "json=-"], cwd=tmp_path, env=env, capture_output=True, check=False).stdout
        test = json.loads(output)["tests"][0]
        found.add(json.dumps([test["stats"], test["violations"]]))
    assert len(found) == 1
