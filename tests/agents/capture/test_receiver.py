"""The receiver of OpenTelemetry, with the real SDK in child processes and with plain requests."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.capture import children

from passmuster._problems import InputError
from passmuster.agents.capture import CaptureConfig, CaptureServer
from passmuster.traces import Trace

WHOLE = """
with agent():
    chat(1, "", [("find", "c1", {"q": "a"}), ("find", "c2", {"q": "a"})])
    tool("find", "c1", {"q": "a"})
    tool("find", "c2", {"q": "a"}, {"found": 2})
    chat(2, "There.", [])
provider.shutdown()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CaptureServer]:
    with CaptureServer(CaptureConfig(), tmp_path, {}) as running:
        yield running


def test_runs_at_the_same_time_are_told_apart(server: CaptureServer, tmp_path: Path) -> None:
    one = children.start(server, "one", WHOLE, tmp_path)
    children.run(server, "two", WHOLE.replace('"a"', '"b"'), tmp_path)
    assert one.wait(children.SECONDS) == 0
    for run_id, letter in (("one", "a"), ("two", "b")):
        captured = server.collect(run_id, None)
        assert captured.sources == ("opentelemetry",)
        assert captured.notices == ()
        trace = captured.trace
        assert [(call.tool, call.id, call.arguments) for call in trace.tool_calls] == [
            ("find", "c1", {"q": letter}),
            ("find", "c2", {"q": letter}),
        ]
        assert trace.tool_calls[1].result == {"found": 2}
        assert trace.tool_calls[0].group == trace.tool_calls[1].group is not None
        assert [(call.tokens_in, call.tokens_out) for call in trace.model_calls] == [(10, 5), (10, 5)]
        assert (trace.query, trace.answer, trace.error) == ("Where is it?", "There.", None)


def test_late_and_doubled_spans(tmp_path: Path) -> None:
    code = """
    with agent() as outer:
        tool("find", "c1", {"q": "a"})
        processor.force_flush()
        time.sleep(0.5)
    exporter.export([outer])
    provider.shutdown()
    """
    with CaptureServer(CaptureConfig(grace=60), tmp_path, {}) as server:
        child = children.start(server, "late", code, tmp_path)
        while not len(server._runs.open("late").spans):
            time.sleep(0.01)
        captured = server.collect("late", None)  # waits for the agent's span
        assert child.wait(children.SECONDS) == 0
    assert [call.id for call in captured.trace.tool_calls] == ["c1"]
    assert captured.trace.error is None


def test_an_agent_that_is_killed(tmp_path: Path) -> None:
    code = """
    with agent():
        tool("find", "c1", {"q": "a"})
        processor.force_flush()
        time.sleep(600)
    """
    with CaptureServer(CaptureConfig(grace=0.2), tmp_path, {}) as server:
        child = children.start(server, "killed", code, tmp_path)
        while not len(server._runs.open("killed").spans):
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        captured = server.collect("killed", None)
    assert [call.tool for call in captured.trace.tool_calls] == ["find"]
    assert captured.trace.error is not None
    assert captured.trace.error.kind == "infra"
    assert "a span did not arrive within 0.2 s" in captured.trace.error.message


# ── Plain requests ──────────────────────────────────────────────────────────────────────────────────────────


def tool_span(trace_id: str, span_id: str = "00000000000000aa", parent: str = "", tool: str = "find") -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": "{}"}
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": f"execute_tool {tool}",
        "startTimeUnixNano": "1000000",
        "endTimeUnixNano": "2000000",
        "attributes": pairs,
    }


def document(*spans: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    attributes = [] if key is None else [{"key": "passmuster.run.key", "value": {"stringValue": key}}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}]}


def post(
    server: CaptureServer, path: str, body: Any, headers: dict[str, str] | None = None, chunked: bool = False
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server._server.port, timeout=children.SECONDS)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **(headers or {})}
    connection.request("POST", path, iter([data]) if chunked else data, given, encode_chunked=chunked)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def endpoint(server: CaptureServer, run_id: str) -> str:
    return server.environment(run_id)["OTEL_EXPORTER_OTLP_ENDPOINT"].removeprefix(server.address)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_json(server: CaptureServer, chunked: bool, packed: bool) -> None:
    body = json.dumps(document(tool_span("0" * 31 + "1"))).encode()
    headers = {"Transfer-Encoding": "chunked"} if chunked else {}
    if packed:
        body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
    assert post(server, endpoint(server, "json") + "/v1/traces", body, headers, chunked) == (200, b"{}")
    assert [call.tool for call in server.collect("json", None).trace.tool_calls] == ["find"]


def test_a_server_is_told_apart_by_the_trace_that_it_continues(tmp_path: Path) -> None:
    with CaptureServer(CaptureConfig(port=free_port(), grace=30), tmp_path, {}) as server:
        runs = {name: server.headers(name)["traceparent"].split("-") for name in ("one", "two")}

        def export() -> None:
            time.sleep(0.2)
            spans = [tool_span(trace, parent=span, tool=name) for name, (_, trace, span, _) in runs.items()]
            status, body = post(server, "/v1/traces", document(*spans, tool_span("f" * 32)))
            assert (status, json.loads(body)["partialSuccess"]["rejectedSpans"]) == (200, 1)

        thread = threading.Thread(target=export)
        thread.start()
        for name in runs:
            captured = server.collect(name, Trace(answer="Hi", calls_unknown=True))
            assert [call.tool for call in captured.trace.tool_calls] == [name]
            assert (captured.trace.answer, captured.trace.error) == ("Hi", None)
            assert captured.sources == ("opentelemetry", "returned")
        thread.join()


def test_a_resource_names_its_run(server: CaptureServer) -> None:
    attributes = server.environment("one")["OTEL_RESOURCE_ATTRIBUTES"]
    key = attributes.removeprefix("passmuster.run.key=")
    assert post(server, "/v1/traces", document(tool_span("1" * 32), key=key)) == (200, b"{}")
    assert len(server.collect("one", None).trace.tool_calls) == 1
    status, body = post(server, "/v1/traces", document(tool_span("1" * 32), key=key))
    assert (status, json.loads(body)["partialSuccess"]["rejectedSpans"]) == (200, 1)


def test_spans_that_continue_no_trace_are_told_of(tmp_path: Path) -> None:
    with CaptureServer(CaptureConfig(sources=("opentelemetry",), grace=0.05), tmp_path, {}) as server:
        server.headers("one")
        post(server, "/v1/traces", document(tool_span("1" * 32), tool_span("2" * 32)))
        with socket.create_connection(("127.0.0.1", server._server.port)) as grpc:
            grpc.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            assert b"505" in grpc.recv(1000)
        notices = server.collect("one", None).notices
    assert notices[0] == "an exporter speaks gRPC: use one for OTLP over HTTP"
    assert notices[1].startswith("2 spans arrived that belong to no run")


def test_a_run_that_is_over_takes_nothing(server: CaptureServer) -> None:
    path = endpoint(server, "one") + "/v1/traces"
    server.collect("one", None)
    assert post(server, path, document(tool_span("1" * 32)))[0] == 404


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (b"{", {}, 400, "is not OTLP as JSON"),
        (b'{"resourceSpans": [7]}', {}, 400, "is not OTLP as JSON"),
        (b"\xff\xff\xff", {"Content-Type": "application/x-protobuf"}, 400, "is not OTLP as protobuf"),
        (b"[" * 100_000, {}, 400, "is not OTLP as JSON"),
        (b"nonsense", {"Content-Encoding": "gzip"}, 400, "the body is damaged"),
        (gzip.compress(b"{}", mtime=0)[:-6], {"Content-Encoding": "gzip"}, 400, "the body is cut off"),
        (b"{}", {"Content-Encoding": "br"}, 415, "the content encoding 'br' is not known"),
        (
            gzip.compress(b" " * (65 << 20), mtime=0),
            {"Content-Encoding": "gzip"},
            413,
            "larger than 64 MiB when unpacked",
        ),
        (b"{}", {"Content-Length": str(1 << 40)}, 413, "larger than 64 MiB"),
        (b"{}", {"Content-Length": "many"}, 400, "Content-Length is no number"),
        (b"{}", {"Host": "evil.example"}, 403, "expected an address on this machine"),
    ],
)
def test_bad_requests(server: CaptureServer, body: bytes, headers: dict[str, str], status: int, message: str) -> None:
    found, text = post(server, endpoint(server, "bad") + "/v1/traces", body, headers)
    assert (found, message in text.decode()) == (status, True), text


def test_what_cannot_be_read_is_a_failure_of_the_observation(server: CaptureServer) -> None:
    post(server, endpoint(server, "bad") + "/v1/traces", b"{")
    error = server.collect("bad", Trace(answer="Hi")).trace.error
    assert error is not None
    assert error.kind == "infra"
    assert "it sent what cannot be read: is not OTLP as JSON" in error.message


def test_a_source_that_has_to_arrive(tmp_path: Path) -> None:
    with CaptureServer(CaptureConfig(sources=("opentelemetry",), grace=0.05), tmp_path, {}) as server:
        assert "OTEL_EXPORTER_OTLP_ENDPOINT" in server.environment("none")
        captured = server.collect("none", Trace(answer="Hi", calls_unknown=True))
    assert captured.trace.answer == "Hi"
    assert captured.trace.error is not None
    assert captured.trace.error.message.endswith("nothing arrived from 'opentelemetry'")


def test_calls_are_unknown_where_nothing_could_show_them(server: CaptureServer) -> None:
    server.environment("plain")
    captured = server.collect("plain", Trace(answer="Hi", calls_unknown=True))
    assert captured.trace.calls_unknown
    assert "ask its model at OPENAI_BASE_URL" in captured.notices[0]


def test_the_environment_of_another_receiver(tmp_path: Path) -> None:
    environment = {
        "OTEL_RESOURCE_ATTRIBUTES": "service.name=support,",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example/v1/traces",
        "NO_PROXY": "example.com",
    }
    with CaptureServer(CaptureConfig(), tmp_path, environment) as server:
        given = server.environment("one")
    assert given["OTEL_RESOURCE_ATTRIBUTES"].startswith("service.name=support,passmuster.run.key=")
    assert given["OTEL_EXPORTER_OTLP_HEADERS"] == ""
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" not in given
    assert given["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"].startswith("http://127.0.0.1:")
    assert given["NO_PROXY"] == "example.com,127.0.0.1,localhost"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_a_port_in_use(tmp_path: Path) -> None:
    with (
        CaptureServer(CaptureConfig(port=free_port()), tmp_path, {}) as server,
        pytest.raises(InputError, match=r"agent.capture.port: cannot listen on 127.0.0.1:\d+: Address already in use"),
    ):
        CaptureServer(CaptureConfig(port=server._server.port), tmp_path, {})


def test_no_port_and_no_thread_is_left_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    with CaptureServer(CaptureConfig(), tmp_path, {}) as server:
        port = server._server.port
        idle = socket.create_connection(("127.0.0.1", port))
        assert post(server, endpoint(server, "a") + "/v1/traces", document(tool_span("1" * 32)))[0] == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    idle.settimeout(children.SECONDS)
    assert idle.recv(1) == b""  # hung up
    idle.close()
    deadline = time.monotonic() + children.SECONDS
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
