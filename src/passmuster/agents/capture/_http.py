"""A small HTTP server on loopback: bodies of bounded size and time, and nothing left behind when it is closed."""

from __future__ import annotations

import socket
import socketserver
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase

from msgspec import Struct

HOST = "127.0.0.1"
LARGEST_BODY = 64 << 20
"""Bytes of one body, unpacked."""
_IDLE_SECONDS = 120.0
_BODY_SECONDS = 60.0
_LONGEST_LINE = 1024
_PIECE = 1 << 16


class Refusal(Exception):
    """A request that is not served, with the status to answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Request(Struct):
    """One request, read to its end."""

    method: str
    path: str
    """With the query."""
    headers: dict[str, str]
    """Names in lower case; of repeated ones the values are joined by commas."""
    body: bytes
    connection: Connection


class Connection(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "passmuster", ""
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    server: LoopbackServer

    def do_POST(self) -> None:
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        try:
            if headers.get("host") not in self.server.names:
                # A page of another site that resolves its name to this address would send that name.
                raise Refusal(403, "expected an address on this machine in the header Host")
            body = _read_body(self.rfile, headers)
        except Refusal as refusal:
            self.close_connection = True  # what is left of the body would be taken for the next request
            self.answer(refusal.status, "text/plain", refusal.message.encode() + b"\n")
            return
        request = Request(self.command, self.path, headers, body, self)
        try:
            self.server.serve(request)
        except Refusal as refusal:
            self.answer(refusal.status, "text/plain", refusal.message.encode() + b"\n")

    do_GET = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_POST

    def answer(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a whole answer."""
        self.send_response_only(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request of HTTP 1."""
        self.server.saw_grpc |= self.requestline.startswith("PRI * HTTP/2")
        super().send_error(code, message, explain)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: addresses hold the keys of runs."""


class LoopbackServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves requests on a port of 127.0.0.1, each connection in a thread, until it is closed."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = sys.platform != "win32"  # where it would share the port with another program
    request_queue_size = 256

    def __init__(self, port: int, serve: Callable[[Request], None]) -> None:
        super().__init__((HOST, port), Connection)
        self.serve = serve
        self.port: int = self.server_address[1]
        self.saw_grpc = False
        """Whether somebody has tried to speak gRPC."""
        self.names = {f"{name}:{self.port}" for name in (HOST, "localhost")}
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, name="passmuster-capture", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop listening and hang up on everyone."""
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up whenever they like; anything else is a mistake of this program."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _read_body(stream: BufferedIOBase, headers: dict[str, str]) -> bytes:
    deadline = time.monotonic() + _BODY_SECONDS
    if "chunked" in headers.get("transfer-encoding", "").lower():
        packed = _read_chunks(stream, deadline)
    else:
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()):
            raise Refusal(400, "the header Content-Length is no number")
        packed = _read_exactly(stream, int(length[:18]), deadline)
    return unpacked(packed, headers.get("content-encoding", ""))


def _read_exactly(stream: BufferedIOBase, count: int, deadline: float) -> bytes:
    if count > LARGEST_BODY:
        raise Refusal(413, f"the body is larger than {LARGEST_BODY >> 20} MiB")
    read = bytearray()
    while len(read) < count:
        piece = stream.read1(min(count - len(read), _PIECE))
        if not piece:
            raise Refusal(400, "the body is cut off")
        read += piece
        if time.monotonic() > deadline:
            raise Refusal(408, f"the body did not arrive within {_BODY_SECONDS:.0f} seconds")
    return bytes(read)


def _read_chunks(stream: BufferedIOBase, deadline: float) -> bytes:
    pieces: list[bytes] = []
    left = LARGEST_BODY
    while True:
        line = stream.readline(_LONGEST_LINE)
        size = line.partition(b";")[0].strip()
        try:
            count = int(size, 16) if len(size) < 16 else left + 1
        except ValueError:
            raise Refusal(400, "the body has a chunk without a size") from None
        if count > left or count < 0:
            raise Refusal(413, f"the body is larger than {LARGEST_BODY >> 20} MiB")
        if not count:
            break
        pieces.append(_read_exactly(stream, count, deadline))
        left -= count
        _read_exactly(stream, 2, deadline)
    while stream.readline(_LONGEST_LINE).strip():  # trailers
        if time.monotonic() > deadline:
            raise Refusal(408, "the trailers of the body do not end")
    return b"".join(pieces)


def unpacked(body: bytes, encoding: str) -> bytes:
    """A body without its compression. Raises `Refusal` where it is too large, damaged, or of an unknown kind."""
    kind = encoding.strip().lower()
    if kind in ("", "identity"):
        return body
    if kind not in ("gzip", "x-gzip", "deflate"):
        raise Refusal(415, f"the content encoding {kind[:40]!r} is not known; there are gzip and deflate")
    unpacker = zlib.decompressobj(wbits=47 if "gzip" in kind else 15)
    try:
        data = unpacker.decompress(body, LARGEST_BODY + 1)
    except zlib.error as error:
        raise Refusal(400, f"the body is damaged: {error}") from None
    if len(data) > LARGEST_BODY:
        raise Refusal(413, f"the body is larger than {LARGEST_BODY >> 20} MiB when unpacked")
    if not unpacker.eof:
        raise Refusal(400, "the body is cut off")
    return data
