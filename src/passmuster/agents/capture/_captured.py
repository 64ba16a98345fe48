"""What is known of a run when it has ended."""

from __future__ import annotations

from msgspec import Struct

from passmuster.traces import Trace


class Captured(Struct, frozen=True):
    """A run as it was observed."""

    trace: Trace
    """All sources merged. `calls_unknown` where none of them could have shown tool calls; with an `error` of kind infra
    where the observation is not complete."""
    sources: tuple[str, ...] = ()
    """Where something came from: `opentelemetry`, `model_api`, `returned`."""
    notices: tuple[str, ...] = ()
    """What a user should know: why calls are unknown and how to capture them, requests that failed."""
