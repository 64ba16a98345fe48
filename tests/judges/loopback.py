"""A judge on this machine that speaks both vendors' wire formats and misbehaves on demand."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from passmuster.judges._config import JudgeConfig


@dataclass(frozen=True)
class Asked:
    """One request as the judge received it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    number: int
    """Counted from 1 in the order of arrival."""

    @property
    def system(self) -> str:
        return str(self.body["system"] if self.path.endswith("/messages") else self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def quoted(self) -> dict[str, Any]:
        """What stands in the quotation, read as a judge who believes the marks reads it."""
        lines = self.user.split("\n")
        marks = [at for at, line in enumerate(lines) if line.startswith("DATA-")]
        assert len(marks) == 2
        assert lines[marks[0]] == lines[marks[1]]
        quoted: dict[str, Any] = json.loads("\n".join(lines[marks[0] + 1 : marks[1]]))
        return quoted


@dataclass(frozen=True)
class Says:
    """A well-formed reply with any object for a verdict, or a text where no verdict is."""

    verdict: object = None
    text: str | None = None
    tokens: tuple[Any, Any] | None = (100, 10)
    stop: str | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class Refuses:
    """An HTTP status with an error body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "no"
    code: str | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class Sends:
    """Any bytes as an answer with status 200."""

    content: bytes
    kind: str = "application/json"
    delay: float = 0.0


@dataclass(frozen=True)
class Streams:
    """Server-sent events, one after the other; `go_on` is waited for before the last one."""

    events: tuple[bytes, ...]
    cut: bool = False
    """Whether the connection ends without an end of the answer."""
    go_on: threading.Event | None = None
    delay: float = 0.0


@dataclass(frozen=True)
class CutsOff:
    """An answer that ends in the middle of its body."""

    delay: float = 0.0


@dataclass(frozen=True)
class Drips:
    """An answer of which a byte comes now and then, for ever."""

    delay: float = 0.0


Behaviour = Says | Refuses | Sends | Streams | CutsOff | Drips
Mind = Callable[[Asked], Behaviour]


def scored(score: object, reason: object = "Because.") -> Says:
    """The reply of a judge that gives this score."""
    return Says({"reason": reason, "score": score})


class Loopback:
    """What the server has seen so far."""

    def __init__(self, mind: Mind, address: str) -> None:
        self.mind = mind
        self.address = address
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def config(self, provider: str = "openai", **more: Any) -> JudgeConfig:
        """A configuration that asks this judge, and does not wait long."""
        base_url = self.address + ("/v1" if provider == "openai" else "")
        given = {"provider": provider, "model": "loop-1", "base_url": base_url, "backoff_seconds": 0.01, **more}
        return JudgeConfig.from_mapping(given)

    def arrive(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Asked:
        with self._lock:
            asked = Asked(path, headers, body, len(self.asked) + 1)
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return asked

    def leave(self) -> None:
        with self._lock:
            self._at_once -= 1


@contextmanager
def loopback(mind: Mind | Behaviour) -> Iterator[Loopback]:
    """A judge that answers as `mind` says, at an address on this machine, for as long as the block lasts."""
    server = _Server(("127.0.0.1", 0), _Handler)
    think: Mind = mind if callable(mind) else lambda asked: mind
    server.seen = Loopback(think, f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_address() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    seen: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = self.server.seen
        asked = seen.arrive(self.path, headers, body)
        try:
            behaviour = seen.mind(asked)
            time.sleep(behaviour.delay)
            self._behave(behaviour, asked)
        finally:
            seen.leave()

    def _behave(self, behaviour: Behaviour, asked: Asked) -> None:
        match behaviour:
            case Says():
                self._send(200, json.dumps(_reply(behaviour, asked)).encode())
            case Refuses(status=status, headers=headers, message=message, code=code):
                error = {"type": "error", "error": {"type": "t", "message": message, "code": code}}
                self._send(status, json.dumps(error).encode(), headers)
            case Sends(content=content, kind=kind):
                self._send(200, content, kind=kind)
            case Streams():
                self._stream(behaviour)
            case CutsOff():
                content = json.dumps(_reply(scored(5), asked)).encode()
                self._head(200, len(content))
                self.wfile.write(content[: len(content) // 2])
                self.close_connection = True
            case Drips():
                self._head(200, 10_000)
                with suppress(OSError):
                    for _ in range(200):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                        time.sleep(0.02)
                self.close_connection = True

    def _stream(self, streams: Streams) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in streams.events:
            if streams.go_on is not None and event is streams.events[-1]:
                streams.go_on.wait(60)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        if streams.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send(
        self, status: int, content: bytes, headers: Mapping[str, str] | None = None, kind: str = "application/json"
    ) -> None:
        self._head(status, len(content), headers, kind)
        self.wfile.write(content)

    def _head(
        self, status: int, length: int, headers: Mapping[str, str] | None = None, kind: str = "application/json"
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()


def _reply(says: Says, asked: Asked) -> dict[str, Any]:
    if asked.path == "/v1/messages":
        return _anthropic_reply(says, asked)
    assert asked.path == "/v1/chat/completions", asked.path
    text = says.text if says.text is not None else json.dumps(says.verdict)
    message = {"role": "assistant", "content": text, "refusal": None}
    reply = {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 1,
        "model": asked.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": says.stop or "stop"}],
    }
    if says.tokens is not None:
        read, written = says.tokens
        reply["usage"] = {"prompt_tokens": read, "completion_tokens": written}
    return reply


def _anthropic_reply(says: Says, asked: Asked) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "verdict", "input": says.verdict}
    if says.text is not None:
        block = {"type": "text", "text": says.text}
    reply: dict[str, Any] = {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": [block],
        "stop_reason": says.stop or ("end_turn" if says.text is not None else "tool_use"),
        "stop_sequence": None,
    }
    if says.tokens is not None:
        reply["usage"] = {"input_tokens": says.tokens[0], "output_tokens": says.tokens[1]}
    return reply
