"""The content of messages: which parts are text, tool calls or results, in the words of each API.

A part is recognized by its `type` (or `part_kind`, `_type`), else by the one key that says what it is. A part that
nothing here accounts for is a loss; one that could be a tool call is a loss that cannot be ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from passmuster.traces._building import parse_arguments
from passmuster.traces._model import Key, ToolCall, ToolResult
from passmuster.traces._overlooked import find_calls, unaccounted
from passmuster.traces._turns import Turn, result_json
from passmuster.traces._usage import usage_of

Lose = Callable[[str, bool], None]
"""Told what a message has that is not read, and whether it could be a tool call."""

Part = Mapping[str, Any]
_Reader = Callable[[Part, Turn, list[str], Lose], None]

_CALL_WORDS = ("tool", "function", "call", "action", "command", "invoke", "exec", "shell", "patch")
_KIND_KEYS = ("type", "kind")
"""How keys end that say what an object is: `type`, `part_kind`, `block_type`, …"""
_ARGUMENT_KEYS = frozenset({"arguments", "args", "input", "parameters", "tool_input", "toolInput", "kwargs"})


def could_hold_call(value: Any, depth: int = 6) -> bool:
    """Whether an object that is not read could be or contain a tool call."""
    if depth == 0:
        return True
    if isinstance(value, dict):
        for key, inner in value.items():
            says_kind = isinstance(inner, str) and str(key).lower().endswith(_KIND_KEYS)
            if says_kind and any(word in inner.lower() for word in _CALL_WORDS):
                return True
            filled = isinstance(inner, dict | list) and inner
            if filled and any(word in str(key).lower() for word in _CALL_WORDS):
                return True
        if isinstance(value.get("name"), str) and not _ARGUMENT_KEYS.isdisjoint(value):
            return True
        return any(could_hold_call(inner, depth - 1) for inner in value.values())
    return isinstance(value, list) and any(could_hold_call(inner, depth - 1) for inner in value)


def account_keys(holder: Part, known: Collection[str], what: str, lose: Lose) -> None:
    """Tell of keys that are not read, where what they have could be a tool call."""
    for key, value in holder.items():
        if key not in known and could_hold_call({key: value}):
            lose(f"{what} has '{str(key)[:60]}', which is not read", True)


DATA_KEYS = _ARGUMENT_KEYS | {
    *("content", "output", "result", "response", "error", "rawInput", "metadata", "cache_control", "usage", "details"),
    *("function", "custom", "kwargs", "toolResult", "functionResponse", "function_response", "tool_call_result"),
    *("executableCode", "executable_code", "codeExecutionResult", "code_execution_result"),
}
"""Keys of a part or a call that are read, and those with arguments and results, in which anything may stand."""


def account_inside(holder: Part, known: Collection[str], turn: Turn | None, what: str, lose: Lose) -> None:
    """Tell of tool calls inside the other keys, which are not read, but for those that the turn has anyway."""
    for key, value in holder.items():
        if not (type(value) is dict or type(value) is list) or not value or key in known:
            continue
        if any(unaccounted(find_calls(value, str(key)), turn.calls if turn else ())):
            lose(f"has {what} with a tool call in '{str(key)[:60]}', which is not read", True)


def arguments_of(holder: Part, *names: str) -> Any:
    """The arguments under the first of these names that is there; None, which is unknown, where none is."""
    for name in names:
        if name in holder:
            value = holder[name]
            if isinstance(value, str) and value.strip() in ("", "null"):  # how some models write no arguments
                return {}
            return {} if value is None else parse_arguments(value)
    return None


def key_of(holder: Part, *names: str) -> Key | None:
    """The id under the first of these names that has one."""
    for name in names:
        value = holder.get(name)
        if type(value) is str and value:
            return value
        if type(value) is int:
            return value
    return None


def name_of(holder: Part, *names: str) -> str:
    """The tool's name under the first of these names. Raises `ValidationError` where there is none."""
    for name in names:
        value = holder.get(name)
        if isinstance(value, str) and value:
            return value
    raise msgspec.ValidationError(f"Object missing required field `{names[0]}`, the name of the tool of a call")


def entries(holder: Part, name: str, lose: Lose) -> list[Any]:
    """The list under a key that may be absent; a loss where something else stands there."""
    found = holder.get(name)
    if found is None or isinstance(found, list):
        return found or []
    lose(f"has a {name!r} that is not a list", True)
    return []


def text_of(content: Any) -> str | None:
    """The text of a string or of a list of text parts; None where it is neither."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = []
        for part in content:
            text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
            if text is None and isinstance(part, dict) and part.get("type") == "text":
                text = part.get("content")
            if not isinstance(text, str) or (isinstance(part, dict) and part.get("type") in _RESULT_DATA):
                return None
            texts.append(text)
        return "".join(texts)
    return None


_RESULT_DATA = ("image", "document", "json")


def result_of(content: Any) -> Any:
    """What a tool returned, of content that may be text, parts of text or anything else."""
    if isinstance(content, list) and content:
        only = content[0] if len(content) == 1 else None
        if isinstance(only, dict) and set(only) == {"json"}:  # Bedrock
            return only["json"]
        text = text_of(content)
        return content if text is None else text
    return content


def outcome(
    content: Any, failed: Any, id: Key | None = None, tool: str | None = None, duration_ms: float | None = None
) -> ToolResult:
    """A result, with what it says as the error where it is flagged as failed."""
    value = result_of(content)
    error: Any = None
    if failed:
        error = failed if not isinstance(failed, bool | int) else value if value else True
    named = tool if isinstance(tool, str) and tool else None
    return ToolResult(id, named, result_json(value), error, duration_ms)


# One function for each kind of part.


def _text(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    text = part.get("text", part.get("content"))
    if isinstance(text, dict):  # {"value": …} of threads
        text = text.get("value")
    if isinstance(text, str):
        texts.append(text)


def _refusal(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    if isinstance(text := part.get("refusal"), str):
        texts.append(text)


def _nothing(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """Images, reasoning and the like: known, and no call, unless one stands inside."""
    if type(content := part.get("content")) is list:
        account_inside({"content": content}, (), turn, "a part of its content", lose)


def _tool_use(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    turn.calls.append(ToolCall(name_of(part, "name"), key_of(part, "id"), arguments_of(part, "input")))


def _server_tool_use(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    _tool_use(part, turn, texts, lose)
    turn.hosted += 1


def _tool_result(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    content = part.get("content")
    failed = part.get("is_error")
    key = part.get("tool_use_id")
    if type(content) is str and not failed and type(key) is str:
        turn.results.append(ToolResult(key, None, result_json(content)))
        return
    if isinstance(content, dict) and str(content.get("type", "")).endswith("_error"):
        failed = content.get("error_code") or True
    turn.results.append(outcome(content, failed, key_of(part, "tool_use_id")))


def _tool_call_part(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """Vercel's and others' `tool-call`; LangChain's, OpenTelemetry's, LlamaIndex's and Haystack's `tool_call`."""
    inner = part.get("tool_call")
    part = inner if isinstance(inner, dict) else part
    name = name_of(part, "toolName", "tool_name", "name", "function")
    arguments = arguments_of(part, "input", "args", "arguments", "rawInput", "tool_kwargs")
    turn.calls.append(ToolCall(name, key_of(part, "toolCallId", "tool_call_id", "id", "call_id"), arguments))
    turn.hosted += bool(part.get("providerExecuted"))


_VERCEL_ERRORS = ("error-text", "error-json", "execution-denied")


def _tool_result_part(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """Vercel's `tool-result` of all versions, and others like it."""
    key, tool = key_of(part, "toolCallId", "tool_call_id", "call_id", "id"), part.get("toolName", part.get("tool_name"))
    output = part.get("output", part.get("result", part.get("response", part.get("content"))))
    failed = part.get("isError", part.get("is_error"))
    if isinstance(output, dict) and isinstance(output.get("type"), str) and set(output) & {"value", "reason"}:
        failed = failed or output["type"] in _VERCEL_ERRORS
        output = output.get("value", output.get("reason"))
    turn.results.append(outcome(output, failed, key, tool if isinstance(tool, str) else None))


def _haystack_result(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    result = part["tool_call_result"]
    call = result["origin"]
    key, tool = key_of(call, "id"), name_of(call, "tool_name")
    turn.results.append(outcome(result.get("result"), result.get("error"), key, tool))


def _goose_request(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    call = part["toolCall"]
    call = call.get("value", call)
    turn.calls.append(ToolCall(name_of(call, "name"), key_of(part, "id"), arguments_of(call, "arguments")))


def _goose_response(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    result = part["toolResult"]
    value = result.get("value", result)
    flagged = isinstance(value, dict) and value.get("isError")
    content = value.get("content", value) if isinstance(value, dict) else value
    failed = result.get("error") or result.get("status") == "error" or flagged
    turn.results.append(outcome(content, failed, key_of(part, "id")))


def _tool_error(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    turn.results.append(outcome(part.get("error"), part.get("error") or True, key_of(part, "toolCallId")))


def _tool_invocation(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """A call with its result in one part: Vercel's messages for user interfaces."""
    inner = part.get("toolInvocation")
    part = inner if isinstance(inner, dict) else part
    kind = part.get("type")
    own = kind[5:] if isinstance(kind, str) and kind.startswith("tool-") and kind != "tool-invocation" else None
    state = part.get("state")
    key = key_of(part, "toolCallId")
    tool = own or name_of(part, "toolName")
    turn.calls.append(ToolCall(tool, key, arguments_of(part, "input", "args", "rawInput")))
    if state in ("output-error", "output-denied"):
        turn.results.append(outcome(part.get("errorText"), part.get("errorText") or state, key, tool))
    elif state in ("result", "output-available") or "result" in part or part.get("output") is not None:
        turn.results.append(outcome(part.get("output", part.get("result")), part.get("isError"), key, tool))


def _bedrock_use(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    use = part["toolUse"]
    turn.calls.append(ToolCall(name_of(use, "name"), key_of(use, "toolUseId"), arguments_of(use, "input")))
    turn.hosted += use.get("type") == "server_tool_use"


def _bedrock_result(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    result = part["toolResult"]
    failed = result.get("status") == "error"
    turn.results.append(outcome(result.get("content"), failed, key_of(result, "toolUseId")))


def _google_call(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    call = part.get("functionCall") or part.get("function_call")
    if isinstance(call, dict):
        account_inside(call, DATA_KEYS, turn, "a call", lose)
        arguments = arguments_of(call, "args", "arguments")
        arguments = {} if arguments is None else arguments  # the API leaves out what is empty
        turn.calls.append(ToolCall(name_of(call, "name"), key_of(call, "id"), arguments))


def _google_response(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    result = part.get("functionResponse") or part.get("function_response")
    if isinstance(result, dict):
        response = result.get("response")
        failed = response.get("error") if isinstance(response, dict) else None
        tool = result.get("name")
        turn.results.append(outcome(response, failed, key_of(result, "id"), tool if isinstance(tool, str) else None))


def _google_code(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    code = part.get("executableCode") or part.get("executable_code")
    if isinstance(code, dict):
        turn.calls.append(ToolCall("code_execution", key_of(code, "id"), dict(code)))
        turn.hosted += 1


def _google_code_result(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    result = part.get("codeExecutionResult") or part.get("code_execution_result")
    if isinstance(result, dict):
        state = result.get("outcome")
        failed = None if state in ("OUTCOME_OK", None) else state
        turn.results.append(outcome(result.get("output"), failed, key_of(result, "id"), "code_execution"))


def _user_prompt(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    content = part.get("content")
    if isinstance(content, str):
        texts.append(content)
    elif isinstance(content, list):
        texts += [piece for piece in content if isinstance(piece, str)]
        texts += [text for piece in content if isinstance(piece, dict) and isinstance(text := piece.get("text"), str)]


def _tool_return(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """pydantic-ai's result of a call."""
    tool = part.get("tool_name")
    failed = part.get("outcome") in ("failed", "denied")
    turn.results.append(outcome(part.get("content"), failed, key_of(part, "tool_call_id"), tool))


def _retry_prompt(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """pydantic-ai's answer to a call that failed; without a tool, to an output that was not valid."""
    tool = part.get("tool_name")
    if isinstance(tool, str):
        content = part.get("content")
        turn.results.append(outcome(content, content or True, key_of(part, "tool_call_id"), tool))


def _builtin_call(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    _tool_call_part(part, turn, texts, lose)
    turn.hosted += 1


def _function_call_item(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """An item of OpenAI's Responses, also within the content of a message."""
    if isinstance(part.get("function_call"), dict):
        _google_call(part, turn, texts, lose)
        return
    key = key_of(part, "call_id", "id")
    turn.calls.append(ToolCall(name_of(part, "name"), key, arguments_of(part, "arguments", "input", "args")))


def _function_result(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    """Microsoft's agent-framework and semantic-kernel."""
    failed = part.get("exception") or part.get("error")
    tool = part.get("name")
    key = key_of(part, "call_id", "id")
    turn.results.append(outcome(part.get("result"), failed, key, tool if isinstance(tool, str) else None))


def _usage(part: Part, turn: Turn, texts: list[str], lose: Lose) -> None:
    turn.usage = usage_of(part.get("details", part.get("usage_details")))


_PASSED_BY = (
    *("image", "image_url", "input_image", "output_image", "input_audio", "audio", "audio_url", "video", "video_url"),
    *("file", "input_file", "file_url", "document", "thinking", "redacted_thinking", "reasoning", "step-start"),
    *("source", "source-url", "source-document", "container_upload", "search_result", "compaction", "media"),
    *(
        "ThinkingBlock",
        "ImageBlock",
        "RedactedThinkingBlock",
        "summary_text",
        "reasoning_text",
        "blob",
        "uri",
        "binary",
    ),
    *("image-url", "audio-url", "video-url", "document-url", "image-data", "fallback", "tool_reference", "thought"),
    *("cachePoint", "reasoningContent", "guardContent", "citationsContent", "inlineData", "fileData", "inline_data"),
    *("text_reasoning", "uri_content", "data", "error", "hosted_file", "hosted_vector_store", "annotation"),
    *("file_data", "thoughtSignature", "thought_signature", "videoMetadata", "input_text_delta", "cache_point"),
)

READERS: dict[str, _Reader] = {
    **dict.fromkeys(_PASSED_BY, _nothing),
    **dict.fromkeys(("text", "input_text", "output_text", "TextBlock", "text_block", "system-prompt"), _text),
    "refusal": _refusal,
    **dict.fromkeys(("tool_use", "ToolUseBlock"), _tool_use),
    **dict.fromkeys(("server_tool_use", "mcp_tool_use", "ServerToolUseBlock"), _server_tool_use),
    **dict.fromkeys(("tool_result", "ToolResultBlock", "ServerToolResultBlock", "mcp_tool_result"), _tool_result),
    **dict.fromkeys(("tool-call", "tool_call", "invalid_tool_call", "invalid-tool-call"), _tool_call_part),
    **dict.fromkeys(("builtin-tool-call", "server_tool_call"), _builtin_call),
    **dict.fromkeys(("tool-result", "tool_call_response", "server_tool_result"), _tool_result_part),
    "tool_call_result": _haystack_result,
    **dict.fromkeys(("toolRequest", "frontendToolRequest"), _goose_request),
    "toolResponse": _goose_response,
    "tool-error": _tool_error,
    "function_result": _function_result,
    "usage": _usage,
    **dict.fromkeys(("tool-invocation", "dynamic-tool"), _tool_invocation),
    "toolUse": _bedrock_use,
    "toolResult": _bedrock_result,
    **dict.fromkeys(("functionCall",), _google_call),
    **dict.fromkeys(("function_call", "custom_tool_call"), _function_call_item),
    **dict.fromkeys(("functionResponse", "function_response"), _google_response),
    **dict.fromkeys(("executableCode", "executable_code"), _google_code),
    **dict.fromkeys(("codeExecutionResult", "code_execution_result"), _google_code_result),
    "user-prompt": _user_prompt,
    **dict.fromkeys(("tool-return", "builtin-tool-return"), _tool_return),
    "retry-prompt": _retry_prompt,
}

KINDS = ("type", "part_kind", "_type", "content_type", "block_type")
"""Keys that say what kind of part this is."""
_VERCEL_ASIDE = ("tool-approval-request", "tool-approval-response", "tool-input-start", "tool-input-delta")


def read_part(part: Any, turn: Turn, texts: list[str], lose: Lose) -> None:
    """Add a part of a message's content to its turn."""
    if isinstance(part, str):
        texts.append(part)
        return
    if not isinstance(part, dict):
        lose(f"has a part of its content that is {type(part).__name__}", isinstance(part, list))
        return
    kind = next((found for name in KINDS if (found := part.get(name))), None)
    if isinstance(kind, str):
        reader = READERS.get(kind) or _by_ending(kind, part)
        if reader is not None:
            reader(part, turn, texts, lose)
            account_inside(part, DATA_KEYS, turn, "a part of its content", lose)
            return
    else:
        known = [key for key in part if key in READERS]
        for key in known:
            if part[key] is not None:  # as Python's SDK for Google writes what a part is not
                READERS[key](part, turn, texts, lose)
        if known:
            account_inside(part, DATA_KEYS, turn, "a part of its content", lose)
            return
    name = kind if isinstance(kind, str) else ", ".join(list(part)[:3])
    lose(f"has a part of its content of the unknown kind '{name[:60]}'", could_hold_call(part))


def _by_ending(kind: str, part: Part) -> _Reader | None:
    """Kinds that are many: results of each server tool, a kind for each of the user's tools."""
    if kind.endswith("_tool_result"):
        return _tool_result
    if kind in _VERCEL_ASIDE or kind.startswith("data-"):
        return _nothing
    if kind.startswith("tool-") and "toolCallId" in part:
        return _tool_invocation
    return None
