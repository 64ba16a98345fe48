"""The proxy of model APIs, with the SDKs of both vendors and a scripted model on loopback."""

from __future__ import annotations

import http.client
import json
import select
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from tests.agents.capture import sdk_agents
from tests.agents.capture.scripted import (
    Turn,
    answer,
    chat,
    chat_events,
    encoded,
    message_events,
    response_events,
    streamed,
    whole,
)
from tests.judges.loopback import Asked, Behaviour, CutsOff, Loopback, Refuses, Streams, closed_address, loopback

from passmuster.agents.capture import CaptureConfig, Captured, CaptureServer
from passmuster.traces import Fault, Trace

SCRIPT = (
    Turn(calls=(("c1", "find", {"q": "a"}), ("c2", "find", {"q": "a"})), number=1, tokens=(20, 4)),
    Turn("Hm.", calls=(("c3", "broken", {}),), number=2, tokens=(40, 6)),
    Turn("There it is.", number=3, tokens=(60, 8)),
)
Mind = Callable[[Asked], Behaviour]


def in_order(*turns: Turn) -> Mind:
    return lambda asked: answer(turns[asked.number - 1], asked)


def config_of(model: Loopback, **more: Any) -> CaptureConfig:
    return CaptureConfig(openai=f"{model.address}/v1", anthropic=model.address, **more)


@contextmanager
def capturing(mind: Mind | Behaviour, folder: Path, **more: Any) -> Iterator[tuple[CaptureServer, Loopback]]:
    with loopback(mind) as model, CaptureServer(config_of(model, **more), folder, {}) as server:
        yield server, model


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", sdk_agents.AGENTS)
def test_both_vendors(name: str, stream: bool, tmp_path: Path) -> None:
    with capturing(in_order(*SCRIPT), tmp_path) as (server, model):
        said = sdk_agents.AGENTS[name](server.environment("run"), stream, max_retries=0)
        captured = server.collect("run", Trace(answer=said, calls_unknown=True))
    assert said == "There it is."
    assert captured.sources == ("model_api", "returned")
    assert captured.notices == ()
    trace = captured.trace
    assert (trace.query, trace.answer, trace.error, trace.calls_unknown) == (sdk_agents.QUERY, said, None, False)
    assert [(call.id, call.tool, call.arguments) for call in trace.tool_calls] == [
        ("c1", "find", {"q": "a"}),
        ("c2", "find", {"q": "a"}),
        ("c3", "broken", {}),
    ]
    assert trace.tool_calls[0].result == {"tool": "find", "got": {"q": "a"}}
    assert trace.tool_calls[0].group == trace.tool_calls[1].group is not None
    assert trace.tool_calls[2].group is None
    assert trace.tool_calls[2].failed == (name == "messages")  # only Anthropic's API says that a call failed
    tokens = [(call.tokens_in, call.tokens_out) for call in trace.model_calls]
    assert tokens == [turn.tokens for turn in SCRIPT]
    assert all(call.duration_ms and call.started_at and call.model == "m-1" for call in trace.model_calls)
    key = {asked.headers.get("authorization") or asked.headers.get("x-api-key") for asked in model.asked}
    assert key <= {"Bearer sk-secret-1", "sk-secret-1"}  # passed on
    assert "secret" not in str(trace)


def test_a_stream_is_passed_on_as_it_arrives(tmp_path: Path) -> None:
    go_on = threading.Event()
    events = tuple(encoded(event) for event in chat_events(SCRIPT[2]))
    with capturing(Streams(events, go_on=go_on), tmp_path) as (server, _):
        client = openai.OpenAI(api_key="k", base_url=server.environment("run")["OPENAI_BASE_URL"])
        stream = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "q"}], stream=True)
        first = [next(stream).choices[0].delta.content for _ in range(3)]  # before the model goes on
        assert "".join(text or "" for text in first) == "There it is."
        go_on.set()
        assert len(list(stream)) == 2
        assert server.collect("run", None).trace.answer == "There it is."


def test_requests_at_the_same_time(tmp_path: Path) -> None:
    """Conversations that an agent has at once, of several runs: each call is there once, in its own run."""

    def mind(asked: Asked) -> Behaviour:
        name = asked.user if asked.body["messages"][-1]["role"] == "user" else ""
        if name:
            return answer(Turn(calls=((f"c-{name}", "find", {"q": name}),), number=asked.number), asked)
        return answer(Turn("Done.", number=asked.number), asked)

    with capturing(mind, tmp_path) as (server, _):

        def converse(run_id: str, query: str) -> None:
            client = openai.OpenAI(api_key="k", base_url=server.environment(run_id)["OPENAI_BASE_URL"], max_retries=0)
            said: list[Any] = [{"role": "user", "content": query}]
            for _ in range(2):
                message = client.chat.completions.create(model="m", messages=said).choices[0].message
                said.append(message.model_dump(exclude_none=True))
                said += [{"role": "tool", "tool_call_id": c.id, "content": "ok"} for c in message.tool_calls or ()]

        names = [(f"run{run}", f"{run}-{part}") for run in range(4) for part in range(4)]
        threads = [threading.Thread(target=converse, args=name) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for run in range(4):
            trace = server.collect(f"run{run}", None).trace
            assert sorted(str(call.id) for call in trace.tool_calls) == [f"c-{run}-{part}" for part in range(4)]
            assert len(trace.model_calls) == 8
            assert all(call.result == "ok" for call in trace.tool_calls)


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_too_many_requests(vendor: str, tmp_path: Path) -> None:
    def mind(asked: Asked) -> Behaviour:
        if asked.number == 1:
            return Refuses(429, {"Retry-After": "0", "x-request-id": "r1"})
        return answer(SCRIPT[2], asked)

    agent = sdk_agents.chat if vendor == "openai" else sdk_agents.messages
    with capturing(mind, tmp_path) as (server, model):
        assert agent(server.environment("run"), False) == "There it is."  # the SDK tries again
        captured = server.collect("run", None)
    assert len(model.asked) == 2
    assert len(captured.trace.model_calls) == 1
    assert captured.notices == ("the model's API: it refused a request as one too many (429)",)
    assert captured.trace.error is None


def test_a_failure_of_the_api_is_not_one_of_the_agent(tmp_path: Path) -> None:
    with capturing(Refuses(503), tmp_path) as (server, _):
        with pytest.raises(openai.InternalServerError):
            sdk_agents.chat(server.environment("run"), False, max_retries=0)
        error = server.collect("run", Trace(error=Fault("InternalServerError: 503"))).trace.error
    assert error == Fault(
        "InternalServerError: 503; the model's API failed: it answered a request with 503", kind="infra"
    )


def test_a_bad_request_is_one_of_the_agent(tmp_path: Path) -> None:
    with capturing(Refuses(400), tmp_path) as (server, _):
        with pytest.raises(openai.BadRequestError):
            sdk_agents.chat(server.environment("run"), False, max_retries=0)
        captured = server.collect("run", Trace(error=Fault("BadRequestError")))
    assert captured.trace.error == Fault("BadRequestError")
    assert captured.notices[0] == "the model's API refused 1 request"


def test_an_api_that_is_not_there(tmp_path: Path) -> None:
    config = CaptureConfig(openai=closed_address())
    with CaptureServer(config, tmp_path, {}) as server:
        with pytest.raises(openai.InternalServerError, match=r"cannot reach http://127.0.0.1:\d+: Connection refused"):
            sdk_agents.chat(server.environment("run"), False, max_retries=0)
        error = server.collect("run", Trace(error=Fault("x"))).trace.error
    assert error is not None
    assert error.kind == "infra"


def test_an_answer_that_breaks_off(tmp_path: Path) -> None:
    with capturing(CutsOff(), tmp_path) as (server, _):
        with pytest.raises(openai.APIConnectionError):
            sdk_agents.chat(server.environment("run"), False, max_retries=0)
        captured = server.collect("run", Trace(error=Fault("x")))
    assert len(captured.trace.model_calls) == 1
    assert captured.trace.error == Fault("x; the model's API failed: it broke off an answer", kind="infra")


def test_a_stream_that_breaks_off(tmp_path: Path) -> None:
    """Its calls do not count: the agent has seen an error, and asks again."""
    events = tuple(encoded(event) for event in message_events(SCRIPT[0]))[:-3]

    def mind(asked: Asked) -> Behaviour:
        return Streams(events, cut=True) if asked.number == 1 else answer(SCRIPT[2], asked)

    with capturing(mind, tmp_path) as (server, _):
        environment = server.environment("run")
        with pytest.raises((anthropic.APIError, Exception)):
            sdk_agents.messages(environment, True, max_retries=0)
        assert sdk_agents.messages(environment, True, max_retries=0) == "There it is."
        captured = server.collect("run", None)
    assert captured.trace.tool_calls == []
    assert [call.tokens_in for call in captured.trace.model_calls] == [None, 60]
    assert captured.notices == ("the model's API: it broke off an answer",)


def test_an_agent_that_stops_reading(tmp_path: Path) -> None:
    """Calls that had arrived count: the agent may have acted on them."""
    go_on = threading.Event()
    events = tuple(encoded(event) for event in message_events(SCRIPT[0]))
    with capturing(Streams(events, go_on=go_on), tmp_path) as (server, _):
        client = anthropic.Anthropic(api_key="k", base_url=server.environment("run")["ANTHROPIC_BASE_URL"])
        with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "q"}]) as stream:
            for event in stream:
                if event.type == "content_block_stop":
                    break
        client.close()
        captured = server.collect("run", Trace(answer="x", calls_unknown=True))
        go_on.set()
    assert [call.id for call in captured.trace.tool_calls] in (["c1"], ["c1", "c2"])  # what was sent before it hung up
    assert captured.trace.error is None


def test_a_request_that_is_cancelled(tmp_path: Path) -> None:
    """The proxy hangs up on the API at once, and the run has its end."""
    gone = threading.Event()

    def mind(asked: Asked) -> Behaviour:
        gone.wait(30)
        return answer(SCRIPT[2], asked)

    with capturing(mind, tmp_path, grace=20) as (server, _):
        with pytest.raises(openai.APITimeoutError):
            sdk_agents.chat(server.environment("run"), False, max_retries=0, timeout=0.3)
        begun = time.monotonic()
        captured = server.collect("run", Trace(answer="x", calls_unknown=True))
        assert time.monotonic() - begun < 15
        gone.set()
    assert captured.trace.tool_calls == []
    assert captured.trace.error is None


# ── Plain requests ──────────────────────────────────────────────────────────────────────────────────────────


def ask(
    server: CaptureServer, path: str, body: Any, headers: dict[str, str] | None = None, method: str = "POST"
) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server._server.port, timeout=60)
    connection.request(method, path, json.dumps(body) if body is not None else None, headers or {})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


def mount(server: CaptureServer, run_id: str, vendor: str = "OPENAI") -> str:
    return server.environment(run_id)[f"{vendor}_BASE_URL"].removeprefix(server.address)


def test_a_proxy_on_the_way(tmp_path: Path) -> None:
    """The environment of the agent names it; what it may not be asked for goes there directly."""
    asked: list[bytes] = []

    class Tunnel(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline())
            while self.rfile.readline().strip():
                pass
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            with socket.create_connection(model.address.removeprefix("http://").split(":")) as far:  # type: ignore[arg-type]
                while ready := select.select([self.connection, far], [], [], 60)[0]:
                    for one in ready:
                        data = one.recv(65536)
                        if not data:
                            return
                        (far if one is self.connection else self.connection).sendall(data)

    with loopback(in_order(*SCRIPT)) as model, socketserver.ThreadingTCPServer(("127.0.0.1", 0), Tunnel) as tunnel:
        threading.Thread(target=tunnel.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        environment = {
            "HTTP_PROXY": f"http://me:pass@127.0.0.1:{tunnel.server_address[1]}",
            "NO_PROXY": ".near.example",
        }
        config = CaptureConfig(openai="http://model.example/v1")
        with CaptureServer(config, tmp_path, environment) as server:
            assert sdk_agents.chat(server.environment("run"), False, max_retries=0) == "There it is."
            assert len(server.collect("run", None).trace.tool_calls) == 3
        tunnel.shutdown()
    assert asked == [b"CONNECT model.example:80 HTTP/1.0\r\n"]
    assert model.asked[0].headers["host"] == "model.example"
    assert "proxy-authorization" not in model.asked[0].headers


def test_clients_that_come_and_go(tmp_path: Path) -> None:
    """Connections that close while others are watched, whose numbers are used again."""
    body = {"messages": [{"role": "user", "content": "q"}]}
    with capturing(whole(chat(SCRIPT[2])), tmp_path) as (server, _):

        def come_and_go(number: int) -> None:
            for run in range(10):
                assert ask(server, mount(server, f"{number}.{run}") + "/chat/completions", body) == 200
                found.append(server.collect(f"{number}.{run}", None))

        found: list[Captured] = []
        threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 200
    assert all(len(one.trace.model_calls) == 1 and one.trace.error is None for one in found)


def test_what_clients_make_of_the_address(tmp_path: Path) -> None:
    """Some leave out Anthropic's version; queries are passed on."""
    with capturing(whole(chat(SCRIPT[2])), tmp_path) as (server, model):
        anthropic_mount = mount(server, "run", "ANTHROPIC")
        for path in ("/messages", "/v1/messages?beta=true", "/v1/messages/count_tokens"):
            assert ask(server, anthropic_mount + path, {"messages": []}) == 200
        assert [asked.path for asked in model.asked] == [
            "/v1/messages",
            "/v1/messages?beta=true",
            "/v1/messages/count_tokens",
        ]


def test_requests_that_show_no_calls(tmp_path: Path) -> None:
    with capturing(whole(chat(SCRIPT[2])), tmp_path) as (server, _):
        base = mount(server, "run")
        assert ask(server, base + "/chat/completions", {"messages": [{"role": "user", "content": "q"}]}) == 200
        assert ask(server, base + "/embeddings", {"input": "q"}) == 200
        assert not server.collect("run", None).trace.calls_unknown
        base = mount(server, "run")
        assert ask(server, base + "/chat/completions", {"messages": [{"role": "user", "content": "q"}]}) == 200
        assert ask(server, base + "/threads/t1/runs", {}) == 200
        captured = server.collect("run", None)
    assert captured.trace.calls_unknown
    assert captured.notices[0].endswith("in a way that shows no tool calls: /threads/t1/runs")


@pytest.mark.parametrize(
    ("sent", "behaviour"),
    [
        (b"[]", whole(chat(SCRIPT[2]))),
        (b'{"messages": []}', Streams((b'data: {"choices": [{"delta": 5}]}\n\n',))),
        (b'{"messages": []}', whole({"choices": [{"message": {"tool_calls": [{"odd": {"function": 1}}]}}]})),
    ],
)
def test_what_cannot_be_read_is_a_failure_of_the_observation(sent: bytes, behaviour: Any, tmp_path: Path) -> None:
    with capturing(behaviour, tmp_path) as (server, model):
        model.mind = lambda asked: behaviour
        connection = http.client.HTTPConnection("127.0.0.1", server._server.port, timeout=60)
        connection.request("POST", mount(server, "run") + "/chat/completions", sent)
        response = connection.getresponse()
        response.read()
        connection.close()
        captured = server.collect("run", Trace(answer="x", calls_unknown=True))
    assert captured.trace.error is not None, captured
    assert captured.trace.error.kind == "infra"


def servers(captured: Captured) -> list[str]:
    return [call.tool for call in captured.trace.tool_calls]


def test_an_agent_that_is_a_server(tmp_path: Path) -> None:
    """By the trace that it continues; else by there being one run; else nobody can tell."""
    body = {"messages": [{"role": "user", "content": "q"}]}
    with capturing(whole(chat(SCRIPT[1])), tmp_path, sources=("model_api",)) as (server, _):
        one, two = server.headers("one"), server.headers("two")
        assert ask(server, "/openai/v1/chat/completions", body, one) == 200
        assert servers(server.collect("one", None)) == ["broken"]
        assert ask(server, "/openai/v1/chat/completions", body) == 200
        assert servers(server.collect("two", None)) == ["broken"]
        server.headers("three")
        assert ask(server, "/openai/v1/chat/completions", body, two) == 200  # of a run that is over
        server.headers("four")
        assert ask(server, "/openai/v1/chat/completions", body) == 200
        assert servers(server.collect("four", None)) == []
        error = server.collect("three", None).trace.error
    assert error is not None
    assert "could not be told from those of other runs" in error.message


def test_a_stream_with_an_error_in_it(tmp_path: Path) -> None:
    """It came to its end, and yet the SDK raises: its calls do not count."""
    events = [*message_events(SCRIPT[0])[:-2], {"type": "error", "error": {"type": "overloaded_error"}}]
    with capturing(streamed(events), tmp_path) as (server, _):
        assert ask(server, mount(server, "run", "ANTHROPIC") + "/v1/messages", {"messages": []}) == 200
        captured = server.collect("run", None)
    assert captured.trace.tool_calls == []
    assert captured.notices == ("the model's API: it broke off an answer",)


@pytest.mark.parametrize(
    ("path", "events"),
    [
        ("/chat/completions", chat_events(SCRIPT[0])[:-3]),
        ("/responses", response_events(SCRIPT[0])[:-1]),
        ("/messages", message_events(SCRIPT[0])[:-2]),
    ],
)
def test_a_stream_without_its_last_event(path: str, events: list[Any], tmp_path: Path) -> None:
    """Servers that only resemble the vendors' leave it out, and SDKs do not miss it: the calls count."""
    with capturing(streamed(events), tmp_path) as (server, _):
        assert ask(server, mount(server, "run") + path, {"messages": []}) == 200
        captured = server.collect("run", None)
    assert [call.id for call in captured.trace.tool_calls] == ["c1", "c2"]


def test_streams_of_several_choices(tmp_path: Path) -> None:
    """A second choice that holds a call cannot be told to have been used."""
    events = chat_events(SCRIPT[1])
    second = [
        {**event, "choices": [{**choice, "index": 1} for choice in event["choices"]]}
        for event in events
        if isinstance(event, dict)
    ]
    with capturing(streamed([*events[:-1], *second, "[DONE]"]), tmp_path) as (server, _):
        assert ask(server, mount(server, "run") + "/chat/completions", {"messages": []}) == 200
        error = server.collect("run", None).trace.error
    assert error is not None
    assert "choice 2 of 2" in error.message
