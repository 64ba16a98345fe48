"""Messages of LangChain and states of LangGraph: typed messages, `lc` constructors, `additional_kwargs`."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = (
    "Conversations of LangChain and states of LangGraph: typed messages, `lc` constructors, `additional_kwargs`."
)
SHAPE = '{"messages": [{"type": "human", …}]}'
LACKS = ("handoffs", "cost", "times")

_MARKS = (
    b'"lc"',
    b'"additional_kwargs"',
    b'"type":"human"',
    b'"type": "human"',
    b'"type":"ai"',
    b'"type": "ai"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.97 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
