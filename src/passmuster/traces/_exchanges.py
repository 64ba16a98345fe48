"""Model calls recorded one by one, as request and response, put together to runs.

Each request repeats what was said before. A call continues an earlier one if its request contains the output of that
call, by the ids of its tool calls or by its whole text, or if it names the earlier response. If several calls could be
the earlier one, none is taken. A run that was put together this way says so: `inferred` has `run`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from passmuster.traces._model import Key
from passmuster.traces._records import Record
from passmuster.traces._turns import Turn


class Exchange(Struct):
    """One call of a model: what it was given, and what it gave back."""

    record: Record
    given: list[Turn]
    output: list[Turn]
    response_id: Key | None = None
    previous_id: Key | None = None
    run: str | None = None
    """The id of the run, where the source names it."""


class Run(Struct):
    """Exchanges that are one run."""

    first: Record
    turns: list[Turn]
    name: str | None
    exchanges: int
    last: Exchange
    ambiguous: bool = False


def runs_of(exchanges: Iterable[Exchange]) -> list[Run]:
    """The runs that these model calls are, in the order in which they begin."""
    runs: list[Run] = []
    ends: dict[object, list[Run]] = {}
    """Runs by what a request that continues them has to contain."""
    for exchange in exchanges:
        run, seen = _continued(exchange, runs, ends)
        if run is None:
            run = Run(exchange.record, list(exchange.given), exchange.run, 0, exchange, ambiguous=seen < 0)
            runs.append(run)
        else:
            for mark in _marks(run.last):
                ends[mark].remove(run)
            run.turns += exchange.given[seen:]
        run.turns += exchange.output
        run.exchanges += 1
        run.last = exchange
        for mark in _marks(exchange):
            ends.setdefault(mark, []).append(run)
        exchange.given = []
    return runs


def _continued(exchange: Exchange, runs: list[Run], ends: dict[object, list[Run]]) -> tuple[Run | None, int]:
    """The run that a model call continues, and how much of its request that run knows; -1 if several could be it."""
    if exchange.previous_id is not None:
        found = ends.get(("response", exchange.previous_id), [])
        if len(found) == 1:
            return found[0], 0
    for index in range(len(exchange.given) - 1, -1, -1):
        turn = exchange.given[index]
        if turn.role != "assistant":
            continue
        mark = _mark(turn)
        candidates = [run for run in ends.get(mark, ()) if run.name == exchange.run] if mark is not None else []
        if len(candidates) > 1:
            return None, -1
        if candidates:
            return candidates[0], index + 1
    if exchange.run is not None:
        same = [run for run in runs if run.name == exchange.run]
        if len(same) == 1:
            return same[0], _known(same[0].turns, exchange.given)
    return None, 0


def _known(turns: list[Turn], given: list[Turn]) -> int:
    """How many turns at the beginning of a request the run has already."""
    count = 0
    for mine, theirs in zip(turns, given, strict=False):
        if (mine.role, mine.text, _mark(mine)) != (theirs.role, theirs.text, _mark(theirs)):
            break
        count += 1
    return count


def _marks(exchange: Exchange) -> list[object]:
    marks = [mark for turn in exchange.output if (mark := _mark(turn)) is not None]
    if exchange.response_id is not None:
        marks.append(("response", exchange.response_id))
    return list(dict.fromkeys(marks))


def _mark(turn: Turn) -> object:
    """What tells an output from others: the ids of its calls, else its text."""
    if turn.calls:
        ids = tuple(call.id for call in turn.calls)
        if None not in ids:
            return ("calls", *ids)
        return ("calls", *(f"{call.tool} {call.arguments}" for call in turn.calls))
    return ("text", turn.text.strip()) if turn.text and turn.text.strip() else None
