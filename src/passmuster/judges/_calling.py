"""One question to one judge, with time-outs and retries.

A refusal that may pass is tried again after a growing wait; a reply that is no verdict is asked for again; a judge
that has shown to be out of reach is not tried for every further question.

The cap on the cost holds for concurrent requests too: before a request its worst price is set aside (one token for each
byte sent, and every token that it may write). A request that no longer fits waits until others are settled.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping

from passmuster.checks import JudgeFailure
from passmuster.judges._answers import Opinion, Unusable, read_object, read_text
from passmuster.judges._clients import Client, Reply, Trouble, open_client
from passmuster.judges._config import JudgeConfig, Member
from passmuster.judges._prompts import Prompt

_LONGEST_WAIT = 30.0
_LONGEST_ASKED_WAIT = 120.0
_FRAMING = 1000
"""Tokens that the form of the answer and the roles of the messages may add."""
_PATIENCE = 3
"""Questions in a row whose every attempt failed, before the others fail at once."""


class Caller:
    """Asks the judges of one configuration; lives as long as one event loop."""

    def __init__(self, config: JudgeConfig, environment: Mapping[str, str]) -> None:
        self._config = config
        self._environment = environment
        self._spending = Spending(config.max_cost_usd)
        self._clients: dict[tuple[str, str, str | None], Client | Trouble] = {}
        self._health: dict[tuple[str, str, str], _Health] = {}
        self._chance = random.Random()
        self.calls = 0
        """Requests that were sent."""
        self.unpriced = 0
        """Those whose price is not known."""

    async def ask(self, prompt: Prompt, member: Member) -> Opinion | JudgeFailure:
        """The judge's opinion, or why there is none."""
        health = self._health.setdefault((member.provider, member.address, member.model), _Health())
        if health.given_up is not None:
            return JudgeFailure(f"judge {member.name}: {health.given_up}")
        try:
            opinion = await self._opinion(prompt, member)
        except Trouble as trouble:
            health.failed(trouble)
            return JudgeFailure(f"judge {member.name}: {trouble}")
        except CapReachedError as reached:
            return JudgeFailure(f"judge {member.name}: not asked, because {reached}")
        health.in_a_row = 0
        return opinion

    @property
    def spent(self) -> float:
        """US dollars, as far as prices are known."""
        return self._spending.spent

    async def close(self) -> None:
        """Ends all connections."""
        for client in self._clients.values():
            if not isinstance(client, Trouble):
                await client.close()

    async def _opinion(self, prompt: Prompt, member: Member) -> Opinion | JudgeFailure:
        client = self._client(member)
        most = 1 + self._config.ask_again
        asked = prompt
        fault = ""
        for _ in range(most):
            read = _read(await self._reply(client, asked, member))
            if isinstance(read, Opinion):
                return read
            fault = read.fault
            asked = prompt.again(fault)
        times = "once" if most == 1 else f"{most} times"
        return JudgeFailure(f"judge {member.name}: asked {times}, it gave no verdict; of its last reply: {fault}")

    async def _reply(self, client: Client, prompt: Prompt, member: Member) -> Reply:
        """The first reply among the attempts; the last trouble if there is none."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(client, prompt, member)
            except Trouble as trouble:
                if not trouble.passing:
                    raise
                wait = self._wait(attempt, trouble)
                if attempt > self._config.retries or wait is None:
                    raise _exhausted(trouble, attempt, wait) from trouble
                await asyncio.sleep(wait)

    async def _attempt(self, client: Client, prompt: Prompt, member: Member) -> Reply:
        worst = worst_price(member, prompt)
        await self._spending.set_aside(worst)
        used: float | None = None
        self.calls += 1
        self.unpriced += worst is None
        try:
            # The SDKs' own limits are for single reads: a server that drips could hold a run for ever.
            async with asyncio.timeout(self._config.timeout_seconds):
                reply = await client.ask(prompt, member)
            used = price(member, reply.tokens_in, reply.tokens_out)
            return reply
        except TimeoutError:
            message = f"it did not answer within {self._config.timeout_seconds:g} seconds"
            raise Trouble(message, passing=True, perhaps_billed=True) from None
        except Trouble as trouble:
            used = None if trouble.perhaps_billed else 0.0
            raise
        finally:
            await self._spending.settle(worst, used)

    def _client(self, member: Member) -> Client:
        place = (member.provider, member.address, member.api_key_env)
        if place not in self._clients:
            try:
                self._clients[place] = open_client(member, self._config.timeout_seconds, self._environment)
            except Trouble as trouble:
                self._clients[place] = trouble
        client = self._clients[place]
        if isinstance(client, Trouble):
            raise client
        return client

    def _wait(self, attempt: int, trouble: Trouble) -> float | None:
        """Seconds until the next attempt; None if the service asks to wait too long."""
        if trouble.after is not None and trouble.after > _LONGEST_ASKED_WAIT:
            return None
        growing: float = min(_LONGEST_WAIT, self._config.backoff_seconds * 2.0 ** (attempt - 1))
        # Spread, so that requests refused together do not come back together.
        return (trouble.after or 0.0) + growing * self._chance.uniform(0.5, 1.0)


class _Health:
    """Whether a judge can be reached at all."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self.given_up: str | None = None

    def failed(self, trouble: Trouble) -> None:
        self.in_a_row += trouble.passing
        if trouble.hopeless:
            self.given_up = str(trouble)
        elif self.in_a_row >= _PATIENCE:
            self.given_up = (
                f"not asked, because {_PATIENCE} questions in a row got no reply; of the last one: {trouble}"
            )


def _read(reply: Reply) -> Opinion | Unusable:
    if reply.fault is not None:
        return Unusable(reply.fault)
    return read_object(reply.found) if reply.text is None else read_text(reply.text)


def _exhausted(trouble: Trouble, attempts: int, wait: float | None) -> Trouble:
    if wait is None:
        message = f"{trouble}; it asks to wait {trouble.after:.0f} seconds, which is too long"
    else:
        message = f"{trouble} ({attempts} attempts)" if attempts > 1 else str(trouble)
    return Trouble(message, passing=True)


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
