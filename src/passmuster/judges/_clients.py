"""A common client for the vendors' SDKs: a prompt gives a `Reply`, or `Trouble` is raised.

The adapters know their vendor's words and nothing else; retries, time-outs and what a reply means are not decided here.
"""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct

from passmuster.judges._config import KEY_VARIABLES, Member
from passmuster.judges._prompts import Prompt
from passmuster.redaction import Redactor

_MESSAGE_LIMIT = 300


class Reply(Struct, frozen=True, kw_only=True):
    """What came back: an object through the interface or a text, and the tokens that were counted."""

    found: object = None
    text: str | None = None
    fault: str | None = None
    """Why there can be no verdict in it, where the vendor says so (cut off, declined)."""
    tokens_in: int | None = None
    tokens_out: int | None = None


class Trouble(Exception):
    """No reply came. Says whether another attempt may help, and when."""

    def __init__(
        self,
        message: str,
        *,
        passing: bool = False,
        after: float | None = None,
        hopeless: bool = False,
        perhaps_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.passing = passing
        """Another attempt may succeed."""
        self.after = after
        """Seconds that the service asks to wait."""
        self.hopeless = hopeless
        """No question to this judge will ever succeed: a wrong key, an unknown model."""
        self.perhaps_billed = perhaps_billed
        """The model may have worked, though its answer was lost."""


class Vendor(Protocol):
    """The module of a vendor: its SDK's class and options, and how a prompt and an answer look."""

    SDK_CLASS: str
    OPTIONS: dict[str, Any]

    def endpoint(self, client: Any) -> Any: ...

    def request(self, prompt: Prompt, member: Member) -> dict[str, Any]: ...

    def reply(self, body: dict[str, Any]) -> Reply: ...


class Client:
    """One vendor's interface at one address. It retries nothing by itself."""

    def __init__(self, vendor: Vendor, sdk: Any, address: str, key: str, timeout: float) -> None:
        self._vendor, self._sdk, self._key = vendor, sdk, key
        self._client = getattr(sdk, vendor.SDK_CLASS)(
            api_key=key,
            base_url=address,
            timeout=timeout,
            max_retries=0,
            # A redirected request would carry the key to an address that nobody configured.
            http_client=sdk.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout),
            **vendor.OPTIONS,
        )

    async def ask(self, prompt: Prompt, member: Member) -> Reply:
        """What the model answers to a prompt."""
        try:
            endpoint = self._vendor.endpoint(self._client)
            raw = await endpoint.with_raw_response.create(**self._vendor.request(prompt, member))
            content: bytes = raw.http_response.content
        except Exception as problem:
            raise _reported(self._sdk, problem, self._key) from problem
        return self._vendor.reply(_decoded(content))

    async def close(self) -> None:
        await self._client.close()


def open_client(member: Member, timeout: float, environment: Mapping[str, str]) -> Client:
    """A client for a judge; `Trouble` if its SDK is not installed or there is no key."""
    try:
        sdk: Any = import_module(member.provider)
    except ImportError as problem:
        raise Trouble(_not_installed(member, problem), hopeless=True) from problem
    key = _key(member, environment)
    vendor: Any = import_module(f"passmuster.judges._{member.provider}_client")
    try:
        return Client(vendor, sdk, member.address, key, timeout)
    except Exception as problem:
        message = f"its SDK could not be set up: {_safe(str(problem), key)}"
        raise Trouble(message, hopeless=True) from problem


def _reported(sdk: Any, problem: Exception, key: str) -> Trouble:
    """The `Trouble` for an SDK's exception. Both SDKs use the same names for their errors."""
    if isinstance(problem, sdk.APITimeoutError):
        return Trouble("it did not answer in time", passing=True, perhaps_billed=True)
    if isinstance(problem, sdk.APIStatusError):
        return _refusal(problem, key)
    if isinstance(problem, sdk.APIConnectionError):
        cause = problem.__cause__ or problem
        detail = _safe(str(cause) or type(cause).__name__, key)
        # Only a connection that was never made has surely cost nothing.
        refused = type(cause).__name__ in ("ConnectError", "ConnectTimeout", "PoolTimeout")
        return Trouble(f"the connection failed: {detail}", passing=True, perhaps_billed=not refused)
    detail = _safe(f"{type(problem).__name__}: {problem}", key)
    return Trouble(f"its SDK failed: {detail}", perhaps_billed=True)


def _decoded(content: bytes) -> dict[str, Any]:
    """The body of an answer. Raises `Trouble` if it is not a JSON object, as from a proxy."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Trouble("what it sent was not JSON, or cut off", passing=True, perhaps_billed=True)
    return body


def count(usage: object, *names: str) -> int | None:
    """The sum of token counts; unknown if the first is not given."""
    if not isinstance(usage, dict):
        return None
    counts = {name: found for name in names if type(found := usage.get(name)) is int and found >= 0}
    return sum(counts.values()) if names[0] in counts else None


def _refusal(problem: Any, key: str) -> Trouble:
    status = int(problem.status_code)
    message = f"it answered {status}: {_safe(_said(problem), key)}"
    if "insufficient_quota" in message:
        return Trouble(message, hopeless=True)
    if status in (408, 429) or status >= 500:
        return Trouble(message, passing=True, after=_wait(problem.response.headers))
    if status == 400 and "temperature" in message:
        message += " (for a model without this setting, state `temperature: null`)"
    if status == 400 and ("response_format" in message or "tool_choice" in message):
        message += " (for an API without structured answers, state `structured: false`)"
    return Trouble(message, hopeless=status in (401, 403, 404))


def _said(problem: Any) -> str:
    """The vendor's own sentence, without the wrapping that SDKs put around it."""
    body = problem.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    text = inner.get("message") if isinstance(inner, dict) else inner
    code = inner.get("code") if isinstance(inner, dict) else None
    said = text if isinstance(text, str) and text.strip() else str(problem)
    return f"{said} ({code})" if isinstance(code, str) and code not in said else said


def _wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _until(value) if name == "retry-after" else -1.0
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(date: str) -> float:
    try:
        return max(0.0, email.utils.parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return -1.0


def _key(member: Member, environment: Mapping[str, str]) -> str:
    name = member.api_key_env or KEY_VARIABLES[member.provider]
    if key := environment.get(name, "").strip():
        return key
    # A server of one's own often wants no key; the SDKs insist on some word.
    if member.base_url is not None and member.api_key_env is None:
        return "none"
    raise Trouble(f"there is no key: set the environment variable {name}, or run with --judge cached", hopeless=True)


def _not_installed(member: Member, problem: ImportError) -> str:
    if isinstance(problem, ModuleNotFoundError) and problem.name == member.provider:
        return f"its SDK is not installed: pip install 'passmuster[{member.provider}]'"
    return f"its SDK cannot be imported ({problem}): pip install 'passmuster[{member.provider}]'"


def _safe(text: str, key: str) -> str:
    return Redactor().text(" ".join(text.split()), _MESSAGE_LIMIT, known=[key] if len(key) > 5 else [])
