"""The lines of the spans in a record."""

from __future__ import annotations

from passmuster.traces._records import Record


class Lines:
    """The line of each span of a record. In a document over several lines, spans are found by their ids."""

    def __init__(self, record: Record) -> None:
        self._record = record
        data = bytes(record.data)
        self._data = data if not record.line and data.count(b"\n", 0, len(data) - 1) else None
        self._place, self._line = 0, 1
        self._whole = record.offset, record.line or 1

    def of(self, span_id: str) -> tuple[int, int]:
        """The byte and the line of a span. Spans have to be asked for in the order of the record."""
        if self._data is None:
            return self._whole
        found = self._data.find(f'"{span_id}"'.encode(), self._place)
        if found >= 0:
            self._line += self._data.count(b"\n", self._place, found)
            self._place = found
        return self._record.offset + self._place, self._line
