"""Traces that a run read and was not asked to evaluate (`--sample`, `--since`, `--until`), and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from passmuster._problems import plural
from passmuster.scoring._report import GateLine


class LeftOut(Struct):
    """How many traces were left out, and why."""

    outside: int = 0
    """They began before `--since` or after `--until`."""
    untimed: int = 0
    """They do not say when they began."""
    unsampled: int = 0
    first: float | None = None
    """When the first of the timed traces began, in seconds since 1970, where times were asked for."""
    last: float | None = None

    @property
    def total(self) -> int:
        return self.outside + self.untimed + self.unsampled

    def began(self, seconds: float) -> None:
        """Note when a trace began."""
        self.first = seconds if self.first is None else min(self.first, seconds)
        self.last = seconds if self.last is None else max(self.last, seconds)

    def merge(self, other: LeftOut) -> None:
        self.outside += other.outside
        self.untimed += other.untimed
        self.unsampled += other.unsampled
        for seconds in (other.first, other.last):
            if seconds is not None:
                self.began(seconds)

    def why_nothing(self) -> str:
        """Why no trace is left to evaluate."""
        if self.unsampled:
            return f"the sample holds none of {plural(self.unsampled, 'trace')}: take a larger share"
        if self.first is None or self.last is None:
            return f"none of {plural(self.untimed, 'trace')} states when it began, which --since and --until go by"
        return f"no trace began in that time; those read began from {_written(self.first)} to {_written(self.last)}"

    def lines(self) -> Iterator[GateLine]:
        """A line about traces without a time: nobody knows whether they were asked for."""
        if self.untimed:
            noun = "trace does not state when it" if self.untimed == 1 else "traces do not state when they"
            message = f"{self.untimed} {noun} began, so --since and --until leave them out"
            yield GateLine("input", "untimed", "warning", "fail", message)


def _written(seconds: float) -> str:
    import datetime  # late, for few runs need it

    try:
        return f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.0f} seconds after 1970"
