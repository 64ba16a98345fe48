"""Messages and events of AutoGen: results of tasks and the threads of teams."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Messages and events of AutoGen: results of tasks, and the threads of teams."
SHAPE = '{"messages": [{"type": "ToolCallRequestEvent", …}]}'
LACKS = ("cost", "times")

_MARKS = (
    b'"ToolCallRequestEvent"',
    b'"ToolCallExecutionEvent"',
    b'"TextMessage"',
    b'"FunctionExecutionResultMessage"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this framework in it."""
    return 0.99 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
