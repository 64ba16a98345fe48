"""`run_limits`: no run takes more calls, tokens, time or money than stated, whatever its scenario."""

from collections.abc import Iterator
from typing import Annotated

from msgspec.structs import replace

from passmuster.checks._outcome import CALLS_UNKNOWN, FAIL, SKIP, status_of
from passmuster.checks._reasoning import Ending, Reasoning, Reasons
from passmuster.checks.kinds import Check, CheckSpec, Outcome, ToolIndex, View, Violation
from passmuster.checks.layers._layer import LayerCheck
from passmuster.checks.layers._limit import LimitKey
from passmuster.checks.layers.cost.max_cost_usd import KEY as MAX_COST_USD
from passmuster.checks.layers.cost.max_latency_ms import KEY as MAX_LATENCY_MS
from passmuster.checks.layers.cost.max_llm_calls import KEY as MAX_LLM_CALLS
from passmuster.checks.layers.cost.max_total_tokens import KEY as MAX_TOTAL_TOKENS
from passmuster.checks.layers.path.max_loops import KEY as MAX_LOOPS
from passmuster.checks.layers.path.max_tool_calls import KEY as MAX_TOOL_CALLS
from passmuster.suite import Key, Mapping, Mistake

LIMITS: dict[str, LimitKey] = {
    "max_tool_calls": MAX_TOOL_CALLS,
    "max_loops": MAX_LOOPS,
    "max_llm_calls": MAX_LLM_CALLS,
    "max_total_tokens": MAX_TOTAL_TOKENS,
    "max_latency_ms": MAX_LATENCY_MS,
    "max_cost_usd": MAX_COST_USD,
}
"""The same keys as in the `path` and `cost` of a scenario."""

_OF_CALLS = ("max_tool_calls", "max_loops")


class RunLimits(CheckSpec, frozen=True, kw_only=True):
    """No run takes more calls, tokens, time or money than stated."""

    max_tool_calls: Annotated[int | None, MAX_TOOL_CALLS.value, Key(MAX_TOOL_CALLS.description, example=20)] = None
    max_loops: Annotated[int | None, MAX_LOOPS.value, Key(MAX_LOOPS.description, example=3)] = None
    max_llm_calls: Annotated[float | None, MAX_LLM_CALLS.value, Key(MAX_LLM_CALLS.description, example=10)] = None
    max_total_tokens: Annotated[
        float | None, MAX_TOTAL_TOKENS.value, Key(MAX_TOTAL_TOKENS.description, example=20000)
    ] = None
    max_latency_ms: Annotated[float | None, MAX_LATENCY_MS.value, Key(MAX_LATENCY_MS.description, example=8000)] = None
    max_cost_usd: Annotated[float | None, MAX_COST_USD.value, Key(MAX_COST_USD.description, example=0.05)] = None
    file: str
    lines: dict[str, int]

    schema_extra = {"anyOf": [{"required": [name]} for name in LIMITS]}  # noqa: RUF012
    reads_calls = False  # what a run cost can be known where its calls are not

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """Without a limit nothing would be checked."""
        if not any(name in map_ for name in LIMITS):
            yield map_, f"needs a limit: {', '.join(LIMITS)}"

    def reasons(self, tools: ToolIndex) -> Reasons:
        """Limit by limit: the figure of the run."""

        def explain(view: View, outcome: Outcome) -> Iterator[Reasoning]:
            for name, limit in self._stated():
                line = self.lines[name]
                own = tuple(one for one in outcome.violations if one.policy_line == line and _is_of(one, name))
                unknown = (view.trace.calls_unknown and name in _OF_CALLS) or limit.decide(view) is SKIP
                ending: Ending = "undecided" if unknown else "broken" if limit.decide(view) is FAIL else "held"
                message = CALLS_UNKNOWN if view.trace.calls_unknown and name in _OF_CALLS else limit.message(view)
                yield Reasoning(name, ending, line, None, (message,), own)

        return explain

    def _stated(self) -> list[tuple[str, LayerCheck]]:
        limits = ((name, key, getattr(self, name)) for name, key in LIMITS.items())
        return [(name, key.at_most(limit)) for name, key, limit in limits if limit is not None]

    def compile(self, tools: ToolIndex) -> Check:
        stated = self._stated()
        clean = Outcome("pass", True)

        def check(view: View) -> Outcome:
            violations: list[Violation] = []
            unknown: list[str] = []
            for name, limit in stated:
                if view.trace.calls_unknown and name in _OF_CALLS:
                    unknown.append(f"{name}: {CALLS_UNKNOWN}")
                    continue
                decision = limit.decide(view)
                if decision is SKIP:
                    unknown.append(f"{name} is {limit.message(view)}")
                elif decision is FAIL and limit.violations is not None:
                    line = self.lines[name]
                    violations += [
                        replace(one, policy_file=self.file, policy_line=line) for one in limit.violations(view)
                    ]
            if violations:
                return Outcome(status_of(violations), True, tuple(violations))
            return Outcome("skip", False, message="; ".join(unknown)) if unknown else clean

        return check


def _is_of(violation: Violation, name: str) -> bool:
    return (violation.constraint or "").startswith(f"{name}:")
