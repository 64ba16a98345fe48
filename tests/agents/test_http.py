"""Agents that are servers, asked over real connections."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.agents.live import ONE, run, traces, write_suite

Reply = Callable[["Handler", dict[str, Any]], tuple[int, Any] | None]


class Handler(BaseHTTPRequestHandler):
    """Does what the test's reply says."""

    server: Server

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"] or 0)
        text = self.rfile.read(size).decode()
        try:
            body = json.loads(text)
        except ValueError:
            body = {"text": text}
        self.server.seen.append((self.path, dict(self.headers), body))
        replied = self.server.reply(self, body)
        if replied is None:
            return
        status, said = replied
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(said, bytes) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server on loopback."""

    daemon_threads = True
    reply: Reply
    seen: list[tuple[str, dict[str, str], Any]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that gave up


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.seen = []
        server.reply = lambda handler, body: (200, {"answer": "hello"})
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def write(folder: Path, server: Server, scenarios: Any = None, agent: Any = None, **http: Any) -> None:
    url = f"http://127.0.0.1:{server.server_port}" + http.pop("path", "/chat")
    write_suite(folder, {"http": {"url": url, **http}, **(agent or {})}, scenarios)


def error_of(folder: Path) -> dict[str, Any]:
    error: dict[str, Any] = traces(folder)[0]["error"]
    return error


def test_fields_are_filled_in_and_no_secret_is_stored(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "t0p-s3cret")
    write(
        tmp_path,
        server,
        [{**ONE, "query": 'He said "hello"\n& left ☂'}],
        path="/ä/{scenario}/{run}?q={query}",
        headers={"Authorization": "Bearer {env.AGENT_TOKEN}", "X-Query": "{query}"},
        body={"text": "{query}", "n": [1, "{turn}"], "all": "{messages}"},
        answer="answer",
    )
    assert run(tmp_path).exit_code == 0
    ((path, headers, body),) = server.seen
    assert path == "/%C3%A4/A/1?q=He%20said%20%22hello%22%0A%26%20left%20%E2%98%82"
    assert headers["Authorization"] == "Bearer t0p-s3cret"
    assert headers["X-Query"].encode("latin-1").decode() == 'He said "hello" & left ☂'
    said = 'He said "hello"\n& left ☂'
    assert body == {"text": said, "n": [1, "1"], "all": [{"role": "user", "content": said}]}
    kept = [path.read_bytes() for path in (tmp_path / ".passmuster").rglob("*") if path.is_file()]
    assert b"t0p-s3cret" not in b"".join(kept)


def test_a_conversation_shares_a_session(tmp_path: Path, server: Server) -> None:
    server.reply = lambda handler, body: (200, {"reply": {"texts": [body["query"].lower()]}})
    turns = [{"user": text, "correctness": {"expected_in_answer": text.lower()}} for text in ("One", "Two")]
    write(tmp_path, server, [{"id": "T", "turns": turns}], answer="reply.texts[0]")
    assert run(tmp_path).exit_code == 0
    assert len({body["session"] for _, _, body in server.seen}) == 1
    assert [step["content"] for step in traces(tmp_path)[0]["steps"]] == ["One", "one", "Two", "two"]


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        (b"hello there", None),
        ("hello there", None),
        ({"answer": "hello", "steps": [{"type": "tool_call", "tool": "look"}]}, ["look"]),
        ([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "hello"}], []),
    ],
)
def test_what_a_server_answers(tmp_path: Path, server: Server, said: Any, calls: list[str] | None) -> None:
    server.reply = lambda handler, body: (200, said)
    write(tmp_path, server)
    assert run(tmp_path).exit_code == 0
    (trace,) = traces(tmp_path)
    assert trace.get("calls_unknown", False) == (calls is None)
    assert [step["tool"] for step in trace["steps"] if step["type"] == "tool_call"] == (calls or [])


def drip_headers(handler: Handler, body: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    drip(handler, body)


def drip_body(handler: Handler, body: Any) -> None:
    handler.send_response(200)
    handler.end_headers()
    drip(handler, body)


def drip(handler: Handler, body: Any) -> None:
    for _ in range(300):
        handler.wfile.write(b"x")
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (lambda handler, body: (500, {"detail": "boom"}), 'the server answered with 500: {"detail": "boom"}'),
        (lambda handler, body: (404, b""), "the server answered with 404"),
        (lambda handler, body: (200, {"text": "hello"}), "say with 'agent.http.answer' where the answer is in it"),
        (lambda handler, body: (200, b"\xff\xfe"), "answered what is not UTF-8"),
        (lambda handler, body: (200, b""), "answered nothing"),
        (lambda handler, body: time.sleep(20), "took longer than 1 s"),
        (drip_body, "took longer than 1 s"),
        (drip_headers, "took longer than 1 s"),
    ],
)
def test_a_server_that_fails(tmp_path: Path, server: Server, reply: Reply, expected: str) -> None:
    server.reply = reply
    write(tmp_path, server, agent={"timeout": 1 if "took longer" in expected else 60})
    started = time.monotonic()
    assert run(tmp_path).exit_code == 1
    assert time.monotonic() - started < 18
    assert expected in error_of(tmp_path)["message"]
    assert error_of(tmp_path)["kind"] == "agent"


def cut_off(handler: Handler, body: Any) -> None:
    handler.connection.close()
    handler.wfile = handler.rfile


@pytest.mark.parametrize("broken", [cut_off, lambda handler, body: (503, b"later")])
def test_what_fails_outside_is_tried_again(tmp_path: Path, server: Server, broken: Reply) -> None:
    def reply(handler: Handler, body: Any) -> Any:
        return broken(handler, body) if len(server.seen) < 3 else (200, {"answer": "hello"})

    server.reply = reply
    write(tmp_path, server)
    report = run(tmp_path)
    assert (report.exit_code, report.verdict) == (0, "warn")
    assert len([line for line in report.gate if line.kind == "input" and "tried again" in line.message]) == 2
    assert len({body["session"] for _, _, body in server.seen}) == 3
    server.seen.clear()
    server.reply = broken
    write(tmp_path, server, agent={"retries": 1})
    assert run(tmp_path).exit_code == 3
    assert error_of(tmp_path)["kind"] == "infra"
    assert len(server.seen) == 2


def test_a_path_that_is_not_there(tmp_path: Path, server: Server) -> None:
    write(tmp_path, server, answer="choices[0].text")
    assert run(tmp_path).exit_code == 1
    assert error_of(tmp_path)["message"] == 'the response has no \'choices[0].text\': {"answer": "hello"}'
