"""OpenAI's interface, which many others speak: the verdict is a text that must follow a JSON schema."""

from __future__ import annotations

from typing import Any

from passmuster.judges._answers import SCHEMA
from passmuster.judges._clients import Reply, count
from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt

_FAULTS = {"length": "it was cut off by max_tokens", "content_filter": "a content filter withheld the answer"}


SDK_CLASS = "AsyncOpenAI"
OPTIONS: dict[str, Any] = {}


def endpoint(client: Any) -> Any:
    """What prompts are sent to."""
    return client.chat.completions


def request(prompt: Prompt, member: Member) -> dict[str, Any]:
    """The request for a prompt."""
    sent: dict[str, Any] = {
        "model": member.model,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        # OpenAI itself has left `max_tokens` behind; most others know nothing else.
        ("max_completion_tokens" if member.base_url is None else "max_tokens"): member.max_tokens,
    }
    if member.structured:
        form = {"name": "verdict", "strict": True, "schema": SCHEMA}
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    if member.temperature is not None:
        sent["temperature"] = member.temperature
    return sent


def reply(body: dict[str, Any]) -> Reply:
    """What the body of an answer says."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    declined = isinstance(message, dict) and bool(message.get("refusal"))
    usage = body.get("usage")
    return Reply(
        text=content if isinstance(content, str) else "",
        fault="the model declined to answer" if declined else _FAULTS.get(str(choice.get("finish_reason"))),
        tokens_in=count(usage, "prompt_tokens"),
        tokens_out=count(usage, "completion_tokens"),
    )
