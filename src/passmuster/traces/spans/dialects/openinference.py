"""OpenInference: `openinference.span.kind`, `llm.*`, `input.value`, `tool.*`."""

from __future__ import annotations

import re
from typing import Any

from passmuster.traces.spans._facts import Facts, Kind, fill
from passmuster.traces.spans._messages import conversation, read_message
from passmuster.traces.spans._said import Said, last_text
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import amount, arguments_of, first, opened, text, unflattened, whole

HEADS = frozenset({"openinference"})

_KINDS: dict[str, Kind] = {
    "LLM": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    **dict.fromkeys(("CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT"), "step"),
}
_RESPONSE_ID = re.compile(r'\s*\{\s*"id"\s*:\s*"((?:resp|chatcmpl|msg|gen)[^"]{1,200})"')
_LLAMA_AGENT = re.compile(r"\bcurrent_agent_name='([^'\\]{1,100})'")
_AUTOMATIC = "automatic_function_calling_history"
_HEAD = 20_000
_ENVELOPE = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
"""What smolagents wraps the arguments of a tool in."""
_DELEGATIONS = (
    *("Delegate work to coworker", "Ask question to coworker"),
    *("delegate_work_to_coworker", "ask_question_to_coworker"),
)
"""Tools by which crewai gives work to another agent."""
_QUERY = ("task", "query", "question", "user_input", "user_message", "message", "input_text", "user_query", "prompt")


def add(span: Span, facts: Facts) -> None:
    """Read the attributes of OpenInference."""
    attributes = span.attributes
    kind = _KINDS.get(str(attributes.get("openinference.span.kind")).upper(), "")
    if kind == "agent" and "tool.name" in attributes:  # LangChain's tools with "agent" in their names
        kind = "tool"
    facts.kind = facts.kind or kind
    if facts.kind == "model":
        _add_model_call(attributes, facts)
    elif facts.kind == "tool":
        _add_tool_call(span, facts)
    elif facts.kind in ("agent", "step"):
        fill(facts, agent=_agent(span, facts.kind))
        if "crew_tasks" in attributes:
            facts.read_query = lambda: _first_task(attributes["crew_tasks"])
        state(facts, attributes.get("input.value"), attributes.get("output.value"))
        if facts.kind == "agent" or "tool.name" in attributes:
            facts.read_as_tool = lambda: _add_values(attributes, facts)


def _first_task(tasks: Any) -> str | None:
    """What a crew is asked to do first."""
    listed = opened(tasks)
    task = listed[0] if isinstance(listed, list) and listed else None
    return text(task.get("description")) if isinstance(task, dict) else None


def _agent(span: Span, kind: Kind) -> str | None:
    attributes = span.attributes
    name = text(attributes.get("agent.name"))
    if name is None and kind == "agent":
        name = text(attributes.get("graph.node.id")) or span.name.removesuffix(".run").removesuffix("._execute_core")
    given = attributes.get("input.value")
    if name is None and isinstance(given, str) and "current_agent_name=" in given:
        found = _LLAMA_AGENT.search(given[:_HEAD])
        name = found[1] if found else None
    return name


def _add_model_call(attributes: dict[str, Any], facts: Facts) -> None:
    made = attributes.get("output.value")
    identity = _RESPONSE_ID.match(made) if isinstance(made, str) else None
    fill(
        facts,
        model=text(first(attributes, ("llm.response.model_name", "llm.model_name"))),
        response_id=identity[1] if identity else None,
        tokens_in=whole(attributes.get("llm.token_count.prompt")),
        tokens_out=whole(attributes.get("llm.token_count.completion")),
        tokens_cached=whole(attributes.get("llm.token_count.prompt_details.cache_read")),
        cost=amount(attributes.get("llm.cost.total")),
    )
    if facts.read_inputs is None and facts.given is None:
        facts.read_inputs = lambda: _inputs(attributes)
    if facts.outputs is None:
        said = _numbered(attributes, "llm.output_messages")
        facts.outputs = said or _from_response(made) or None
        if isinstance(made, str) and _AUTOMATIC in made:
            facts.outputs = [*_automatic_calls(made, attributes.get("input.value")), *(facts.outputs or ())]


def _automatic_calls(made: str, given: Any) -> list[Said]:
    """What Google's SDK did by itself before the model's last answer: the rounds of calls and results."""
    response, request = opened(made), opened(given)
    history = response.get(_AUTOMATIC) if isinstance(response, dict) else None
    if not isinstance(history, list):
        return []
    contents = request.get("contents") if isinstance(request, dict) else None
    begun = len(contents) if isinstance(contents, list) else 1  # the history begins with what the model was given
    said = conversation(history[begun:], "user")
    for number, one in enumerate(said, 1):
        for call in one.calls:
            call.hosted, call.round = True, number
    return said


def _from_response(made: Any) -> list[Said]:
    """The answer in a whole response. A list of messages is what a model is given, not what it answers."""
    inner = opened(made)
    if isinstance(inner, str):
        return [Said("assistant", inner)] if inner else []
    return conversation(inner, "assistant") if isinstance(inner, dict) and "messages" not in inner else []


def _inputs(attributes: dict[str, Any]) -> list[Said]:
    said = _numbered(attributes, "llm.input_messages")
    value = attributes.get("input.value")
    if isinstance(value, str) and (not said or "is_error" in value or '"status"' in value):
        whole_input = conversation(value)
        if not said:
            return whole_input
        failed = {result.id for one in whole_input for result in one.results if result.failed}
        for one in said:
            for result in one.results:
                result.failed = result.failed or (result.id is not None and result.id in failed)
    return said


def _numbered(attributes: dict[str, Any], prefix: str) -> list[Said]:
    """The messages that are written as `PREFIX.0.message.role`, `PREFIX.0.message.content`, …"""
    start = len(prefix) + 1
    by_number: dict[str, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix):
            number, _, name = key[start:].partition(".message.")
            by_number.setdefault(number, {})[name] = value
    said: list[Said] = []
    for number in sorted((one for one in by_number if one.isascii() and one.isdigit() and len(one) < 6), key=int):
        fields = by_number[number]
        if fields.keys() <= _SIMPLE and isinstance(fields.get("content", ""), str):
            said.append(_simple(fields))
            continue
        (message,) = unflattened({f"m.0.{name}": value for name, value in fields.items()}, "m") or ({},)
        if isinstance(message, dict):
            said += conversation([_one_text(message)], "assistant")
    return said


_SIMPLE = {"role", "content", "tool_call_id", "name"}


def _simple(fields: dict[str, Any]) -> Said:
    """A message of one text."""
    if "tool_call_id" in fields or fields.get("role") not in ("user", "system", "assistant"):
        return read_message(fields, "assistant")
    return Said(fields["role"], fields.get("content"), name=text(fields.get("name")))


def _one_text(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose text stands in it once, not also in parts; a call without arguments has none."""
    message = dict(message)
    if isinstance(message.get("content"), str) and "contents" in message:
        del message["contents"]
    elif message.get("tool_calls") and isinstance(message.get("contents"), list):
        message["contents"] = [part for part in message["contents"] if "tool_call" not in part]
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [_complete(call) for call in message["tool_calls"]]
    old = message.pop("function_call_name", None)
    if old:
        message["function_call"] = {"name": old, "arguments": message.pop("function_call_arguments_json", "{}")}
    return message


def _complete(call: Any) -> Any:
    inner = call.get("tool_call") if isinstance(call, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("function"), dict):
        inner["function"].setdefault("arguments", "{}")
    return call


def _add_tool_call(span: Span, facts: Facts) -> None:
    attributes = span.attributes
    name = text(attributes.get("tool.name")) or text(attributes.get("tool_call.function.name"))
    if name is None and span.name.lower().startswith("handoff"):
        facts.kind = "handoff"
        facts.to = span.name.rpartition(" ")[2]
        return
    fill(facts, tool=name or span.name)
    _add_values(attributes, facts)
    if name in _DELEGATIONS and isinstance(facts.arguments, dict):
        facts.inner_agent = text(facts.arguments.get("coworker"))


def _add_values(attributes: dict[str, Any], facts: Facts) -> None:
    given, made = attributes.get("input.value"), attributes.get("output.value")
    named = first(attributes, ("tool_call.id", "tool.id"))
    stated = attributes.get("tool_call.function.arguments")
    if not facts.known(facts.arguments) and (given is not None or stated is not None):
        facts.arguments = _unwrapped(arguments_of(stated if stated is not None else given), attributes)
    if not facts.known(facts.result) and made is not None:
        inner = opened(made)
        said = conversation(inner, "tool") if isinstance(inner, dict) and ("data" in inner or "lc" in inner) else []
        if len(said) == 1 and len(said[0].results) == 1:
            answer = said[0].results[0]
            named = named or answer.id
            facts.result = answer.result
            if answer.failed:
                fill(facts, error=str(answer.result))
        elif isinstance(inner, dict) and inner.keys() == {"id", "name", "response"}:  # ADK
            facts.result = inner["response"]
        elif isinstance(inner, dict) and "raw_output" in inner and "is_error" in inner:  # llama-index
            facts.result = inner["raw_output"]
            fill(facts, error=str(inner["raw_output"]) if inner["is_error"] else None)
        else:
            facts.result = made
    fill(facts, call_id=text(named))


def _unwrapped(arguments: Any, attributes: dict[str, Any]) -> Any:
    """Arguments by their names; those given by position have the names that the tool's parameters have."""
    inner: Any = {}
    given: Any = [arguments]
    if isinstance(arguments, str):
        pass
    elif not isinstance(arguments, dict) or "kwargs" not in arguments or not arguments.keys() <= _ENVELOPE:
        return arguments
    else:
        inner, given = arguments["kwargs"], arguments.get("args") or []
    if not isinstance(inner, dict) or not isinstance(given, list):
        return arguments
    declared = opened(attributes.get("tool.parameters"))
    if isinstance(declared, dict) and isinstance(declared.get("properties"), dict):
        declared = declared["properties"]
    names = list(declared) if isinstance(declared, dict) else []
    if isinstance(arguments, str) and len(names) != 1:
        return arguments
    names += [str(place) for place in range(len(names), len(given))]
    return {**dict(zip(names, given, strict=False)), **inner}


def state(facts: Facts, given: Any, made: Any) -> None:
    """What an agent's span was given and what it produced state the query and the answer."""
    if facts.read_query is None and given is not None:
        facts.read_query = lambda: stated_query(given)
    if facts.read_answer is None and made is not None:
        facts.read_answer = lambda: stated_answer(made)


def stated_query(value: Any) -> str | None:
    """What an agent was asked, from what its span was given."""
    inner = opened(value)
    if isinstance(inner, dict):
        for name in _QUERY:
            if isinstance(inner.get(name), str):
                return text(inner[name])
        if isinstance(inner.get("input"), dict | list):
            return stated_query(inner["input"])
    if isinstance(inner, str):
        return text(inner)
    return last_text(conversation(inner), "user")


def stated_answer(value: Any) -> str | None:
    """What an agent answered, from what its span produced."""
    inner = opened(value)
    if isinstance(inner, str):
        return text(inner)
    for name in ("output", "raw"):
        if isinstance(inner, dict) and isinstance(inner.get(name), str):
            return text(inner[name])
    said = conversation(inner, "assistant")
    return said[-1].text if said and not said[-1].calls and said[-1].role == "assistant" else None
