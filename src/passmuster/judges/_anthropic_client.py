"""Anthropic's interface: the verdict is the input of a tool that the model must call."""

from __future__ import annotations

from typing import Any

from passmuster.judges._answers import SCHEMA
from passmuster.judges._clients import Reply, count
from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt

_TOOL = "verdict"
_FAULTS = {"max_tokens": "it was cut off by max_tokens", "refusal": "the model declined to answer"}


SDK_CLASS = "AsyncAnthropic"
OPTIONS: dict[str, Any] = {"open_telemetry": False}  # the environment can switch on spans that hold whole requests


def endpoint(client: Any) -> Any:
    """What prompts are sent to."""
    return client.messages


def request(prompt: Prompt, member: Member) -> dict[str, Any]:
    """The request for a prompt."""
    sent: dict[str, Any] = {
        "model": member.model,
        "max_tokens": member.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    }
    if member.structured:
        sent["tools"] = [{"name": _TOOL, "description": "States the verdict.", "input_schema": SCHEMA}]
        sent["tool_choice"] = {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}
    if member.temperature is not None:
        # The SDK has no argument for it; models that take one still do.
        sent["extra_body"] = {"temperature": member.temperature}
    return sent


def reply(body: dict[str, Any]) -> Reply:
    """What the body of an answer says."""
    listed = body.get("content")
    blocks = [block for block in listed if isinstance(block, dict)] if isinstance(listed, list) else []
    calls = [block.get("input") for block in blocks if block.get("type") == "tool_use" and block.get("name") == _TOOL]
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    usage = body.get("usage")
    return Reply(
        found=calls[0] if calls else None,
        text=None if calls else "".join(texts),
        fault=_FAULTS.get(str(body.get("stop_reason"))) or ("it gave several verdicts" if len(calls) > 1 else None),
        tokens_in=count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        tokens_out=count(usage, "output_tokens"),
    )
