"""Messages of the Vercel AI SDK: `tool-call` parts, `toolInvocations`, messages for user interfaces."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of the Vercel AI SDK: model messages and messages for user interfaces, versions 3 to 6."
SHAPE = '{"messages": [… "toolCallId" …]}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")

_MARKS = (
    b'"toolCallId"',
    b'"tool-call"',
    b'"tool-result"',
    b'"toolInvocations"',
    b'"step-start"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.961 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
