"""Real frameworks, each in a process of an environment of their own, against a scripted model.

`.ci/run` makes that environment (`.ci/frameworks`) and names its interpreter in `PASSMUSTER_FRAMEWORKS`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.agents.capture.scripted import Turn, answer
from tests.judges.loopback import loopback

from passmuster.agents.capture import CaptureConfig, CaptureServer
from passmuster.agents.capture._observed_calls import observed_calls
from passmuster.traces import Trace

PYTHON = os.environ.get("PASSMUSTER_FRAMEWORKS")
AGENTS = Path(__file__).parents[3] / ".ci" / "frameworks"
SCRIPT = (
    Turn(
        calls=(
            ("c1", "get_order", {"order_id": "1"}),
            ("c2", "get_order", {"order_id": "1"}),
            ("c3", "get_order", {"order_id": "2"}),
        ),
        number=1,
        tokens=(20, 4),
    ),
    Turn(calls=(("c4", "refund", {"order_id": "1", "amount": 12.5}),), number=2, tokens=(40, 6)),
    Turn("It was refunded before.", number=3, tokens=(60, 8)),
)

pytestmark = pytest.mark.skipif(PYTHON is None, reason="PASSMUSTER_FRAMEWORKS names no interpreter")


def assert_is_script(trace: Trace | None, *, errors: bool) -> None:
    """The trace has the calls, arguments, results, errors, groups and tokens of the script."""
    assert trace is not None
    calls = [(call.id, call.tool, call.arguments) for call in trace.tool_calls]
    assert calls == [call for turn in SCRIPT for call in turn.calls]
    assert [call.result for call in trace.tool_calls[:3]] == [f"order {number}: 12.50 EUR" for number in (1, 1, 2)]
    assert [call.failed for call in trace.tool_calls] == [False, False, False, errors]
    together = {call.group for call in trace.tool_calls[:3]}
    assert len(together) == 1
    assert None not in together
    assert trace.tool_calls[3].group is None
    assert [(call.tokens_in, call.tokens_out) for call in trace.model_calls] == [turn.tokens for turn in SCRIPT]
    assert (trace.query, trace.answer) == ("Refund my orders.", SCRIPT[-1].text)
    assert trace.error is None


@pytest.mark.parametrize("framework", ["openai_loop", "openai_agents", "pydantic_ai_agent", "langgraph_agent"])
def test_a_framework(framework: str, tmp_path: Path) -> None:
    """OpenTelemetry, the proxy, and both together show the same run.

    OpenAI's API has no word for a failed call, and a plain loop makes no span for a tool.
    """
    assert PYTHON is not None
    with (
        loopback(lambda asked: answer(SCRIPT[asked.number - 1], asked)) as model,
        CaptureServer(CaptureConfig(openai=f"{model.address}/v1"), tmp_path, {}) as server,
    ):
        environment = {**os.environ, **server.environment("run"), "OPENAI_API_KEY": "sk-none"}
        done = subprocess.run(
            [PYTHON, str(AGENTS / f"{framework}.py")],
            env=environment,
            timeout=120,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == SCRIPT[-1].text
        run = server._runs.open("run")
        tells_errors = framework != "openai_loop"
        spans, problems = run.spans.trace()
        assert problems == []
        assert_is_script(spans, errors=tells_errors)
        assert_is_script(observed_calls(run.exchanges).trace, errors=False)
        captured = server.collect("run", None)
    assert captured.sources == ("opentelemetry", "model_api")
    assert captured.notices == ()
    assert_is_script(captured.trace, errors=tells_errors)
