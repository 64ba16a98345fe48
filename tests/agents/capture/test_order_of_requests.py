"""The requests of a run are read in the order in which they began, whenever each of them was noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from passmuster.agents.capture._exchange import Exchange
from passmuster.agents.capture._observed_calls import observed_calls

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKED = {"role": "user", "content": "Go"}


def exchange(started: float, messages: list[Any], answer: dict[str, Any]) -> Exchange:
    body = {
        "id": f"r{started}",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": answer}],
    }
    return Exchange(
        api="chat",
        vendor="openai",
        method="POST",
        path="/chat/completions",
        sent=json.dumps({"model": "m", "messages": messages}).encode(),
        started=started,
        status=200,
        kind="application/json",
        received=bytearray(json.dumps(body).encode()),
        ending="whole",
    )


@pytest.mark.parametrize("turn", [1, -1])
def test_one_call_is_one_call_whichever_request_was_noted_first(turn: int) -> None:
    said = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    first = exchange(1.0, [ASKED], said)
    second = exchange(2.0, [ASKED, said, result], {"role": "assistant", "content": "hello"})
    trace = observed_calls([first, second][::turn]).trace
    assert trace is not None
    assert [call.tool for call in trace.tool_calls] == ["look"]
    assert trace.answer == "hello"
