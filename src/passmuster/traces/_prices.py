"""What model calls cost by a price list, for traces that do not record it (`prices: genai-prices` in a suite)."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from passmuster.traces._model import LlmCall, Moment, Trace

_REMEMBERED = 10_000
"""Models whose provider is remembered; their names are untrusted."""


class PriceList:
    """Fills in the cost of model calls. Raises `ImportError` where the package `genai-prices` is missing.

    Prices are those of the day of a call, or of the run, or else of `today`.
    """

    def __init__(self, today: datetime.date) -> None:
        import genai_prices  # late, as it needs an extra

        self._package = genai_prices
        self._today = datetime.datetime.combine(today, datetime.time(12), datetime.UTC)
        self._found: dict[str, tuple[str, str] | None] = {}

    @property
    def version(self) -> str:
        """The package and its version, which is that of its prices: they are not fetched."""
        return f"genai-prices {self._package.__version__}"

    def __call__(self, trace: Trace) -> Trace:
        """The trace with the cost of each call that has none and whose model and tokens are known."""
        if trace.total_cost_usd is not None or all(call.cost_usd is not None for call in trace.model_calls):
            return trace
        steps: list[Any] = list(trace.steps)
        priced = False
        for index, step in enumerate(steps):
            if isinstance(step, LlmCall) and step.cost_usd is None:
                cost = self._cost(step, _moment(step.started_at) or _moment(trace.started_at) or self._today)
                if cost is not None:
                    steps[index] = replace(step, cost_usd=cost)
                    priced = True
        if not priced:
            return trace
        return replace(trace, steps=tuple(steps), inferred=(*trace.inferred, "cost"))

    def _cost(self, call: LlmCall, when: datetime.datetime) -> float | None:
        if call.model is None or call.tokens_in is None or call.tokens_out is None:
            return None
        usage = self._package.Usage(
            input_tokens=call.tokens_in,
            output_tokens=call.tokens_out,
            cache_read_tokens=min(call.tokens_cached or 0, call.tokens_in),
        )
        known = self._found.get(call.model) if call.model in self._found else self._find(call.model, usage)
        if known is None:
            return None
        model, provider = known
        try:
            price = self._package.calc_price(usage, model, provider_id=provider, genai_request_timestamp=when)
        except (LookupError, ValueError):
            return None
        return float(price.total_price)

    def _find(self, model: str, usage: Any) -> tuple[str, str] | None:
        """The model's name in the list and its provider; None where the list does not have it."""
        found = None
        for name, provider in _spellings(model):
            try:
                price = self._package.calc_price(usage, name, provider_id=provider)
            except (LookupError, ValueError):
                continue
            found = (name, price.provider.id)
            break
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        self._found[model] = found
        return found


def _spellings(model: str) -> Iterator[tuple[str, str | None]]:
    """A model's name as it is, and without the provider that frameworks write before it."""
    yield model, None
    for sign in ("/", ":"):
        provider, found, name = model.partition(sign)
        if found and name:
            yield name, provider
            yield name, None


def _moment(value: Moment | None) -> datetime.datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
