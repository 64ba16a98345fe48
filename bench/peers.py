"""What other tools need for one operation, in microseconds. Run by the peers' own interpreter; prints JSON.

- `jsonschema`: the arguments of one valid call, in a plain loop with a compiled validator.
- `agentevals`: one strict trajectory match of ten calls, arguments included.
- `deepeval`: one `ToolCorrectnessMetric` of ten calls, arguments included, without a model.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_DISABLE_DOTENV="1", ERROR_REPORTING="NO")

from bench.comparison import ARGUMENTS_SCHEMA, CALLS


def best(run, times, rounds=5):
    """Microseconds of one run, the best of several rounds."""
    shortest = float("inf")
    for _ in range(rounds):
        started = perf_counter()
        for _ in range(times):
            run()
        shortest = min(shortest, perf_counter() - started)
    return shortest / times * 1e6


def with_jsonschema():
    """Arguments of one call."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(ARGUMENTS_SCHEMA)
    arguments = CALLS[0]["arguments"]
    assert validator.is_valid(arguments)
    return best(lambda: validator.is_valid(arguments), 2_000)


def with_agentevals():
    """A trajectory of ten calls against itself."""
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    trajectory = [{"role": "user", "content": "help me"}]
    for number, call in enumerate(CALLS):
        function = {"name": call["tool"], "arguments": json.dumps(call["arguments"])}
        trajectory.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": str(number), "type": "function", "function": function}],
            }
        )
        trajectory.append({"role": "tool", "tool_call_id": str(number), "content": "ok"})
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode="strict")
    assert evaluate(outputs=trajectory, reference_outputs=trajectory)["score"]
    return best(lambda: evaluate(outputs=trajectory, reference_outputs=trajectory), 20)


def with_deepeval():
    """Ten calls against ten expected ones."""
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    called = [ToolCall(name=call["tool"], input_parameters=call["arguments"]) for call in CALLS]
    case = LLMTestCase(input="help me", actual_output="done", tools_called=called, expected_tools=called)

    metric = _metric(ToolCorrectnessMetric, ToolCallParams)
    score = metric.measure(case, _show_indicator=False)
    assert score == 1, score
    return best(lambda: metric.measure(case, _show_indicator=False), 20)


def _metric(kind, params):
    from deepeval.models import DeepEvalBaseLLM

    class Silent(DeepEvalBaseLLM):
        """A model that is never asked."""

        def load_model(self):
            return self

        def generate(self, *args, **kwargs):
            raise AssertionError("a model was asked")

        async def a_generate(self, *args, **kwargs):
            raise AssertionError("a model was asked")

        def get_model_name(self):
            return "silent"

    return kind(
        model=Silent(),
        include_reason=False,
        async_mode=False,
        should_consider_ordering=True,
        evaluation_params=[params.INPUT_PARAMETERS],
    )


if __name__ == "__main__":
    asyncio.set_event_loop(asyncio.new_event_loop())
    figures = {
        "jsonschema": with_jsonschema(),
        "agentevals": with_agentevals(),
        "deepeval": with_deepeval(),
    }
    print(json.dumps(figures))
