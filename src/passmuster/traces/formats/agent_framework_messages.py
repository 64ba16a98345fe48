"""Messages of Microsoft's agent-framework and semantic-kernel: threads, responses, chat histories."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of Microsoft's agent-framework and semantic-kernel: threads, responses and chat histories."
SHAPE = '{"messages": [{"role": …, "contents": […]}]}'
LACKS = ("handoffs", "cost", "times")

_MARKS = (
    b'"contents"',
    b'"function_result"',
    b'"content_type"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this framework in it."""
    return 0.962 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
