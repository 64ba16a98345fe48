"""Answers that a model's API streams (server-sent events), put together to what it would have sent at once.

Of an answer that breaks off, it is kept that there was one. Its calls count only where the agent itself stopped
reading, for it may have acted on those that had arrived whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

Answer = dict[str, Any]
_decode = msgspec.json.Decoder().decode


class Assembly(Protocol):
    """Puts the events of one answer together."""

    whole: bool

    def add(self, event: dict[str, Any]) -> None:
        """Take the next event."""

    def answer(self) -> Answer:
        """The answer as far as it has arrived; of one that is not whole only complete calls, and no text."""


def events_of(data: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects in the `data` of server-sent events."""
    for block in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
        text = b"\n".join(lines)
        if text[:1] == b"{":
            try:
                event = _decode(text)
            except (msgspec.MsgspecError, RecursionError):
                continue  # the last one may be cut off
            yield event


class ChatAssembly:
    """Chunks of OpenAI's chat completions."""

    def __init__(self) -> None:
        self.whole = False
        self._head: Answer = {}
        self._texts: dict[int, str] = {}
        self._calls: dict[int, dict[Any, dict[str, Any]]] = {}
        self._ends: dict[int, str] = {}

    def add(self, event: dict[str, Any]) -> None:
        for name in ("id", "model", "usage"):
            if event.get(name):
                self._head[name] = event[name]
        for choice in event.get("choices") or ():
            index = choice.get("index", 0)
            delta = choice.get("delta") or {}
            self._texts.setdefault(index, "")
            text = delta.get("content") if isinstance(delta.get("content"), str) else delta.get("text")
            self._texts[index] += text or choice.get("text") or ""
            for place, call in enumerate(delta.get("tool_calls") or ()):
                self._add_call(index, call, call.get("index", place))
            if isinstance(delta.get("function_call"), dict):
                self._add_call(index, {"function": delta["function_call"]}, "function_call")
            if choice.get("finish_reason"):
                self._ends[index] = choice["finish_reason"]
                self.whole = len(self._ends) == len(self._texts)

    def _add_call(self, index: int, piece: dict[str, Any], place: Any) -> None:
        calls = self._calls.setdefault(index, {})
        call = calls.setdefault(place, {"type": "function", "function": {"name": "", "arguments": ""}})
        if piece.get("id"):
            call["id"] = piece["id"]
        function = piece.get("function") or piece.get("custom") or {}
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or function.get("input") or ""

    def answer(self) -> Answer:
        choices = []
        for index, text in sorted(self._texts.items()):
            calls = list(self._calls.get(index, {}).values())
            if not self.whole:
                calls = [call for call in calls if _is_object(call["function"]["arguments"])]
            message: dict[str, Any] = {"role": "assistant", "content": (text or None) if self.whole else None}
            if calls:
                message["tool_calls"] = calls
            choices.append({"index": index, "message": message, "finish_reason": self._ends.get(index)})
        return {**self._head, "choices": choices or [{"index": 0, "message": {"role": "assistant", "content": None}}]}


class MessagesAssembly:
    """Events of Anthropic's messages."""

    def __init__(self) -> None:
        self.whole = False
        self._message: Answer = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._stopped: set[int] = set()

    def add(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                self._add_delta(event["index"], event["delta"])
            case "content_block_stop":
                self._stopped.add(event["index"])
            case "message_delta":
                self._message |= event.get("delta") or {}
                if isinstance(event.get("usage"), dict):
                    self._message["usage"] = {**(self._message.get("usage") or {}), **event["usage"]}
            case "message_stop":
                self.whole = True

    def _add_delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        for name in ("text", "thinking"):
            if isinstance(delta.get(name), str):
                block[name] = block.get(name, "") + delta[name]
        if isinstance(delta.get("partial_json"), str):
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]

    def answer(self) -> Answer:
        content = []
        for index, block in sorted(self._blocks.items()):
            if self._inputs.get(index):
                try:
                    block["input"] = _decode(self._inputs[index])
                except (msgspec.MsgspecError, RecursionError):
                    block["input"] = self._inputs[index]
            if self.whole or (index in self._stopped and "tool_use" in str(block.get("type"))):
                content.append(block)
        return {"role": "assistant", **self._message, "content": content}


class ResponsesAssembly:
    """Events of OpenAI's Responses."""

    def __init__(self) -> None:
        self.whole = False
        self._is_last = False
        self._response: Answer = {}
        self._items: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "response.created" | "response.in_progress":
                self._response = dict(event["response"])
            case "response.output_item.done":
                self._items.append(event["item"])
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = dict(event["response"])
                self._is_last = self.whole = True

    def answer(self) -> Answer:
        if self.whole:
            return self._response if self._is_last else {**self._response, "output": self._items}
        calls = [item for item in self._items if str(item.get("type")).endswith("_call")]
        return {**self._response, "output": calls or [{"type": "message", "role": "assistant", "content": []}]}


ASSEMBLIES: dict[str, type[Assembly]] = {
    "chat": ChatAssembly,
    "completions": ChatAssembly,
    "messages": MessagesAssembly,
    "responses": ResponsesAssembly,
}
"""By API (`_model_apis`)."""


def assembled(api: str, data: bytes, *, ended: bool) -> tuple[Answer, bool]:
    """The answer that a stream holds, and whether it is whole. Raises `ValueError` for events that the API has not.

    `ended` says that the stream came to its end. Then it is whole even without a last event, which SDKs do not miss,
    but not with an error in it.
    """
    assembly = ASSEMBLIES[api]()
    failed = False
    try:
        for event in events_of(data):
            if event.get("type") == "error" or (event.get("error") and "type" not in event):
                failed = True
            else:
                assembly.add(event)
        assembly.whole = (assembly.whole or ended) and not failed
        return assembly.answer(), assembly.whole
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def without_calls(api: str, answer: Answer) -> Answer:
    """That there was an answer, and nothing of what it says."""
    empty = ASSEMBLIES[api]().answer()
    return {**empty, **{name: answer[name] for name in ("id", "model") if name in answer}}


def _is_object(text: str) -> bool:
    try:
        return isinstance(_decode(text), dict)
    except (msgspec.MsgspecError, RecursionError):
        return False
