"""What the proxy of model APIs adds to a request: `python -m bench.capture`.

Requests go to a server on loopback directly and through the proxy, by turns. Exit code 1 if the median differs by more
than 5 ms.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from passmuster.agents.capture import CaptureConfig, CaptureServer

BAR_MS = 5.0
REQUESTS = 500
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 20_000}]})
ANSWER = json.dumps({"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", "content": "y" * 2_000}}]})


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def milliseconds(connection: http.client.HTTPConnection, path: str) -> float:
    """How long one request takes."""
    begun = time.perf_counter()
    connection.request("POST", path, BODY, {"Content-Type": "application/json"})
    connection.getresponse().read()
    return (time.perf_counter() - begun) * 1000


def main() -> int:
    model = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    port = model.server_address[1]
    config = CaptureConfig(openai=f"http://127.0.0.1:{port}/v1")
    with CaptureServer(config, Path.cwd(), {}) as server:
        address = server.environment("bench")["OPENAI_BASE_URL"]
        direct = http.client.HTTPConnection("127.0.0.1", port)
        proxied = http.client.HTTPConnection(address.split("/")[2])
        path = "/" + address.split("/", 3)[3] + "/chat/completions"
        times = [(milliseconds(direct, "/v1/chat/completions"), milliseconds(proxied, path)) for _ in range(REQUESTS)]
        assert len(server.collect("bench", None).trace.model_calls) == REQUESTS
    model.shutdown()
    model.server_close()
    without, through = (statistics.median(column) for column in zip(*times, strict=True))
    added = through - without
    print(f"directly {without:.2f} ms, through the proxy {through:.2f} ms: {added:.2f} ms more (bar: {BAR_MS:g} ms)")
    return 0 if added <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
