"""Questions that tests ask."""

from __future__ import annotations

from typing import Any

from passmuster.checks._question import Question


def question(answer: str = "Within 30 days.", **more: Any) -> Question:
    """A question about an answer."""
    given: dict[str, Any] = {"kind": "llm_judge", "rule": "States the refund period.", "query": "How long?", **more}
    return Question(answer=answer, **given)
