"""Rows take columns in order, each at most one, so that the total gain is greatest. Exact on integers of any size.

The columns stand in blocks, one after another. A later row never takes a column of an earlier block; within one
block every order will do. `ahead[block][row]` is the greatest gain that this row and those after it can have from
this block and those after it: worked out from the end, it leads from the start to the best alignment, and among
several to the one that gives the first row its earliest column, then the second row, and so on.
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


def align(rows: int, blocks: Sequence[Block]) -> list[tuple[int, int] | None]:
    """The block and the column in it that each row takes; None for a row that takes none."""
    ahead = _look_ahead(rows, blocks)
    places: list[tuple[int, int] | None] = [None] * rows
    here, used, gain = 0, frozenset[int](), ahead[0][0]
    for row in range(rows):
        block, gone = here, used
        while block < len(blocks):
            found = _earliest(blocks[block], gone, row, gain, ahead[block][row + 1], ahead[block + 1])
            if found:
                column, gain = found
                places[row] = block, column
                here, used = block, gone | {column}
                break
            if ahead[block + 1][row] < gain:  # to go on would lose, so this row takes none
                break
            block, gone = block + 1, frozenset()
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
    for place in range(len(order) - 1, -1, -1):
        row = order[place]
        # With this row in its best place and all other columns at their most: no run that uses it gains more.
        bound = sum(most) + max(gain - most[column] for column, gain in choices[row])
        best = _best_run(choices, order, place, after, max(best, now[row]), bound)
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


def _best_run(choices: Choices, order: list[int], start: int, after: list[int], best: int, bound: int) -> int:
    """`best`, or what a run of rows from this start gains in the block, with the other rows behind it, if more."""
    run = Assignment()
    for place in range(start, len(order)):
        row = order[place]
        if bound + after[row + 1] <= best:
            break
        run.add(choices[row])
        best = max(best, run.gain + after[row + 1])
    return best


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
    return _best_run(choices, sorted(choices), 0, after, after[row], bound)
