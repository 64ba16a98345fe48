"""Where the runs in two sets of trace files diverge, call by call. What is returned holds no secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from msgspec import Struct

from passmuster.api._show_traces import SourceOptions, trace_sources
from passmuster.checks import secrets_of
from passmuster.engine import Unwrapper
from passmuster.redaction import Redactor
from passmuster.traces import BadLines, ToolCall, Trace, lines_of, read_source, spot_of_trace, totals_of

_MOST_TRACES = 20_000
_MOST_CALLS = 2_000
_VALUE = 120


class CallStep(Struct, frozen=True, omit_defaults=True):
    """One call in both runs, or in one of them."""

    turn: Literal["same", "changed", "gone", "new"]
    tool: str
    before: int | None = None
    """The number of the call, from 1."""
    after: int | None = None
    differences: tuple[str, ...] = ()
    """What changed: `amount: 20 → 50`."""


class RunDivergence(Struct, frozen=True):
    """Two runs of one task."""

    name: str
    """The scenario, query or trace id that both have."""
    before: str
    """Where it is."""
    after: str
    steps: tuple[CallStep, ...]
    others: tuple[str, ...] = ()
    """What else changed: the answer, an error, totals."""

    @property
    def diverges(self) -> bool:
        """Whether the runs do different things; totals vary from run to run."""
        return any(step.turn != "same" for step in self.steps) or any(
            not one.startswith("total ") for one in self.others
        )

    @property
    def first(self) -> CallStep | None:
        """The first call that is not the same."""
        return next((step for step in self.steps if step.turn != "same"), None)


class TraceComparison(Struct, frozen=True):
    """All runs that have a counterpart, and those that have none."""

    pairs: tuple[RunDivergence, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    left_out: int = 0
    """Traces beyond the first 20,000 of each side, which are not compared."""

    @property
    def changed(self) -> bool:
        """Whether anything but totals is different."""
        return bool(self.gone or self.new) or any(pair.diverges for pair in self.pairs)


def compare_traces(before: str, after: str, options: SourceOptions) -> TraceComparison:
    """Where the runs of two files, folders or globs diverge; paired by scenario, query or trace id, in order."""
    (first, beyond), (second, beyond_too) = _read(before, options), _read(after, options)
    pairs: list[RunDivergence] = []
    gone: list[str] = []
    new: list[str] = []
    for name in dict.fromkeys((*first, *second)):
        old, now = first.get(name, []), second.get(name, [])
        pairs += [_compared(name, *both) for both in zip(old, now, strict=False)]
        gone += [f"{_shown(name)} ({_place(trace)})" for trace in old[len(now) :]]
        new += [f"{_shown(name)} ({_place(trace)})" for trace in now[len(old) :]]
    return TraceComparison(tuple(pairs), tuple(gone), tuple(new), beyond + beyond_too)


def _read(path: str, options: SourceOptions) -> tuple[dict[str, list[Trace]], int]:
    """The traces by what they are told by: their scenario, else their query, else their id, else their number; and how
    many there are beyond the limit."""
    found: dict[str, list[Trace]] = {}
    number = 0
    unwrap = Unwrapper(None, options.accept_loss)
    with trace_sources([path], options.format) as sources:
        for source in sources:
            for trace in read_source(source, BadLines(source, options.skip_bad_lines, options.accept_loss)):
                number += 1
                if number <= _MOST_TRACES:
                    plain = unwrap(trace, []) if trace.wrapped else trace
                    query = " ".join((trace.query or "").split())
                    found.setdefault(trace.scenario or query or trace.trace_id or f"#{number}", []).append(plain)
    return found, max(0, number - _MOST_TRACES)


def _place(trace: Trace) -> str:
    spot = spot_of_trace(trace)
    line = lines_of([spot]).get(spot)
    return trace.origin.file if line is None else f"{trace.origin.file}:{line}"


def _shown(text: str) -> str:
    return Redactor().text(text, _VALUE)


def _compared(name: str, before: Trace, after: Trace) -> RunDivergence:
    teller = _Teller(before, after)
    steps = tuple(teller.steps())
    return RunDivergence(_shown(name), _place(before), _place(after), steps, tuple(teller.others()))


class _Teller:
    """Compares two runs and tells the differences without secrets."""

    def __init__(self, before: Trace, after: Trace) -> None:
        self._before, self._after = before, after
        self._redactor = Redactor()
        self._known = (*secrets_of(before, self._redactor), *secrets_of(after, self._redactor))

    def steps(self) -> Iterator[CallStep]:
        """The calls of both runs, aligned by their tools."""
        old, now = self._before.tool_calls[:_MOST_CALLS], self._after.tool_calls[:_MOST_CALLS]
        matcher = SequenceMatcher(None, [call.tool for call in old], [call.tool for call in now], autojunk=False)
        for turn, start, end, other, other_end in matcher.get_opcodes():
            if turn == "equal":
                for place in range(end - start):
                    yield self._both(old[start + place], now[other + place], start + place + 1, other + place + 1)
                continue
            for place in range(start, end):
                yield CallStep("gone", self._text(old[place].tool), before=place + 1)
            for place in range(other, other_end):
                yield CallStep("new", self._text(now[place].tool), after=place + 1)

    def _both(self, old: ToolCall, now: ToolCall, before: int, after: int) -> CallStep:
        differences = tuple(self._differences(old, now))
        return CallStep("changed" if differences else "same", self._text(now.tool), before, after, differences)

    def _differences(self, old: ToolCall, now: ToolCall) -> Iterator[str]:
        first, second = _arguments(old), _arguments(now)
        for name in dict.fromkeys((*first, *second)):
            if name not in second or name not in first or first[name] != second[name]:
                was, is_ = (self._value(now.tool, name, one) for one in (first, second))
                yield f"{self._text(name)}: {was} → {is_}"
        if old.failed != now.failed:
            yield "succeeded → failed" if now.failed else "failed → succeeded"

    def others(self) -> Iterator[str]:
        """What else changed."""
        for what, old, now in (
            ("answer", self._before.answer, self._after.answer),
            ("error", _message(self._before), _message(self._after)),
        ):
            if old != now:
                yield f"{what}: {self._quoted(old)} → {self._quoted(now)}"
        first, second = totals_of(self._before), totals_of(self._after)
        for what in ("tokens", "cost_usd", "duration_ms"):
            was, is_ = getattr(first, what), getattr(second, what)
            if was != is_:
                yield f"total {what}: {_figure(was)} → {_figure(is_)}"

    def _value(self, tool: str, name: str, arguments: dict[str, Any]) -> str:
        if name not in arguments:
            return "none"
        safe, _ = self._redactor.argument(tool, name, arguments[name], self._known)
        return self._quoted(safe)

    def _quoted(self, value: Any) -> str:
        if value is None:
            return "none"
        return self._redactor.text(repr(value) if not isinstance(value, str) else f"'{value}'", _VALUE, self._known)

    def _text(self, text: str) -> str:
        return self._redactor.text(text, _VALUE, self._known)


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.10g}"


def _arguments(call: ToolCall) -> dict[str, Any]:
    return call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}


def _message(trace: Trace) -> str | None:
    return trace.error.message if trace.error is not None else None


def names_traces(given: Sequence[int | str]) -> bool:
    """Whether what is compared are trace files: neither numbers of runs nor reports."""
    return not any(isinstance(one, int) or _is_report(one) for one in given)


def _is_report(path: str) -> bool:
    """Whether a path names a report; one that is not there is taken for one by its name."""
    try:
        with open(path, "rb") as file:
            return b'"passmuster.' in file.read(200)
    except OSError:
        return path.endswith(".json")
