"""How a run is carried out. None of it changes the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

ViolationFormat = Literal["jsonl", "parquet"]


class PartFiles(Struct, frozen=True):
    """What is written for every part of the input besides what the report says."""

    checkpoint: str | None = None
    """The folder that keeps what was counted in each part."""
    violations: str | None = None
    """The folder that all violations are written to."""
    violations_format: ViolationFormat = "jsonl"
    job: str = ""
    """A digest of all that can change what is counted in a part; names the files."""

    def __bool__(self) -> bool:
        return self.checkpoint is not None or self.violations is not None


def _nobody(note: str) -> None:
    """What nobody wants to know is not kept."""


class Execution(Struct, frozen=True, kw_only=True):
    """The processes that a run uses, and the files that it writes on the way."""

    workers: int = 1
    """At most so many at a time; 0 for as many as a cluster has."""
    executor: str | None = None
    """By its name; None: this process, or several if there are more workers than one."""
    ray_address: str | None = None
    """The Ray cluster to use; None: one that is started for this run."""
    files: PartFiles = PartFiles()
    tell: Callable[[str], None] = _nobody
    """Is told what the user should know besides the report."""


ONE_PROCESS = Execution()
