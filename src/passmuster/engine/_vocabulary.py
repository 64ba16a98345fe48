"""The suite language as a whole: what each package contributes to it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from passmuster.checks import VOCABULARY
from passmuster.scoring import gate_vocabulary
from passmuster.suite import TEXT, Choice, Late, Value, Vocabulary


def vocabulary(report_formats: Collection[str] = ()) -> Vocabulary:
    """Value types by name; without `report_formats`, any name of a report is accepted."""
    return {
        **gate_vocabulary(),
        **VOCABULARY,
        "judge_config": Late("a map", _judge_config),
        "report_format": Choice(*report_formats) if report_formats else TEXT,
    }


def _judge_config() -> Value[Any]:
    from passmuster.judges import JUDGE_CONFIG  # late, for most suites ask no judge

    return JUDGE_CONFIG
