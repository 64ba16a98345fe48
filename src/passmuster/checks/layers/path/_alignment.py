"""Rows take columns in order, each at most one, so that the total gain is greatest. Exact on integers of any size.

The columns stand in blocks, one after another. A later row never takes a column of an earlier block; within one
block every order will do. `ahead[block][row]` is the greatest gain that this row and those after it can have from
this block and those after it: worked out from the end, it leads from the start to the best alignment, and among
several to the one that gives the first row its earliest column, then the second row, and so on. In a block of many
columns that would take hours: there the longest run of rows that gains as much has the block, and ties are settled
within it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from passmuster.checks.layers.path._assignment import Assignment

Column = tuple[Sequence[int], Sequence[int]]
"""The rows that can take the column, in order, and what each would gain by it, which is positive."""
Block = Sequence[Column]
Choices = dict[int, list[tuple[int, int]]]
"""For each row the columns of a block that it can take, each with its gain, the greatest first."""


_MANY = 24
"""Columns of a block from which on ties are settled for all its rows at once."""


def align(rows: int, blocks: Sequence[Block]) -> list[tuple[int, int] | None]:
    """The block and the column in it that each row takes; None for a row that takes none."""
    ahead = _look_ahead(rows, blocks)
    places: list[tuple[int, int] | None] = [None] * rows
    here, used, gain = 0, frozenset[int](), ahead[0][0]
    row = 0
    while row < rows:
        block, gone, end = here, used, row + 1
        while block < len(blocks):
            columns, after = blocks[block], ahead[block + 1]
            if len(columns) > _MANY:
                taken, end = _longest_run(columns, row, gain, after)
                if taken:
                    places[row:end] = [None if column is None else (block, column) for column in taken]
                    here, used, gain = block + 1, frozenset(), after[end]
                    break
            elif found := _earliest(columns, gone, row, gain, ahead[block][row + 1], after):
                column, gain = found
                places[row] = block, column
                here, used = block, gone | {column}
                break
            if after[row] < gain:  # to go on would lose, so this row takes none
                break
            block, gone = block + 1, frozenset()
        row = end
    return places


def _look_ahead(rows: int, blocks: Sequence[Block]) -> list[list[int]]:
    ahead = [[0] * (rows + 1)]
    for block in reversed(blocks):
        after = ahead[-1]
        ahead.append(_with_column(block[0], after) if len(block) == 1 else _with_group(block, after))
    ahead.reverse()
    return ahead


def _with_column(column: Column, after: list[int]) -> list[int]:
    """The gains ahead, given those after a block of one column. Where nothing changes, it is the same list."""
    rows, gains = column
    now, best = after, 0
    for place in range(len(rows) - 1, -1, -1):
        row = rows[place]
        best = max(best, gains[place] + after[row + 1])
        if now[row] < best:
            now = _raised(now, after, row, best)
    return now


def _with_group(block: Block, after: list[int]) -> list[int]:
    """The gains ahead, given those after a block of several columns: a run of rows has the block to itself."""
    choices = _choices(block)
    most = [0] * len(block)  # what each column gains at most from the rows seen so far
    now, best = after, 0
    order = sorted(choices)
    run, last = Assignment(), len(order) - 1  # the best run from the row before on, and where it ends
    for place in range(len(order) - 1, -1, -1):
        row = order[place]
        # With this row in its best place and all other columns at their most: no run that uses it gains more.
        bound = sum(most) + max(gain - most[column] for column, gain in choices[row])
        run.add(choices[row])
        behind = after[order[last] + 1]
        best = max(best, now[row], run.gain + behind)
        # Neither can it gain more than the best run without it, and what it can take itself.
        if best < max(now[row], min(bound + after[row + 1], now[row + 1] + choices[row][0][1])):
            run, last, best = _best_run(choices, order, place, after, best, bound, run, last)
        for column, gain in choices[row]:
            most[column] = max(most[column], gain)
        if now[row] < best:
            now = _raised(now, after, row, best)
    return now


def _raised(now: list[int], after: list[int], row: int, best: int) -> list[int]:
    """The list with at least `best` for this row and those before it, which may leave it out."""
    if now is after:
        now = after.copy()
    while row >= 0 and now[row] < best:
        now[row] = best
        row -= 1
    return now


def _best_run(
    choices: Choices,
    order: list[int],
    start: int,
    after: list[int],
    best: int,
    bound: int,
    known: Assignment,
    last: int,
) -> tuple[Assignment, int, int]:
    """The run of rows from this start with the greatest gain in the block and behind it, its end and that gain; what
    is `known` where none gains more than `best`."""
    found, end = Assignment(), start - 1
    for place in range(start, len(order)):
        row = order[place]
        if bound + after[row + 1] <= best:
            break
        found.add(choices[row])
        if found.gain + after[row + 1] > best:
            best, end = found.gain + after[row + 1], place
    if end < start:
        return known, last, best
    best_found = Assignment()
    for place in range(start, end + 1):
        best_found.add(choices[order[place]])
    return best_found, end, best


def _longest_run(block: Block, row: int, gain: int, after: list[int]) -> tuple[list[int | None], int]:
    """What the longest run of rows from this one takes of a block, if with those behind it gains so much, and the row
    behind it; else nothing, and the next row."""
    choices = _choices(block, first=row)
    order = sorted(choices)
    run, end = Assignment(), 0
    for place, taker in enumerate(order):
        run.add(choices[taker])
        if run.gain + after[taker + 1] == gain:
            end = place + 1
    best = Assignment()
    for taker in order[:end]:
        best.add(choices[taker])
    if not best.gain:
        return [], row + 1
    best.settle_ties()
    columns = dict(zip(order, best.column_of, strict=False))
    behind = order[end - 1] + 1
    return [columns.get(taker) for taker in range(row, behind)], behind


def _choices(block: Block, used: frozenset[int] = frozenset(), first: int = 0) -> Choices:
    """What each row, from the first on, can take of a block."""
    choices: Choices = {}
    for place, (rows, gains) in enumerate(block):
        if place not in used:
            for at in range(bisect_left(rows, first), len(rows)):
                choices.setdefault(rows[at], []).append((place, gains[at]))
    for options in choices.values():
        options.sort(key=lambda option: -option[1])
    return choices


def _earliest(
    block: Block, used: frozenset[int], row: int, gain: int, limit: int, after: list[int]
) -> tuple[int, int] | None:
    """The first unused column that the row can take with nothing lost, and the gain that is left to the others."""
    for place, (rows, gains) in enumerate(block):
        at = bisect_left(rows, row)
        if place in used or at == len(rows) or rows[at] != row or gains[at] + limit < gain:
            continue
        left = _left(block, used | {place}, row + 1, after)
        if gains[at] + left == gain:
            return place, left
    return None


def _left(block: Block, used: frozenset[int], row: int, after: list[int]) -> int:
    """The greatest gain of this row and those after it, from what is unused of a block and the blocks after it."""
    if len(used) == len(block):
        return after[row]
    choices = _choices(block, used, row)
    bound = sum(max(gains, default=0) for place, (_, gains) in enumerate(block) if place not in used)
    return _best_run(choices, sorted(choices), 0, after, after[row], bound, Assignment(), 0)[2]
