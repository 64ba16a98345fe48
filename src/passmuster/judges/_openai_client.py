"""OpenAI's interface, which many others speak: the verdict is a text that must follow a JSON schema."""

from __future__ import annotations

from typing import Any

from passmuster.judges._answers import SCHEMA
from passmuster.judges._clients import Client, Reply, count, decoded, reported
from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt

__all__ = ["open_client"]

_FAULTS = {"length": "it was cut off by max_tokens", "content_filter": "a content filter withheld the answer"}


def open_client(sdk: Any, address: str, key: str, timeout: float) -> Client:
    """A client that retries nothing by itself."""
    client = sdk.AsyncOpenAI(
        api_key=key,
        base_url=address,
        timeout=timeout,
        max_retries=0,
        # A redirected request would carry the key to an address that nobody configured.
        http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout),
    )
    return _OpenAI(sdk, client, key)


class _OpenAI:
    def __init__(self, sdk: Any, client: Any, key: str) -> None:
        self._sdk = sdk
        self._client = client
        self._key = key

    async def ask(self, prompt: Prompt, member: Member) -> Reply:
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**_request(prompt, member))
            content: bytes = raw.http_response.content
        except Exception as problem:
            raise reported(self._sdk, problem, self._key) from problem
        return _reply(decoded(content))

    async def close(self) -> None:
        await self._client.close()


def _request(prompt: Prompt, member: Member) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": member.model,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        # OpenAI itself has left `max_tokens` behind; most others know nothing else.
        ("max_completion_tokens" if member.base_url is None else "max_tokens"): member.max_tokens,
    }
    if member.structured:
        form = {"name": "verdict", "strict": True, "schema": SCHEMA}
        request["response_format"] = {"type": "json_schema", "json_schema": form}
    if member.temperature is not None:
        request["temperature"] = member.temperature
    return request


def _reply(body: dict[str, Any]) -> Reply:
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
