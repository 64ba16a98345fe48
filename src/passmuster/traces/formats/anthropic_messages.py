"""Anthropic messages: conversations whose content has `tool_use` and `tool_result` blocks."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Conversations of Anthropic's Messages API: `tool_use` and `tool_result` blocks in the content."
SHAPE = '{"messages": [… "tool_use" …]}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")

_MARKS = (
    b'"tool_use"',
    b'"tool_result"',
    b'"server_tool_use"',
    b'"mcp_tool_use"',
    b'"tool_use_id"',
)


def detect(record: Fields) -> float:
    """Sure of a list of messages with the words of this API in it."""
    return 0.95 if has_messages(record, _MARKS) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
