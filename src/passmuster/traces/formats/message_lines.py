"""One message per record, of any API: a file is one conversation, unless the messages name theirs.

Chat messages, Anthropic messages, items of OpenAI's Responses, messages of Bedrock, Vercel, LangChain, Google and
pydantic-ai are read, also mixed.
"""

from __future__ import annotations

from passmuster.traces._autogen import AUTOGEN
from passmuster.traces._building import Fields
from passmuster.traces._conversations import read_message_lines

DESCRIPTION = "One message per record, of any API; a file is one conversation, or several with a `session_id` each."
SHAPE = '{"role": "user", "content": …}'
LACKS = ("handoffs", "cost", "times")

_ITEMS = (
    *(b'"function_call"', b'"function_call_output"', b'"custom_tool_call"', b'"custom_tool_call_output"'),
    *(b'"reasoning"', b'"mcp_call"', b'"web_search_call"', b'"file_search_call"', b'"code_interpreter_call"'),
    *(b'"computer_call"', b'"computer_call_output"', b'"local_shell_call"', b'"local_shell_call_output"'),
)
_LANGCHAIN = (b'"human"', b'"ai"', b'"system"', b'"tool"', b'"AIMessageChunk"', b'"constructor"')
_ITEM_MARKS = (b'"output_text"', b'"input_text"')


def detect(record: Fields) -> float:
    """Rather sure of a `role`, and of the types of items and messages."""
    if "steps" in record or "messages" in record or "jsonrpc" in record or "traj" in record:
        return 0
    kind = bytes(record.get("type", b""))
    if kind in _ITEMS and ("call_id" in record or "id" in record):
        return 0.97
    if kind.strip(b'"').decode("utf-8", "replace") in AUTOGEN and ("content" in record or "source" in record):
        return 0.97
    if b'"role"' in bytes(record.get("message", b"")) and ("message_id" in record or "created_at" in record):
        return 0.6
    if "role" in record:
        if kind == b'"message"':
            content = bytes(record.get("content", b""))
            if any(mark in content for mark in _ITEM_MARKS) or "stop_reason" in record:
                return 0.97
            return 0.65 if "status" in record or "id" in record else 0.3
        if kind and "content" not in record and "parts" not in record:
            return 0
        return 0.45 if "answer" in record else 0.55
    if kind in _LANGCHAIN and ("data" in record or "kwargs" in record):
        return 0.98  # surer than who finds a conversation in `data`
    if kind in _LANGCHAIN and "content" in record:
        return 0.7
    return 0.7 if bytes(record.get("kind", b"")) in (b'"request"', b'"response"') and "parts" in record else 0


def splittable(first: Fields) -> bool:
    """The messages of a conversation have to be read together."""
    return False


read = read_message_lines
