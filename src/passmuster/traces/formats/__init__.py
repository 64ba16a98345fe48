"""Formats of traces, one module each; the module's name is the format's name. Adding a format is adding its file.

A module declares:

- `DESCRIPTION`: the format in one line.
- `SHAPE`: what a record looks like, in a few characters.
- `LACKS`: which facts (`FACTS`) a file of this format cannot have, at all or reliably.
- `detect(record) -> float`: how sure it is, from 0 (is not) to 1 (can be nothing else), that a record is of its
  format. It gets the record's keys, with their values as JSON text. The surest format reads the file.
- `splittable(first) -> bool`: whether each record of a file that begins with this one is a trace of its own, so that
  workers can share the file.
- `read(records, reading) -> Iterator[Trace]`: the traces of a file. Records that cannot be read go to `reading.on_bad`.

A format may declare `ASKS_ITSELF = True`: its reader asks `reading.is_elsewhere` about the records that it does not
recognize, which is faster than having it asked about all.

A format whose files may not be text declares in addition:

* `detect_bytes(head) -> float`: the same for the first 4096 bytes (decompressed) of a file that is not text.
* `read_file(source, reading) -> Iterator[Trace]`: the traces of such a file.

`passmuster.traces._building` has what readers share.
"""

from passmuster._registry import Registry

FORMATS = Registry(__name__)

FACTS = (
    *("query", "answer", "arguments", "results", "errors", "groups", "agents", "handoffs"),
    *("model calls", "tokens", "cost", "times"),
)
"""What a trace may tell besides the names of the tools, in the order of reports."""
