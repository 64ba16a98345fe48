"""The formats that traces are read in, as their modules declare them."""

from __future__ import annotations

from msgspec import Struct

from passmuster.traces.formats import FACTS, FORMATS


class TraceFormat(Struct, frozen=True):
    """One format of traces."""

    name: str
    description: str
    record: str
    """What a record looks like, by which the format is detected."""
    carries: tuple[str, ...]
    lacks: tuple[str, ...]
    """Facts that a file of this format cannot have, at all or reliably."""


def describe_formats() -> list[TraceFormat]:
    """All formats, by name."""
    found = []
    for name, module in FORMATS.items():
        carries = tuple(fact for fact in FACTS if fact not in module.LACKS)
        found.append(TraceFormat(name, module.DESCRIPTION, module.SHAPE, carries, module.LACKS))
    return found
