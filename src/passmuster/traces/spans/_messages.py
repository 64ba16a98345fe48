"""Messages to and from a model, in whatever shape an interface or a framework writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passmuster.traces.spans._said import ROLES, SILENT, Answered, Asked, Said, conventional, plain_content
from passmuster.traces.spans._values import arguments_of, first, opened, text, word

_DEEPEST = 6


def conversation(value: Any, role: str = "user", depth: int = 0) -> list[Said]:
    """The messages in a request or a response, or in a list of messages; empty where there are none."""
    if isinstance(value, str) and value.startswith("[{") and (plain := conventional(value)) is not None:
        return plain
    value = opened(value)
    if depth > _DEEPEST or value is None:
        return []
    if isinstance(value, str):
        return [Said(role, value)]
    if isinstance(value, list):
        return _listed(value, role, depth)
    if not isinstance(value, dict):
        return []
    if _is_message(value):
        return [read_message(value, role)]
    found: list[Said] = []
    for key, own in _PLACES:
        inner = value.get(key)
        if inner is None or (isinstance(inner, str) and key not in _TEXTS):
            continue
        if key == "choices" and isinstance(inner, list):
            inner = [
                one.get("message") or one.get("delta") or one.get("text") for one in inner if isinstance(one, dict)
            ]
        elif key in ("candidates", "generations") and isinstance(inner, list):
            inner = [_generated(one) for one in _flat(inner)]
        found += conversation(inner, own or role, depth + 1)
        if key not in _BESIDE and found:
            break
    return found


_PLACES: tuple[tuple[str, str], ...] = (
    *(("system", "system"), ("system_instruction", "system"), ("instructions", "system")),
    *(("messages", ""), ("contents", ""), ("choices", "assistant"), ("candidates", "assistant")),
    *(("generations", "assistant"), ("message", ""), ("output", "assistant"), ("input", "user"), ("content", "")),
    *(("response", "assistant"), ("new_messages", ""), ("prompt", "user"), ("update", ""), ("outputs", "assistant")),
    ("replies", "assistant"),
)
"""Where requests and responses keep their messages, and who speaks if a message does not say."""
_TEXTS = ("input", "system", "instructions", "content", "prompt", "output", "response", "system_instruction")
_BESIDE = ("system", "system_instruction", "instructions")


def _flat(values: list[Any]) -> Iterator[Any]:
    for one in values:
        if isinstance(one, list):
            yield from _flat(one[:1000]) if all(not isinstance(inner, list) for inner in one) else ()
        else:
            yield one


def _generated(one: Any) -> Any:
    """The message of one of a model's alternatives."""
    if not isinstance(one, dict):
        return one
    return first(one, ("message", "content")) or one.get("text")


def _listed(values: list[Any], role: str, depth: int) -> list[Said]:
    found: list[Said] = []
    for one in values:
        one = opened(one)
        if isinstance(one, list):
            found += _listed(one, role, depth + 1) if depth < _DEEPEST else []
        elif isinstance(one, dict) and not _is_message(one) and not _is_part(one):
            found += conversation(one, role, depth + 1)
        elif isinstance(one, dict) and _is_part(one) and not _is_message(one):
            if not found or found[-1].role != role or found[-1].results:
                found.append(Said(role))
            _add_part(found[-1], one)
        elif isinstance(one, dict):
            found.append(read_message(one, role))
        elif isinstance(one, str):
            found.append(Said(role, one))
    return found


def _is_message(value: dict[str, Any]) -> bool:
    if "role" in value or "lc" in value or "tool_calls" in value:
        return True
    kind = word(value.get("type"))
    if kind in _ITEMS or value.get("kind") in ("request", "response"):
        return True
    return kind in ROLES and ("content" in value or "data" in value)


_ITEMS = frozenset(
    (
        *(
            "function_call",
            "function_call_output",
            "message",
            "custom_tool_call",
            "custom_tool_call_output",
            "mcp_call",
        ),
        *("web_search_call", "file_search_call", "computer_call", "code_interpreter_call", "local_shell_call"),
        *("image_generation_call", "shell_call", "apply_patch_call", "tool_search_call"),
        *("computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output"),
    )
)
"""Types of the items of OpenAI's Responses that are messages of their own."""
_HOSTED_ITEMS = frozenset(
    (
        *("mcp_call", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
        "tool_search_call",
    )
)
"""Those of tools that the API runs itself."""


def read_message(value: dict[str, Any], role: str = "user") -> Said:
    """One message of any shape."""
    if value.get("lc") is not None and isinstance(value.get("kwargs"), dict):
        kinds = value.get("id")
        inner = value["kwargs"]
        value = {**inner, "role": inner.get("role") or (kinds[-1] if isinstance(kinds, list) and kinds else role)}
    elif isinstance(value.get("data"), dict) and word(value.get("type")) in ROLES:
        value = {**value["data"], "role": value["type"]}
    stated = word(value.get("role")) or word(value.get("type")) or role
    said = Said(ROLES.get(stated, stated), name=text(value.get("name")))
    kind = word(value.get("type"))
    if kind in _ITEMS and kind != "message":
        said.role = "tool" if kind.endswith("_output") else "assistant"
        _add_item(said, kind, value)
        return said
    if value.get("kind") in ("request", "response"):
        said.role = "assistant" if value["kind"] == "response" else "user"
    if said.role == "tool" or (value.get("tool_call_id") and "content" in value):
        content = value.get("content")
        if not _holds_results(value.get("parts")) and not _holds_results(content):
            _add_tool_message(said, value, value.get("parts") if content is None else content)
            return said
    for place in ("parts", "content", "contents", "message", "blocks"):
        _add_content(said, value.get(place))
    _add_calls(said, value)
    if said.text is None and isinstance(value.get("refusal"), str):
        said.text = value["refusal"]
    return said


def _holds_results(content: Any) -> bool:
    content = opened(content)
    return isinstance(content, list) and any(
        isinstance(part, dict)
        and (_RESULT_KEYS & part.keys() or str(part.get("type", "")).endswith(("result", "response")))
        for part in content
    )


_RESULT_KEYS = {"toolResult", "functionResponse", "function_response", "tool_call_result"}


def _add_tool_message(said: Said, value: dict[str, Any], content: Any) -> None:
    said.role = "tool"
    identity = first(value, ("tool_call_id", "toolCallId", "tool_use_id", "id", "call_id"))
    failed = value.get("status") == "error" or bool(first(value, ("is_error", "isError")))
    said.results.append(Answered(text(identity), plain_content(content), said.name, failed))


def _add_calls(said: Said, value: dict[str, Any]) -> None:
    """The calls that a message holds beside its content."""
    beside = value.get("additional_kwargs")
    known = {call.id for call in said.calls if call.id}
    for holder in (value, beside if isinstance(beside, dict) else {}):
        calls = opened(first(holder, ("tool_calls", "toolCalls")))
        for call in calls.values() if isinstance(calls, dict) else calls if isinstance(calls, list) else ():
            asked = read_call(call)
            if asked is None:
                said.unread += ("a tool call without a name",)
            elif asked.id is None or asked.id not in known:
                said.calls.append(asked)
        if said.calls:
            break
        old = opened(holder.get("function_call"))
        if isinstance(old, dict) and old.get("name") and (asked := read_call(old)):
            said.calls.append(asked)


def read_call(call: Any) -> Asked | None:
    """A tool call as chat messages list it."""
    call = opened(call)
    if not isinstance(call, dict):
        return None
    if isinstance(call.get("tool_call"), dict):
        call = call["tool_call"]
    inner = first(call, ("function", "custom", "function_call"))
    body = inner if isinstance(inner, dict) else call
    name = first(body, ("name", "tool_name", "toolName"))
    if not isinstance(name, str) or not name:
        return None
    identity = first(call, ("id", "tool_call_id", "toolCallId", "call_id"))
    given = first(body, _ARGUMENTS)
    stated = any(key in body for key in _ARGUMENTS)
    return Asked(name, text(identity), arguments_of(given) if stated else None)


_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_args", "tool_kwargs")


def _add_content(said: Said, content: Any, depth: int = 0) -> None:
    if isinstance(content, str):
        inner = opened(content) if content[:1] in ("[", "{") else content
        if not isinstance(inner, list) or not any(isinstance(part, dict) and _is_part(part) for part in inner):
            said.add_text(content)
            return
        content = inner
    if depth > _DEEPEST:
        return
    if isinstance(content, dict):
        if "parts" in content or "content" in content or _is_message(content):
            _add_content(said, first(content, ("parts", "content")), depth + 1)
            _add_calls(said, content)
        elif _is_part(content):
            _add_part(said, content)
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            said.add_text(part)
        elif isinstance(part, dict):
            inner = part.get("message_content")
            _add_part(said, {**part, **inner} if isinstance(inner, dict) else part)


def _is_part(part: dict[str, Any]) -> bool:
    return any(isinstance(part.get(name), str) for name in _KIND_KEYS) or any(key in part for key in _PART_KEYS)


_KIND_KEYS = ("type", "part_kind", "block_type")
_GOOGLE_RESULTS = ("functionResponse", "function_response")
"""Results in which a key `error` says that the function failed."""
_PART_KEYS = ("text", "toolUse", "functionCall", "function_call", "tool_call", *_RESULT_KEYS)


def _add_part(said: Said, part: dict[str, Any]) -> None:
    kind = next((kind for name in _KIND_KEYS if (kind := word(part.get(name)))), "")
    if kind in _ITEMS and "content" not in part:
        _add_item(said, kind, part)
        return
    for wrapped in ("toolUse", "functionCall", "function_call", "tool_call"):
        if isinstance(part.get(wrapped), dict):
            _add_use(said, part[wrapped])
            return
    for wrapped in _RESULT_KEYS & part.keys():
        if isinstance(part[wrapped], dict):
            origin = part[wrapped].get("origin")  # the call that a result of Haystack repeats
            _add_result(said, {**origin, **part[wrapped]} if isinstance(origin, dict) else part[wrapped])
            response = part[wrapped].get("response") if wrapped in _GOOGLE_RESULTS else None
            if isinstance(response, dict) and response.get("error"):
                said.results[-1].failed = True
            return
    if kind in ("tool_call", "tool_use", "tool-call", "dynamic-tool"):
        _add_use(said, part)
    elif kind in _HOSTED_PARTS:
        _add_use(said, _opened_part(part, kind), hosted=True)
    elif kind in _RESULT_PARTS or kind.endswith("tool_result"):
        _add_result(said, _opened_part(part, kind))
    elif kind.startswith("tool-") and ("toolCallId" in part or "input" in part):  # a tool part of Vercel's UI messages
        _add_use(said, {"toolName": kind[5:], **part})
        if "output" in part:
            _add_result(said, part)
    elif isinstance(part.get("text"), str):
        if not part.get("thought"):
            said.add_text(part["text"])
    elif kind in ("text", "output_text", "input_text", "refusal", "user-prompt", "system-prompt"):
        said_text = first(part, ("content", "text", "refusal"))
        if isinstance(said_text, str):
            said.add_text(said_text)
    elif kind not in SILENT and not (SILENT & part.keys()) and _may_hold_call(part):
        said.unread += (f"a part of type '{kind}'" if kind else f"a part with the keys {', '.join(sorted(part)[:4])}",)


_HOSTED_PARTS = ("server_tool_use", "mcp_tool_use", "builtin-tool-call", "server_tool_call")
_RESULT_PARTS = (
    *("tool_call_response", "tool-return", "tool-result", "builtin-tool-return", "server_tool_call_response"),
)


def _opened_part(part: dict[str, Any], kind: str) -> dict[str, Any]:
    """A part whose content stands under the name of its type, as in the conventions for tools that an API runs."""
    inner = part.get(kind)
    if not isinstance(inner, dict):
        return part
    content = {key: value for key, value in inner.items() if key != "type"}
    if kind.endswith("response"):
        return {"response": content, **part}
    return {"name": inner.get("type"), "arguments": first(content, _ARGUMENTS) or content, **part}


def _may_hold_call(part: dict[str, Any]) -> bool:
    words = [*(str(part.get(name, "")) for name in _KIND_KEYS), *part]
    return any(sign in word.lower() for word in words for sign in ("tool", "call", "function", "action"))


def _add_use(said: Said, use: dict[str, Any], *, hosted: bool = False) -> None:
    name = first(use, ("name", "toolName", "tool_name"))
    if not isinstance(name, str) or not name:
        said.unread += ("a tool call without a name",)
        return
    identity = first(use, ("id", "toolUseId", "toolCallId", "tool_call_id", "call_id"))
    stated = any(key in use for key in _ARGUMENTS)
    arguments = arguments_of(first(use, _ARGUMENTS)) if stated else None
    said.calls.append(Asked(name, text(identity), arguments, hosted))


def _add_result(said: Said, part: dict[str, Any]) -> None:
    identity = first(part, ("tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id", "id"))
    content = first(part, ("response", "result", "output", "content"))
    failed = part.get("status") == "error" or bool(first(part, ("is_error", "isError", "error")))
    tool = first(part, ("name", "toolName", "tool_name"))
    said.results.append(Answered(text(identity), plain_content(content), text(tool), failed))


def _add_item(said: Said, kind: str, item: dict[str, Any]) -> None:
    """An item of OpenAI's Responses."""
    identity = text(first(item, ("call_id", "id")))
    if kind.endswith("_output"):
        failed = item.get("status") in ("failed", "incomplete")
        said.results.append(Answered(identity, plain_content(item.get("output")), text(item.get("name")), failed))
        return
    name = text(item.get("name")) or kind.removesuffix("_call")
    stated = first(item, ("arguments", "input", "action", "code", "queries", "operation"))
    arguments = arguments_of(stated)
    arguments = arguments if isinstance(arguments, dict) else {"input": arguments}
    said.calls.append(Asked(name, identity, arguments, kind in _HOSTED_ITEMS))
    if kind == "mcp_call" and (item.get("output") is not None or item.get("error")):
        said.results.append(Answered(identity, item.get("output") or item.get("error"), name, bool(item.get("error"))))
