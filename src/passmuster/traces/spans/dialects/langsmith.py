"""LangSmith's runs: `run_type`, `inputs`, `outputs`, `extra` and `error`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passmuster.traces._usage import usage_of
from passmuster.traces.spans._facts import Facts, failure, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import amount, opened, text
from passmuster.traces.spans.dialects.openinference import stated_answer, stated_query

HEADS = frozenset({"langsmith"})

_DEEPEST = 8


def add(span: Span, facts: Facts) -> None:
    """Read a run."""
    run = span.attributes.get("langsmith") or _from_attributes(span.attributes)
    extra = _object(run.get("extra"))
    about = _object(extra.get("metadata"))
    inputs, outputs = run.get("inputs"), run.get("outputs")
    kind = run.get("run_type")
    fill(facts, agent=text(about.get("lc_agent_name")))
    if kind == "llm":
        _add_model(run, extra, about, facts)
        facts.read_inputs = lambda: conversation(inputs)
        facts.outputs = conversation(outputs, "assistant") or None
    elif kind == "tool":
        _add_tool(span, run, extra, facts)
    else:
        named = text(about.get("lc_agent_name")) == span.name
        facts.kind = "agent" if named or not span.parent_id else "step"
        if facts.kind == "agent":
            fill(facts, agent=span.name if named else None)
        fill(facts, read_query=lambda: stated_query(inputs), read_answer=lambda: stated_answer(outputs))


def _from_attributes(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run from the attributes that LangSmith's client writes where it exports spans."""
    start = len(_METADATA)
    return {
        "run_type": attributes.get("langsmith.span.kind"),
        "inputs": opened(attributes.get("gen_ai.prompt")),
        "outputs": opened(attributes.get("gen_ai.completion")),
        "extra": {"metadata": {key[start:]: value for key, value in attributes.items() if key.startswith(_METADATA)}},
    }


_METADATA = "langsmith.metadata."


def _add_model(run: Mapping[str, Any], extra: Mapping[str, Any], about: Mapping[str, Any], facts: Facts) -> None:
    facts.kind = "model"
    outputs = _object(run.get("outputs"))
    message = _message(outputs)
    answered = _object(message.get("response_metadata"))
    whole = _object(outputs.get("llm_output"))
    parameters = _object(extra.get("invocation_params"))
    names = [answered.get("model_name"), outputs.get("model"), whole.get("model_name"), about.get("ls_model_name")]
    names += [parameters.get("model"), parameters.get("model_name")]
    fill(facts, model=next((name for name in names if text(name)), None))
    identity = answered.get("id") or whole.get("id") or outputs.get("id")
    fill(facts, response_id=text(identity))
    for stated in (
        message.get("usage_metadata"),
        outputs.get("usage_metadata"),
        outputs.get("usage"),
        answered.get("token_usage") or answered.get("usage"),
        whole.get("token_usage") or whole.get("usage"),
        about.get("usage_metadata"),
        run,
    ):
        usage = usage_of(stated)
        if usage.tokens_in is not None or usage.tokens_out is not None:
            fill(facts, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, tokens_cached=usage.tokens_cached)
            break
    cost = run.get("total_cost")
    fill(facts, cost=amount(cost) or None)


def _message(outputs: Any, depth: int = 0) -> Mapping[str, Any]:
    """The message that a model answered with."""
    if isinstance(outputs, list):
        return next((found for one in outputs if (found := _message(one, depth + 1))), {})
    if not isinstance(outputs, Mapping) or depth > _DEEPEST:
        return {}
    if isinstance(outputs.get("kwargs"), Mapping):
        return _object(outputs["kwargs"])
    if "usage_metadata" in outputs and ("content" in outputs or "tool_calls" in outputs):
        return outputs
    for name in ("generations", "message", "messages", "output", "choices"):
        if found := _message(outputs.get(name), depth + 1):
            return found
    return {}


def _add_tool(span: Span, run: Mapping[str, Any], extra: Mapping[str, Any], facts: Facts) -> None:
    facts.kind = "tool"
    facts.tool = span.name
    output = _object(run.get("outputs")).get("output", run.get("outputs") or None)
    message = _object(output)
    message = _object(message.get("kwargs")) if "lc" in message else message
    about = _object(extra.get("metadata"))
    called = (
        extra.get("tool_call_id")
        or about.get("tool_call_id")
        or message.get("tool_call_id")
        or _object(_object(run.get("inputs")).get("tool_call")).get("id")
    )
    fill(facts, call_id=text(called))
    facts.arguments = _arguments(run.get("inputs"))
    if output is not None:
        is_message = "content" in message and (message.get("type") == "tool" or "tool_call_id" in message)
        facts.result = message["content"] if is_message else output
    failed = text(run.get("error")) or (failure(span) if span.failed else None)
    if failed is None and message.get("status") == "error":
        failed = text(message.get("content")) or "failed"
    facts.error = failed


def _arguments(inputs: Any) -> Any:
    """What a tool was given: an object, or the one text that older versions make of it."""
    if not isinstance(inputs, Mapping):
        return opened(inputs)
    if set(inputs) == {"input"}:
        inner = opened(inputs["input"])
        if isinstance(inner, dict):
            named = {"name", "args", "id"} <= set(inner)  # the whole call, as graphs hand it on
            return inner["args"] if named else inner
    return dict(inputs)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
