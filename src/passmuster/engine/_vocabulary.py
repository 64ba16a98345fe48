"""The suite language as a whole: what each package contributes to it."""

from __future__ import annotations

from collections.abc import Collection

from passmuster.scoring import gate_vocabulary
from passmuster.suite import TEXT, Choice, Custom, Vocabulary, read_matcher, read_policy

__all__ = ["vocabulary"]


def vocabulary(report_formats: Collection[str] | None = None) -> Vocabulary:
    """Value types by name; without `report_formats`, any name of a report is accepted."""
    return {
        **gate_vocabulary(),
        "matcher": Custom("a matcher", read_matcher, {}),
        "policy": Custom("a policy file", lambda reader, node, at: reader.linked(node, at, read_policy), {}),
        "report_format": Choice(*report_formats) if report_formats else TEXT,
    }
