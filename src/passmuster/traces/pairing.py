"""Results recorded apart from their calls find the calls they belong to.

Ids may be missing, repeated or out of order. A result takes the oldest call with its id that still waits
for one; failing that, a later call with its id. A result without an id takes the oldest waiting call
of the batch just made (calls with no result between them), of its own tool if it names one. A second
result for an answered call is dropped. A result whose call was never recorded is a call all the same
if it names its tool: the tool did run.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from msgspec.structs import replace

from passmuster.traces.model import AnyStep, Key, Step, ToolCall, ToolResult

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
    """Index of call → index of its result, for results that follow their calls."""
    waiting: dict[Key, deque[int]] = defaultdict(deque)
    batch: list[int] = []
    batch_open = False
    answers: dict[int, int] = {}
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall):
            if not batch_open:
                batch, batch_open = [], True
            if not _has_result(step):
                batch.append(index)
                if step.id is not None:
                    waiting[step.id].append(index)
        elif isinstance(step, ToolResult):
            batch_open = False
            call = _by_id(waiting, step.id, answers) if step.id is not None else _by_place(steps, batch, step, answers)
            if call is not None:
                answers[call] = index
        else:
            batch_open = False
    return answers


def _by_id(waiting: dict[Key, deque[int]], key: Key, answers: dict[int, int]) -> int | None:
    queue = waiting.get(key)
    while queue:
        call = queue.popleft()
        if call not in answers:
            return call
    return None


def _by_place(steps: Sequence[AnyStep], batch: list[int], result: ToolResult, answers: dict[int, int]) -> int | None:
    for place, index in enumerate(batch):
        call = steps[index]
        assert isinstance(call, ToolCall)
        if index not in answers and result.tool in (None, call.tool):
            del batch[place]
            return index
    return None


def _settle_orphans(steps: Sequence[AnyStep], orphans: list[int], answers: dict[int, int]) -> set[int]:
    """Give results that came too early to later calls; return those that stand for a call of their own."""
    later: dict[Key, deque[int]] = defaultdict(deque)
    known: set[Key] = set()
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.id is not None:
            known.add(step.id)
            if index not in answers and not _has_result(step):
                later[step.id].append(index)
    executions: set[int] = set()
    for index in orphans:
        result = steps[index]
        assert isinstance(result, ToolResult)
        if result.id is not None and later.get(result.id):
            answers[later[result.id].popleft()] = index
        elif result.tool is not None and result.id not in known:
            executions.add(index)
            if result.id is not None:
                known.add(result.id)
    return executions


def _has_result(call: ToolCall) -> bool:
    return bool(call.result_json) or call.failed


def _answered(call: ToolCall, result: ToolResult) -> ToolCall:
    duration = call.duration_ms if call.duration_ms is not None else result.duration_ms
    return replace(call, result_json=result.result_json, error=result.error, duration_ms=duration)


def _execution(result: ToolResult) -> ToolCall:
    return ToolCall(
        tool=result.tool or "",
        id=result.id,
        result_json=result.result_json,
        error=result.error,
        duration_ms=result.duration_ms,
    )
