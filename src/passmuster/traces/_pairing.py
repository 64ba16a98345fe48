"""Results recorded apart from their calls find the calls they belong to.

Ids may be missing, repeated or out of order. A result takes the oldest call with its id that still waits for
one; failing that, a later call with its id. A result without an id, or with one that no call has, goes by its place:
it takes a waiting call of the latest batch (calls with nothing between them) that has one, and of these the
oldest; of its own tool if it names one. A call that has an id is not answered by a result with another. Results that
say whose they are choose before those that do not.

A second result for an answered call is dropped. A result whose call was never recorded is a call all the same
if it names its tool: the tool did run.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from passmuster.traces._model import AnyStep, Step, ToolCall, ToolResult

__all__ = ["pair_results"]


def pair_results(steps: Sequence[AnyStep]) -> list[tuple[int, Step]]:
    """Each remaining step with its index in `steps`, calls completed by their results."""
    answers = _forward(steps)
    taken = set(answers.values())
    orphans = [i for i, step in enumerate(steps) if isinstance(step, ToolResult) and i not in taken]
    executions = _settle_orphans(steps, orphans, answers)
    paired: list[tuple[int, Step]] = []
    for index, step in enumerate(steps):
        if isinstance(step, ToolResult):
            if index in executions:
                paired.append((index, _execution(step)))
        elif index in answers:
            result = steps[answers[index]]
            assert isinstance(step, ToolCall)
            assert isinstance(result, ToolResult)
            paired.append((index, _answered(step, result)))
        else:
            paired.append((index, step))
    return paired


def _forward(steps: Sequence[AnyStep]) -> dict[int, int]:
    """Index of call → index of its result, for results that follow their calls.

    Those that say whose they are come first, so that none of the others takes their call.
    """
    known = _ids(steps)
    answers: dict[int, int] = {}
    for tells in (True, False):
        _pair(steps, known, answers, tells=tells)
    return answers


def _pair(steps: Sequence[AnyStep], known: set[str], answers: dict[int, int], *, tells: bool) -> None:
    """Pair the results that tell an id of a call or a tool, or those that do not."""
    by_id: dict[str, deque[int]] = defaultdict(deque)
    by_place, by_place_without_id = _Waiting(), _Waiting()
    batch = 0
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall):
            if index in answers or _has_result(step):
                continue
            by_place.add(index, batch, step.tool)
            if step.id is None:
                by_place_without_id.add(index, batch, step.tool)
            else:
                by_id[str(step.id)].append(index)
            continue
        batch = index
        if isinstance(step, ToolResult) and tells == (step.tool is not None or str(step.id) in known):
            if step.id is None:
                call = by_place.take(step.tool, answers)
            elif str(step.id) in known:
                call = _oldest(by_id[str(step.id)], answers)
            else:
                call = by_place_without_id.take(step.tool, answers)
            if call is not None:
                answers[call] = index


class _Waiting:
    """Calls without a result, to be found by place. Each is put in and taken out once, so time stays linear."""

    def __init__(self) -> None:
        self._batches: dict[str | None, list[tuple[int, deque[int]]]] = defaultdict(list)

    def add(self, call: int, batch: int, tool: str) -> None:
        for name in (tool, None):
            batches = self._batches[name]
            if not batches or batches[-1][0] != batch:
                batches.append((batch, deque()))
            batches[-1][1].append(call)

    def take(self, tool: str | None, answers: dict[int, int]) -> int | None:
        """The oldest waiting call of the latest batch that has one."""
        batches = self._batches[tool]
        while batches:
            call = _oldest(batches[-1][1], answers)
            if call is not None:
                return call
            batches.pop()
        return None


def _oldest(calls: deque[int], answers: dict[int, int]) -> int | None:
    while calls:
        call = calls.popleft()
        if call not in answers:
            return call
    return None


def _ids(steps: Iterable[AnyStep]) -> set[str]:
    """The ids of the calls. An id is the same whether it is written as a number or as a string."""
    return {str(step.id) for step in steps if isinstance(step, ToolCall) and step.id is not None}


def _settle_orphans(steps: Sequence[AnyStep], orphans: list[int], answers: dict[int, int]) -> set[int]:
    """Give results that came too early to later calls; return those that stand for a call of their own."""
    later: dict[str, deque[int]] = defaultdict(deque)
    known = _ids(steps)
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.id is not None and index not in answers and not _has_result(step):
            later[str(step.id)].append(index)
    executions: set[int] = set()
    for index in orphans:
        result = steps[index]
        assert isinstance(result, ToolResult)
        key = None if result.id is None else str(result.id)
        if key is not None and later.get(key):
            answers[later[key].popleft()] = index
        elif result.tool is not None and key not in known:
            executions.add(index)
            if key is not None:
                known.add(key)
    return executions


def _has_result(call: ToolCall) -> bool:
    return call.failed or (bool(call.result_json) and bytes(call.result_json) != b"null")


def _answered(call: ToolCall, result: ToolResult) -> ToolCall:
    duration = call.duration_ms if call.duration_ms is not None else result.duration_ms
    return replace(call, result_json=result.result_json, error=result.error, duration_ms=duration)


def _execution(result: ToolResult) -> ToolCall:
    return ToolCall(
        tool=result.tool or "",
        id=result.id,
        arguments={},
        result_json=result.result_json,
        error=result.error,
        duration_ms=result.duration_ms,
    )
