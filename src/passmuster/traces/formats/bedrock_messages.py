"""Messages of Bedrock's Converse API: `toolUse` and `toolResult` in the content."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of Amazon Bedrock's Converse API: `toolUse` and `toolResult` in the content."
SHAPE = '{"messages": [… "toolUse" …]}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")

_MARKS = (
    b'"toolUse"',
    b'"toolResult"',
    b'"toolUseId"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.96 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
