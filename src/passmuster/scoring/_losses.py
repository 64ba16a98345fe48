"""What readers could not account for, counted in bounded memory, and the gate lines about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from passmuster.scoring._bounds import bounded
from passmuster.scoring._report import GateLine
from passmuster.traces import Loss, Spot

_KEPT = 1_000
"""Kinds of losses that get a line each."""


class LossCount(Struct, order=True):
    """One kind of loss in one file: where it was met first, and how often."""

    found: str
    spot: Spot
    may_hold_call: bool
    count: int = 1


class LossTally(Struct):
    """The losses of a run. Those kept are the first in the order of file and words, however the traces were split."""

    counts: list[LossCount] = field(default_factory=list)
    total: int = 0

    def add(self, losses: Iterable[Loss]) -> None:
        """Count what the reader of one part lost."""
        met = [LossCount(bounded(loss.found), loss.spot, loss.may_hold_call) for loss in losses]
        if met:
            self.merge(LossTally(met, len(met)))

    def merge(self, other: LossTally) -> None:
        """Take in the losses of another part."""
        merged: dict[tuple[str, str, bool], LossCount] = {}
        for one in (*self.counts, *other.counts):
            known = merged.get(_key(one))
            if known is None:
                merged[_key(one)] = one
            else:
                known.spot = min(known.spot, one.spot)
                known.count += one.count
        self.counts = [merged[key] for key in sorted(merged)[:_KEPT]]
        self.total += other.total

    def lines(self, lines: Mapping[Spot, int]) -> Iterator[GateLine]:
        """A line for each kind of loss: a warning where it could hold a tool call, else for the record."""
        shown = 0
        for one in sorted(self.counts, key=lambda one: (one.spot, one.found)):
            shown += one.count
            place = f"{one.spot.file}:{lines[one.spot]}" if one.spot in lines else one.spot.file
            more = f" (and {one.count - 1} more like it)" if one.count > 1 else ""
            yield _line(place, f"not read: {one.found}{more}", one.may_hold_call)
        if shown < self.total:
            yield _line("losses", f"not read: {self.total - shown} more places in the trace files", True)


def _key(one: LossCount) -> tuple[str, str, bool]:
    return one.spot.file, one.found, one.may_hold_call


def _line(id_: str, message: str, may_hold_call: bool) -> GateLine:
    return GateLine("input", id_, "warning", "fail" if may_hold_call else "pass", message)
