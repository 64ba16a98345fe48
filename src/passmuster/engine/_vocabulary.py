"""The suite language as a whole: what each package contributes to it."""

from __future__ import annotations

from collections.abc import Collection

from passmuster.checks import VOCABULARY
from passmuster.scoring import gate_vocabulary
from passmuster.suite import TEXT, Choice, Vocabulary

__all__ = ["vocabulary"]


def vocabulary(report_formats: Collection[str] = ()) -> Vocabulary:
    """Value types by name; without `report_formats`, any name of a report is accepted."""
    return {
        **gate_vocabulary(),
        **VOCABULARY,
        "report_format": Choice(*report_formats) if report_formats else TEXT,
    }
