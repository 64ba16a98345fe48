"""The digests of trace files, so that a report says what it was made from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from passmuster._digest import digest_of
from passmuster.scoring import Report
from passmuster.traces import Source

_MOST_BYTES = 32 * 2**20
"""Larger input is not digested: it would take a noticeable part of the run."""
_MOST_FILES = 100
"""Files that are listed by name; the digest of all is over every one."""


def with_input_digests(report: Report, sources: Sequence[Source]) -> Report:
    """The report with the digest of each trace file as it is stored, and one of all together."""
    try:
        if any(source.remote for source in sources) or sum(source.size for source in sources) > _MOST_BYTES:
            return report
        found = {source.name: _file_digest(source.path) for source in sources}
    except OSError:  # it was there a moment ago; what was read is told, the digest is not
        return report
    every = digest_of(
        "".join(f"{digest}  {name}\n" for name, digest in sorted(found.items())).encode("utf-8", "backslashreplace")
    )
    listed = dict(sorted(found.items())[:_MOST_FILES])
    return replace(report, provenance=replace(report.provenance, inputs_sha256=every, inputs=listed))


def _file_digest(path: str) -> str:
    with open(path, "rb") as file:
        return digest_of(file.read())
