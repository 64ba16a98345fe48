"""One trace as the checks see it, worked out once and shared by all of them.

Every tool pattern of a plan has one bit. A tool's name is matched once: `ToolIndex` maps it to the
bits of the patterns it fits, and a trace's calls to a list of such numbers. Whether any call of a trace fits a
pattern is then one `&`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from passmuster.checks._json_values import MISSING
from passmuster.checks._outcome import Level, Neighbours, Violation
from passmuster.suite import FailedWhen, glob_matcher
from passmuster.traces import ToolCall, Trace

_REMEMBERED = 10_000


class ToolIndex(dict[str, int]):
    """Tool name → the bits of the patterns it fits. Names are remembered, up to a bound: they are untrusted."""

    def __init__(self) -> None:
        super().__init__()
        self._patterns: list[Callable[[str], bool]] = []
        self._bits: dict[str, int] = {}

    def bit(self, pattern: str) -> int:
        """The bit of a pattern."""
        if pattern not in self._bits:
            self._bits[pattern] = 1 << len(self._patterns)
            self._patterns.append(glob_matcher(pattern))
            self.clear()
        return self._bits[pattern]

    def bits(self, patterns: Iterable[str]) -> int:
        """The bits of several patterns together."""
        together = 0
        for pattern in patterns:
            together |= self.bit(pattern)
        return together

    def __missing__(self, name: str) -> int:
        found = 0
        for place, fits in enumerate(self._patterns):
            if fits(name):
                found |= 1 << place
        if len(self) >= _REMEMBERED:
            self.clear()
        self[name] = found
        return found


class View:
    """The calls of one trace: names, pattern bits, positions, failures."""

    __slots__ = (
        *("_evidence", "_lowered", "any_bits", "bits", "calls", "failed"),
        *("names", "plain", "positions", "trace"),
    )

    def __init__(self, trace: Trace, names: list[str], bits: list[int]) -> None:
        self.trace = trace
        self.calls: list[ToolCall] = trace.tool_calls
        self.names = names
        self.bits = bits
        self.failed: list[bool] | None = None
        """One flag a call; None where no call failed."""
        self.positions: Sequence[int] = range(len(names))
        self.plain = True
        """No call failed and none ran in parallel, so that a call's index is its position."""
        self._evidence: tuple[str, ...] | None = None
        self._lowered: str | None = None
        any_bits = 0
        for mine in bits:
            any_bits |= mine
        self.any_bits = any_bits

    @property
    def evidence(self) -> tuple[str, ...]:
        """The calls in text that a judge can read, written once for all questions about the trace."""
        if self._evidence is None:
            from passmuster.checks._evidence import evidence  # late, for most runs ask no judge

            self._evidence = evidence(self.trace)
        return self._evidence

    @property
    def lowered_answer(self) -> str:
        """The answer in lower case, made once for all checks that search it."""
        if self._lowered is None:
            self._lowered = (self.trace.answer or "").lower()
        return self._lowered

    def first(self, bits: int) -> int:
        """The index of the first call that fits any of these patterns; -1 where none does."""
        if not self.any_bits & bits:
            return -1
        call = 0
        while not self.bits[call] & bits:
            call += 1
        return call

    def last(self, bits: int) -> int:
        """The index of the last call that fits any of these patterns; -1 where none does."""
        if not self.any_bits & bits:
            return -1
        call = len(self.bits) - 1
        while not self.bits[call] & bits:
            call -= 1
        return call

    def by_tool(self, calls: Iterable[int]) -> dict[str, list[int]]:
        """The calls of each tool, in the order of the tools' first calls."""
        grouped: dict[str, list[int]] = {}
        for call in calls:
            grouped.setdefault(self.names[call], []).append(call)
        return grouped

    def violation(self, call: int | None, *, message: str, level: Level = "block", **fields: Any) -> Violation:
        """A violation of this trace, at the call with this index where there is one."""
        trace = self.trace
        if call is not None:
            fields["call_index"] = call + 1
            fields["neighbours"] = Neighbours(
                calls=len(self.names),
                before=self.names[call - 1] if call else None,
                after=self.names[call + 1] if call + 1 < len(self.names) else None,
            )
        return Violation(
            message=message, level=level, trace_id=trace.trace_id, trace_file=trace.origin.file or None, **fields
        )


def _positions(calls: list[ToolCall]) -> list[int]:
    """Each call's position, from 0; adjacent calls of one group share it."""
    positions: list[int] = []
    here, group = -1, None
    for call in calls:
        if call.group is None or call.group != group:
            here += 1
        group = call.group
        positions.append(here)
    return positions


class Viewer:
    """Makes the view of each trace of a run."""

    def __init__(self, failed_when: Iterable[FailedWhen] = ()) -> None:
        self.tools = ToolIndex()
        self._failed_when = [(self.tools.bit(rule.tool), rule.result.compile()) for rule in failed_when]

    def view(self, trace: Trace) -> View:
        """The trace as the checks see it."""
        calls = trace.tool_calls
        tools = self.tools
        names = [call.tool for call in calls]
        view = View(trace, names, [tools[name] for name in names])
        for call in calls:
            if call.error or call.group is not None:
                flags = [call.failed for call in calls]
                view.failed = flags if True in flags else None
                view.positions = _positions(calls)
                view.plain = False
                break
        if self._failed_when:
            try:
                view.failed = self._look_at_results(calls, view.bits, view.failed)
            except TimeoutError:
                view.failed = _UnknownFailures()
            view.plain = view.plain and view.failed is None
        return view

    def _look_at_results(self, calls: list[ToolCall], bits: list[int], failed: list[bool] | None) -> list[bool] | None:
        flags = failed or [False] * len(calls)
        for place, call in enumerate(calls):
            if not flags[place]:
                flags[place] = any(bits[place] & bit and fits(result_of(call)) for bit, fits in self._failed_when)
        return flags if any(flags) else None


class _UnknownFailures(list[bool]):
    """The failures of a trace on which `failed_when` ran out of time: a check that asks about one breaks."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, place: Any) -> NoReturn:
        raise TimeoutError("a pattern in 'failed_when' took longer than a second")


def result_of(call: ToolCall) -> Any:
    """The result of a call, or `MISSING` where none is recorded."""
    return call.result if call.result_json else MISSING
