"""What is in trace files: runs, tools, models, errors and tokens, and which facts the traces lack."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from passmuster.traces._model import Handoff, ToolCall, Trace
from passmuster.traces._totals import total_cost_usd, total_duration_ms, total_llm_calls, total_tokens

_MOST_RUNS = 1_000
"""Runs that are listed; all are counted."""


class RunSummary(Struct, frozen=True):
    """One run in a few figures; None where a figure is not known."""

    trace_id: str | None
    file: str
    line: int
    query: str | None
    tool_calls: int | None
    failed_calls: int
    llm_calls: int | None
    tokens: int | None
    cost_usd: float | None
    duration_ms: float | None
    error: str | None = None
    inferred: tuple[str, ...] = ()


class ToolCount(Struct):
    """How often a tool was called, and how often it failed."""

    calls: int = 0
    failed: int = 0


class Overview(Struct):
    """What a number of traces hold. Traces are added one by one."""

    traces: int = 0
    runs: list[RunSummary] = field(default_factory=list)
    """The first thousand."""
    tools: dict[str, ToolCount] = field(default_factory=dict)
    models: dict[str, int] = field(default_factory=dict)
    agents: dict[str, int] = field(default_factory=dict)
    handoffs: int = 0
    tokens: int | None = 0
    """None where those of a trace are not known."""
    errors: int = 0
    """Runs that did not finish."""
    lacking: dict[str, int] = field(default_factory=dict)
    """In how many traces a fact is missing: of their calls, or altogether."""

    def add(self, trace: Trace, line: int = 0) -> None:
        """Count one more trace."""
        self.traces += 1
        calls = trace.tool_calls
        for call in calls:
            count = self.tools.setdefault(call.tool, ToolCount())
            count.calls += 1
            count.failed += call.failed
            if call.agent:
                self.agents[call.agent] = self.agents.get(call.agent, 0) + 1
        for model in trace.model_calls:
            self.models[model.model or "unknown"] = self.models.get(model.model or "unknown", 0) + 1
        self.handoffs += sum(type(step) is Handoff for step in trace.steps)
        tokens = total_tokens(trace)
        self.tokens = None if tokens is None or self.tokens is None else self.tokens + tokens
        self.errors += trace.error is not None
        for fact in lacking(trace):
            self.lacking[fact] = self.lacking.get(fact, 0) + 1
        if len(self.runs) < _MOST_RUNS:
            self.runs.append(_summary(trace, tokens, line))


def _summary(trace: Trace, tokens: int | None, line: int) -> RunSummary:
    return RunSummary(
        trace.trace_id,
        trace.origin.file,
        line or trace.origin.line,
        trace.query,
        None if trace.calls_unknown else len(trace.tool_calls),
        sum(call.failed for call in trace.tool_calls),
        total_llm_calls(trace),
        tokens,
        total_cost_usd(trace),
        total_duration_ms(trace),
        trace.error.message if trace.error is not None else None,
        trace.inferred,
    )


def lacking(trace: Trace) -> Counter[str]:
    """The facts that a trace does not have, though checks may ask for them."""
    missing: Counter[str] = Counter()
    calls = trace.tool_calls
    if trace.calls_unknown:
        missing["tool calls"] = 1
    if any(call.arguments is None for call in calls):
        missing["arguments"] = 1
    if calls and not any(_has_result(call) for call in calls):
        missing["results"] = 1
    if trace.query is None:
        missing["query"] = 1
    if trace.answer is None and trace.error is None:
        missing["answer"] = 1
    if total_llm_calls(trace) is None:
        missing["model calls"] = 1
    if total_tokens(trace) is None:
        missing["tokens"] = 1
    if total_cost_usd(trace) is None:
        missing["cost"] = 1
    if total_duration_ms(trace) is None:
        missing["times"] = 1
    return missing


def _has_result(call: ToolCall) -> bool:
    return bool(call.result_json) or call.failed
