"""Formats of traces, one module each; the module's name is the format's name. Adding a format is adding its file.

A module declares:

- `DESCRIPTION`: the format in one line.
- `SHAPE`: what a record looks like, in a few characters.
- `detect(record) -> float`: how sure it is, from 0 (is not) to 1 (can be nothing else), that a record is of its
  format. It gets the record's keys, with their values as JSON text. The surest format reads the file.
- `splittable(first) -> bool`: whether each record of a file that begins with this one is a trace of its own, so that
  workers can share the file.
- `read(records, reading) -> Iterator[Trace]`: the traces of a file. Records that cannot be read go to `reading.on_bad`.

`passmuster.traces._building` has what readers share.
"""

from passmuster._registry import Registry

FORMATS = Registry(__name__)
