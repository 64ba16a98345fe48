"""Messages of pydantic-ai: requests and responses with parts."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of pydantic-ai: requests and responses with parts."
SHAPE = '{"messages": [{"kind": "request", …}]}'
LACKS = ("agents", "handoffs", "cost", "times")

_MARKS = (b'"part_kind"',)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.98 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
