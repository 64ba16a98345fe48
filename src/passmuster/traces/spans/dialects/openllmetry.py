"""OpenLLMetry: `traceloop.*` beside `gen_ai.*`, and `llm.*` in older versions."""

from __future__ import annotations

from typing import Any

from passmuster.traces.spans._facts import Facts, Kind, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text, unflattened, whole
from passmuster.traces.spans.dialects import genai, genai_events
from passmuster.traces.spans.dialects.openinference import stated_answer, stated_query

HEADS = frozenset({"traceloop", "llm"})

_KINDS: dict[str, Kind] = {"tool": "tool", "agent": "agent", "workflow": "step", "task": "step", "unknown": "step"}
_ENVELOPE = ("input_str", "inputs")


def add(span: Span, facts: Facts) -> None:
    """Read what OpenLLMetry adds to the conventions."""
    attributes = span.attributes
    if not facts.kind and attributes.get("llm.request.type") in ("chat", "completion"):
        facts.kind = "model"
        genai.add(span, facts)
        genai_events.add(span, facts)
    stated = attributes.get("traceloop.span.kind")
    if not facts.kind and stated == "task" and text(attributes.get("tool.name")):
        _add_workflow_tool(attributes, facts)
    if not facts.kind and isinstance(stated, str):
        facts.kind = _KINDS.get(stated, "")
    fill(facts, agent=text(attributes.get("traceloop.association.properties.lc_agent_name")))
    name = text(attributes.get("traceloop.entity.name"))
    if facts.kind == "tool":
        fill(facts, tool=name or span.name.removesuffix(".tool"))
        _open_envelopes(attributes, facts)
    elif facts.kind == "agent":
        fill(facts, agent=name or span.name.removesuffix(".agent"))
    elif facts.kind == "model":
        fill(facts, tokens_in=whole(attributes.get("llm.usage.prompt_tokens")))
        fill(facts, tokens_out=whole(attributes.get("llm.usage.completion_tokens")))
        fill(facts, model=text(first(attributes, ("llm.response.model", "llm.request.model"))))
        _add_first_names(attributes, facts)
    if facts.kind in ("agent", "step"):
        if facts.read_query is None and "traceloop.entity.input" in attributes:
            facts.read_query = lambda: stated_query(_inside(attributes, "input", "inputs"))
        if facts.read_answer is None and "traceloop.entity.output" in attributes:
            facts.read_answer = lambda: stated_answer(_inside(attributes, "output", "outputs"))


def _add_workflow_tool(attributes: dict[str, Any], facts: Facts) -> None:
    """A step of a LlamaIndex workflow that calls a tool."""
    facts.kind = "tool"
    fill(facts, tool=text(attributes["tool.name"]))
    if "tool.arguments" in attributes:
        facts.arguments = arguments_of(attributes["tool.arguments"])
    made = opened(attributes.get("traceloop.entity.output"))
    output = made.get("tool_output") if isinstance(made, dict) else None
    if isinstance(made, dict) and isinstance(output, dict):
        fill(facts, call_id=text(made.get("tool_id")))
        facts.result = first(output, ("raw_output", "content", "blocks"))
        if output.get("is_error") is True:
            fill(facts, error=text(facts.result) or "failed")


def _add_first_names(attributes: dict[str, Any], facts: Facts) -> None:
    """Messages under the names of the first versions."""
    if facts.given is None and facts.read_inputs is None and "llm.prompts.0.role" in attributes:
        facts.read_inputs = lambda: conversation(unflattened(attributes, "llm.prompts"))
    if not facts.outputs and (made := unflattened(attributes, "llm.completions")):
        facts.outputs = conversation([{"role": "assistant", **one} for one in made if isinstance(one, dict)])


def _inside(attributes: dict[str, Any], place: str, key: str) -> Any:
    value = opened(attributes.get(f"traceloop.entity.{place}"))
    if not isinstance(value, dict):
        return None
    inner = value.get(key)
    if inner is None and key == "outputs" and isinstance(result := value.get("result"), dict):
        inner = result.get("response")  # the end of a LlamaIndex workflow
    return inner.get("messages", inner) if isinstance(inner, dict) else inner


def _open_envelopes(attributes: dict[str, Any], facts: Facts) -> None:
    """LangChain's callbacks give the arguments as how Python shows them, and the result as a message."""
    if not facts.known(facts.arguments) and "traceloop.entity.input" in attributes:
        facts.arguments = arguments_of(attributes["traceloop.entity.input"])
    if not facts.known(facts.result) and "traceloop.entity.output" in attributes:
        facts.result = attributes["traceloop.entity.output"]
    given = facts.arguments
    if isinstance(given, dict) and "input_str" in given and ("tags" in given or "metadata" in given):
        inputs = given.get("inputs")
        facts.arguments = inputs if isinstance(inputs, dict) else arguments_of(given["input_str"])
    if isinstance(given, dict) and given.keys() == {"name", "arguments"} and given["name"] == facts.tool:
        facts.arguments = arguments_of(given["arguments"])
    made = opened(facts.result) if facts.known(facts.result) else None
    if isinstance(made, dict) and "output" in made and made.keys() <= {"output", "kwargs", "tags", "metadata"}:
        made = facts.result = made["output"]
    said = conversation(made, "tool") if isinstance(made, dict) and ("lc" in made or "tool_call_id" in made) else []
    if said and said[0].results:
        answer = said[0].results[0]
        facts.result = answer.result
        fill(facts, call_id=answer.id, error=str(answer.result) if answer.failed else None)
