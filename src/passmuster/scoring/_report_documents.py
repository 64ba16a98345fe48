"""The parts of a JSON report that any version may have written: what is missing or of another kind reads as absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Document = Mapping[str, Any]


class Side(Struct, frozen=True):
    """A report in short."""

    suite: str | None
    suite_file: str | None
    suite_sha256: str | None
    version: str | None
    """Of the program that wrote it."""
    verdict: str | None
    exit_code: int | None
    partial: bool
    skipped_runs: int = 0
    """Runs of a live run that did not take place, because the verdict was known without them."""


class Figure(Struct, frozen=True):
    """A metric in one report."""

    value: float | None
    n: int | None
    ci95: tuple[float, float] | None


def side(document: Document) -> Side:
    """What a report says of itself."""
    provenance, stopped = map_of(document.get("provenance")), map_of(document.get("early_stop"))
    return Side(
        suite=text_of(document.get("suite")),
        suite_file=text_of(document.get("suite_file")),
        suite_sha256=text_of(provenance.get("suite_sha256")),
        version=text_of(provenance.get("version")),
        verdict=text_of(document.get("verdict")),
        exit_code=whole_of(document.get("exit_code")),
        partial=document.get("partial") is True,
        skipped_runs=sum(whole_of(runs) or 0 for runs in map_of(stopped.get("skipped")).values()),
    )


def figure(found: Any) -> Figure | None:
    """A metric, or None."""
    if not isinstance(found, Mapping):
        return None
    interval = found.get("ci95")
    ends = [number_of(end) for end in interval] if isinstance(interval, (list, tuple)) else []
    low, high = ends if len(ends) == 2 else (None, None)
    ci95 = None if low is None or high is None else (low, high)
    return Figure(number_of(found.get("value")), whole_of(found.get("n")), ci95)


def by_id(document: Document, part: str) -> dict[str, Document]:
    """The tests or scenarios by their id."""
    return {text_of(case.get("id")) or "": case for case in maps_in(document, part)}


def maps_in(document: Document, part: str) -> list[Document]:
    """The maps in a list of the document."""
    found = document.get(part)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, (list, tuple)) else []


def map_of(found: Any) -> Document:
    """A map, or an empty one."""
    return found if isinstance(found, Mapping) else {}


def text_of(found: Any) -> str | None:
    """A text, or None."""
    return found if isinstance(found, str) else None


def whole_of(found: Any) -> int | None:
    """A whole number, or None."""
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number_of(found: Any) -> float | None:
    """A number that a float can hold, or None."""
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:
        return None
