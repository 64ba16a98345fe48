"""The parts of the input that are evaluated separately: byte ranges of large files, whole files otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from passmuster.traces import Source, is_splittable

_ALONE = 32_000_000
"""Bytes of input below which one process is fastest."""
_SMALLEST, LARGEST_PART = 4 << 20, 16 << 20


class Part(Struct, frozen=True):
    """A file, or the records of it that begin within a range of bytes."""

    source: Source
    start: int = 0
    end: int | None = None

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.source.size if self.end is None else self.end - self.start

    def __str__(self) -> str:
        return self.source.name if self.end is None else f"{self.source.name}, bytes {self.start} to {self.end}"


def cut(sources: Sequence[Source], workers: int, part_bytes: int | None = None) -> list[Part]:
    """The parts in the order of the input, enough to keep all workers busy to the end."""
    if workers == 1 and part_bytes is None:
        return [Part(source) for source in sources]
    sizes = [source.size for source in sources]
    length = part_bytes or min(LARGEST_PART, max(_SMALLEST, sum(sizes) // (workers * 4)))
    parts: list[Part] = []
    for source, size in zip(sources, sizes, strict=True):
        if size <= length or not is_splittable(source):
            parts.append(Part(source))
        else:
            parts += [Part(source, start, min(start + length, size)) for start in range(0, size, length)]
    return parts


def worker_count(asked: int | None, sources: Sequence[Source]) -> int:
    """How many processes to use: what was asked for, else one for small input and one per CPU for large."""
    if asked is not None:
        return asked
    if sum(source.size for source in sources) < _ALONE:
        return 1
    return available_cpus()


def available_cpus() -> int:
    """The CPUs this process may really use, by affinity and by the container's quota."""
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cpus = os.cpu_count() or 1
    quota = _quota(Path("/sys/fs/cgroup"))
    return max(1, cpus if quota is None else min(cpus, int(quota)))


def _quota(cgroup: Path) -> float | None:
    """The CPU quota of the control group, in CPUs; None if there is none."""
    try:
        granted, period = (cgroup / "cpu.max").read_text().split()
        return None if granted == "max" else int(granted) / int(period)
    except (OSError, ValueError):
        pass
    try:
        granted = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text()
        period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text()
        return int(granted) / int(period) if int(granted) > 0 else None
    except (OSError, ValueError):
        return None
