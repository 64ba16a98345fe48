"""Join results that were recorded apart from their calls to these calls.

Ids may be missing, repeated or out of order. A result takes the oldest call with its id that has no result yet, else a
later call with its id. A result without an id, or with one that no call has, goes by its place: to the latest batch
(calls with nothing between them) that has a call without a result, and there to the oldest such call; of its own tool
if it names one. A call with an id never takes a result with another id. Results that name an id or a tool go first.

A second result of a call is dropped. A result of a call that was not recorded is a call if it names its tool, for the
tool did run.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from msgspec.structs import replace

from passmuster.traces._model import AnyStep, Step, ToolCall, ToolResult


def pair_results(steps: Sequence[AnyStep]) -> list[tuple[int, Step]]:
    """Each remaining step with its index in `steps`, calls completed by their results."""
    # an id is the same whether it is written as a number or as a string
    ids = {str(step.id) for step in steps if isinstance(step, ToolCall) and step.id is not None}
    answers: dict[int, int] = {}
    for named in (True, False):
        _pair(steps, ids, answers, named=named)
    executions = _pair_early(steps, ids, answers)
    paired: list[tuple[int, Step]] = []
    for index, step in enumerate(steps):
        if isinstance(step, ToolResult):
            if index in executions:
                paired.append((index, _execution(step)))
        elif index in answers:
            paired.append((index, _answered(step, steps[answers[index]])))
        else:
            paired.append((index, step))
    return paired


def _pair(steps: Sequence[AnyStep], ids: set[str], answers: dict[int, int], *, named: bool) -> None:
    """Add results that follow their calls to `answers` (index of call → index of result): the named, or the others."""
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
        if isinstance(step, ToolResult) and named == (step.tool is not None or str(step.id) in ids):
            if step.id is None:
                call = by_place.take(step.tool, answers)
            elif str(step.id) in ids:
                call = _oldest(by_id[str(step.id)], answers)
            else:
                call = by_place_without_id.take(step.tool, answers)
            if call is not None:
                answers[call] = index


class _Waiting:
    """Calls without a result, by batch and tool. Each is put in and taken out once, so that time stays linear."""

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


def _pair_early(steps: Sequence[AnyStep], ids: set[str], answers: dict[int, int]) -> set[int]:
    """Pair the results that came before their calls; return those that are calls of their own."""
    later: dict[str, deque[int]] = defaultdict(deque)
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.id is not None and index not in answers and not _has_result(step):
            later[str(step.id)].append(index)
    taken = set(answers.values())
    executions: set[int] = set()
    for index, step in enumerate(steps):
        if not isinstance(step, ToolResult) or index in taken:
            continue
        key = None if step.id is None else str(step.id)
        if key is not None and later.get(key):
            answers[later[key].popleft()] = index
        elif step.tool is not None and key not in ids:
            executions.add(index)
            if key is not None:
                ids.add(key)
    return executions


def _has_result(call: ToolCall) -> bool:
    return call.failed or (bool(call.result_json) and bytes(call.result_json) != b"null")


def _answered(call: Step, result: AnyStep) -> ToolCall:
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    duration = call.duration_ms if call.duration_ms is not None else result.duration_ms
    return replace(call, result_json=result.result_json, error=result.error, duration_ms=duration)


def _execution(result: ToolResult) -> ToolCall:
    return ToolCall(result.tool or "", result.id, {}, result.result_json, result.error, result.duration_ms)
