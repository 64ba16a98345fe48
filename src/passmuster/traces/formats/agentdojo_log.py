"""Logs of AgentDojo: a task of a suite, with or without an injection, per file."""

from __future__ import annotations

from passmuster.traces._building import Fields
from passmuster.traces._conversations import has_messages, read_conversations

DESCRIPTION = "Logs of AgentDojo: the conversation of a task, with or without an injection."
SHAPE = '{"suite_name": …, "user_task_id": …, "messages": […]}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")


def detect(record: Fields) -> float:
    """Sure of messages that name a suite and a task of it."""
    return 0.99 if {"suite_name", "user_task_id"} <= record.keys() and has_messages(record, (b'"role"',)) else 0


def splittable(first: Fields) -> bool:
    """Every record is a conversation."""
    return True


read = read_conversations
