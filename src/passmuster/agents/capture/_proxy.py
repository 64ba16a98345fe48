"""The proxy between an agent and the API of its model. Answers are passed on as they arrive, and recorded."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from passmuster.agents.capture._cassette import Cassette, entry_of, fingerprint
from passmuster.agents.capture._disconnects import Disconnects
from passmuster.agents.capture._exchange import Exchange
from passmuster.agents.capture._http import LARGEST_BODY, Connection, Refusal, Request
from passmuster.agents.capture._model_apis import ModelApi, api_of_call, path_of
from passmuster.agents.capture._nearest_request import not_on_tape
from passmuster.agents.capture._observed_run import ObservedRun
from passmuster.agents.capture._upstream import Upstream, abort, place_of
from passmuster.redaction import is_secret_name

_PIECE = 1 << 16
_OF_CONNECTION = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "proxy-connection", "expect"}
)
"""Headers that are not passed on: they are about one connection."""
_OWN = _OF_CONNECTION | {"host", "content-length", "content-encoding", "accept-encoding"}
_NO_BODY = (204, 304)
_SHORTEST_CREDENTIAL = 8


class Proxy:
    """Passes requests on, or answers them from a tape. Credentials are in headers, and no header is kept."""

    def __init__(self, environment: Mapping[str, str], cassette: Cassette | None) -> None:
        self._cassette = cassette
        self._upstream = Upstream(environment)
        self._disconnects = Disconnects()

    def close(self) -> None:
        self._disconnects.close()
        self._upstream.close()

    def serve(self, request: Request, api: ModelApi, path: str, run: ObservedRun | None) -> None:
        """Answer a request with what the API answers; record it for its run."""
        rest = path_of(api, path)
        credentials = _credentials(request.headers)
        exchange = Exchange(
            api=api_of_call(request.method, rest),
            vendor=api.vendor,
            method=request.method,
            path=_without_secrets(rest),
            sent=_hidden(request.body, credentials),
            started=time.time(),
        )
        begun = time.monotonic()
        if run is not None:
            run.begin()
        try:
            if self._cassette is None or not self._cassette.plays or not self._play(request, run, exchange):
                self._pass_on(request, api, rest, exchange)
        finally:
            exchange.seconds = time.monotonic() - begun
            if any(one in exchange.received for one in credentials):
                exchange.received = bytearray(_hidden(bytes(exchange.received), credentials))
            if run is not None:
                run.end(exchange)

    def _play(self, request: Request, run: ObservedRun | None, exchange: Exchange) -> bool:
        """Answer from the tape, or refuse what it does not have; False where the model has to be asked."""
        assert self._cassette is not None
        asked = entry_of(exchange)
        name, times = "", 0
        if run is not None:
            with run.changed:
                key = fingerprint(asked)
                name, times = run.name, run.asked[key]
                run.asked[key] += 1
        entry = self._cassette.find(asked, name, times)
        if entry is None and self._cassette.records:
            return False
        exchange.replayed = True
        if entry is None:
            message = not_on_tape(asked, self._cassette)
            if run is not None:
                run.not_on_tape.append(message)
            exchange.status, exchange.ending = 404, "whole"
            request.connection.answer(404, "application/json", _error(message), {"x-should-retry": "false"})
            return True
        exchange.status, exchange.kind, exchange.ending = entry.status, entry.kind, "whole"
        exchange.received += entry.body()
        request.connection.answer(entry.status, entry.kind, entry.body())
        return True

    def _pass_on(self, request: Request, api: ModelApi, path: str, exchange: Exchange) -> None:
        place = place_of(api.base)
        try:
            upstream = self._upstream.connect(place)
        except OSError as error:
            exchange.status = 502
            message = f"cannot reach {place.scheme}://{place.host}:{place.port}: {error.strerror or error}"
            request.connection.answer(502, "application/json", _error(message))
            return
        client = request.connection
        try:
            with self._disconnects.watched(client.connection, lambda: _cancel(exchange, upstream)):
                _send(upstream, request, api.base, path)
                answer = upstream.getresponse()
                _relay(answer, client, exchange)
        except ValueError as error:  # headers or a path that no request can have
            upstream.close()
            raise Refusal(400, str(error)) from error
        except (OSError, http.client.HTTPException):
            client.close_connection = True  # so that the agent sees an answer break off, as it would without a proxy
            upstream.close()
        else:
            # A client that has its answer may hang up before this thread gets here.
            if answer.will_close or exchange.ending == "cancelled":
                upstream.close()
            else:
                self._upstream.keep(place, upstream)
            exchange.ending = "whole"


def _cancel(exchange: Exchange, upstream: http.client.HTTPConnection) -> None:
    exchange.ending = "cancelled"
    abort(upstream)


def _send(upstream: http.client.HTTPConnection, request: Request, base: str, path: str) -> None:
    authority, slash, prefix = base.partition("://")[2].partition("/")
    upstream.putrequest(request.method, f"{slash}{prefix}{path}" or "/", skip_host=True, skip_accept_encoding=True)
    upstream.putheader("Host", authority)
    named = {name.strip().lower() for name in request.headers.get("connection", "").split(",")}
    for name, value in request.headers.items():
        if name not in _OWN and name not in named:
            upstream.putheader(name, value)
    upstream.putheader("Accept-Encoding", "identity")
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        upstream.putheader("Content-Length", str(len(request.body)))
    upstream.endheaders(request.body or None)


def _relay(answer: http.client.HTTPResponse, client: Connection, exchange: Exchange) -> None:
    """Pass an answer on, piece by piece. Raises `OSError` or `HTTPException` where either side hangs up."""
    exchange.status = answer.status
    exchange.kind = answer.headers.get("content-type", "")
    exchange.encoding = answer.headers.get("content-encoding", "")
    client.send_response_only(answer.status, answer.reason)
    for name, value in answer.getheaders():
        if name.lower() not in _OF_CONNECTION:
            client.send_header(name, value)
    empty = client.command == "HEAD" or answer.status in _NO_BODY
    chunked = not empty and "content-length" not in answer.headers and client.request_version == "HTTP/1.1"
    if chunked:
        client.send_header("Transfer-Encoding", "chunked")
    elif not empty and "content-length" not in answer.headers:
        client.close_connection = True
    client.end_headers()
    while piece := answer.read1(_PIECE):
        _keep(exchange, piece)
        try:
            client.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        except OSError:
            exchange.ending = "cancelled"
            raise
    told_its_end = answer.chunked or answer.length is not None
    if answer.length or (exchange.ending == "cancelled" and not told_its_end):
        raise http.client.IncompleteRead(b"")
    answer.close()
    if chunked:
        with suppress(OSError):
            client.wfile.write(b"0\r\n\r\n")


def _keep(exchange: Exchange, piece: bytes) -> None:
    if len(exchange.received) + len(piece) > LARGEST_BODY:
        exchange.too_large = True
        exchange.received.clear()
    elif not exchange.too_large:
        exchange.received += piece


def _credentials(headers: Mapping[str, str]) -> list[bytes]:
    """What a request proves with who sends it."""
    values = [headers.get(name, "").rpartition(" ")[2] for name in ("authorization", "x-api-key", "api-key")]
    return [value.encode() for value in values if len(value) >= _SHORTEST_CREDENTIAL]


def _hidden(data: bytes, credentials: list[bytes]) -> bytes:
    for credential in credentials:
        data = data.replace(credential, b"[credential]") if credential in data else data
    return data


def _without_secrets(path: str) -> str:
    """A path whose query has no credentials."""
    plain, _, query = path.partition("?")
    kept = [part for part in query.split("&") if part and not is_secret_name(part.partition("=")[0])]
    return f"{plain}?{'&'.join(kept)}" if kept else plain


def _error(message: str) -> bytes:
    """An error as both vendors word it."""
    return msgspec.json.encode({"type": "error", "error": {"type": "passmuster_proxy", "message": message}})
