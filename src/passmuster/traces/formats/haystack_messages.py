"""Messages of Haystack: `tool_call` and `tool_call_result` in the content."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = (
    "Conversations of Haystack: what an agent returns, with `tool_call` and `tool_call_result` in the content."
)
SHAPE = '{"messages": [… "tool_call_result" …]}'
LACKS = ("agents", "handoffs", "cost", "times")

_ALL_OF = (b'"tool_call":', b'"tool_name"', b'"meta":')
_ANY_OF = (b'"tool_call_result"', b'"_content"')


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this framework in it."""
    called = all(has_messages(record, (mark,)) for mark in _ALL_OF)
    return 0.957 if called or has_messages(record, _ANY_OF) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
