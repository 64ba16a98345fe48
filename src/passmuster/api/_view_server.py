"""A server for one person on one machine: read-only, on loopback, at an address that nobody can guess."""

from __future__ import annotations

import secrets
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from passmuster._problems import InputError
from passmuster.api._view import ReportViewer

_HOST = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MOST_DIGITS = 18


class ViewServer:
    """Serves a viewer's pages until it is closed. The token in the address keeps other users and pages out."""

    def __init__(self, viewer: ReportViewer) -> None:
        self._path = f"/{secrets.token_urlsafe(24)}/"
        self._server = ThreadingHTTPServer((_HOST, 0), _handler(viewer, self._path))
        self._server.daemon_threads = True
        self.address = f"http://{_HOST}:{self._server.server_address[1]}{self._path}"

    def serve(self) -> None:
        """Answer requests until the process is interrupted."""
        try:
            self._server.serve_forever()
        finally:
            self._server.server_close()

    def close(self) -> None:
        """Stop serving, from another thread."""
        self._server.shutdown()


def _handler(viewer: ReportViewer, path: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "passmuster", ""
        timeout = 30

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            # A page of another site that resolves its name to this address would send that name.
            own_name = self.headers.get("Host") == f"{_HOST}:{self.server.server_address[1]}"  # type: ignore[index]
            if not own_name or not secrets.compare_digest(asked.path.encode("utf-8", "replace"), path.encode()):
                self._answer(HTTPStatus.NOT_FOUND, b"Not found\n", "text/plain")
                return
            given = parse_qs(asked.query)
            try:
                page = viewer.page(_number(given.get("run")), _number(given.get("against")))
            except InputError as error:
                words = escape("; ".join(map(str, error.problems)))
                self._answer(HTTPStatus.NOT_FOUND, f"<!doctype html><p>{words}</p>".encode(), "text/html")
                return
            self._answer(HTTPStatus.OK, page, "text/html")

        def _answer(self, status: HTTPStatus, data: bytes, kind: str) -> None:
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """The token is nobody's business."""

    return Handler


def _number(given: list[str] | None) -> int | None:
    text = given[0] if given else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
