"""Dialects: how instrumentations name what a span is about. Each is a small table of names.

A dialect declares `HEADS`, the first words of its attributes and events, and `add(span, facts)`, which fills in what it
finds. They are asked in this order, and the first to find a fact has it. A dialect with many names may also declare
`prepare(names, events)`, which gives the `add` for spans whose attributes and events have these names, or None if it
finds nothing in them: most spans of a file are alike.
"""

from collections.abc import Callable, Collection
from types import ModuleType

from passmuster.traces.spans._facts import Facts
from passmuster.traces.spans._span import Span
from passmuster.traces.spans.dialects import (
    braintrust,
    claude_code,
    crewai,
    genai,
    genai_events,
    langfuse,
    langsmith,
    litellm,
    mlflow,
    openai_agents,
    openinference,
    openllmetry,
    own_tools,
    pydantic_ai,
    vercel,
    vertex,
)

Add = Callable[[Span, Facts], None]

_ORDER = (
    *(
        openai_agents,
        langsmith,
        mlflow,
        langfuse,
        braintrust,
        vercel,
        claude_code,
        openinference,
        pydantic_ai,
        vertex,
        genai,
        genai_events,
        crewai,
    ),
    *(openllmetry, litellm, own_tools),
)

Prepare = Callable[[Collection[str], Collection[str]], Add | None]


def _prepare(dialect: ModuleType) -> Prepare:
    prepare: Prepare = getattr(dialect, "prepare", None) or (lambda names, events: dialect.add)
    return prepare


DIALECTS: tuple[tuple[frozenset[str], Prepare], ...] = tuple((dialect.HEADS, _prepare(dialect)) for dialect in _ORDER)
"""Each dialect: the first words of the names it knows, and what gives the reader of spans that have certain names."""
