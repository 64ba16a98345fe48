"""Spans that a program, or LiveKit, records around its tools: a tool's name and arguments."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, text

_TOOL = ("tool", "tool_name", "tool.name", "lk.function_tool.name")
_ARGUMENTS = (
    "arguments",
    "args",
    "tool_arguments",
    "tool_args",
    "tool_input",
    "parameters",
    "tool.arguments",
    "tool.input",
    "lk.function_tool.arguments",
)
_RESULT = ("result", "tool_result", "tool_output", "tool.result", "tool.output", "output", "lk.function_tool.output")
HEADS = frozenset({"tool", "tool_name", "query", "agent", "lk"})


def add(span: Span, facts: Facts) -> None:
    """Read a span that names a tool and its arguments; an agent's own span may state the query."""
    attributes = span.attributes
    if facts.kind == "" and (name := text(first(attributes, _TOOL))):
        facts.kind = "tool"
        fill(
            facts,
            tool=name,
            call_id=text(first(attributes, ("tool_call_id", "tool.call_id", "call_id", "lk.function_tool.id"))),
        )
        given, made = first(attributes, _ARGUMENTS), first(attributes, _RESULT)
        if given is not None:
            facts.arguments = arguments_of(given)
        if made is not None:
            facts.result = made
        if attributes.get("lk.function_tool.is_error") is True:
            fill(facts, error=text(made) or "failed")
    elif facts.kind in ("", "step") and facts.read_query is None:
        facts.read_query = lambda: text(attributes.get("query"))
