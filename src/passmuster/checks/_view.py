"""One trace as the checks see it, worked out once and shared by all of them.

Every tool pattern of a plan has one bit. A tool's name is matched once: `ToolIndex` maps it to the
bits of the patterns it fits, and a trace's calls to a list of such numbers. Whether any call of a trace fits a
pattern is then one `&`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks._json_values import MISSING
from passmuster.checks._outcome import Level, Neighbours, Violation
from passmuster.suite import FailedWhen, glob_matcher, is_literal
from passmuster.traces import Message, ToolCall, Trace, positions_of

_REMEMBERED = 10_000
_SEEN = 2_000
_LONGEST = 200
_AGENTS = ("assistant", "agent", "model", "ai")
"""The roles under which an agent speaks."""


_OWN_BITS = 1_000
"""So many patterns of a plan have a bit of their own; the others share one, or memory would grow with their square."""


class ToolIndex(dict[str, int]):
    """Tool name → the bits of the patterns it fits. Names are remembered, up to a bound: they are untrusted."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, int] = {}
        self._literals: dict[str, int] = {}
        self._globs: list[tuple[int, Callable[[str], bool]]] = []
        self.hidden: tuple[str, ...] = ()
        """Arguments that no sentence may quote, as `redact.arguments` has them: `TOOL.path`."""
        self.seen: set[str] = set()
        """Names that were asked for, up to a bound: the tools of the traces."""

    def bits(self, patterns: Iterable[str]) -> int:
        """The bits of several patterns together. A call without any of them fits none of the patterns."""
        together = 0
        for pattern in patterns:
            together |= 1 << self._bit(pattern)
        return together

    def is_exact(self, patterns: Iterable[str]) -> bool:
        """Whether a call with one of the bits of these patterns always fits one of them."""
        return all(self._bit(pattern) < _OWN_BITS for pattern in patterns)

    def _bit(self, pattern: str) -> int:
        if pattern not in self._places:
            place = self._places[pattern] = min(len(self._places), _OWN_BITS)
            if is_literal(pattern):
                self._literals[pattern] = place
            else:
                self._globs.append((place, glob_matcher(pattern)))
            self.clear()
        return self._places[pattern]

    def __missing__(self, name: str) -> int:
        literal = self._literals.get(name)
        found = 0 if literal is None else 1 << literal
        for place, fits in self._globs:
            if fits(name):
                found |= 1 << place
        if len(self) >= _REMEMBERED:
            self.clear()
        if len(self.seen) < _SEEN:
            self.seen.add(name[:_LONGEST])
        self[name] = found
        return found


class ToolSet:
    """Tool patterns, compiled: which calls of a view fit one of them."""

    __slots__ = ("_literals", "_matchers", "bits", "exact")

    def __init__(self, patterns: Sequence[str], tools: ToolIndex) -> None:
        self.bits = tools.bits(patterns)
        """A view in which no call has one of these bits has no call that fits."""
        self.exact = tools.is_exact(patterns)
        """Whether every call with one of the bits fits."""
        loose = [] if self.exact else patterns
        self._literals = frozenset(filter(is_literal, loose))
        self._matchers = [glob_matcher(one) for one in loose if not is_literal(one)]

    def fits(self, view: View, call: int) -> bool:
        """Whether a call fits."""
        if not view.bits[call] & self.bits:
            return False
        name = view.names[call]
        return self.exact or name in self._literals or any(fits(name) for fits in self._matchers)

    def calls(self, view: View) -> list[int]:
        """The indexes of the calls that fit."""
        if not view.any_bits & self.bits:
            return []
        mine = self.bits
        found = [call for call, bits in enumerate(view.bits) if bits & mine]
        return found if self.exact else [call for call in found if self.fits(view, call)]


class View(Struct, eq=False):
    """The calls of one trace: names, pattern bits, positions, failures.

    A struct, for every trace has one: setting its fields one by one takes 0.3 µs longer.
    """

    trace: Trace
    calls: list[ToolCall]
    names: list[str]
    bits: list[int]
    any_bits: int
    """The bits of all calls."""
    failed: list[bool] | None = None
    """One flag a call; None where no call failed."""
    plain: bool = True
    """No call failed and none ran in parallel, so that a call's index is its position."""
    stated_positions: Sequence[int] | None = None
    """The position of each call, where it is not simply its index."""
    first_call: int = 0
    """In the view of a turn: how many calls the trace has before it."""
    turns: tuple[View, ...] | None = None
    """The turns of the conversation, once they were asked for."""
    _texts: tuple[str, ...] | None = None
    _evidence: tuple[str, ...] | None = None
    _lowered: str | None = None

    @property
    def positions(self) -> Sequence[int]:
        """The position of each call; calls that ran in parallel share one."""
        return range(len(self.names)) if self.stated_positions is None else self.stated_positions

    def with_every_text(self) -> View:
        """The same trace with all that the agent said for its answer; itself where that is its last answer."""
        said = [step.text for step in self.trace.steps if type(step) is Message and step.role in _AGENTS]
        texts = [text for text in said if text]
        answer = self.trace.answer
        if answer is not None and (not texts or texts[-1] != answer):
            texts.append(answer)
        if len(texts) < 2 and (not texts or texts[0] == answer):
            return self
        trace = replace(self.trace, answer="\n\n".join(texts))
        view = view_of(trace, self.names, self.bits)
        view.failed, view.stated_positions, view.plain = self.failed, self.stated_positions, self.plain
        view._texts = tuple(texts)
        return view

    @property
    def texts(self) -> tuple[str, ...]:
        """What is read of the agent, text by text: its last answer, or with `with_every_text` all; none without."""
        if self._texts is None:
            self._texts = () if self.trace.answer is None else (self.trace.answer,)
        return self._texts

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


def view_of(trace: Trace, names: list[str], bits: list[int]) -> View:
    """The view of a trace whose calls have these names and bits, none of which failed or ran in parallel."""
    return View(trace, trace.tool_calls, names, bits, reduce(or_, bits, 0))


class Viewer:
    """Makes the view of each trace of a run."""

    def __init__(self, failed_when: Iterable[FailedWhen] = (), hidden: tuple[str, ...] = ()) -> None:
        self.tools = ToolIndex()
        self.tools.hidden = hidden
        self._failed_when = [(ToolSet([one.tool], self.tools), one.result.compile_for_result()) for one in failed_when]

    def view(self, trace: Trace) -> View:
        """The trace as the checks see it."""
        tools, names = self.tools, trace.tool_names
        view = view_of(trace, names, [tools[name] for name in names])
        if not trace.has_plain_calls:
            flags = [call.failed for call in view.calls]
            view.failed = flags if True in flags else None
            view.stated_positions = positions_of(trace)
            view.plain = False
        if self._failed_when:
            try:
                view.failed = self._look_at_results(view)
            except TimeoutError:
                view.failed = _UnknownFailures()
            view.plain = view.plain and view.failed is None
        return view

    def _look_at_results(self, view: View) -> list[bool] | None:
        flags = view.failed or [False] * len(view.calls)
        for place, call in enumerate(view.calls):
            if not flags[place]:
                flags[place] = any(
                    tools.fits(view, place) and fits(result_of(call)) for tools, fits in self._failed_when
                )
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
