"""What a run used up. A total that cannot be known is None, never 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passmuster.traces._model import LlmCall, Message, Step, ToolCall, Trace
from passmuster.traces._totals import total_cost_usd, total_duration_ms, total_llm_calls, total_tokens


def model(ms: float | None = 1.0, given: int | None = 10, made: int | None = 5, usd: float | None = 0.5) -> LlmCall:
    return LlmCall("m", given, made, usd, ms)


def tool(ms: float | None, group: int | str | None = None) -> ToolCall:
    return ToolCall("t", arguments={}, duration_ms=ms, group=group)


@pytest.mark.parametrize(
    ("figure", "steps", "stated", "expected"),
    [
        (total_tokens, [model(), model(given=1, made=0)], {}, 16),
        (total_tokens, [model(), model()], {"total_tokens": 7}, 7),
        (total_tokens, [model()], {"total_tokens": 0}, 0),
        (total_tokens, [model(), model(made=None)], {}, None),
        (total_tokens, [model(given=None)], {}, None),
        (total_tokens, [tool(1.0)], {}, None),
        (total_tokens, [], {}, None),
        (total_llm_calls, [model(), tool(1.0), model()], {}, 2),
        (total_llm_calls, [model(given=None, usd=None, ms=None)], {}, 1),
        (total_llm_calls, [model()], {"total_llm_calls": 4}, 4),
        (total_llm_calls, [tool(1.0)], {}, None),
        (total_cost_usd, [model(usd=0.1), model(usd=0.2)], {}, 0.30000000000000004),
        (total_cost_usd, [model(usd=0.0)], {}, 0.0),
        (total_cost_usd, [model(), model(usd=None)], {}, None),
        (total_cost_usd, [], {"total_cost_usd": 0.25}, 0.25),
        (total_cost_usd, [tool(1.0)], {}, None),
        (total_duration_ms, [model(ms=3.0), tool(4.0), Message("user")], {}, 7.0),
        (total_duration_ms, [model(ms=3.0), tool(None)], {}, None),
        (total_duration_ms, [Message("user")], {}, None),
        (total_duration_ms, [tool(None)], {"total_duration_ms": 9.0}, 9.0),
        # The longest of a group; only adjacent calls form one.
        (total_duration_ms, [tool(4.0, 1), tool(6.0, 1), tool(5.0, 1)], {}, 6.0),
        (total_duration_ms, [tool(4.0, 1), tool(6.0, 2), tool(5.0, 1)], {}, 15.0),
        (total_duration_ms, [tool(4.0, 1), tool(6.0), tool(5.0, 1)], {}, 15.0),
        (total_duration_ms, [tool(4.0, 1), model(ms=1.0), tool(6.0, 1)], {}, 11.0),
        (total_duration_ms, [tool(4.0, 1), model(ms=9.0), tool(6.0, 1)], {}, 19.0),
        (total_duration_ms, [tool(4.0, 1), tool(None, 1)], {}, None),
    ],
)
def test_totals(
    figure: Callable[[Trace], float | None], steps: list[Step], stated: dict[str, Any], expected: float | None
) -> None:
    assert figure(Trace(steps=tuple(steps), **stated)) == expected
