"""The semantic conventions for generative AI of OpenTelemetry: `gen_ai.*`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from msgspec import UNSET, Struct

from passmuster.traces.spans._facts import Facts, Kind, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._said import last_text
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import amount, first, from_json, opened, text, whole

HEADS = frozenset({"gen_ai"})

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "completion", "message", "responses"), "model"),
    **dict.fromkeys(("chat.completions", "chat.streaming_completions", "text.completions", "response"), "model"),
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "handoff": "handoff",
    **dict.fromkeys(("create_agent", "invoke_workflow", "embeddings", "execute_task", "retrieval", "plan"), "step"),
    **dict.fromkeys(("execute_event_loop_cycle", "rerank", "invoke_swarm", "invoke_graph", "search_memory"), "step"),
}
_UNSTATED = "<not specified>"
"""What ADK writes for the id and the result of a call that was cut short."""
_NO_TOOL = ("(merged tools)", "(merged)")
"""What ADK calls the span that joins the results of parallel calls."""


class _Names(Struct, frozen=True):
    """Where the facts of a span may stand, the surest place first."""

    model: tuple[str, ...] = ("gen_ai.response.model", "gen_ai.request.model")
    tokens_in: tuple[str, ...] = (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "gen_ai.response.prompt_tokens"),
    )
    tokens_out: tuple[str, ...] = (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "gen_ai.response.completion_tokens"),
    )
    tokens_cached: tuple[str, ...] = (
        *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        *("gen_ai.usage.cached_tokens", "gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.details.cached_tokens"),
    )
    cost: tuple[str, ...] = (
        *("gen_ai.usage.cost", "gen_ai.cost.total_cost", "operation.cost", "gen_ai.usage.total_cost"),
    )
    arguments: tuple[str, ...] = (
        *("gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.args", "gen_ai.tool.arguments"),
    )
    result: tuple[str, ...] = (
        *("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.result", "gen_ai.tool.message"),
    )
    agent: tuple[str, ...] = ("gen_ai.agent.name",)
    function: tuple[str, ...] = ("code.function.name",)
    """Of a function that Google's SDK calls itself."""


_ALL = _Names()
_SIGNS_OF_A_MODEL = (*_ALL.tokens_in, *_ALL.tokens_out, "gen_ai.output.messages")
_CODE = "code.function."
"""Where Google's SDK records the functions that it calls itself: a text and a type per parameter."""


def prepare(names: Collection[str], events: Collection[str]) -> Callable[[Span, Facts], None]:
    """What reads spans whose attributes have these names, and no others."""
    there = {place: tuple(one for one in getattr(_ALL, place) if one in names) for place in _ALL.__struct_fields__}
    return partial(_add, _Names(**there))


def add(span: Span, facts: Facts) -> None:
    """Read the current conventions."""
    _add(_ALL, span, facts)


def _add(names: _Names, span: Span, facts: Facts) -> None:
    attributes = span.attributes
    kind = facts.kind
    if not kind:
        kind = facts.kind = _kind(attributes)
    if names.agent and facts.agent is None:
        facts.agent = text(first(attributes, names.agent))
    if kind == "model":
        _add_model_call(names, attributes, facts)
    elif kind == "tool":
        _add_tool_call(names, attributes, facts)
    elif kind == "handoff":
        target = text(attributes.get("gen_ai.handoff.to_agent"))
        fill(facts, agent=text(attributes.get("gen_ai.handoff.from_agent")), to=target if target != "unknown" else None)
    elif kind in ("agent", "step"):
        given, made = attributes.get("gen_ai.input.messages"), attributes.get("gen_ai.output.messages")
        if facts.read_query is None and given is not None:
            facts.read_query = lambda: last_text(conversation(given), "user")
        if facts.read_answer is None and made is not None:
            facts.read_answer = lambda: last_text(conversation(made, "assistant")[-1:], "assistant")


def _kind(attributes: dict[str, Any]) -> Kind:
    operation, tool = attributes.get("gen_ai.operation.name"), attributes.get("gen_ai.tool.name")
    if tool and tool in _NO_TOOL:
        return "step"
    if isinstance(operation, str) and operation in _KINDS:
        return _KINDS[operation]
    if tool and not isinstance(operation, str):
        return "tool"
    if "tool" not in str(operation) and attributes.get("gen_ai.request.model"):
        return "model" if first(attributes, _SIGNS_OF_A_MODEL) is not None else ""
    return ""


def is_model_call(span: Span) -> bool:
    """Whether a span is a model call by these conventions."""
    return _kind(span.attributes) == "model"


def _add_model_call(names: _Names, attributes: dict[str, Any], facts: Facts) -> None:
    if facts.model is None:
        facts.model = text(first(attributes, names.model))
    if facts.response_id is None:
        facts.response_id = text(attributes.get("gen_ai.response.id"))
    if facts.tokens_in is None:
        facts.tokens_in = whole(first(attributes, names.tokens_in))
    if facts.tokens_out is None:
        facts.tokens_out = whole(first(attributes, names.tokens_out))
    if names.tokens_cached and facts.tokens_cached is None:
        facts.tokens_cached = whole(first(attributes, names.tokens_cached))
    if names.cost and facts.cost is None:
        facts.cost = amount(first(attributes, names.cost))
    if facts.given is None and facts.read_inputs is None:
        facts.given = attributes.get("gen_ai.input.messages")
    if facts.outputs is None:
        made = attributes.get("gen_ai.output.messages")
        if made is not None:
            facts.outputs = conversation(made, "assistant")


def _add_tool_call(names: _Names, attributes: dict[str, Any], facts: Facts) -> None:
    if facts.tool is None:
        facts.tool = text(attributes.get("gen_ai.tool.name"))
    if facts.call_id is None:
        identity = text(attributes.get("gen_ai.tool.call.id"))
        facts.call_id = None if identity == _UNSTATED else identity
    for name in names.arguments:
        if name in attributes:
            if facts.arguments is UNSET:
                facts.written_arguments = attributes[name]
            break
    for name in names.result:
        if facts.result is UNSET and name in attributes:
            facts.result = attributes[name]
    if names.function and _CODE + "name" in attributes and facts.arguments is UNSET:
        _add_function(attributes, facts)


def _add_function(attributes: dict[str, Any], facts: Facts) -> None:
    start = len(_CODE + "parameters.")
    values = {key[start:-6]: value for key, value in attributes.items() if _is_parameter(key)}
    if values:
        kinds = {name: attributes.get(f"{_CODE}parameters.{name}.type") for name in values}
        facts.arguments = {name: _typed(value, kinds[name]) for name, value in values.items()}
    if facts.result is UNSET and _CODE + "return.value" in attributes:
        facts.result = _typed(attributes[_CODE + "return.value"], attributes.get(_CODE + "return.type"))


def _is_parameter(key: str) -> bool:
    return key.startswith(_CODE + "parameters.") and key.endswith(".value")


def _typed(value: Any, kind: Any) -> Any:
    """A value that is written as text, as its type."""
    if not isinstance(value, str) or kind in ("str", None):
        return value
    if kind == "bool":
        return value == "True" if value in ("True", "False") else value
    inner = from_json(value) if kind in ("int", "float") else opened(value)
    return value if inner is None else inner
