"""A baseline as the file that is kept and reviewed: short lists are on one line."""

from __future__ import annotations

import re

import msgspec

from passmuster.reports.formats.json import encoded
from passmuster.scoring import Baseline

# A list of plain values, one per line. No string holds a raw line break, so what follows `[` is not part of one.
_LIST = re.compile(rb"\[\n[^\[\]{}]*\]")
_BREAK = re.compile(rb"\n *")


def encoded_baseline(baseline: Baseline) -> bytes:
    """The file's bytes."""
    document = {"schema": baseline.schema, **msgspec.to_builtins(baseline)}
    return _LIST.sub(_on_one_line, encoded(document))


def _on_one_line(found: re.Match[bytes]) -> bytes:
    return b"[" + _BREAK.sub(b" ", found[0][1:-1]).strip() + b"]"
