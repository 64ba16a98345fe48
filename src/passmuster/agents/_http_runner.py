"""A server as an agent: one request per turn, with a session id that all turns of a run share."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem
from passmuster.agents._answers import (
    AgentFailure,
    OutsideFailure,
    Turn,
    conversation,
    decoded_json,
    printed_trace,
    recognized,
    returned_trace,
)
from passmuster.agents._config import HttpAgent, LiveAgent, steps_of_path
from passmuster.agents._runner import Attempt
from passmuster.agents._templates import Template, fill_value
from passmuster.traces import Trace

_OUTSIDE = (502, 503, 504)
"""What a gateway says when the server behind it does not answer."""
_IN_TARGET = "!#$%&'()*+,/:;=?@[]~"
"""What stays as it is in the path and query of an address."""
_MOST = 64 << 20
_BLOCK = 65_536
_PATIENCE = 10.0
"""Seconds that a server has to accept a connection in, when it is looked for."""


class Request(Struct, frozen=True):
    """A request with everything filled in. It is kept nowhere, for it may hold secrets."""

    secure: bool
    host: str
    port: int
    target: str
    headers: dict[str, str]
    body: bytes | None


class HttpRunner:
    """Asks a server."""

    def __init__(self, agent: LiveAgent, way: HttpAgent) -> None:
        self._agent, self._way = agent, way
        self._context: ssl.SSLContext | None = None

    def problems(self) -> Iterator[Problem]:
        """The variables have to be set, and somebody has to listen at the address."""
        line = self._agent.lines.get("http")
        missing = sorted({name for one in self._way.templates for name in one.variables if name not in os.environ})
        for name in missing:
            yield Problem(
                f"agent.http: '{{env.{name}}}': the environment has no variable {name}", self._agent.file, line
            )
        if missing:
            return
        fields = dict.fromkeys(("query", "session", "scenario", "run", "turn"), "1")
        shown = self._way.url.text
        try:
            asked = self._request(fields, [])
            socket.create_connection((asked.host, asked.port), timeout=_PATIENCE).close()
        except ValueError as error:
            yield Problem(f"agent.http.url: '{shown}' is no address: {error}", self._agent.file, line)
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
            message = f"agent.http.url: nobody answers at '{shown}' ({why}); start the agent first"
            yield Problem(message, self._agent.file, line)

    def run(self, attempt: Attempt) -> None:
        """One request per turn."""
        for number, query in enumerate(attempt.planned.turns, 1):
            started = monotonic()
            request = self._request(attempt.values(query, number), conversation(attempt.turns, query))
            with_capture = {**request.headers, **attempt.headers}
            status, kind, data = self._sent(replace(request, headers=with_capture), attempt)
            if status in _OUTSIDE:
                raise OutsideFailure(f"the server answered with {status}")
            if not 200 <= status < 300:
                raise AgentFailure(f"the server answered with {status}{_quoted(data)}")
            trace = self._answer(kind, data)
            if trace.total_duration_ms is None:
                trace = replace(trace, total_duration_ms=round((monotonic() - started) * 1000, 3))
            attempt.turns.append(Turn(query, trace))

    def _request(self, values: dict[str, str], messages: list[dict[str, Any]]) -> Request:
        """Raises `ValueError` where the address is none."""
        way = self._way
        parts = urlsplit(way.url.fill({name: quote(value, safe="") for name, value in values.items()}))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected http:// or https:// and a host")
        headers = {name: _header(value.fill(values)) for name, value in way.headers.items()}
        body: bytes | None = None
        if way.sent is not None:
            filled = fill_value(way.sent, values, messages)
            plain = isinstance(way.sent, Template) and not way.sent.is_messages
            body = filled.encode() if plain else msgspec.json.encode(filled)
            if not any(name.lower() == "content-type" for name in headers):
                headers["Content-Type"] = "text/plain; charset=utf-8" if plain else "application/json"
        return Request(
            secure=parts.scheme == "https",
            host=parts.hostname,
            port=parts.port or (443 if parts.scheme == "https" else 80),
            target=quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_IN_TARGET),
            headers=headers,
            body=body,
        )

    def _sent(self, request: Request, attempt: Attempt) -> tuple[int, str, bytes]:
        """The status, type and body of the response."""
        connection = _Connection(self._connected(request, attempt.left), attempt.deadline)
        with attempt.active.watch(connection, attempt.deadline):
            try:
                return connection.ask(self._way.method, request)
            except TimeoutError:
                raise AgentFailure(f"took longer than {self._agent.timeout:g} s") from None
            except ValueError as error:
                raise AgentFailure(str(error)) from None
            except (OSError, http.client.HTTPException) as error:
                if not attempt.left:  # a server that answers byte by byte is cut off
                    raise AgentFailure(f"took longer than {self._agent.timeout:g} s") from None
                why = str(error) or type(error).__name__
                raise OutsideFailure(f"the connection to '{self._way.url.text}' failed: {why}") from None

    def _connected(self, request: Request, left: float) -> http.client.HTTPConnection:
        if not request.secure:
            return http.client.HTTPConnection(request.host, request.port, timeout=max(left, 0.001))
        self._context = self._context or ssl.create_default_context()
        return http.client.HTTPSConnection(request.host, request.port, timeout=max(left, 0.001), context=self._context)

    def _answer(self, kind: str, data: bytes) -> Trace:
        if self._way.answer is None:
            value = decoded_json(data) if "json" in kind else None
            if name := recognized(value):
                return returned_trace(value, name)
            if isinstance(value, dict | list):
                keys = f" with the keys {', '.join(sorted(value)[:6])}" if isinstance(value, dict) else ""
                message = f"answered with JSON{keys}; say with 'agent.http.answer' where the answer is in it"
                raise AgentFailure(message)
            return returned_trace(value) if isinstance(value, str) else printed_trace(data, how="answered")
        value = decoded_json(data)
        text = _found(value, self._way.answer)
        if text is None:
            raise AgentFailure(f"the response has no '{self._way.answer}'{_quoted(data)}")
        answer = text if isinstance(text, str) else msgspec.json.encode(text).decode()
        if name := recognized(value):
            return replace(returned_trace(value, name), answer=answer)
        return returned_trace(answer)


class _Connection:
    """A connection that is given up at its deadline, or by another thread."""

    def __init__(self, connection: http.client.HTTPConnection, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline

    def ask(self, method: str, request: Request) -> tuple[int, str, bytes]:
        """Raises `TimeoutError`, `ValueError` for a response that is too long, and errors of the network."""
        self._connection.request(method, request.target, request.body, request.headers)
        response = self._connection.getresponse()
        pieces: list[bytes] = []
        size = 0
        while data := response.read1(_BLOCK):
            pieces.append(data)
            size += len(data)
            if size > _MOST:
                raise ValueError("answered with more than 64 MB")
            if self._connection.sock is not None:
                self._connection.sock.settimeout(max(0.001, self._deadline - monotonic()))
            if monotonic() > self._deadline:
                raise TimeoutError
        if monotonic() > self._deadline:  # it was cut off, which looks like an end
            raise TimeoutError
        return response.status, response.getheader("Content-Type", ""), b"".join(pieces)

    def end(self, *, at_once: bool = False) -> None:
        """Close it; who waits for it is woken up."""
        with suppress(OSError, AttributeError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._connection.close()


def _header(value: str) -> str:
    """A value that fits in one header, as UTF-8; a query may have line breaks."""
    shown = " ".join(value.split()) if "\n" in value or "\r" in value else value
    return shown.encode().decode("latin-1")


def _found(value: Any, path: str) -> Any:
    for step in steps_of_path(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _quoted(data: bytes) -> str:
    text = " ".join(data[:200].decode(errors="replace").split())
    return f": {text}" if text else ""
