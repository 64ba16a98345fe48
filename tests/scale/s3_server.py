"""A server that speaks enough of S3 for reading: listing, metadata and ranges of objects, with faults on demand."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_ERROR = "<Error><Code>{code}</Code><Message>{code}</Message></Error>"


class Bucket:
    """The objects of one bucket, and the faults that requests for them meet: `503`, `cut` or `slow`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.objects: dict[str, bytes] = {}
        self.faults: list[str] = []
        self.denied = False
        self.url = ""
        self._lock = threading.Lock()
        self.asked: list[str] = []
        """Every request: `list PREFIX`, `head KEY`, `get KEY FIRST-LAST`."""

    @property
    def sent(self) -> int:
        """Bytes of objects that were asked for."""
        ranges = [one.rpartition(" ")[2].split("-") for one in self.asked if one.startswith("get ")]
        return sum(int(last) + 1 - int(first) for first, last in ranges)

    def fault(self) -> str | None:
        with self._lock:
            return self.faults.pop(0) if self.faults else None


def _handler(bucket: Bucket) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._object(body=False)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if "list-type" in (asked := parse_qs(parts.query)):
                self._listing(asked.get("prefix", [""])[0], asked.get("delimiter", [""])[0])
            else:
                self._object(body=True)

        def _listing(self, prefix: str, delimiter: str) -> None:
            bucket.asked.append(f"list {prefix}")
            if self._path().strip("/") != bucket.name:
                return self._error(404, "NoSuchBucket")
            if bucket.denied:
                return self._error(403, "AccessDenied")
            if bucket.fault() == "503":
                return self._error(503, "SlowDown")
            found, folders = [], set()
            for key, data in sorted(bucket.objects.items()):
                rest = key.removeprefix(prefix)
                if not key.startswith(prefix):
                    continue
                if delimiter and delimiter in rest:
                    folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
                else:
                    found.append(
                        f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>{_etag(data)}</ETag>"
                        "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                    )
            common = "".join(f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in folders)
            text = f"<ListBucketResult><KeyCount>{len(found)}</KeyCount>{''.join(found)}{common}</ListBucketResult>"
            return self._send(200, text.encode(), {"Content-Type": "application/xml"})

        def _object(self, body: bool) -> None:
            if bucket.denied:
                return self._error(403, "AccessDenied", body)
            name, _, key = self._path().strip("/").partition("/")
            data = bucket.objects.get(key) if name == bucket.name else None
            if data is None:
                return self._error(404, "NoSuchKey", body)
            headers = {"ETag": _etag(data), "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
            if not body:
                bucket.asked.append(f"head {key}")
                return self._send(200, data, headers, body=False)
            status, piece = 200, memoryview(data)
            if stated := self.headers.get("Range"):
                first, _, last = stated.removeprefix("bytes=").partition("-")
                if int(first) >= len(data):
                    return self._error(416, "InvalidRange")
                status, piece = 206, memoryview(data)[int(first) : int(last) + 1 if last else None]
                headers["Content-Range"] = f"bytes {first}-{int(first) + len(piece) - 1}/{len(data)}"
            first_byte = int(headers.get("Content-Range", "bytes 0-").removeprefix("bytes ").partition("-")[0])
            bucket.asked.append(f"get {key} {first_byte}-{first_byte + len(piece) - 1}")
            fault = bucket.fault()
            if fault == "503":
                return self._error(503, "SlowDown")
            return self._send(status, piece, headers, fault=fault)

        def _path(self) -> str:
            return unquote(urlsplit(self.path).path)

        def _error(self, status: int, code: str, body: bool = True) -> None:
            self._send(status, _ERROR.format(code=code).encode(), {"Content-Type": "application/xml"}, body)

        def _send(
            self,
            status: int,
            data: bytes | memoryview,
            headers: dict[str, str],
            body: bool = True,
            fault: str | None = None,
        ) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if fault == "cut":
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
            elif fault == "slow":
                for begin in range(0, len(data), max(1, len(data) // 5)):
                    self.wfile.write(data[begin : begin + max(1, len(data) // 5)])
                    self.wfile.flush()
                    time.sleep(0.05)
            elif body:
                self.wfile.write(data)

    return Handler


def _etag(data: bytes) -> str:
    return f'"{hash(data) & (1 << 64) - 1:016x}"'


@contextmanager
def served(name: str = "traces") -> Iterator[Bucket]:
    """A bucket behind a port of its own."""
    bucket = Bucket(name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(bucket))
    server.daemon_threads = True
    bucket.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
