"""What was said to and by a model: messages, with the calls they ask for and the results they give."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from passmuster.traces.spans._values import arguments_of, opened

ROLES = {
    **dict.fromkeys(("user", "human", "HumanMessage", "HumanMessageChunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "AIMessage", "AIMessageChunk", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function", "ToolMessage", "FunctionMessage", "ipython"), "tool"),
    **dict.fromkeys(("system", "developer", "SystemMessage"), "system"),
}
"""Who speaks, by the names that interfaces give them."""
SILENT = frozenset(
    (
        *(
            "reasoning",
            "thinking",
            "redacted_thinking",
            "thought",
            "image",
            "image_url",
            "input_image",
            "audio",
            "file",
        ),
        *("input_audio", "input_file", "blob", "uri", "document", "video", "cachePoint", "reasoningContent", "source"),
        *(
            "item_reference",
            "compaction",
            "guardContent",
            "reasoning_content",
            "step-start",
            "citation",
            "search_result",
        ),
    )
)
"""Parts that hold neither text of the conversation nor a call."""


class Asked(Struct, gc=False):
    """A tool call that a model asked for."""

    tool: str
    id: str | None = None
    arguments: Any = None
    """None where they are not recorded."""
    hosted: bool = False
    """Whether the model's API or SDK runs the tool itself, within the same answer."""
    round: int = 0
    """Which of the answers that one span stands for asks for it; those of one are a group."""


class Answered(Struct, gc=False):
    """A result that a model was given."""

    id: str | None
    result: Any
    tool: str | None = None
    failed: bool = False


class Said(Struct, gc=False):
    """One message."""

    role: str
    text: str | None = None
    calls: list[Asked] = field(default_factory=list)
    results: list[Answered] = field(default_factory=list)
    name: str | None = None
    unread: tuple[str, ...] = ()
    """What could hold a tool call and is not understood."""

    def add_text(self, more: str) -> None:
        self.text = more if self.text is None else self.text + more


class _Part(Struct, forbid_unknown_fields=True, gc=False):
    type: str
    content: Any = UNSET
    id: str | None = None
    name: str | None = None
    arguments: Any = UNSET
    response: Any = UNSET
    result: Any = UNSET


class _Message(Struct, forbid_unknown_fields=True, gc=False):
    role: str
    parts: list[_Part]
    name: str | None = None
    finish_reason: Any = None


@cache
def _decoder() -> msgspec.json.Decoder[list[_Message]]:
    return msgspec.json.Decoder(list[_Message])


def conventional(text: str) -> list[Said] | None:
    """Messages exactly as OpenTelemetry's conventions have them, read fast; None for all others."""
    try:
        messages = _decoder().decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    found: list[Said] = []
    for message in messages:
        role = ROLES.get(message.role)
        if role is None:
            return None
        said = Said(role, name=message.name or None)
        for part in message.parts:
            kind = part.type
            if kind == "text" and isinstance(part.content, str):
                said.add_text(part.content)
            elif kind == "tool_call" and part.name:
                stated = part.arguments is not UNSET
                arguments = arguments_of(part.arguments) if stated else None
                said.calls.append(Asked(part.name, part.id or None, arguments))
            elif kind == "tool_call_response":
                result = part.response if part.response is not UNSET else part.result
                said.results.append(
                    Answered(part.id or None, None if result is UNSET else plain_content(result), part.name)
                )
            elif kind not in SILENT:
                return None
        if role == "tool" and not said.results:
            return None
        found.append(said)
    return found


def plain_content(content: Any) -> Any:
    """A result without the list of text parts that it may be wrapped in."""
    inner = opened(content) if isinstance(content, str) and content[:2] in ("[{", "[ ") else content
    if isinstance(inner, list) and inner and all(_is_text(part) for part in inner):
        return "".join(_text_of(part) for part in inner)
    if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], dict) and set(inner[0]) == {"json"}:
        return inner[0]["json"]
    return content


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(_raw_text(part), str) and part.keys() <= _TEXT_KEYS


def _raw_text(part: dict[str, Any]) -> Any:
    return part.get("text") if "text" in part else part.get("content") if part.get("type") == "text" else None


def _text_of(part: dict[str, Any]) -> str:
    return str(_raw_text(part))


_TEXT_KEYS = {"type", "text", "content", "annotations", "citations", "cache_control", "meta", "_meta", "id", "logprobs"}


def last_text(said: Iterable[Said], role: str) -> str | None:
    """The last text that somebody said."""
    found = None
    for one in said:
        if one.role == role and one.text:
            found = one.text
    return found
