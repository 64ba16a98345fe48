"""Live runs whose agents ask a model: what the proxy shows decides checks, and cassettes stand in for the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agents import live
from tests.agents.capture.scripted import Turn, answer
from tests.judges.loopback import Asked, Behaviour, Refuses, loopback

from passmuster._problems import InputError

# Without an SDK, whose import takes longer than all else here.
LOOP = """
import json, os, sys, urllib.request

messages = [{"role": "user", "content": sys.stdin.read().strip()}]
while True:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "m", "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)["choices"][0]["message"]
    if not said.get("tool_calls"):
        print(said["content"])
        break
    messages.append(said)
    for call in said["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "done"})
"""
SCENARIOS: list[dict[str, Any]] = [
    {
        "id": "A",
        "query": "Say hello",
        "repeat": 2,
        "correctness": {"expected_in_answer": "hello"},
        "path": {"forbidden_tools": ["delete_*"]},
    },
    {"id": "B", "query": "Delete it", "correctness": {"expected_in_answer": "hello"}},
]


def model(asked: Asked) -> Behaviour:
    """Asks for one call, then answers."""
    if asked.body["messages"][-1]["role"] == "tool":
        return answer(Turn("hello", number=asked.number), asked)
    tool = "delete_all" if "Delete" in asked.user else "look"
    return answer(Turn(calls=((f"c{asked.number}", tool, {"n": 1}),), number=asked.number), asked)


def write(folder: Path, scenarios: list[dict[str, Any]] = SCENARIOS, **capture: Any) -> None:
    agent = {"command": live.script(folder, LOOP), "capture": capture, "retries": 0}
    live.write_suite(folder, agent, scenarios, layers={"path": "block"})


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_cassette_stands_in_for_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback(model) as real, monkeypatch.context() as with_key:
        with_key.setenv("OPENAI_API_KEY", "sk-secret-1")
        write(tmp_path, openai=f"{real.address}/v1", cassette="tape.jsonl", tape="record")
        recorded = live.run(tmp_path)
        asked = len(real.asked)
    assert (recorded.exit_code, asked) == (0, 6)
    assert "sk-secret-1" not in (tmp_path / "tape.jsonl").read_text()
    write(tmp_path, cassette="tape.jsonl")
    replayed = live.run(tmp_path)
    assert replayed.exit_code == 0
    calls = [[step["tool"] for step in run["steps"] if step["type"] == "tool_call"] for run in live.traces(tmp_path)]
    assert sorted(calls) == [["delete_all"], ["look"], ["look"]]


def test_what_the_proxy_shows_decides_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    with loopback(model) as real:
        write(tmp_path, [{**SCENARIOS[0], "query": "Delete it, and say hello"}], openai=f"{real.address}/v1")
        assert live.run(tmp_path).exit_code == 1


def test_a_request_that_is_not_on_the_tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent fails for it, and that is not its fault."""
    (tmp_path / "tape.jsonl").write_text('{"passmuster_cassette":1}\n')
    write(tmp_path, cassette="tape.jsonl")
    assert live.run(tmp_path).exit_code == 3
    errors = [run["error"] for run in live.traces(tmp_path)]
    assert {error["kind"] for error in errors} == {"infra"}
    assert "is not on the tape tape.jsonl, which has no request like it" in errors[0]["message"]


def test_an_api_that_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    with loopback(Refuses(503)) as real:
        write(tmp_path, openai=f"{real.address}/v1")
        assert live.run(tmp_path).exit_code == 3
    assert "the model's API failed: it answered a request with 503" in json.dumps(live.traces(tmp_path))


def test_a_damaged_cassette_ends_it_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "tape.jsonl").write_text('{"passmuster_cassette":1}\nnonsense\n')
    write(tmp_path, cassette="tape.jsonl")
    with pytest.raises(InputError, match=r"tape.jsonl:2: the cassette is damaged"):
        live.run(tmp_path)
    assert not live.runs_path(tmp_path).exists()
