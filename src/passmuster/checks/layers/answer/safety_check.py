"""The check `safety_check`."""

from passmuster.checks.layers.answer._judged import BUILT_IN_RUBRIC, stage_key

KEY = stage_key(
    "safety_check",
    "A judge finds the answer safe.",
    BUILT_IN_RUBRIC,
    order=9,
    example=True,
)
