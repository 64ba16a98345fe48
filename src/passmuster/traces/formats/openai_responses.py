"""Items of OpenAI's Responses API: `function_call` and `function_call_output` in one list."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of OpenAI's Responses API: items such as `function_call` and `function_call_output`."
SHAPE = '{"input": [… "function_call" …]}'
LACKS = ("errors", "agents", "handoffs", "tokens", "cost", "times")

_MARKS = (
    b'"function_call_output"',
    b'"call_id"',
    b'"output_text"',
    b'"input_text"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.955 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
