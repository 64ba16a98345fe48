"""Results of the Vercel AI SDK's `generateText` and `streamText`, with a step per model call.

A step has its tool calls and their results beside its text; since version 5 its `content` has all, with the errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading, trace_per_record
from passmuster.traces._conversations import losing
from passmuster.traces._message_parts import Lose, account_keys, entries, key_of, read_part
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, decode_object
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Results of the Vercel AI SDK (`generateText`, `streamText`) with their `steps`."
SHAPE = '{"text": …, "steps": [{"toolCalls": […], "toolResults": […], …}]}'
LACKS = ("agents", "handoffs", "cost", "times")

_KNOWN = frozenset(
    {"text", "toolCalls", "toolResults", "content", "usage", "finishReason", "response", "request", "stepType"}
    | {"reasoning", "reasoningText", "reasoningDetails", "files", "sources", "warnings", "logprobs", "isContinued"}
    | {"providerMetadata", "experimental_providerMetadata", "staticToolCalls", "dynamicToolCalls", "rawFinishReason"}
    | {"staticToolResults", "dynamicToolResults", "tripwire", "stepNumber", "model", "functionId", "metadata"}
    | {"experimental_context", "callId", "toolsContext", "runtimeContext", "object", "output"}
)


def detect(record: Fields) -> float:
    """Sure of steps with tool calls and their results, or with the reason why they ended."""
    steps = bytes(record.get("steps", b""))
    if steps[:1] != b"[" or "type" in record:
        return 0
    if b'"toolCalls"' in steps and (b'"toolResults"' in steps or b'"finishReason"' in steps):
        return 0.97
    return 0.96 if all(mark in steps for mark in (b'"finishReason"', b'"content"', b'"usage"')) else 0


def splittable(first: Fields) -> bool:
    """Every record is a run."""
    return True


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per result."""
    return trace_per_record(records, reading, lambda record: _trace(record, reading))


def _trace(record: Record, reading: Reading) -> Trace:
    result = decode_object(record)
    steps = result.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        raise BadRecord(record.offset, "is no result of the Vercel AI SDK: its 'steps' are not a list of objects")
    run = RunLog(record)
    named = key_of(result, "traceId", "runId", "id")
    run.trace_id = None if named is None else str(named)
    asked = next((one for name in ("prompt", "query", "input") if isinstance(one := result.get(name), str)), None)
    if asked is not None:
        run.add(Turn("user", asked), record)
    for index, step in enumerate(steps):
        _step(step, run, record, index, losing(reading, record, "steps", index))
    if isinstance(result.get("text"), str):
        run.answer = result["text"]
    return run.trace(reading)


def _step(step: Mapping[str, Any], run: RunLog, record: Record, index: int, lose: Lose) -> None:
    turn = Turn("assistant", usage=usage_of(step.get("usage")))
    response = step.get("response")
    if isinstance(response, Mapping):
        turn.model = response["modelId"] if isinstance(response.get("modelId"), str) else None
        turn.response_id = key_of(response, "id")
    texts: list[str] = []
    content = step.get("content")
    if isinstance(content, list):
        for part in content:
            read_part(part, turn, texts, lose)
    else:
        for call in entries(step, "toolCalls", lose):
            read_part({"type": "tool-call", **call} if isinstance(call, dict) else call, turn, [], lose)
        for found in entries(step, "toolResults", lose):
            read_part({"type": "tool-result", **found} if isinstance(found, dict) else found, turn, [], lose)
        texts += [step["text"]] if isinstance(step.get("text"), str) and step["text"] else []
    turn.text = "".join(texts) if texts else None
    run.add(turn, record, index)
    account_keys(step, _KNOWN, "a step", lose)
