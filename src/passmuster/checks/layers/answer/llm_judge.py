"""The check `llm_judge`."""

from passmuster.checks.layers.answer._judged import RUBRICS, stage_key

KEY = stage_key(
    "llm_judge",
    "A judge's score of the answer by this rule reaches the threshold; of a list, for every one.",
    RUBRICS,
    order=8,
    example=[{"rule": "Apologizes.", "threshold": 0.7}],
)
