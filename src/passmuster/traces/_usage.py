"""Token counts of one model call, from the names and the arithmetic of the model APIs.

Some APIs count cached tokens within the input, others beside it. `tokens_in` always includes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_IN = (
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
    "input_token_count",
    "request_tokens",
)
_OUT = (
    *("output_tokens", "completion_tokens", "outputTokens", "completionTokens"),
    *("candidatesTokenCount", "candidates_token_count", "output_token_count", "response_tokens"),
)
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount", "total_token_count")
_READ_APART = ("cache_read_input_tokens", "cacheReadInputTokens", "input_tokens_cache_read")
_WRITTEN_APART = ("cache_creation_input_tokens", "cacheWriteInputTokens", "input_tokens_cache_write")
"""Cached tokens that are counted beside the input, unless a total says otherwise."""
_READ_EITHER = ("cache_read_tokens",)
"""Cached tokens that pydantic-ai counts within the input, and Agno as the model's API does, beside a total."""
_READ_WITHIN = (
    *("cachedInputTokens", "cached_input_tokens", "cached_tokens", "prompt_cache_hit_tokens"),
    *("cachedContentTokenCount", "cached_content_token_count"),
)
_DETAILS = (
    *("input_tokens_details", "prompt_tokens_details", "input_token_details", "inputTokenDetails"),
    *("promptTokensDetails", "inputTokensDetails"),
)
_READ_IN_DETAILS = ("cached_tokens", "cache_read", "cachedTokens", "cacheReadTokens")
_THOUGHTS = ("thoughtsTokenCount", "thoughts_token_count")
_TOOL_PROMPT = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")


_RARE = frozenset(
    (*_READ_APART, *_WRITTEN_APART, *_READ_EITHER, *_READ_WITHIN, *_DETAILS, *_THOUGHTS, *_TOOL_PROMPT),
)
"""Names of more than what went in and came out."""


class Usage(Struct, frozen=True, gc=False):
    """Tokens of one model call; None where the source does not say."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None


UNKNOWN = Usage()


def usage_of(stated: Any) -> Usage:
    """The tokens that a `usage` object of any API states."""
    if not isinstance(stated, dict):
        return UNKNOWN
    tokens_in, tokens_out, total = _first(stated, _IN), _first(stated, _OUT), _first(stated, _TOTAL)
    if tokens_in is not None and tokens_out is not None and _RARE.isdisjoint(stated):
        return Usage(tokens_in, tokens_out)
    apart, written = _first(stated, _READ_APART), _first(stated, _WRITTEN_APART)
    either = _first(stated, _READ_EITHER)
    if apart is None and either and total is not None and (tokens_in or 0) + (tokens_out or 0) + either <= total:
        apart = either
    cached = apart if apart is not None else either if either is not None else _first(stated, _READ_WITHIN)
    for name in _DETAILS:
        details = stated.get(name)
        if cached is None and isinstance(details, dict):
            cached = _first(details, _READ_IN_DETAILS)
    if tokens_in is not None:
        beside = (apart or 0) + (written or 0)
        if beside and (total is None or tokens_out is None or tokens_in + tokens_out + beside <= total):
            tokens_in += beside
        tokens_in += _first(stated, _TOOL_PROMPT) or 0
        thoughts = _first(stated, _THOUGHTS)
        if tokens_out is None and total is not None and total >= tokens_in and thoughts is not None:
            tokens_out = total - tokens_in
        elif thoughts and tokens_out is not None and (total is None or tokens_in + tokens_out + thoughts <= total):
            tokens_out += thoughts  # apart from the candidates, as Google counts; some bridges count them within
    if tokens_out is None and tokens_in is not None and total is not None and total >= tokens_in:
        tokens_out = total - tokens_in
    return Usage(tokens_in, tokens_out, cached)


def _first(stated: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = stated.get(name)
        if type(value) is int and value >= 0:
            return value
        if type(value) is float and value >= 0 and value.is_integer():
            return int(value)
    return None
