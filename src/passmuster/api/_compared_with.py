"""What a run is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from passmuster.suite import Suite
from passmuster.traces import Source

if TYPE_CHECKING:
    from passmuster.scoring import Baseline


def compared_with(
    suite: Suite, given: str | None, format: str | None = None
) -> tuple[Baseline | Sequence[Source], str | None]:
    """A recorded run or golden traces, and their name: what is given, else what the suite names, else nothing."""
    own = suite.baseline.file if suite.baseline else None
    if given is None and own is None:
        return (), None
    from passmuster.api._baseline_files import find_baseline  # late, for most runs have none

    return find_baseline(suite, given, Path.cwd(), format), given or own
