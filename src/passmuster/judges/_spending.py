"""A cap on the cost of judges that holds for concurrent requests too.

Before a request its worst price is set aside: one token for each byte sent, and every token that it may write. A
request that no longer fits waits until others are settled by what they really used; if it does not fit then,
nothing more is asked. A request whose use is not known counts at its worst price.
"""

from __future__ import annotations

import asyncio

from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt

_FRAMING = 1000
"""Tokens that the form of the answer and the roles of the messages may add."""


class CapReachedError(Exception):
    """The next request might cost more than is left."""


class Spending:
    """What has been spent of a cap, and what is set aside for requests under way."""

    def __init__(self, cap: float | None) -> None:
        self.cap = cap
        self.spent = 0.0
        self._aside = 0.0
        self._under_way = 0
        self._settled = asyncio.Condition()

    async def set_aside(self, worst: float | None) -> None:
        """Waits until a request at its worst price fits into the cap, or raises `CapReachedError`."""
        if self.cap is None or worst is None:
            return
        async with self._settled:
            while self.spent + self._aside + worst > self.cap:
                if not self._under_way:
                    raise CapReachedError(
                        f"the spending cap of ${self.cap:g} (max_cost_usd) is reached: ${self.spent:.4f} is spent "
                        f"and the next request may cost ${worst:.4f}"
                    )
                await self._settled.wait()
            self._aside += worst
            self._under_way += 1

    async def settle(self, worst: float | None, used: float | None) -> None:
        """Counts what a request really cost: `used`, or its worst price where that is not known."""
        cost = worst if used is None else used
        self.spent += cost or 0.0
        if self.cap is None or worst is None:
            return
        async with self._settled:
            self._aside -= worst
            self._under_way -= 1
            if not self._under_way:
                self._aside = 0.0  # no rounding error outlives the requests that made it
            self._settled.notify_all()


def price(member: Member, read: int | None, written: int | None) -> float | None:
    """What these tokens cost; unknown if a price or a number is."""
    if member.prices is None or read is None or written is None:
        return None
    return read * member.prices[0] + written * member.prices[1]


def worst_price(member: Member, prompt: Prompt) -> float | None:
    """An upper bound for the cost of a request: there are never more tokens than bytes."""
    sent = len(prompt.system.encode()) + len(prompt.user.encode()) + _FRAMING
    return price(member, sent, member.max_tokens)
