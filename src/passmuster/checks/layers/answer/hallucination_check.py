"""The check `hallucination_check`."""

from passmuster.checks.layers.answer._judged import BUILT_IN_RUBRIC, stage_key

KEY = stage_key(
    "hallucination_check",
    "A judge finds every claim of the answer in the results of the trace's tools.",
    BUILT_IN_RUBRIC,
    order=10,
    example=True,
)
