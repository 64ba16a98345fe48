"""Anthropic's interface: the verdict is the input of a tool that the model must call."""

from __future__ import annotations

from typing import Any

from passmuster.judges._answers import SCHEMA
from passmuster.judges._clients import Client, Reply, count, decoded, reported
from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt

__all__ = ["open_client"]

_TOOL = "verdict"
_FAULTS = {"max_tokens": "it was cut off by max_tokens", "refusal": "the model declined to answer"}


def open_client(sdk: Any, address: str, key: str, timeout: float) -> Client:
    """A client that retries nothing by itself and tells no one else of what it sends."""
    client = sdk.AsyncAnthropic(
        api_key=key,
        base_url=address,
        timeout=timeout,
        max_retries=0,
        # A redirected request would carry the key to an address that nobody configured.
        http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout),
        # The environment can switch on spans that hold whole requests.
        open_telemetry=False,
    )
    return _Anthropic(sdk, client, key)


class _Anthropic:
    def __init__(self, sdk: Any, client: Any, key: str) -> None:
        self._sdk = sdk
        self._client = client
        self._key = key

    async def ask(self, prompt: Prompt, member: Member) -> Reply:
        try:
            raw = await self._client.messages.with_raw_response.create(**_request(prompt, member))
            content: bytes = raw.http_response.content
        except Exception as problem:
            raise reported(self._sdk, problem, self._key) from problem
        return _reply(decoded(content))

    async def close(self) -> None:
        await self._client.close()


def _request(prompt: Prompt, member: Member) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": member.model,
        "max_tokens": member.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    }
    if member.structured:
        request["tools"] = [{"name": _TOOL, "description": "States the verdict.", "input_schema": SCHEMA}]
        request["tool_choice"] = {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}
    if member.temperature is not None:
        # The SDK has no argument for it; models that take one still do.
        request["extra_body"] = {"temperature": member.temperature}
    return request


def _reply(body: dict[str, Any]) -> Reply:
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
