"""Rows take columns, each at most one, so that the total gain is greatest. Exact on integers of any size.

The method is the Hungarian one, a row at a time. Every row and column has a price, never negative; a row's and a
column's together are at least the gain between them, and just that where the two are paired; whoever is not
paired is priced 0. Such prices prove that no assignment gains more. A new row may take a column from another row,
which takes another one, and so on, until somebody takes a free column or goes without: the cheapest such chain is
found as a shortest path, where a step's length is by how much the prices exceed the gain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush

Options = Sequence[tuple[int, int]]
"""The columns that a row can take, each with a positive gain; the greatest gain first."""


class Assignment:
    """The best assignment of the rows added so far. `gain` is its total, `column_of` what each row took."""

    def __init__(self) -> None:
        self.gain = 0
        self.column_of: list[int | None] = []
        self._row_of: dict[int, int] = {}
        self._options: list[Options] = []
        self._row_price: list[int] = []
        self._column_price: defaultdict[int, int] = defaultdict(int)

    def add(self, options: Options) -> None:
        """Lets one more row choose among its columns."""
        row = len(self._options)
        prices = self._column_price
        self._options.append(options)
        self.column_of.append(None)
        price = 0
        for column, gain in options:
            if gain <= price:  # and so are all that follow
                break
            price = max(price, gain - prices[column])
        self._row_price.append(price)
        if price:
            self._extend(row)

    def _extend(self, new: int) -> None:
        """Finds the cheapest chain that begins with the new row, and follows it."""
        row_price, column_price, row_of = self._row_price, self._column_price, self._row_of
        reached: dict[int | None, int] = {None: 0}  # column → its distance from the new row
        taker: dict[int, int] = {}  # column → the row that would take it
        settled: list[tuple[int, int]] = []
        waiting = [(0, new)]
        nearest, free, leaver = row_price[new], None, new  # the chain ends with a free column or a row without one
        while waiting:
            distance, row = heappop(waiting)
            if distance >= nearest:
                break
            if distance > reached[self.column_of[row]]:
                continue
            settled.append((row, distance))
            outlay = distance + row_price[row]
            if outlay < nearest:
                nearest, free, leaver = outlay, None, row
            for column, gain in self._options[row]:
                if outlay - gain >= nearest:
                    break
                far = outlay - gain + column_price[column]
                if far < nearest and far < reached.get(column, nearest):
                    reached[column], taker[column] = far, row
                    if column in row_of:
                        heappush(waiting, (far, row_of[column]))
                    else:
                        nearest, free = far, column
        self.gain += row_price[new] - nearest
        for row, distance in settled:
            row_price[row] -= nearest - distance
            held = self.column_of[row]
            if held is not None:
                column_price[held] += nearest - distance
        if free is None:
            free, self.column_of[leaver] = self.column_of[leaver], None
        self._follow(new, taker, free)

    def _follow(self, first: int, taker: dict[int, int], column: int | None) -> None:
        """Walks a chain back to its first row; each row on it takes its new column."""
        while column is not None:
            row = taker[column]
            given_up, self.column_of[row] = self.column_of[row], column
            self._row_of[column] = row
            column = None if row == first else given_up

    def settle_ties(self) -> None:
        """Turns to the best assignment that gives the first row its lowest column, then the second row, and so on.

        Just the pairs whose prices equal their gain make up the best assignments, so the search keeps to those. A
        row priced 0 may as well have no column, and a column priced 0 no row.
        """
        price, column_price = self._row_price, self._column_price
        fair: list[list[int | None]] = [
            [*sorted(c for c, gain in options if price[row] + column_price[c] == gain), *([] if price[row] else [None])]
            for row, options in enumerate(self._options)
        ]
        final: set[int | None] = set()
        for row, columns in enumerate(fair):
            closed = final.copy()
            for column in columns:
                if column == self.column_of[row] or self._hand_over(row, column, fair, closed):
                    break
            final.add(self.column_of[row])
            final.discard(None)

    def _hand_over(self, row: int, wanted: int | None, fair: list[list[int | None]], closed: set[int | None]) -> bool:
        """Gives the row the column it wants, if all who lose by it can be served without loss.

        Each of them takes another column at a fair price, until somebody takes the one that the row gives up.
        Here no column at all is a column too (`None`), and nobody (`None`) is a row that may have it.
        """
        if wanted in closed:
            return False
        taker: dict[int | None, int | None] = {wanted: row}
        given_up: dict[int | None, int | None] = {}
        queue = [wanted]
        for column in queue:  # grows on the way
            if column == self.column_of[row]:
                break
            for loser in self._holders(column, row):
                if loser not in given_up:
                    given_up[loser] = column
                    for other in self._open_to_nobody() if loser is None else fair[loser]:
                        if other not in taker and other not in closed:
                            taker[other] = loser
                            queue.append(other)
        else:
            closed.update(queue)  # none of these leads there
            return False
        while (holder := taker[column]) != row:
            self._place(holder, column)
            column = given_up[holder]
        self._place(row, wanted)
        return True

    def _holders(self, column: int | None, above: int) -> list[int | None]:
        if column is not None:
            return [self._row_of.get(column)]
        without = [row for row in range(above + 1, len(self.column_of)) if self.column_of[row] is None]
        return [None, *without]

    def _open_to_nobody(self) -> list[int | None]:
        return [None, *(column for column in self._row_of if not self._column_price[column])]

    def _place(self, row: int | None, column: int | None) -> None:
        if row is not None:
            self.column_of[row] = column
        if column is not None and row is not None:
            self._row_of[column] = row
        elif column is not None:
            del self._row_of[column]
