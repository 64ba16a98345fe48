"""One run from all of its model calls, as a proxy has seen them."""

from __future__ import annotations

from typing import Any

from passmuster.traces import trace_of_exchanges


def exchange(messages: list[Any], said: Any = "ok", key: str | None = "r") -> dict[str, Any]:
    message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
    return {"request": {"messages": messages}, "response": {"id": key, "choices": [{"index": 0, "message": message}]}}


def asks(*calls: tuple[str, str]) -> dict[str, Any]:
    listed = [{"id": key, "type": "function", "function": {"name": tool, "arguments": "{}"}} for key, tool in calls]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def result(key: str, text: str = "done") -> dict[str, str]:
    return {"role": "tool", "tool_call_id": key, "content": text}


USER = {"role": "user", "content": "q"}


def found(*exchanges: dict[str, Any]) -> tuple[list[tuple[Any, str, Any]], int]:
    trace, problems = trace_of_exchanges(exchanges)
    assert trace is not None
    assert problems == []
    return [(call.id, call.tool, call.result) for call in trace.tool_calls], len(trace.model_calls)


def test_a_server_with_one_id_for_all_answers() -> None:
    calls, count = found(exchange([USER], asks(("c", "a"))), exchange([USER, asks(("c", "a")), result("c")]))
    assert (calls, count) == ([("c", "a", "done")], 2)


def test_a_server_with_one_id_for_all_calls() -> None:
    first, second = [USER, asks(("c", "a")), result("c", "1")], [asks(("c", "a")), result("c", "2")]
    calls, count = found(
        exchange([USER], asks(("c", "a"))), exchange(first, asks(("c", "a"))), exchange([*first, *second])
    )
    assert (calls, count) == ([("c", "a", "1"), ("c", "a", "2")], 3)


def test_conversations_side_by_side() -> None:
    one, other = {"role": "user", "content": "one"}, {"role": "user", "content": "other"}
    calls, count = found(
        exchange([one], asks(("c1", "a")), "r1"),
        exchange([other], asks(("c2", "a")), "r2"),
        exchange([one, asks(("c1", "a")), result("c1", "1")], "ok", "r3"),
        exchange([other, asks(("c2", "a")), result("c2", "2")], "ok", "r4"),
    )
    assert (calls, count) == ([("c1", "a", "1"), ("c2", "a", "2")], 4)


def test_a_conversation_that_went_on_elsewhere() -> None:
    """Its calls count, and are no model calls of this run."""
    calls, count = found(exchange([USER, asks(("c", "a")), result("c"), USER]))
    assert (calls, count) == ([("c", "a", "done")], 1)


def test_a_message_that_is_said_twice() -> None:
    trace, _ = trace_of_exchanges([exchange([USER], "ok", "1"), exchange([USER, asks(), USER], "ok", "2")])
    assert trace is not None
    assert [step.role for step in trace.steps if hasattr(step, "role")] == ["user", "assistant", "user", "assistant"]


def test_no_exchange() -> None:
    assert trace_of_exchanges([]) == (None, [])
