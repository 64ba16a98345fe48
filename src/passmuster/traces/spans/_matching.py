"""Which request each execution carries out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passmuster.traces.spans._calls import Execution, canonical, folded
from passmuster.traces.spans._turns import Request, Turn

_LATE = 50_000_000
"""Nanoseconds by which clocks of spans may differ."""
_MOST = 64
"""Of requests for the same tool, so many are looked at for one execution, so that time stays linear."""

_Fits = Callable[[Any, Any], bool]


def match_executions(executions: list[Execution], turns: list[Turn]) -> None:
    """Give each execution the request that it carries out, one to one: by id, else by name, arguments and order."""
    requests = [request for turn in turns for request in turn.requests]
    by_id: dict[str, list[Request]] = {}
    for request in requests:
        own = request.asked.id
        if own is not None:
            by_id.setdefault(own, []).append(request)
        if request.aliases:
            for identity in request.aliases - {own}:
                by_id.setdefault(identity, []).append(request)
    taken: set[int] = set()
    done: set[str] = set()
    for one in executions:
        if one.id is not None:
            done.add(one.id)
            if one.id in by_id:
                _take(one, [request for request in by_id[one.id][-_MOST:] if id(request) not in taken], taken)
    # an execution and a request that go by ids of each other's kind belong to those
    rest = [one for one in executions if one.request is None and not (one.id and one.id in by_id)]
    open_ = [request for request in requests if id(request) not in taken and request.asked.id not in done]
    if not rest or not open_:
        return
    _match_equal(rest, open_, taken)
    for fits in (_completed, _unknown, _named):
        by_name: dict[str, list[Request]] = {}
        for request in open_:
            if id(request) not in taken:
                by_name.setdefault(folded(request.asked.tool), []).append(request)
        for one in rest:
            same = by_name.get(folded(one.tool), []) if one.request is None else []
            given = one.arguments
            _take(one, [request for request in same[:_MOST] if fits(given, request.asked.arguments)], taken)
            if one.request is not None and same:
                same.remove(one.request)


def _match_equal(executions: list[Execution], requests: list[Request], taken: set[int]) -> None:
    """Match by name and equal arguments."""
    waiting: dict[tuple[str, bytes], list[Request]] = {}
    for request in requests:
        if request.asked.arguments is not None:
            key = folded(request.asked.tool), canonical(request.asked.arguments)
            waiting.setdefault(key, []).append(request)
    for one in executions if waiting else ():
        given = one.arguments
        if given is not None:
            same = waiting.get((folded(one.tool), canonical(given)), [])
            _take(one, same[:_MOST], taken)
            if one.request is not None:
                same.remove(one.request)


def _completed(given: Any, wanted: Any) -> bool:
    """Whether the arguments are those asked for with defaults filled in."""
    if not isinstance(given, dict) or not isinstance(wanted, dict):
        return False
    return all(key in given and canonical(given[key]) == canonical(value) for key, value in wanted.items())


def _unknown(given: Any, wanted: Any) -> bool:
    return given is None or wanted is None


def _named(given: Any, wanted: Any) -> bool:
    return True


def _take(one: Execution, candidates: list[Request], taken: set[int]) -> None:
    found = _nearest(one, candidates) if candidates else None
    if found is not None:
        one.request = found
        taken.add(id(found))


def _nearest(one: Execution, candidates: list[Request]) -> Request | None:
    """The request of the latest model call before an execution, of its own agent if there is one."""
    began = one.node.start
    if len(candidates) == 1:
        (only,) = candidates
        return only if not began or only.turn.start <= began + _LATE or only.turn.end <= began else None
    ended = [request for request in candidates if request.turn.end <= began or not began]
    before = ended or [request for request in candidates if request.turn.start <= began + _LATE]
    if len(before) < 2:
        return before[0] if before else None
    agent = one.node.agent_node()

    def closeness(place: int) -> tuple[bool, int, int]:
        turn = before[place].turn
        return any(node.agent_node() is agent for node in turn.nodes), turn.start, -place

    return before[max(range(len(before)), key=closeness)]
