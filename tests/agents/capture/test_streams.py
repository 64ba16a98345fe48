"""Streams put together: what they hold, wherever they break off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.capture.scripted import Turn, chat_events, encoded, message_events, response_events

from passmuster.agents.capture._exchange import Ending, Exchange
from passmuster.agents.capture._observed_calls import observed_calls

TURN = Turn("Hm, let me see.", calls=(("c1", "find", {"q": "ä"}), ("c2", "look", {}), ("c3", "find", {"n": [1, 2]})))
STREAMS = {
    api: b"".join(encoded(event) for event in events(TURN))
    for api, events in (("chat", chat_events), ("messages", message_events), ("responses", response_events))
}
REQUESTS = {"chat": {"messages": []}, "messages": {"messages": []}, "responses": {"input": "q"}}
CALLS = list(TURN.calls)
KEYS = ("type", "choices", "delta", "index", "tool_calls", "function", "message", "content_block", "item", "response")


def exchange(api: str, data: bytes, ending: Ending) -> Exchange:
    return Exchange(
        api=api,
        vendor="v",
        method="POST",
        path="/p",
        sent=json.dumps(REQUESTS[api]).encode(),
        started=0.0,
        status=200,
        kind="text/event-stream",
        received=bytearray(data),
        ending=ending,
    )


def calls_in(one: Exchange) -> list[Any]:
    found = observed_calls([one])
    assert found.lost == ()
    assert found.trace is not None
    assert len(found.trace.model_calls) == 1
    return [(call.id, call.tool, call.arguments) for call in found.trace.tool_calls]


@pytest.mark.parametrize("separator", [b"\n", b"\r\n"])
@pytest.mark.parametrize("api", STREAMS)
def test_a_whole_stream(api: str, separator: bytes) -> None:
    assert calls_in(exchange(api, STREAMS[api].replace(b"\n", separator), "whole")) == CALLS


@given(api=st.sampled_from(sorted(STREAMS)), share=st.floats(0, 1))
def test_an_agent_may_have_acted_on_what_had_arrived(api: str, share: float) -> None:
    """Of a stream that the agent stops reading, calls that are whole count, as they are; no half of one."""
    data = STREAMS[api][: int(len(STREAMS[api]) * share)]
    found = calls_in(exchange(api, data, "cancelled"))
    assert found == CALLS[: len(found)]


@given(api=st.sampled_from(sorted(STREAMS)), share=st.floats(0, 0.99))
def test_a_stream_that_the_api_breaks_off(api: str, share: float) -> None:
    """That there was an answer is kept, and no call of it, unless it had come to its last event."""
    data = STREAMS[api][: int(len(STREAMS[api]) * share)]
    assert calls_in(exchange(api, data, "cut")) in ([], CALLS)


@given(
    api=st.sampled_from(sorted(STREAMS)),
    place=st.integers(0, 30),
    odd=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=8,
    ),
)
def test_events_that_no_api_has(api: str, place: int, odd: Any) -> None:
    """They are read, or the run is told not to be observed as a whole; nothing is raised."""
    events = STREAMS[api].split(b"\n\n")
    place = min(place, len(events) - 1)
    known = json.loads(events[place].rpartition(b"data: ")[2]) if events[place].endswith(b"}") else {}
    added = {**known, **odd} if isinstance(odd, dict) else dict.fromkeys(known, odd)
    data = b"\n\n".join([*events[:place], b"data: " + json.dumps(added).encode(), *events[place:]])
    observed_calls([exchange(api, data, "whole")])
