"""One request to a model's API and its answer, as they passed through."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from passmuster.agents.capture._http import Refusal, unpacked
from passmuster.agents.capture._streams import assembled, without_calls

Ending = Literal["whole", "cut", "cancelled"]
"""Whether the whole answer passed, the API hung up before, or the agent did."""
_decode = msgspec.json.Decoder().decode


class Exchange(Struct):
    """A request and its answer. No header of the request is kept."""

    api: str | None
    """The API of the model that it speaks; None where it is no model call."""
    vendor: str
    method: str
    path: str
    """Below the address of the API, with the query."""
    sent: bytes
    started: float
    """Seconds since 1970."""
    status: int = 0
    kind: str = ""
    """The content type of the answer."""
    encoding: str = ""
    received: bytearray = msgspec.field(default_factory=bytearray)
    too_large: bool = False
    """Whether the answer passed without being kept."""
    ending: Ending = "cut"
    seconds: float = 0.0
    replayed: bool = False
    """Whether the answer is one of a tape."""

    @property
    def is_stream(self) -> bool:
        return self.kind.startswith("text/event-stream")

    @property
    def refused(self) -> bool:
        """Whether the API answered that it does not answer."""
        return self.status >= 400

    @property
    def outage(self) -> str | None:
        """What went wrong outside the agent; None where nothing did."""
        if self.status == 429:
            return "it refused a request as one too many (429)"
        if self.status >= 500 or self.status == 408:
            return f"it answered a request with {self.status}"
        if self.ending == "cut":
            return "it broke off an answer" if self.status else "it broke off a connection"
        return None

    def record(self) -> dict[str, Any]:
        """The model call as a record of the format `model_calls`. Raises `ValueError` where it cannot be read."""
        assert self.api is not None
        if self.too_large:
            raise ValueError("its answer is too large to be kept")
        try:
            request = _decode(self.sent)
            response = self._answer(self.api)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, Refusal) as error:
            raise ValueError(f"{error}") from error
        if not isinstance(request, dict) or not isinstance(response, dict):
            raise ValueError("expected JSON objects")
        return {
            "request": request,
            "response": response,
            "started_at": datetime.fromtimestamp(self.started, UTC).isoformat(timespec="milliseconds"),
            "duration_ms": round(self.seconds * 1000, 3),
        }

    def _answer(self, api: str) -> Any:
        data = b"" if self.ending != "whole" and self.encoding else unpacked(bytes(self.received), self.encoding)
        if self.is_stream:
            answer, whole = assembled(api, data, ended=self.ending == "whole")
            if not whole and self.ending != "cancelled":
                self.ending = "cut"
                return without_calls(api, answer)
            return answer
        return _decode(data) if self.ending == "whole" else without_calls(api, {})
