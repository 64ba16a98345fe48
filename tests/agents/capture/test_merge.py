"""Several sources of one run become one trace."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from passmuster.agents.capture._merge import API, RETURNED, TELEMETRY, merged
from passmuster.traces import LlmCall, Message, ToolCall, Trace


def trace(*steps: Any, **facts: Any) -> Trace:
    return Trace(steps=steps, **facts)


def call(tool: str, call_id: str | None = None, arguments: Any = None, **facts: Any) -> ToolCall:
    return ToolCall(tool, call_id, {} if arguments is None else arguments, **facts)


def names(found: Trace) -> list[str]:
    return [f"{one.tool}{one.id or ''}" for one in found.tool_calls]


def test_the_same_ids_are_one_call() -> None:
    found = merged(
        {
            TELEMETRY: trace(call("a", "1", {"x": "cut"}, duration_ms=5), call("b", "2", error="no")),
            API: trace(call("a", "1", {"x": 1}, result_json=Raw(b"7")), call("b", "2")),
        }
    )
    assert names(found) == ["a1", "b2"]
    first, second = found.tool_calls
    assert (first.arguments, first.result, first.duration_ms) == ({"x": 1}, 7, 5)
    assert second.error == "no"


def test_without_ids_equal_calls_are_matched_one_to_one() -> None:
    found = merged({TELEMETRY: trace(call("a"), call("a")), API: trace(call("a", "1"), call("a", "2"), call("a", "3"))})
    assert names(found) == ["a1", "a2", "a3"]


def test_ids_of_another_kind() -> None:
    found = merged({TELEMETRY: trace(call("a", "fc_1")), API: trace(call("a", "call_1"))})
    assert names(found) == ["acall_1"]


def test_other_arguments_are_another_call() -> None:
    found = merged({TELEMETRY: trace(call("a", None, {"x": 1})), RETURNED: trace(call("a", None, {"x": 2}))})
    assert [one.arguments for one in found.tool_calls] == [{"x": 1}, {"x": 2}]


def test_unknown_arguments_may_be_any() -> None:
    found = merged({TELEMETRY: trace(ToolCall("a", arguments=None)), RETURNED: trace(call("a", None, {"x": 2}))})
    assert [one.arguments for one in found.tool_calls] == [{"x": 2}]


def test_what_only_one_source_shows_keeps_its_place() -> None:
    found = merged(
        {
            TELEMETRY: trace(Message("user", "q"), call("a", "1"), call("c", "3")),
            API: trace(LlmCall(id="r"), call("a", "1"), call("b", "2"), call("c", "3"), call("d", "4")),
        }
    )
    kinds = [one.tool if isinstance(one, ToolCall) else type(one).__name__ for one in found.steps]
    assert kinds == ["LlmCall", "Message", "a", "b", "c", "d"]


def test_groups_are_those_of_the_surest_source() -> None:
    found = merged(
        {
            TELEMETRY: trace(call("a", "1", group=7), call("b", "2", group=7), call("own", "9", group=7)),
            API: trace(call("a", "1", group="x"), call("b", "2", group="x")),
        }
    )
    assert [one.group for one in found.tool_calls] == [1, 1, 1]


def test_model_calls_count_once() -> None:
    found = merged(
        {
            TELEMETRY: trace(
                LlmCall(id="r1", tokens_in=5, tokens_out=1, agent="x"), LlmCall(tokens_in=6, tokens_out=2)
            ),
            API: trace(LlmCall(id="r1", tokens_in=5, tokens_out=1), LlmCall(id="r2", tokens_in=6, tokens_out=2)),
            RETURNED: trace(LlmCall(), LlmCall()),
        }
    )
    assert [(one.id, one.tokens_in, one.agent) for one in found.model_calls] == [("r1", 5, "x"), ("r2", 6, None)]


def test_what_the_agent_says_of_the_run_wins() -> None:
    found = merged(
        {
            TELEMETRY: trace(call("a"), query="q", answer="long", total_duration_ms=5.0),
            RETURNED: trace(answer="short", calls_unknown=True),
        }
    )
    assert (found.query, found.answer, found.total_duration_ms, found.calls_unknown) == ("q", "short", 5.0, False)


def test_unknown_stays_unknown() -> None:
    unknown = Trace(calls_unknown=True)
    assert merged({TELEMETRY: unknown, RETURNED: unknown}).calls_unknown


CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2])), max_size=7)


@given(one=CALLS, other=CALLS, ids=st.booleans())
def test_no_call_is_lost_and_none_counts_twice(one: list[Any], other: list[Any], ids: bool) -> None:
    """The merged calls are those of the source that has more of them, tool by tool and argument by argument."""
    sources = {}
    for source, calls in ((TELEMETRY, one), (API, other)):
        seen: Counter[Any] = Counter()
        steps = []
        for tool, number in calls:
            seen[tool, number] += 1
            key = f"{tool}{number}.{seen[tool, number]}" if ids else None
            steps.append(call(tool, key, {"x": number}))
        sources[source] = trace(*steps)
    found = Counter((step.tool, step.arguments["x"]) for step in merged(sources).tool_calls)
    assert found == Counter(one) | Counter(other)
