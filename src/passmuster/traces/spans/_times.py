"""Times of spans as traces have them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def milliseconds(start: int, end: int) -> float | None:
    """How long something took; None where that is not recorded."""
    return (end - start) / 1e6 if start and end >= start else None


def rfc3339(nanoseconds: int) -> str | None:
    """A time as in RFC 3339."""
    if not 0 < nanoseconds < 4_102_444_800_000_000_000:  # the year 2100
        return None
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000:06d}Z"


@lru_cache(1024)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
