"""Messages of any API as turns: chat, Anthropic, Bedrock, Vercel, LangChain, Google, pydantic-ai, OpenAI's items.

The forms differ in who is speaking (`role`, `type`, `kind`) and in where calls are: beside the content
(`tool_calls`) or in it, as parts (`_message_parts`). A call that is in both is one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from passmuster.traces._autogen import AUTOGEN, autogen_turn
from passmuster.traces._message_parts import (
    DATA_KEYS,
    KINDS,
    Lose,
    Part,
    account_inside,
    account_keys,
    arguments_of,
    could_hold_call,
    key_of,
    name_of,
    outcome,
    read_part,
)
from passmuster.traces._model import Place, ToolCall, ToolResult
from passmuster.traces._response_items import item_turn, joined_items
from passmuster.traces._turns import NOWHERE, PlainTurns, Turn, result_json
from passmuster.traces._usage import usage_of

_ROLES = {
    **dict.fromkeys(("assistant", "model", "ai", "bot", "agent", "tool-call", "tool_call"), "assistant"),
    **dict.fromkeys(("AIMessage", "AIMessageChunk", "chatbot"), "assistant"),
    **dict.fromkeys(("user", "human", "HumanMessage", "HumanMessageChunk"), "user"),
    **dict.fromkeys(("system", "developer", "SystemMessage", "SystemMessageChunk"), "system"),
    **dict.fromkeys(("tool", "function", "tool-response", "tool_response", "ipython", "data"), "tool"),
    **dict.fromkeys(("ToolMessage", "ToolMessageChunk", "FunctionMessage", "toolResult", "observation"), "tool"),
}
_TYPED = frozenset(
    {"human", "ai", "system", "tool", "function", "AIMessageChunk", "HumanMessage", "AIMessage", "ToolMessage"}
    | {"SystemMessage", "FunctionMessage", "HumanMessageChunk", "ToolMessageChunk", "SystemMessageChunk"}
)
"""What LangChain calls the type of a message."""
_RESULT_PARTS = (
    *("tool-result", "tool_result", "toolResult", "tool_call_response", "functionResponse", "function_response"),
    *("function_result", "tool_call_result", "toolResponse"),
)
_PART_LISTS = ("parts", "contents", "items", "blocks")
"""Keys beside `content` under which a message may have its parts."""
_PLAIN = ("user", "assistant", "system")
_ASIDE_KEYS = frozenset(
    {"role", "content", "trace_id", "run_id", "session_id", "conversation_id", "thread_id", "sessionId", "threadId"}
    | {"chat_id", "timestamp", "created_at", "ts", "id"}
)
"""Keys of a message that say nothing more."""
_MODEL_NAMES = ("model", "model_name", "modelId", "modelVersion", "model_id", "ai_model_id")


def turns_of(messages: Iterable[Any], lose_at: Callable[[int], Lose], place: Place = NOWHERE) -> list[Turn]:
    """The turns of a list of messages, each at its index within `place`."""
    turns: list[Turn] = []
    plainly = True
    offset, line = place.offset, place.line
    for index, message in enumerate(messages):
        here = Place(offset, line, index)
        if (plain := plain_turn(message, here)) is not None:
            turns.append(plain)
            continue
        plainly = False
        for turn in turns_of_message(message, lose_at(index)):
            turn.place = here
            turns.append(turn)
    return PlainTurns(turns) if plainly else joined_items(turns)


def plain_turn(message: Any, place: Place) -> Turn | None:
    """The turn of a message that is a role and a content in plain words, as most are; None where it has more to it."""
    if type(message) is not dict:
        return None
    role, content = message.get("role"), message.get("content")
    if role not in _PLAIN:
        return None
    if type(content) is str:
        return Turn(role, content, None, place=place) if len(message) == 2 or _ASIDE_KEYS.issuperset(message) else None
    if type(content) is not list or len(message) != 2:
        return None
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for part in content:
        kind = part.get("type") if type(part) is dict else None
        if kind == "text" and len(part) == 2 and type(text := part.get("text")) is str:
            texts.append(text)
        elif kind == "tool_use" and len(part) == 4:
            name, key, given = part.get("name"), part.get("id"), part.get("input")
            if type(name) is not str or not name or type(key) is not str or type(given) is not dict:
                return None
            calls.append(ToolCall(name, key, given))
        elif kind == "tool_result" and len(part) == 3 + ("is_error" in part):
            said, key = part.get("content"), part.get("tool_use_id")
            if type(said) is not str or type(key) is not str or part.get("is_error"):
                return None
            results.append(ToolResult(key, None, result_json(said)))
        else:
            return None
    if calls and role == "user":
        return None
    text = None if not texts else texts[0] if len(texts) == 1 else "".join(texts)
    return Turn(role, text, None, calls, results, place=place)


def turns_of_message(message: Any, lose: Lose) -> list[Turn]:
    """The turns of one message: one, but for a message of several steps, and none for what nobody said."""
    if not isinstance(message, dict):
        lose(f"has a message that is {_what(message)}, where an object with a 'role' is expected", True)
        return []
    role = message.get("role")
    if isinstance(role, dict):  # agent-framework writes it as an object
        role = role.get("value")
    if isinstance(role, str) and (message.get("type") in (None, "message", role) or role in _ROLES):
        return _spoken(message, role, lose)
    kind = message.get("type")
    if isinstance(kind, str) and kind in AUTOGEN:
        return [autogen_turn(message, kind, lose)]
    if isinstance(inner := message.get("message"), dict) and isinstance(inner.get("role"), str) and kind is None:
        return turns_of_message(inner, lose)  # as sessions of strands wrap it
    if isinstance(inner := message.get("kwargs"), dict) and isinstance(name := message.get("id"), list) and name:
        return _typed(inner, str(name[-1]), lose)  # how LangChain writes any of its objects
    if isinstance(inner := message.get("data"), dict) and isinstance(kind, str) and kind in _TYPED:
        return _typed(inner, kind, lose)
    if message.get("kind") in ("request", "response") and isinstance(message.get("parts"), list):
        return [_pydantic(message, lose)]
    if isinstance(kind, str) and kind in _TYPED:
        return _typed(message, kind, lose)
    if isinstance(kind, str) and (turn := item_turn(message, kind, lose)):
        return [turn]
    if "messages" in message and isinstance(message["messages"], list):
        return [turn for one in message["messages"] for turn in turns_of_message(one, lose)]
    if role is None and isinstance(message.get("_role"), str):  # Haystack before 2.9
        return turns_of_message({str(key).removeprefix("_"): value for key, value in message.items()}, lose)
    if role is None and kind is None:
        lose("has a message without a 'role': nobody says it", True)
    else:
        lose(f"has a message of an unknown kind ({_shown(role)}, {_shown(kind)})", True)
    return []


def _shown(value: Any) -> str:
    return repr(value)[:60]


def _what(value: Any) -> str:
    return {str: "a string", list: "a list", type(None): "null"}.get(type(value), type(value).__name__)


_CALL_KEYS = frozenset({"tool_calls", "toolCalls", "invalid_tool_calls", "function_call", "toolInvocations"})
"""Keys of a message that hold calls."""


def _spoken(message: Part, role: str, lose: Lose) -> list[Turn]:
    """A message with a `role`."""
    known = _ROLES.get(role)
    if known is None:
        if could_hold_call(message):
            lose(f"has a message of the unknown role {_shown(role)}", True)
        known = role
    turn = Turn(known, speaker=role if role != known else None)
    if known == "tool" and not _has_result_parts(message):
        several = message.get("tool_responses")  # AutoGen 0.2
        listed = several if isinstance(several, list) and all(isinstance(one, dict) for one in several) else None
        turn.results += [_tool_message(one) for one in listed or [message]]
        _account(message, turn, message.get("tool_call"), lose)
        return [turn]
    texts: list[str] = []
    content = message.get("content")
    parts = None
    if len(message) > 2 or content is None:
        for name in _PART_LISTS:
            if isinstance(found := message.get(name), list):
                parts = found
                break
    if isinstance(content, str):
        texts.append(content)
    elif isinstance(content, list):
        for part in content:
            read_part(part, turn, texts, lose)
    elif isinstance(content, dict):
        inner = content.get("parts")
        for part in inner if isinstance(inner, list) else [content]:
            read_part(part, turn, texts, lose)
    if parts is not None and content and not isinstance(content, str):
        parts = None  # the content is read in their place
    if parts is not None:
        if any(isinstance(part, dict) and part.get("type") == "step-start" for part in parts):
            return _steps(message, parts, lose)
        texts = texts if not parts else []
        for part in parts:
            read_part(part, turn, texts, lose)
    if not _CALL_KEYS.isdisjoint(message):
        _calls_beside(message, turn, lose)
    if isinstance(extra := message.get("additional_kwargs"), dict):
        _calls_beside(extra, turn, lose)
    if not texts and isinstance(refusal := message.get("refusal"), str):
        texts.append(refusal)
    if len(message) > 2:
        _account(message, turn, parts, lose)
    _finish(message, turn, texts)
    turn.item = message.get("type") == "message" and known == "assistant" and message.get("object") is None
    return [turn]


_KNOWN_KEYS = _ASIDE_KEYS | {
    *(
        "tool_calls",
        "toolCalls",
        "invalid_tool_calls",
        "function_call",
        "toolInvocations",
        "parts",
        "contents",
        "items",
        "blocks",
    ),
    *(
        "name",
        "refusal",
        "audio",
        "annotations",
        "type",
        "status",
        "usage",
        "metrics",
        "model",
        "model_name",
        "modelId",
    ),
    *("object", "metadata", "additional_kwargs", "response_metadata", "stop_reason", "stop_sequence", "logprobs"),
    *(
        "finish_reason",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "thinking",
        "thinking_blocks",
        "author_name",
    ),
    *(
        "tool_call_id",
        "toolCallId",
        "tool_name",
        "tool_args",
        "tool_call_error",
        "is_error",
        "isError",
        "error",
        "usage_metadata",
    ),
    *(
        "provider_specific_fields",
        "cache_control",
        "weight",
        "prefix",
        "message_id",
        "source",
        "container",
        "context_management",
    ),
}
"""Keys of a message that are read, or that hold no call."""


_READ_KEYS = frozenset(
    {"content", "tool_calls", "toolCalls", "invalid_tool_calls", "toolInvocations", "tool_responses", "metadata"}
    | {"usage", "metrics", "usage_metadata", "context_management"}
)
"""Those of them that are read, or whose words only look like calls."""


def _account(message: Part, turn: Turn, read: Any, lose: Lose) -> None:
    """Report what a message has under other keys than those that are read, if it could be a call."""
    for key, value in message.items():
        if not (type(value) is dict or type(value) is list) or not value or key in _READ_KEYS or value is read:
            continue
        if key in _KNOWN_KEYS:
            account_inside({key: value}, (), turn, "a message", lose)
        elif could_hold_call({key: value}):
            lose(f"has a message with '{str(key)[:60]}', which is not read", True)


def _has_result_parts(message: Part) -> bool:
    content = message.get("content")
    for name in _PART_LISTS:
        content = content if isinstance(content, list | dict) else message.get(name)
    if not isinstance(content, list):
        return isinstance(content, dict)
    return any(
        isinstance(part, dict)
        and (any(part.get(name) in _RESULT_PARTS for name in KINDS) or any(kind in part for kind in _RESULT_PARTS))
        for part in content
    )


def _finish(message: Part, turn: Turn, texts: list[str]) -> None:
    if texts:
        turn.text = texts[0] if len(texts) == 1 else "".join(texts)
    if turn.role == "assistant":
        if len(message) == 2:
            return
        about = message.get("metadata", message.get("meta"))  # semantic-kernel, Haystack
        about = about if isinstance(about, dict) else {}
        names = (value for place in (message, about) for name in _MODEL_NAMES if (value := place.get(name)))
        turn.model = next((name for name in names if isinstance(name, str)), None)
        stated = message.get("usage", message.get("metrics", about.get("usage")))
        if stated is not None:
            turn.usage = usage_of(stated)
        author = message.get("author_name")
        turn.agent = author if isinstance(author, str) and author else None
    elif turn.calls and turn.role == "user" and not turn.results:
        turn.role = "assistant"


def _steps(message: Part, parts: list[Any], lose: Lose) -> list[Turn]:
    """A message for user interfaces that holds several outputs of the model."""
    turns = [Turn("assistant")]
    texts: list[list[str]] = [[]]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "step-start":
            if turns[-1].calls or texts[-1]:
                turns.append(Turn("assistant"))
                texts.append([])
            continue
        read_part(part, turns[-1], texts[-1], lose)
    for turn, said in zip(turns, texts, strict=True):
        turn.text = "".join(said) if said else None
    return turns


def _calls_beside(message: Part, turn: Turn, lose: Lose) -> None:
    """Calls under a key of the message, less those that its content has as well."""
    listed: list[ToolCall] = []
    for name in ("tool_calls", "toolCalls", "invalid_tool_calls"):
        calls = message.get(name)
        if calls and not isinstance(calls, list):
            lose(f"has '{name}' that is no list", True)
            continue
        for call in calls or ():
            listed.append(call_of(call, lose))
    single = message.get("function_call")
    if isinstance(single, dict):
        listed.append(call_of(single, lose))
    elif isinstance(single, list) and single:
        lose("has a 'function_call' that is a list", True)
    in_parts = list(turn.calls)
    for call in listed:
        twin = next((one for one in in_parts if _is_same(one, call)), None)
        if twin is None:
            turn.calls.append(call)
        else:
            in_parts.remove(twin)
            if twin.arguments is None or twin.id is None:
                turn.calls[turn.calls.index(twin)] = call
    before = {call.id for call in turn.calls}
    invocations = message.get("toolInvocations")
    for part in invocations if isinstance(invocations, list) else ():
        if isinstance(part, dict) and (key_of(part, "toolCallId") is None or part["toolCallId"] not in before):
            read_part({**part, "type": "tool-invocation"}, turn, [], lose)


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    if one.id is not None and other.id is not None:
        return one.id == other.id
    return one.tool == other.tool and one.arguments == other.arguments


def call_of(call: Any, lose: Lose) -> ToolCall:
    """A call as it stands beside the content: of OpenAI, LangChain, Inspect and others."""
    if not isinstance(call, dict):
        lose(f"has a tool call that is {_what(call)}, where an object is expected", True)
        return ToolCall("unknown", None, None)
    if isinstance(call.get("kwargs"), dict) and "lc" in call:
        call = call["kwargs"]
    key = key_of(call, "id", "call_id", "tool_call_id", "toolCallId")
    function = call.get("function")
    account_inside(call, DATA_KEYS, None, "a tool call", lose)
    if isinstance(function, dict):
        account_inside(function, DATA_KEYS, None, "a tool call", lose)
        return ToolCall(name_of(function, "name"), key, arguments_of(function, "arguments", "args", "parameters"))
    if isinstance(custom := call.get("custom"), dict):
        return ToolCall(name_of(custom, "name"), key, custom.get("input"))
    name = name_of(call, "name", "function", "tool_name", "toolName", "function_name", "tool")
    return ToolCall(name, key, arguments_of(call, "args", "arguments", "input", "parameters", "tool_input"))


def _tool_message(message: Part) -> Any:
    """The result that a message of a tool is."""
    error = message.get("error")
    flags = ("is_error", "isError", "tool_call_error")
    failed = error if error else message.get("status") == "error" or any(message.get(flag) for flag in flags)
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        failed = error["message"] or True
    tool = next(
        (v for key in ("name", "tool_name", "function", "toolName") if isinstance(v := message.get(key), str)), None
    )
    content = message.get("content", message.get("blocks"))
    key = key_of(message, "tool_call_id", "toolCallId", "tool_use_id", "call_id")
    extra = message.get("additional_kwargs")
    if isinstance(extra, dict):
        key, tool = key or key_of(extra, "tool_call_id"), tool or extra.get("name")
    if isinstance(answered := message.get("tool_call"), dict):  # AgentDojo repeats the call
        key, tool = key or key_of(answered, "id"), tool or answered.get("function") or answered.get("name")
    return outcome(content, failed, key, tool if isinstance(tool, str) else None)


def _typed(message: Part, kind: str, lose: Lose) -> list[Turn]:
    """A message of LangChain, whose type says who speaks."""
    role = _ROLES.get(kind)
    if kind in ("RemoveMessage", "remove"):
        return []
    if role is None:
        role = _ROLES.get(str(message.get("role")), "user" if kind in ("ChatMessage", "chat") else kind)
    turn = Turn(role)
    if role == "tool":
        turn.results.append(_tool_message(message))
        account_keys(message, _TYPED_KEYS, "a message", lose)
        return [turn]
    texts: list[str] = []
    content = message.get("content")
    for part in content if isinstance(content, list) else [content] if isinstance(content, str) else ():
        read_part(part, turn, texts, lose)
    _calls_beside(message, turn, lose)
    if not turn.calls and isinstance(extra := message.get("additional_kwargs"), dict):
        _calls_beside(extra, turn, lose)
    turn.text = "".join(texts) if texts else None
    account_keys(message, _TYPED_KEYS, "a message", lose)
    for name in ("additional_kwargs", "response_metadata"):
        account_inside({name: message.get(name)}, (), turn, "a message", lose)
    if role == "assistant":
        _langchain_figures(message, turn)
    return [turn]


_TYPED_KEYS = frozenset(
    {"content", "additional_kwargs", "response_metadata", "usage_metadata", "tool_calls", "invalid_tool_calls"}
    | {"toolCalls", "toolInvocations", "function_call", "tool_call_chunks", "metadata", "artifact", "type"}
)
"""What a message of LangChain may have that could look like a call, and is read or known to be none."""


def _langchain_figures(message: Part, turn: Turn) -> None:
    about = message.get("response_metadata")
    about = about if isinstance(about, dict) else {}
    turn.usage = usage_of(message.get("usage_metadata"))
    if turn.usage.tokens_in is None:
        turn.usage = usage_of(about.get("token_usage") or about.get("usage") or about.get("tokenUsage"))
    turn.model = next((name for key in _MODEL_NAMES if isinstance(name := about.get(key), str)), None)
    turn.response_id = key_of(about, "id") or key_of(message, "id")
    turn.agent = message["name"] if isinstance(message.get("name"), str) and message["name"] else None


def _pydantic(message: Part, lose: Lose) -> Turn:
    """A request or a response of pydantic-ai."""
    turn = Turn("user" if message["kind"] == "request" else "assistant")
    texts: list[str] = []
    system: list[str] = []
    for part in message["parts"]:
        into = system if isinstance(part, dict) and part.get("part_kind") == "system-prompt" else texts
        read_part(part, turn, into, lose)
    turn.text = "".join(texts) if texts else None
    if turn.role == "assistant":
        turn.usage = usage_of(message.get("usage"))
        turn.model = message.get("model_name") if isinstance(message.get("model_name"), str) else None
        turn.response_id = key_of(message, "provider_response_id", "vendor_id")
    return turn
