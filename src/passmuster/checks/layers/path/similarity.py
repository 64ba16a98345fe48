"""The option `similarity` of `min_sequence_similarity`."""

from passmuster.checks.layers._layer import LayerKey
from passmuster.suite import Choice

KEY = LayerKey(
    Choice("lcs", "edit"),
    "How `min_sequence_similarity` measures: `lcs`, 2·LCS / (|P| + |R|), the default; `edit`, 1 − ED / max(|P|, |R|).",
    example="edit",
    needs="min_sequence_similarity",
)
