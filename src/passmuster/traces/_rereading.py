"""Traces read again, by where they stand: for reports that show them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from passmuster.traces._model import Trace
from passmuster.traces._reading import BadLines, is_splittable, read_source
from passmuster.traces._sources import Source


def read_again(source: Source, offsets: Collection[int], ids: Collection[str] = ()) -> Iterator[Trace]:
    """The traces of a file that begin at these bytes, or have one of these ids.

    A file with a trace per line is read at these places only, any other from its beginning; there ids help to find
    the trace of a place inside it.
    """
    bad = BadLines(source, skip=True, accept_loss=True)
    if is_splittable(source) and not source.parquet:
        for offset in sorted(offsets):
            yield from read_source(source, bad, (offset, offset + 1))
        return
    for trace in read_source(source, bad):
        if trace.origin.offset in offsets or trace.trace_id in ids:
            yield trace
