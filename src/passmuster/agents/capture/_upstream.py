"""Connections to the real APIs, kept open between requests."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

_SECONDS = 600.0
"""How long to wait for the next bytes of an answer: as long as the SDKs do."""
_MOST_IDLE = 64


class Place(Struct, frozen=True):
    """Where connections go to."""

    scheme: str
    host: str
    port: int


def place_of(address: str) -> Place:
    """The place of an address."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Place(parts.scheme, parts.hostname or "", port)


class Upstream:
    """Opens connections and takes them back. Proxies are those of the environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._proxies = {
            scheme: found
            for scheme in ("http", "https")
            if (found := environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY"))
        }
        direct = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
        self._direct = {name.strip().lstrip("*.").lower() for name in direct.split(",")} - {""}
        self._idle: dict[Place, list[http.client.HTTPConnection]] = {}
        self._lock = threading.Lock()

    def connect(self, place: Place) -> http.client.HTTPConnection:
        """A connection that nobody else uses. Raises `OSError` where there is none."""
        while True:
            with self._lock:
                waiting = self._idle.get(place)
                connection = waiting.pop() if waiting else None
            if connection is None:
                break
            if not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()  # the other side has hung up meanwhile
        connection = self._new(place)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def keep(self, place: Place, connection: http.client.HTTPConnection) -> None:
        """Take back a connection whose answer was read to its end."""
        with self._lock:
            waiting = self._idle.setdefault(place, [])
            if len(waiting) < _MOST_IDLE:
                waiting.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            for waiting in self._idle.values():
                for connection in waiting:
                    connection.close()
            self._idle.clear()

    def _new(self, place: Place) -> http.client.HTTPConnection:
        proxy = self._proxies.get(place.scheme)
        if proxy is None or self._is_direct(place.host.lower()):
            return self._plain(place.scheme, place.host, place.port)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        connection = self._plain(place.scheme, parts.hostname or "", parts.port or 8080)
        headers = {}
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Proxy-Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        connection.set_tunnel(place.host, place.port, headers)
        return connection

    def _is_direct(self, host: str) -> bool:
        near = host in ("localhost", "127.0.0.1", "::1")
        return near or any(host == name or host.endswith(f".{name}") for name in self._direct)

    def _plain(self, scheme: str, host: str, port: int) -> http.client.HTTPConnection:
        if scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=_SECONDS)

    @cached_property
    def _tls(self) -> Any:
        import ssl  # late, as reading the certificates takes a while

        return ssl.create_default_context()


def abort(connection: http.client.HTTPConnection) -> None:
    """Have whoever waits on a connection stop at once."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
