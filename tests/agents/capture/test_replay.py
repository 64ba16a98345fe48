"""Cassettes: recorded, replayed, continued, damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.agents.capture import sdk_agents
from tests.agents.capture.scripted import Turn, answer
from tests.agents.capture.test_proxy import SCRIPT, Mind, capturing, in_order
from tests.judges.loopback import Asked, Behaviour, Refuses

from passmuster._problems import InputError
from passmuster.agents.capture import CaptureConfig, Captured, CaptureServer
from passmuster.agents.capture._cassette import Cassette
from passmuster.traces import Fault, Trace

TAPE = "tapes/support.jsonl"


def record(folder: Path, mind: Mind, agent: str = "chat", stream: bool = False, name: str = "A/1", **more: Any) -> str:
    with capturing(mind, folder, cassette=TAPE, tape="record", **more) as (server, _):
        said = sdk_agents.AGENTS[agent](server.environment("x", name), stream)
        server.collect("x", None)
    return said


def replay(folder: Path, agent: str = "chat", stream: bool = False, name: str = "A/1", **more: Any) -> Captured:
    config = CaptureConfig(cassette=TAPE, openai="http://127.0.0.1:9/v1", anthropic="http://127.0.0.1:9", **more)
    with CaptureServer(config, folder, {}) as server:
        error = None
        said = None
        try:
            said = sdk_agents.AGENTS[agent](server.environment("y", name), stream)
        except openai.APIStatusError as failure:
            error = Fault(f"{type(failure).__name__}: {failure}")
        return server.collect("y", Trace(answer=said, error=error, calls_unknown=True))


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / TAPE).read_text().splitlines()]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("agent", sdk_agents.AGENTS)
def test_what_was_recorded_is_replayed(agent: str, stream: bool, tmp_path: Path) -> None:
    said = record(tmp_path, in_order(*SCRIPT), agent, stream)
    captured = replay(tmp_path, agent, stream)
    assert captured.trace.answer == said
    assert captured.trace.error is None
    assert [call.id for call in captured.trace.tool_calls] == ["c1", "c2", "c3"]
    assert [call.tokens_in for call in captured.trace.model_calls] == [20, 40, 60]
    text = (tmp_path / TAPE).read_text()
    assert "secret" not in text  # the credential
    assert "authorization" not in text.lower()
    head, line = lines(tmp_path)
    assert head == {"passmuster_cassette": 1}
    assert (line["run"], len(line["exchanges"])) == ("A/1", 3)


def test_a_credential_in_a_body_is_not_stored(tmp_path: Path) -> None:
    with capturing(in_order(SCRIPT[2]), tmp_path, cassette=TAPE, tape="record") as (server, model):
        client = openai.OpenAI(api_key="sk-secret-1", base_url=server.environment("x")["OPENAI_BASE_URL"])
        said: Any = [{"role": "user", "content": "my key is sk-secret-1"}]
        client.chat.completions.create(model="m", messages=said, extra_query={"api_key": "q-secret", "v": "2"})
        server.collect("x", None)
    assert model.asked[0].user == "my key is sk-secret-1"  # the model gets what was sent
    assert "api_key=q-secret" in model.asked[0].path
    text = (tmp_path / TAPE).read_text()
    assert "secret" not in text
    assert "my key is [credential]" in text
    assert "/chat/completions?v=2" in text


def test_a_request_that_is_not_on_the_tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, in_order(*SCRIPT))
    monkeypatch.setattr(sdk_agents, "QUERY", "Where is my order?")
    captured = replay(tmp_path)
    error = captured.trace.error
    assert error is not None
    assert error.kind == "infra"
    assert error.message == (
        "a request (POST openai/chat/completions) is not on the tape tapes/support.jsonl. The nearest one "
        '(tapes/support.jsonl:2, request 1 of run A/1) differs: messages[1].content is "Where is my parcel?" on the '
        "tape and \"Where is my order?\" now; record it again with 'tape: record', or what is missing with "
        "'tape: replay-or-record'"
    )


def test_nothing_like_it_is_on_the_tape(tmp_path: Path) -> None:
    record(tmp_path, in_order(*SCRIPT))
    error = replay(tmp_path, "responses").trace.error
    assert error is not None
    assert "which has no request like it" in error.message


def test_repeats_have_answers_of_their_own(tmp_path: Path) -> None:
    """A run of the same name gets what it got; one of another name what any run got."""
    with capturing(lambda asked: answer(Turn(f"#{asked.number}"), asked), tmp_path, cassette=TAPE, tape="record") as (
        server,
        _,
    ):
        for name in ("A/1", "A/2", "A/3"):
            sdk_agents.chat(server.environment(name, name), False)
            server.collect(name, None)
    assert [replay(tmp_path, name=f"A/{number}").trace.answer for number in (3, 2, 1, 4)] == ["#3", "#2", "#1", "#1"]


def test_the_same_request_twice_in_a_run(tmp_path: Path) -> None:
    def twice(server: CaptureServer) -> list[str]:
        environment = server.environment("x", "A/1")
        said = [sdk_agents.chat(environment, False) for _ in range(3)]
        server.collect("x", None)
        return said

    with capturing(lambda asked: answer(Turn(f"#{asked.number}"), asked), tmp_path, cassette=TAPE, tape="record") as (
        server,
        _,
    ):
        assert twice(server) == ["#1", "#2", "#3"]
    with CaptureServer(CaptureConfig(cassette=TAPE), tmp_path, {}) as server:
        assert twice(server) == ["#1", "#2", "#3"]


def test_fields_that_do_not_change_the_answer(tmp_path: Path) -> None:
    with capturing(in_order(SCRIPT[2]), tmp_path, cassette=TAPE, tape="record") as (server, _):
        client = openai.OpenAI(api_key="k", base_url=server.environment("x")["OPENAI_BASE_URL"])
        client.chat.completions.create(model="m", messages=[], user="one")
        server.collect("x", None)
    with CaptureServer(CaptureConfig(cassette=TAPE), tmp_path, {}) as server:
        client = openai.OpenAI(api_key="k", base_url=server.environment("x")["OPENAI_BASE_URL"])
        said = client.chat.completions.create(model="m", messages=[], user="two").choices[0].message.content
    assert said == "There it is."


def test_what_is_missing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, in_order(*SCRIPT))
    monkeypatch.setattr(sdk_agents, "QUERY", "Another one?")
    with capturing(in_order(SCRIPT[2]), tmp_path, cassette=TAPE, tape="replay-or-record") as (server, model):
        for run in ("one", "two"):
            monkeypatch.setattr(sdk_agents, "QUERY", "Another one?" if run == "one" else "Where is my parcel?")
            assert sdk_agents.chat(server.environment(run, "A/1"), False) == "There it is."
            assert server.collect(run, None).trace.error is None
        assert len(model.asked) == 1
    assert [replay(tmp_path).trace.error for _ in range(2)] == [None, None]
    assert [len(line.get("exchanges", ())) for line in lines(tmp_path)] == [0, 3, 1]


def test_outages_are_not_recorded(tmp_path: Path) -> None:
    def mind(asked: Asked) -> Behaviour:
        return Refuses(429, {"Retry-After": "0"}) if asked.number == 1 else answer(SCRIPT[2], asked)

    record(tmp_path, mind)
    assert len(lines(tmp_path)[1]["exchanges"]) == 1


def test_no_key_is_needed(tmp_path: Path) -> None:
    record(tmp_path, in_order(*SCRIPT))
    with CaptureServer(CaptureConfig(cassette=TAPE), tmp_path, {"ANTHROPIC_API_KEY": "mine"}) as server:
        environment = server.environment("x")
        assert environment["OPENAI_API_KEY"]
        assert "ANTHROPIC_API_KEY" not in environment


# ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────


def record_and_interrupt(address: str, folder: Path, name: str, resume: bool) -> None:
    with CaptureServer(CaptureConfig(cassette=TAPE, tape="record", openai=address), folder, {}, resume) as server:
        sdk_agents.chat(server.environment("x", name), False)
        server.collect("x", None)
        raise KeyboardInterrupt


def test_a_recording_that_was_interrupted(tmp_path: Path) -> None:
    """What was there before stays; `resume` goes on after the last run that was finished."""
    record(tmp_path, in_order(SCRIPT[2]), name="old")
    before = (tmp_path / TAPE).read_bytes()
    for resume, name in ((False, "A/1"), (True, "A/2")):
        with pytest.raises(KeyboardInterrupt), capturing(in_order(SCRIPT[2]), tmp_path) as (_, model):
            record_and_interrupt(f"{model.address}/v1", tmp_path, name, resume)
        assert (tmp_path / TAPE).read_bytes() == before
        with open(tmp_path / f"{TAPE}.part", "ab") as file:
            file.write(b'{"run": "cut o')
    with CaptureServer(CaptureConfig(cassette=TAPE, tape="record"), tmp_path, {}, resume=True):
        pass
    assert [line.get("run") for line in lines(tmp_path)] == [None, "A/1", "A/2"]
    assert not (tmp_path / f"{TAPE}.part").exists()


def test_a_recording_that_ended_early_goes_on(tmp_path: Path) -> None:
    """Where the money was spent, say: what was recorded is there, and stays."""
    record(tmp_path, in_order(SCRIPT[2]), name="A/1")
    with capturing(in_order(SCRIPT[2]), tmp_path) as (_, model):
        config = CaptureConfig(cassette=TAPE, tape="record", openai=f"{model.address}/v1")
        with CaptureServer(config, tmp_path, {}, resume=True) as server:
            sdk_agents.chat(server.environment("x", "A/2"), False)
            server.collect("x", None)
    assert [line.get("run") for line in lines(tmp_path)] == [None, "A/1", "A/2"]


def test_a_later_attempt_replaces_an_earlier_one(tmp_path: Path) -> None:
    with capturing(
        lambda asked: answer(Turn("ab"[asked.number - 1]), asked), tmp_path, cassette=TAPE, tape="record"
    ) as (server, _):
        for attempt in ("x", "y"):
            sdk_agents.chat(server.environment(attempt, "A/1"), False)
            server.collect(attempt, None)
    assert replay(tmp_path).trace.answer == "b"


def test_a_recording_of_nothing_replaces_nothing(tmp_path: Path) -> None:
    record(tmp_path, in_order(*SCRIPT))
    before = (tmp_path / TAPE).read_bytes()
    with CaptureServer(CaptureConfig(cassette=TAPE, tape="record"), tmp_path, {}) as server:
        server.environment("x")
        server.collect("x", None)
    assert (tmp_path / TAPE).read_bytes() == before


HEAD = b'{"passmuster_cassette":1}\n'


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (None, None, "there is no such cassette; record it first"),
        (b"", None, "is empty, and no cassette"),
        (b"{}\n", 1, 'is no cassette: expected {"passmuster_cassette":1} in its first line'),
        (b'{"passmuster_cassette":2}\n', 1, "is a cassette of version 2, and 1 is known"),
        (HEAD + b"nonsense\n", 2, "the cassette is damaged: JSON is malformed"),
        (HEAD + b'{"run":"a","exchanges":[]}\n{"run":"b"}\n', 3, "missing required field `exchanges`"),
        (HEAD + b'{"run":"a","exchanges":[{"method":"POST"}]}\n', 2, "missing required field `path`"),
        (HEAD + b'{"run":"a","exchanges":[{"method":"P","path":"p","base64":"x"}]}\n', 2, "is damaged: "),
        (HEAD + b'{"run":"a","exchanges":[{"method":"P","path":"p","status":7}]}\n', 2, "is damaged: "),
        (HEAD + b'{"run":"a","exchanges":[{"method":"P","path":"p","kind":"a\\r\\nb: c"}]}\n', 2, "is damaged: "),
        (HEAD + b'{"run":"a","excha', 2, "the cassette is damaged: its last line is cut off"),
        (HEAD + b"\xff\xfe\n", 2, "the cassette is damaged"),
        (HEAD + b"[" * 100_000 + b"\n", 2, "the cassette is damaged"),
    ],
)
def test_a_damaged_cassette(data: bytes | None, line: int | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as found:
        CaptureServer(CaptureConfig(cassette="tape.jsonl"), tmp_path, {})
    (problem,) = found.value.problems
    assert (problem.file, problem.line) == ("tape.jsonl", line)
    assert message in problem.message


def test_a_cassette_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        InputError, match=r"file/tape.jsonl: the cassette cannot be used: (Not a directory|File exists)"
    ):
        CaptureServer(CaptureConfig(cassette="file/tape.jsonl", tape="record"), tmp_path, {})


def test_a_full_disk(tmp_path: Path) -> None:
    """Half a line is never left. A limit on the size of files stands in for the disk."""
    code = f"""
import os, resource, signal
from pathlib import Path
from passmuster._problems import OutsideError
from passmuster.agents.capture._cassette import Cassette, Entry
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cassette = Cassette(Path({str(tmp_path)!r}) / "tape.jsonl", "tape.jsonl", "record", False)
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
cassette.add("A/1", [Entry("POST", "p", response="x" * 3_000)])
try:
    cassette.add("A/2", [Entry("POST", "p", response="x" * 3_000)])
except OutsideError as error:
    print(error)
cassette.add("A/3", [Entry("POST", "p", response="x")])
cassette.finish()
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=True, capture_output=True, text=True)
    assert done.stdout == "tape.jsonl: the cassette cannot be written: File too large\n"
    found = Cassette(tmp_path / "tape.jsonl", "tape.jsonl", "replay", False)
    assert [place.run for place, _ in found.entries()] == ["A/1", "A/3"]
