"""The option `similarity` of `min_sequence_similarity`."""

from __future__ import annotations

from passmuster.checks.layers._layer import LayerKey
from passmuster.suite import Choice

__all__ = ["KEY"]

KEY = LayerKey(
    Choice("lcs", "edit"),
    "How `min_sequence_similarity` measures: `lcs`, 2·LCS / (|P| + |R|), the default; `edit`, 1 − ED / max(|P|, |R|).",
    example="edit",
    needs="min_sequence_similarity",
)
