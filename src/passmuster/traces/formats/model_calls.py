"""Model calls as request and response: `{"request": {"messages": …}, "response": {"choices": …}}`, of any API.

A request and its response are one model call, and calls that continue each other are one run (`_exchanges`). OpenAI
chat completions and Responses, Anthropic, Bedrock (its invocation logs too), Google and Ollama are read; the parts may
have other names (`input` and `output`, `kwargs` and `result`), or stand side by side in the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading, located_error
from passmuster.traces._conversations import RUN_IDS, conversation_trace, losing, malformed
from passmuster.traces._exchanges import Exchange, Run, runs_of
from passmuster.traces._message_parts import Lose, could_hold_call, key_of
from passmuster.traces._messages import turns_of, turns_of_message
from passmuster.traces._model import Place, ToolCall, Trace
from passmuster.traces._overlooked import find_calls, unaccounted
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record
from passmuster.traces._response_items import joined_items
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Requests and responses of model APIs, one call per record; calls that continue each other are one trace."
SHAPE = '{"request": {…}, "response": {…}}'
LACKS = ("agents", "handoffs", "cost")

_REQUESTS = ("request", "req", "kwargs", "input", "inputs", "params", "request_body", "requestBody")
_RESPONSES = ("response", "resp", "result", "output", "outputs", "completion", "response_body", "responseBody")
_BODIES = ("body", "inputBodyJson", "outputBodyJson", "json", "data")
_GIVEN = ("messages", "contents", "input", "prompt")
_AUTOMATIC = ("automatic_function_calling_history", "automaticFunctionCallingHistory")
"""What Google's SDK asked and did by itself before the response; it begins with what the request gives."""
_READ = frozenset({*_REQUESTS, *_RESPONSES, *_BODIES, *_GIVEN, *_AUTOMATIC, "choices", "candidates", "message"})
_READ |= {"content", "system", "instructions", "systemInstruction", "tool_choice", "toolConfig"}
"""Keys of a record, a request or a response that are read, or that say which tools there are."""
_MARKS = (b'"choices"', b'"candidates"', b'"stop_reason"', b'"output"', b'"stopReason"', b'"content"', b'"message"')

_decode = msgspec.json.Decoder().decode


def detect(record: Fields) -> float:
    """Sure of a request beside a response that looks like one of a model."""
    if "steps" in record or "jsonrpc" in record:
        return 0
    object_ = bytes(record.get("object", b""))
    if object_ == b'"response"' and _is_list(record, "output"):
        return 0.97
    if object_ in (b'"chat.completion"', b'"response"', b'"chat.completion.chunk"'):
        return 0.92
    if bytes(record.get("schemaType", b"")) == b'"ModelInvocationLog"':
        return 1
    response = next((name for name in _RESPONSES if _is_response(record, name)), None)
    if response is None:
        return 0.91 if _is_list(record, "choices") or _is_list(record, "candidates") else 0
    if _is_list(record, "messages") or _is_list(record, "contents"):
        return 0.93
    if "custom_id" in record:  # a line of the output of a batch
        return 0.95
    for name in _REQUESTS:
        begins = bytes(record.get(name, b""))
        if begins[:1] == b"{" and any(f'"{key}"'.encode() in begins for key in (*_GIVEN, *_BODIES)):
            return 0.985
    return 0


def _is_response(record: Fields, name: str) -> bool:
    begins = bytes(record.get(name, b""))
    return begins[:1] == b"{" and any(mark in begins for mark in _MARKS)


def _is_list(record: Fields, name: str) -> bool:
    return bytes(record.get(name, b""))[:1] == b"["


def splittable(first: Fields) -> bool:
    """Calls that continue each other have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs that the model calls of a file are, in the order in which they begin."""
    runs = runs_of(_exchanges(records, reading))
    inferred = [run for run in runs if _is_inferred(run)]
    if inferred:
        count = f"{len(inferred)} {'run' if len(inferred) == 1 else 'runs'}"
        found = f"which model calls are one run was worked out from what they repeat of each other ({count})"
        reading.lose(inferred[0].first.offset, found, may_hold_call=False)
    for run in runs:
        trace = conversation_trace(run.turns, reading, run.first, {"trace_id": run.name})
        yield replace(trace, inferred=("run",)) if _is_inferred(run) else trace


def _is_inferred(run: Run) -> bool:
    """Whether the source does not say what belongs to the run: it was put together, or part of it may be missing."""
    open_end = any(len(turn.calls) > turn.hosted for turn in run.last.output)
    return run.name is None and (run.exchanges > 1 or run.ambiguous or open_end)


def _exchanges(records: Iterator[Record], reading: Reading) -> Iterator[Exchange]:
    for record in records:
        try:
            fields = _decode(record.data)
            if not isinstance(fields, dict):
                raise BadRecord(record.offset, "is no model call: expected an object with a 'request' and a 'response'")
            yield exchange_of(fields, record, losing(reading, record))
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
        except MALFORMED as error:
            reading.on_bad(malformed(record, error))


def exchange_of(fields: Mapping[str, Any], record: Record, lose: Lose) -> Exchange:
    """One model call: what its request gives to the model, and what its response says."""
    response = _inside(fields, _RESPONSES) or fields
    request = _inside(fields, _REQUESTS) or fields
    place = Place(record.offset, record.line)
    given = _given(request, lose)
    output, answered = _output(response, lose)
    history = next((found for name in _AUTOMATIC if isinstance(found := response.get(name), list)), None)
    if history:
        given = [*(turn for turn in given if turn.role == "system"), *turns_of(history, lambda _: lose)]
    if not given and not output:
        lose("has neither a request nor a response in a known form", True)
    response_id = key_of(response, "id", "responseId", "response_id")
    started = next(
        (fields[key] for key in ("started_at", "timestamp", "created_at", "start_time") if key in fields), None
    )
    lasted = next(
        (fields[key] for key in ("duration_ms", "latency_ms", "latencyMs") if _is_amount(fields.get(key))), None
    )
    for turn in output:
        turn.response_id = response_id if response_id is not None else f"@{record.offset}"
        turn.model = turn.model or _model(response) or _model(request) or _model(fields)
        turn.usage = usage_of(_usage(response)) if answered else turn.usage
        turn.duration_ms = lasted
        turn.started_at = started if isinstance(started, str | float | int) else None
    for turn in (*given, *output):
        turn.place = place
    _account(fields, response, [call for turn in (*given, *output) for call in turn.calls], lose)
    run = next((str(fields[key]) for key in RUN_IDS[:-1] if isinstance(fields.get(key), str | int)), None)
    return Exchange(record, given, output, response_id, key_of(request, "previous_response_id"), run)


def _account(fields: Mapping[str, Any], response: Mapping[str, Any], calls: list[ToolCall], lose: Lose) -> None:
    """Tell of tool calls beside the request and the response, or beside what the model says in it."""
    others = {key: value for key, value in response.items() if key not in _READ}
    if fields is not response:
        others["record"] = {key: value for key, value in fields.items() if key not in _READ}
    for one in unaccounted(find_calls(others), calls):
        lose(f"has a tool call in '{one.name[:60]}', which is not read", True)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0


def _inside(fields: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The request or response in a record, out of the wrappings of loggers."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            try:
                value = _decode(value)
            except UNREADABLE:
                continue
        if isinstance(value, dict):
            for body in _BODIES:
                inner = value.get(body)
                if isinstance(inner, dict) and not any(key in value for key in ("messages", "choices", "content")):
                    return inner
            return value
    return None


def _given(request: Mapping[str, Any], lose: Lose) -> list[Turn]:
    system = request.get("system", request.get("instructions", request.get("systemInstruction")))
    turns: list[Turn] = []
    if isinstance(system, str):
        turns.append(Turn("system", system))
    for name in _GIVEN:
        value = request.get(name)
        if isinstance(value, str):
            return [*turns, Turn("user", value)]
        if isinstance(value, list):
            return [*turns, *turns_of(value, lambda _: lose)]
    return turns


def _output(response: Mapping[str, Any], lose: Lose) -> tuple[list[Turn], bool]:
    """What the model said, and whether the response says itself what it used."""
    for name in ("choices", "candidates"):
        options = response.get(name)
        if isinstance(options, list):
            return _choices(options, lose), True
    output = response.get("output")
    if isinstance(output, list):
        turns = turns_of(output, lambda _: lose)
        return [turn for turn in joined_items(turns) if turn.role == "assistant"], True
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return turns_of_message(output["message"], lose), True
    if isinstance(response.get("message"), dict):
        return turns_of_message(response["message"], lose), True
    if isinstance(response.get("content"), list | str):
        return turns_of_message({"role": "assistant", **response}, lose), True
    if could_hold_call(response):
        lose("has a response in no known form", True)
    return [], False


def _choices(options: list[Any], lose: Lose) -> list[Turn]:
    turns: list[Turn] = []
    for number, option in enumerate(options):
        message = option.get("message", option.get("content")) if isinstance(option, dict) else None
        if number:
            lose(f"has choice {number + 1} of {len(options)} of a response", could_hold_call(message))
        elif isinstance(message, dict):
            turns += turns_of_message({"role": "assistant", **message}, lose)
        elif isinstance(option, dict) and isinstance(option.get("text"), str):
            turns.append(Turn("assistant", option["text"]))
    return turns


def _usage(response: Mapping[str, Any]) -> Any:
    stated = response.get("usage", response.get("usageMetadata", response.get("usage_metadata")))
    if stated is None and "prompt_eval_count" in response:  # Ollama
        return {"prompt_tokens": response["prompt_eval_count"], "completion_tokens": response.get("eval_count", 0)}
    return stated


def _model(part: Mapping[str, Any]) -> str | None:
    names = ("model", "modelVersion", "modelId", "model_id", "model_name")
    return next((value for name in names if isinstance(value := part.get(name), str)), None)
