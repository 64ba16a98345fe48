"""The traces that a page shows: read again from their files, the worst first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from passmuster._problems import InputError
from passmuster.checks import Status
from passmuster.scoring import KeptStep, KeptTrace, Report, Tally, bounded, place_of
from passmuster.traces import (
    BadLines,
    Handoff,
    LlmCall,
    Message,
    PriceList,
    Source,
    Spot,
    ToolCall,
    Trace,
    is_splittable,
    lines_of,
    read_again,
    read_source,
    totals_of,
)

MOST_TRACES = 400
"""Reading and redacting this many takes about a second."""
_AT_ONCE = 100
_OF_A_FILE = 100
"""Traces of a file that has to be read from its beginning: all are in memory at once."""
_RUNS = 8
"""Runs of one scenario that can be looked at side by side."""
_OF_A_TEST = 10
_STEPS = 400
_GRAVE: dict[Status, int] = {"fail": 0, "error": 0, "warn": 2, "pass": 3, "skip": 3, "missing": 4, "not_run": 4}


class Wanted(Struct, frozen=True):
    """A trace to keep: where it stands, and what the report calls it."""

    spot: Spot
    name: str
    status: Status | None
    scenario: str | None = None


def wanted_traces(tally: Tally, report: Report) -> tuple[list[Wanted], Mapping[Spot, int]]:
    """The traces to keep, the worst first: the run that each failed scenario shows and the first that each test failed
    on, then passing runs of these scenarios, then further ones. Beside them the lines of their places."""
    ranked: list[tuple[int, int, Wanted]] = []
    lines = lines_of(_spots(tally), tally.part_lines())
    runs: dict[tuple[str, str], Wanted] = {}
    for scenario in report.scenarios:
        counted = tally.scenarios[scenario.id]
        shown = counted.shown.spot if counted.shown else None
        named = [
            Wanted(run.spot, _name(run.trace_id, run.spot, lines), run.status, scenario.id) for run in counted.kept
        ]
        runs |= {(one.spot.file, one.name): one for one in named}
        passing = next((one for one in named if one.status in ("pass", "warn") and one.spot != shown), None)
        first = [one for one in named if one.spot == shown] + ([passing] if passing else [])
        ordered = dict.fromkeys([*first, *named])
        gravity = _GRAVE[scenario.status]
        ranked += [(gravity + (place > 0), place, one) for place, one in enumerate(list(ordered)[:_RUNS])]
    for test, result in zip(tally.tests, report.tests, strict=True):
        failed = result.status in ("fail", "error")
        for place, found in enumerate(test.found[:_OF_A_TEST]):
            name = _name(found.violation.trace_id, found.spot, lines)
            alone = Wanted(found.spot, name, None, found.violation.scenario)
            ranked.append((int(place > 0 or not failed), place, runs.get((found.spot.file, name), alone)))
    ranked.sort(key=lambda one: one[:2])
    return list(dict.fromkeys(wanted for _, _, wanted in ranked)), lines


def kept_traces(
    wanted: Sequence[Wanted], sources: Sequence[Source], lines: Mapping[Spot, int], priced: PriceList | None
) -> Iterator[KeptTrace]:
    """The wanted traces in their order, each once, bounded in size. A file that cannot be read again has none."""
    read = _Rereading(wanted, sources)
    seen: set[tuple[str, int]] = set()
    for start in range(0, min(len(wanted), 4 * MOST_TRACES), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        found = read.traces(some)
        for one in some:
            trace = found.get((one.spot.file, one.spot.offset)) or found.get((one.spot.file, one.name))
            if trace is None or (place := (trace.origin.file, trace.origin.offset)) in seen:
                continue
            seen.add(place)
            yield kept(priced(trace) if priced else trace, one, lines.get(one.spot))
            if len(seen) >= MOST_TRACES:
                return


_Found = dict[tuple[str, int | str], Trace]
"""Traces by their file and place, and by their file and id."""


class _Rereading:
    """Reads wanted traces again; a file that has to be read from its beginning, once."""

    def __init__(self, wanted: Sequence[Wanted], sources: Sequence[Source]) -> None:
        self._wanted = wanted
        self._sources = {source.name: source for source in sources}
        self._whole: dict[str, _Found] = {}

    def traces(self, wanted: Sequence[Wanted]) -> _Found:
        """The traces that are wanted now."""
        found: _Found = {}
        for name in dict.fromkeys(one.spot.file for one in wanted):
            source = self._sources.get(name)
            if name in self._whole:
                found |= self._whole[name]
            elif source is not None and is_splittable(source):
                found |= _read(source, [one for one in wanted if one.spot.file == name])
            elif source is not None:
                first = [one for one in self._wanted if one.spot.file == name][:_OF_A_FILE]
                self._whole[name] = _read(source, first)
                found |= self._whole[name]
        return found


def _read(source: Source, wanted: Sequence[Wanted]) -> _Found:
    found: _Found = {}
    offsets, ids = {one.spot.offset for one in wanted}, {one.name for one in wanted}
    with contextlib.suppress(InputError):  # it changed since it was evaluated
        for trace in read_again(source, offsets, ids):
            found[(source.name, trace.origin.offset)] = trace
            if trace.trace_id is not None:
                found.setdefault((source.name, trace.trace_id), trace)
    return found


def baseline_traces(
    sources: Iterable[Source], scenarios: Mapping[str, str], priced: PriceList | None
) -> Iterator[KeptTrace]:
    """The golden traces of scenarios, the first of each; `scenarios` are their ids by id and by query."""
    told: set[str] = set()
    for source in sources:
        for trace in read_source(source, BadLines(source, skip=True)):
            id_ = scenarios.get(trace.scenario or trace.query or "")
            if id_ is not None and id_ not in told:
                told.add(id_)
                name = trace.trace_id or source.name
                shown = priced(trace) if priced else trace
                yield kept(shown, Wanted(Spot(source.name, 0), name, None, id_), None, "baseline")


def kept(trace: Trace, wanted: Wanted, line: int | None, role: str = "run") -> KeptTrace:
    """The trace as a page shows it, with everything cut that could be large."""
    used = totals_of(trace)
    steps = list(_steps(trace))
    return KeptTrace(
        trace_id=wanted.name,
        role="baseline" if role == "baseline" else "run",
        steps=tuple(steps[:_STEPS]),
        scenario=wanted.scenario,
        status=wanted.status,
        file=trace.origin.file or None,
        line=line,
        query=bounded(trace.query),
        answer=bounded(trace.answer),
        error=bounded(trace.error.message) if trace.error else None,
        tokens=used.tokens,
        cost_usd=used.cost_usd,
        duration_ms=used.duration_ms,
        left_out=max(0, len(steps) - _STEPS),
        calls_unknown=trace.calls_unknown,
    )


def _steps(trace: Trace) -> Iterator[KeptStep]:
    depths: dict[int | str, int] = {}
    call = 0
    for number, step in enumerate(trace.steps):
        parent = getattr(step, "parent", None)
        depth = depths.get(parent, -1) + 1 if parent is not None else 0
        if (id_ := getattr(step, "id", None)) is not None:
            depths[id_] = depth
        call += type(step) is ToolCall
        if number >= _STEPS:
            yield KeptStep(kind="message")  # only counted
        elif isinstance(step, ToolCall):
            yield KeptStep(
                kind="tool",
                name=bounded(step.tool),
                call=call,
                arguments=bounded(step.arguments),
                result=bounded(step.result),
                error=bounded(step.error) or None,
                duration_ms=step.duration_ms,
                group=bounded(step.group),
                depth=depth,
                agent=bounded(step.agent),
            )
        elif isinstance(step, LlmCall):
            yield KeptStep(
                kind="llm",
                name=bounded(step.model),
                duration_ms=step.duration_ms,
                tokens_in=step.tokens_in,
                tokens_out=step.tokens_out,
                cost_usd=step.cost_usd,
                depth=depth,
                agent=bounded(step.agent),
            )
        elif isinstance(step, Handoff):
            yield KeptStep(kind="handoff", name=f"{bounded(step.from_) or '?'} → {bounded(step.to)}", depth=depth)
        elif isinstance(step, Message):
            yield KeptStep(kind="message", name=bounded(step.role), text=bounded(step.text), agent=bounded(step.agent))


def _spots(tally: Tally) -> Iterator[Spot]:
    for scenario in tally.scenarios.values():
        yield from (run.spot for run in scenario.kept)
    for test in tally.tests:
        yield from (found.spot for found in test.found)


def _name(trace_id: str | None, spot: Spot, lines: Mapping[Spot, int]) -> str:
    return trace_id or place_of(spot, lines) or ""
