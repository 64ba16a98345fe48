"""CrewAI, as OpenLLMetry records it: `crewai.task.*` beside `gen_ai.*`."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import text

HEADS = frozenset({"crewai"})


def add(span: Span, facts: Facts) -> None:
    """Read what a task asks for, which the model is given within a prompt."""
    asked = text(span.attributes.get("crewai.task.description"))
    if facts.kind in ("agent", "step") and facts.read_query is None and asked:
        facts.read_query = lambda: asked
