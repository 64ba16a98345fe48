"""What the requests to models show of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import plural
from passmuster.agents.capture._exchange import Exchange
from passmuster.agents.capture._model_apis import may_be_model_call
from passmuster.traces import Trace, trace_of_exchanges


class ObservedCalls(Struct, frozen=True):
    """The trace that requests to models show; None where there are none."""

    trace: Trace | None
    lost: tuple[str, ...] = ()
    """Why the trace is not all there was."""
    notices: tuple[str, ...] = ()
    outage: str | None = None
    """What went wrong outside the agent in the last request."""


def observed_calls(exchanges: Sequence[Exchange]) -> ObservedCalls:
    """What these requests show, in the order in which they began: the next one may be over before one is noted."""
    exchanges = sorted(exchanges, key=lambda exchange: exchange.started)
    lost: list[str] = []
    records = []
    outages: Counter[str] = Counter()
    unseen: Counter[str] = Counter()
    refused = 0
    for exchange in exchanges:
        if exchange.api is None:
            if may_be_model_call(exchange.method, exchange.path) and not exchange.refused:
                unseen[exchange.path.partition("?")[0]] += 1
            continue
        if not exchange.refused:
            try:
                records.append(exchange.record())
            except ValueError as error:
                lost.append(f"a request to the model or its answer cannot be read: {error}")
        elif not exchange.outage and not exchange.replayed:
            refused += 1
        if exchange.outage:
            outages[exchange.outage] += 1
    trace, problems = trace_of_exchanges(records)
    if records and trace is None:
        lost += [f"the model's API: {problem}" for problem in problems]
        problems = []
    notices = [f"the model's API: {problem}" for problem in problems]
    notices += [f"the model's API: {what}{_times(count)}" for what, count in outages.items()]
    if refused:
        notices.append(f"the model's API refused {plural(refused, 'request')}")
    if unseen:
        paths = ", ".join(sorted(unseen)[:3])
        notices.append(f"the agent asks the model's API in a way that shows no tool calls: {paths}")
        trace = replace(trace, calls_unknown=True) if trace is not None else None
    last = next((exchange for exchange in reversed(exchanges) if exchange.api is not None), None)
    return ObservedCalls(trace, tuple(dict.fromkeys(lost)), tuple(notices), last.outage if last is not None else None)


def _times(count: int) -> str:
    return "" if count == 1 else f" ({count} times)"
