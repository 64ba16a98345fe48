"""Items of OpenAI's Responses as turns: calls, their outputs, tools that the API runs itself."""

from __future__ import annotations

from collections.abc import Sequence

from passmuster.traces._message_parts import Lose, Part, arguments_of, key_of, name_of, outcome, read_part
from passmuster.traces._model import ToolCall
from passmuster.traces._turns import Turn

_OWN_KEYS = frozenset({"type", "id", "call_id", "status", "output", "result", "error", "outputs", "results", "name"})
_ASIDE = ("reasoning", "mcp_list_tools", "item_reference", "compaction", "mcp_approval_response", "compaction_summary")


def item_turn(message: Part, kind: str, lose: Lose) -> Turn | None:
    """An item of OpenAI's Responses that is no message; None where it is none of them."""
    if kind in _ASIDE:
        return Turn("reasoning")
    turn = Turn("assistant", item=True)
    if kind in ("function_call", "custom_tool_call"):
        read_part(message, turn, [], lose)
        return turn
    if kind.endswith("_call_output") or kind == "function_call_output":
        turn.role = "tool"
        failed = message.get("error") or message.get("status") in ("failed", "incomplete")
        turn.results.append(outcome(message.get("output"), failed, key_of(message, "call_id", "id")))
        return turn
    if kind == "mcp_approval_request":
        return Turn("reasoning")  # the call itself follows, once it is approved
    if kind.endswith("_call"):
        key = key_of(message, "call_id", "id")
        if kind == "mcp_call":
            call = ToolCall(name_of(message, "name"), key, arguments_of(message, "arguments"))
        else:
            arguments = {name: value for name, value in message.items() if name not in _OWN_KEYS}
            action = arguments.get("action")
            arguments = dict(action) if len(arguments) == 1 and isinstance(action, dict) else arguments
            call = ToolCall(kind[: -len("_call")], key, arguments)
        turn.calls.append(call)
        found = next((message[name] for name in ("output", "results", "outputs", "result") if message.get(name)), None)
        failed = message.get("error") or message.get("status") in ("failed", "incomplete")
        turn.hosted = int(kind not in ("computer_call", "local_shell_call", "shell_call", "apply_patch_call"))
        if found is not None or failed or (turn.hosted and message.get("status") == "completed"):
            turn.results.append(outcome(found, failed, key, call.tool))
        return turn
    return None


def joined_items(turns: Sequence[Turn]) -> list[Turn]:
    """The turns, where items of one output (reasoning, text, calls) that follow each other are one turn."""
    if not any(turn.item or turn.role == "reasoning" for turn in turns):
        return list(turns)
    joined: list[Turn] = []
    open_: Turn | None = None
    for turn in turns:
        if turn.role == "reasoning":
            continue
        if not turn.item or turn.role != "assistant":
            open_ = None
        elif open_ is not None:
            open_.calls += turn.calls
            open_.results += turn.results
            open_.hosted += turn.hosted
            if turn.text is not None:
                open_.text = (open_.text or "") + turn.text
            continue
        else:
            open_ = turn
        joined.append(turn)
    return joined
