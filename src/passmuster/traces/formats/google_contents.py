"""Contents of Google's Gemini API: `functionCall` and `functionResponse` parts."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of Google's Gemini API: `functionCall` and `functionResponse` parts."
SHAPE = '{"contents": [… "functionCall" …]}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")

_MARKS = (
    b'"functionCall"',
    b'"functionResponse"',
    b'"function_response"',
    b'"parts"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.94 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
