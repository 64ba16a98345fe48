"""What a number of traces have in common: tools, the shapes of their arguments, their order, what runs use up.

Traces are added one by one, and what is kept does not grow with their number: for every regularity, in how many traces
it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from passmuster.checks import LIMITS, View, Viewer
from passmuster.traces import Trace, oversized_numbers

_MOST_ARGUMENTS = 200
_MOST_TEXTS = 8
_LONGEST_TEXT = 40
_MOST_TOOLS_IN_ORDER = 100
_FIRST_TRACES = 4
_MOST_TASKS = 5_000
_MOST_SEQUENCES = 50


class ArgumentFacts(Struct):
    """One argument of a tool."""

    always: int = 0
    """In how many traces every call of the tool has it."""
    given: int = 0
    """In how many traces some call has it."""
    types: dict[str, int] = field(default_factory=dict)
    """In how many traces it has each type."""
    low: float | None = None
    high: float | None = None
    texts: set[str] | None = field(default_factory=set)
    """The strings it was; None where they are many or long."""

    def note(self, value: Any) -> None:
        """Remember the range of numbers, and strings as long as they are few."""
        if isinstance(value, str) and self.texts is not None:
            self.texts.add(value)
            if len(self.texts) > _MOST_TEXTS or len(value) > _LONGEST_TEXT:
                self.texts = None
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)


class ToolFacts(Struct):
    """One tool."""

    traces: int = 0
    """In how many it is called."""
    most_calls: int = 0
    """In one trace."""
    arguments: dict[str, ArgumentFacts] = field(default_factory=dict)
    unclear: str | None = None
    """Why nothing can be said about its arguments."""


class TaskFacts(Struct):
    """The runs of one scenario, or of one query where traces name no scenario."""

    query: str | None
    runs: int = 0
    one_query: bool = True
    tools: set[str] | None = None
    """Used in every run; None before the first."""
    sequences: dict[tuple[str, ...], int] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    """The highest figure by the key that limits it."""
    answer: str | None = None
    calls_unknown: bool = False


class Observed(Struct):
    """What was seen in all traces."""

    traces: int = 0
    calls_unknown: int = 0
    """Traces that do not record their calls."""
    tools: dict[str, ToolFacts] = field(default_factory=dict)
    earlier: dict[tuple[str, str], int] = field(default_factory=dict)
    """By two tools: in how many traces the first succeeded before the first call of the second."""
    most: dict[str, float] = field(default_factory=dict)
    """The highest figure of a run by the key that limits it; without those that some trace does not state."""
    unknown: set[str] = field(default_factory=set)
    scenarios: dict[str, TaskFacts] = field(default_factory=dict)
    queries: dict[str, TaskFacts] = field(default_factory=dict)
    """Tasks of traces that name no scenario."""

    def add(self, trace: Trace) -> None:
        """One more trace."""
        self.traces += 1
        view = _VIEWER.view(trace)
        self.calls_unknown += trace.calls_unknown
        figures = dict(_figures(view))
        for key, value in figures.items():
            if value is None:
                self.unknown.add(key)
            else:
                self.most[key] = max(value, self.most.get(key, 0.0))
        self._add_calls(view)
        self._add_task(view, figures)

    def _add_calls(self, view: View) -> None:
        counts: dict[str, int] = {}
        given: dict[str, dict[str, int]] = {}
        types: dict[tuple[str, str], set[str]] = {}
        for call in view.calls:
            facts = self.tools.setdefault(call.tool, ToolFacts())
            counts[call.tool] = counts.get(call.tool, 0) + 1
            if facts.unclear is None:
                facts.unclear = _unclear(call.arguments)
            if facts.unclear is not None:
                continue
            ours = given.setdefault(call.tool, {})
            for name, value in call.arguments.items():
                ours[name] = ours.get(name, 0) + 1
                types.setdefault((call.tool, name), set()).add(_type_of(value))
                facts.arguments.setdefault(name, ArgumentFacts()).note(value)
            if len(facts.arguments) > _MOST_ARGUMENTS:
                facts.unclear = f"it takes more than {_MOST_ARGUMENTS} different arguments"
        for tool, calls in counts.items():
            facts = self.tools[tool]
            facts.traces += 1
            facts.most_calls = max(calls, facts.most_calls)
            for name, times in given.get(tool, {}).items():
                argument = facts.arguments[name]
                argument.given += 1
                argument.always += times == calls
                for one in types[tool, name]:
                    argument.types[one] = argument.types.get(one, 0) + 1
        if len(counts) <= _MOST_TOOLS_IN_ORDER:
            for first, then in _earlier(view):
                # What holds in all traces but a few holds in one of the first.
                if (first, then) in self.earlier or self.tools[then].traces <= _FIRST_TRACES:
                    self.earlier[first, then] = self.earlier.get((first, then), 0) + 1

    def _add_task(self, view: View, figures: dict[str, float | None]) -> None:
        trace = view.trace
        tasks = self.scenarios if trace.scenario is not None else self.queries
        name = trace.scenario if trace.scenario is not None else " ".join((trace.query or "").split())
        if not name or (name not in tasks and len(tasks) >= _MOST_TASKS):
            return
        task = tasks.setdefault(name, TaskFacts(trace.query))
        task.runs += 1
        task.one_query = task.one_query and task.query == trace.query
        task.answer = task.answer or trace.answer
        task.calls_unknown = task.calls_unknown or trace.calls_unknown
        task.tools = set(view.names) if task.tools is None else task.tools & set(view.names)
        sequence = tuple(view.names)
        if sequence in task.sequences or len(task.sequences) < _MOST_SEQUENCES:
            task.sequences[sequence] = task.sequences.get(sequence, 0) + 1
        for key, value in figures.items():
            task.most[key] = max(value or 0.0, task.most.get(key, 0.0))


_VIEWER = Viewer()


def _figures(view: View) -> Iterator[tuple[str, float | None]]:
    for key, limit in LIMITS.items():
        unknown = view.trace.calls_unknown and key in ("max_tool_calls", "max_loops")
        yield key, None if unknown else limit.figure(view)


def _unclear(arguments: Any) -> str | None:
    if arguments is None:
        return "the traces do not record its arguments"
    if not isinstance(arguments, dict):
        return "it was called with something else than a map of arguments"
    if any(True for _ in oversized_numbers(arguments)):
        return "it was called with a number that no double can hold"
    return None


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def _earlier(view: View) -> Iterator[tuple[str, str]]:
    """The pairs of tools of which the first succeeded before any call of the second."""
    succeeded: dict[str, int] = {}
    attempted: dict[str, int] = {}
    for call, (name, position) in enumerate(zip(view.names, view.positions, strict=True)):
        attempted.setdefault(name, position)
        if not (view.failed and view.failed[call]):
            succeeded.setdefault(name, position)
    for first, done in succeeded.items():
        for then, tried in attempted.items():
            if done < tried:
                yield first, then
