"""Turns to traces: the quick ways give what the thorough ones give, and no order or splitting invents a call."""

from __future__ import annotations

import contextlib
import io
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.traces.building import READERS, Json, lines
from tests.traces.test_export_formats import OBSERVATIONS, RUNS
from tests.traces.test_framework_logs import AGNO, ASSAY, SMOL
from tests.traces.test_message_formats import FORMS
from tests.traces.test_session_formats import ADK, ATIF, CODEX, DUMPED, LOG, MCP, SESSION, STREAM

import passmuster
from passmuster.traces import native_line
from passmuster.traces._messages import turns_of, turns_of_message
from passmuster.traces._model import AnyStep, LlmCall, Message, Place, ToolCall, ToolResult
from passmuster.traces._pairing import _pair_plainly, pair_results
from passmuster.traces._turns import PlainTurns, Turn, converse, result_json

assert READERS  # imported, so that the first example does not run into its deadline

DOCUMENTS: list[list[Json]] = [
    *([{"messages": said}] for _, said, _ in FORMS),
    *(said for _, said, _ in FORMS),
    *(SESSION, STREAM, DUMPED, CODEX, ADK, MCP, [ATIF], [LOG], SMOL, [AGNO], ASSAY, RUNS, OBSERVATIONS),
]
KEYS = st.sampled_from(["a", "b", "c"])
TEXTS = st.none() | st.sampled_from(["", "x", '{"y": 1}'])


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    found = []
    for index in range(draw(st.integers(0, 8))):
        role = draw(st.sampled_from(["user", "assistant", "system"]))
        turn = Turn(role, draw(TEXTS), place=Place(0, 1, index))
        if role == "assistant":
            turn.calls = [ToolCall("t", key, {}) for key in draw(st.lists(KEYS, max_size=3))]
        elif role == "user":
            turn.results = [ToolResult(key, None, result_json("r")) for key in draw(st.lists(KEYS, max_size=3))]
        found.append(turn)
    return found


@given(turns())
@settings(max_examples=400)
def test_plain_turns_give_the_same_conversation(given: list[Turn]) -> None:
    quick, thorough = converse(PlainTurns(given)), converse(list(given))
    assert (quick.query, quick.answer, quick.places) == (thorough.query, thorough.answer, thorough.places)
    assert [_shown(step) for step in quick.steps] == [_shown(step) for step in thorough.steps]


def _shown(step: AnyStep) -> object:
    if isinstance(step, ToolCall):
        return step.tool, step.id, bytes(step.result_json), step.group
    return type(step), step


STEPS = st.lists(
    st.one_of(
        st.builds(lambda key: ToolCall("t", key, {}), KEYS),
        st.builds(lambda key: ToolResult(key, None, result_json(key)), KEYS),
        st.just(LlmCall()),
        st.just(Message("user", "x")),
    ),
    max_size=10,
)


@given(STEPS)
@settings(max_examples=600)
def test_plain_pairing_gives_the_same_pairs(steps: list[AnyStep]) -> None:
    quick = _pair_plainly(steps)
    if quick is not None:
        # A number as an id is always paired the thorough way.
        odd = [*steps, ToolCall("other", 7, {})]
        thorough = [pair for pair in pair_results(odd) if pair[0] < len(steps)]
        assert [(index, _shown(step)) for index, step in quick] == [(index, _shown(step)) for index, step in thorough]


PART = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", "x"])),
    st.builds(lambda key: {"type": "tool_use", "id": key, "name": "t", "input": {"k": key}}, KEYS),
    st.builds(lambda key: {"type": "tool_result", "tool_use_id": key, "content": "r"}, KEYS),
)
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant"]),
        st.one_of(st.sampled_from(["", "hello"]), st.lists(PART, max_size=4)),
    ),
    max_size=6,
)


def _lose(found: str, may_hold_call: bool) -> None:
    raise AssertionError(found)


@given(MESSAGES)
@settings(max_examples=400)
def test_a_message_is_the_same_read_quickly_or_with_more_in_it(messages: list[Json]) -> None:
    quick = turns_of(messages, lambda _: _lose)
    thorough = [turn for message in messages for turn in turns_of_message({**message, "unknown": None}, _lose)]
    assert [_turn(one) for one in quick] == [_turn(one) for one in thorough]


def _turn(turn: Turn) -> object:
    results = [(result.id, bytes(result.result_json), result.error) for result in turn.results]
    return turn.role, turn.text, turn.calls, results


@given(MESSAGES, st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_no_order_of_messages_invents_or_drops_a_call(messages: list[Json], order: random.Random) -> None:
    shuffled = list(messages)
    order.shuffle(shuffled)

    def made(said: list[Json]) -> list[tuple[str, object]]:
        found = converse(turns_of(said, lambda _: _lose))
        return sorted((step.tool, str(step.id)) for step in found.steps if isinstance(step, ToolCall))

    assert made(shuffled) == made(messages)


ODD = st.recursive(
    st.sampled_from([None, True, 0, -1, 1e308, "", "x", "{}", "["]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "role", "id", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, one in inner for found in places(one, (*path, key)))]


@pytest.mark.parametrize("documents", DOCUMENTS)
@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_value_is_read_or_refused(documents: list[Json], data: st.DataObject) -> None:
    damaged = json.loads(json.dumps(documents))
    path = data.draw(st.sampled_from(places(damaged)[1:]))
    holder = damaged
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = data.draw(ODD)
    for accept_loss in (False, True):
        with contextlib.suppress(passmuster.TraceError):
            for found in passmuster.read_traces(io.BytesIO(lines(*damaged)), accept_loss=accept_loss):
                native_line(found)
