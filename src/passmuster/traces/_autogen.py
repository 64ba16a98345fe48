"""Messages and events of AutoGen's agents and teams, and the messages in the context of their models."""

from __future__ import annotations

from typing import Any

from passmuster.traces._message_parts import Lose, Part, arguments_of, key_of, name_of, outcome
from passmuster.traces._model import Handoff, ToolCall
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

_SAID = ("TextMessage", "MultiModalMessage", "StructuredMessage", "StopMessage", "ToolCallSummaryMessage")
_ASIDE = ("ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "MemoryQueryEvent", "SelectSpeakerEvent")
_CODE = ("CodeGenerationEvent", "CodeExecutionEvent")
_CONTEXT = ("UserMessage", "AssistantMessage", "FunctionExecutionResultMessage")

AUTOGEN = frozenset(
    (
        *_SAID,
        *_ASIDE,
        *_CODE,
        *_CONTEXT,
        "HandoffMessage",
        "ToolCallRequestEvent",
        "ToolCallExecutionEvent",
        "ThoughtEvent",
    )
)
"""The types of AutoGen's messages."""


def autogen_turn(message: Part, kind: str, lose: Lose) -> Turn:
    """The turn of one message of AutoGen."""
    source = message.get("source")
    name = source if isinstance(source, str) and source else None
    content = message.get("content", message.get("result"))
    if kind in _ASIDE:
        return Turn("reasoning")
    if kind in ("ToolCallExecutionEvent", "FunctionExecutionResultMessage"):
        return Turn("tool", results=[_result(one, lose) for one in content] if isinstance(content, list) else [])
    user = name == "user" or kind == "UserMessage"
    turn = Turn("user" if user else "assistant", agent=None if user else name)
    turn.usage = usage_of(message.get("models_usage"))
    turn.no_model_call = kind in ("ToolCallSummaryMessage", "StopMessage", "HandoffMessage", "ThoughtEvent", _CODE[1])
    if kind == "HandoffMessage" and isinstance(message.get("target"), str):
        turn.role, turn.handoffs = "handoff", [Handoff(message["target"], name)]
    elif isinstance(content, str):
        turn.text = content
    elif isinstance(content, list) and kind in ("ToolCallRequestEvent", "AssistantMessage"):
        turn.calls = [_call(one, lose) for one in content]
    elif isinstance(content, list):
        texts = [part for part in content if isinstance(part, str)]
        turn.text = "".join(texts) if texts else None
    elif content is not None:
        turn.text = str(content)
    return turn


def _call(call: Any, lose: Lose) -> ToolCall:
    if not isinstance(call, dict):
        lose("has a tool call that is no object", True)
        return ToolCall("unknown", None, None)
    return ToolCall(name_of(call, "name"), key_of(call, "id"), arguments_of(call, "arguments"))


def _result(result: Any, lose: Lose) -> Any:
    if not isinstance(result, dict):
        lose("has the result of a tool that is no object", True)
        result = {}
    tool = result.get("name")
    key = key_of(result, "call_id")
    return outcome(result.get("content"), result.get("is_error"), key, tool if isinstance(tool, str) else None)
