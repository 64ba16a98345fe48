"""One trace of several that show the same run.

Calls that two sources show are one call: they have the same id, or, where one has none or the sources have no id in
common, the same tool and the same arguments, one to one and in order. Two calls of one source are never one. Model
calls are matched in the same way, by the id of the response, else by their tokens. The order of steps, and what was
said, is that of the first source that shows calls; steps that only another source shows are put after the one that
precedes them there. Of each fact the surest source wins:

- arguments, groups and tokens: the model's API, then OpenTelemetry, then what the agent returned;
- result: the model's API (what the model was told), then the others in the same order;
- error: any source that states one, OpenTelemetry first;
- time, agent and parent of a step: OpenTelemetry, then what the agent returned, then the model's API;
- query, answer, totals and errors of the run: what the agent returned, then OpenTelemetry, then the model's API.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster.traces import LlmCall, ToolCall, Trace

TELEMETRY, API, RETURNED = "opentelemetry", "model_api", "returned"

Seen = dict[str, Any]
"""One step, as each source shows it."""

_STEPS = (TELEMETRY, API, RETURNED)
_FACTS = (API, TELEMETRY, RETURNED)
_TIMES = (TELEMETRY, RETURNED, API)
_WHOLE = (RETURNED, TELEMETRY, API)
_OF_RUN = (
    *("trace_id", "scenario", "query", "answer", "run", "agent", "total_tokens", "total_llm_calls"),
    *("total_duration_ms", "total_cost_usd", "behaviors", "tags", "error", "metadata_json", "started_at"),
)


def merged(traces: dict[str, Trace]) -> Trace:
    """The run that these traces show, each from the source that is its key."""
    if len(traces) == 1:
        return next(iter(traces.values()))
    given = [source for source in _STEPS if source in traces]
    order = sorted(given, key=lambda source: traces[source].calls_unknown)
    steps: list[Seen] = [{order[0]: step} for step in traces[order[0]].steps]
    for source in order[1:]:
        steps = _with(steps, source, [step for step in traces[source].steps if isinstance(step, ToolCall | LlmCall)])
    facts = {}
    for name in _OF_RUN:
        values = (getattr(traces[source], name) for source in _WHOLE if source in traces)
        facts[name] = next((value for value in values if value or value == 0), getattr(Trace(), name))
    groups = _groups(steps)
    return Trace(
        steps=tuple(_one_step(seen, groups) for seen in steps),
        inferred=tuple(dict.fromkeys(fact for source in order for fact in traces[source].inferred)),
        wrapped=any(trace.wrapped for trace in traces.values()),
        calls_unknown=all(trace.calls_unknown for trace in traces.values()),
        **facts,
    )


# ── Which steps are the same ────────────────────────────────────────────────────────────────────────────────


def _with(steps: list[Seen], source: str, added: list[Any]) -> list[Seen]:
    """The steps with those of another source: each added to the one that it is, or as a step of its own."""
    partners: dict[int, Seen] = {}
    for kind, same in ((ToolCall, _same_call), (LlmCall, _same_model_call)):
        known = [seen for seen in steps if isinstance(_any(seen), kind)]
        partners |= _partners(known, [step for step in added if isinstance(step, kind)], same)
    if not partners:
        return [*steps, *({source: step} for step in added)]
    first: list[Seen] = []
    after: dict[int, list[Seen]] = {}
    place = first
    for step in added:
        partner = partners.get(id(step))
        if partner is None:
            place.append({source: step})
        else:
            partner[source] = step
            place = after.setdefault(id(partner), [])
    return [*first, *(one for seen in steps for one in (seen, *after.get(id(seen), ())))]


def _partners(known: list[Seen], added: list[Any], same: Any) -> dict[int, Seen]:
    """For added steps, by identity, the known one that each is: by id first, else by what it says."""
    found: dict[int, Seen] = {}
    by_id: dict[str, list[Seen]] = {}
    for seen in known:
        if (key := _id(seen)) is not None:
            by_id.setdefault(key, []).append(seen)
    for step in added:
        if step.id is not None and by_id.get(str(step.id)):
            found[id(step)] = by_id[str(step.id)].pop(0)
    ids_compare = bool(found)
    taken = {id(seen) for seen in found.values()}
    left = [seen for seen in known if id(seen) not in taken]
    for step in added:
        if id(step) in found:
            continue
        for index, seen in enumerate(left):
            others = ids_compare and step.id is not None and _id(seen) is not None
            if not others and same(_any(seen), step):
                found[id(step)] = left.pop(index)
                break
    return found


def _any(seen: Seen) -> Any:
    return next(iter(seen.values()))


def _id(seen: Seen) -> str | None:
    return next((str(step.id) for step in seen.values() if step.id is not None), None)


def _same_call(one: ToolCall, other: ToolCall) -> bool:
    return one.tool == other.tool and (
        one.arguments is None or other.arguments is None or one.arguments == other.arguments
    )


def _same_model_call(one: LlmCall, other: LlmCall) -> bool:
    return all(
        mine is None or theirs is None or mine == theirs
        for mine, theirs in ((one.tokens_in, other.tokens_in), (one.tokens_out, other.tokens_out))
    )


# ── What is known of one step ───────────────────────────────────────────────────────────────────────────────


def _one_step(seen: Seen, groups: dict[tuple[str, Any], int]) -> Any:
    step = _any(seen)
    if isinstance(step, ToolCall):
        return replace(
            step,
            group=_group(seen, groups),
            error=_first(seen, _STEPS, "error"),
            **{name: _first(seen, _FACTS, name) for name in ("id", "arguments", "result_json")},
            **{name: _first(seen, _TIMES, name) for name in ("duration_ms", "parent", "agent", "started_at")},
        )
    if isinstance(step, LlmCall):
        figures = ("model", "tokens_in", "tokens_out", "tokens_cached", "id")
        times = ("cost_usd", "duration_ms", "parent", "agent", "started_at")
        return replace(
            step,
            **{name: _first(seen, _FACTS, name) for name in figures},
            **{name: _first(seen, _TIMES, name) for name in times},
        )
    return step


def _first(seen: Seen, order: Iterable[str], name: str) -> Any:
    """What the surest source says that says anything."""
    value: Any = None
    for source in order:
        if source in seen:
            value = getattr(seen[source], name)
            if value is not None and not (isinstance(value, msgspec.Raw) and bytes(value) in (b"", b"null")):
                return value
    return value


def _surest(seen: Seen) -> str:
    return next(source for source in _FACTS if source in seen)


def _groups(steps: list[Seen]) -> dict[tuple[str, Any], int]:
    """A number for each group of each source. Groups that share a call are one."""
    numbers: dict[tuple[str, Any], int] = {}
    calls = [seen for seen in steps if isinstance(_any(seen), ToolCall)]
    for seen in calls:
        surest = _surest(seen)
        if seen[surest].group is not None:
            number = numbers.setdefault((surest, seen[surest].group), len(numbers) + 1)
            for source, step in seen.items():
                if step.group is not None:
                    numbers.setdefault((source, step.group), number)
    return numbers


def _group(seen: Seen, groups: dict[tuple[str, Any], int]) -> int | None:
    surest = _surest(seen)
    return groups.get((surest, seen[surest].group))
