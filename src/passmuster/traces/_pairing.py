"""Join results that were recorded apart from their calls to these calls.

Ids may be missing, repeated or out of order. A result takes the oldest call with its id that has no result yet, else a
later call with its id. A result without an id, or with one that no call has, goes by its place: to the latest batch
(calls with nothing between them) that has a call without a result, and there to the oldest such call; of its own tool
if it names one. A call with an id never takes a result with another id. Results that name an id or a tool go first.

A result never belongs to a call of another tool than it names, or with other arguments. A second result of a call is
dropped if it says whose it is by id or tool and adds no other tool. Any other result that names its tool is a call of
its own, for the tool did run; its arguments are unknown unless it has them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from passmuster.traces._model import AnyStep, Key, Step, ToolCall, ToolResult


def pair_results(steps: Sequence[AnyStep]) -> list[tuple[int, Step]]:
    """Each remaining step with its index in `steps`, calls completed by their results."""
    if (quick := _pair_plainly(steps)) is not None:
        return quick
    # an id is the same whether it is written as a number or as a string
    ids = {str(step.id) for step in steps if isinstance(step, ToolCall) and step.id is not None}
    answers: dict[int, int] = {}
    for named in (True, False):
        _pair(steps, ids, answers, named=named)
    executions = _pair_early(steps, answers)
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


def _pair_plainly(steps: Sequence[AnyStep]) -> list[tuple[int, Step]] | None:
    """The same for most runs: each result has the id of one call before it. None where a run is not so.

    An id may be used again once its call has a result.
    """
    calls: dict[Key, int] = {}
    answered: dict[int, ToolResult] = {}
    for index, step in enumerate(steps):
        kind = type(step)
        if kind is ToolCall:
            key = step.id  # type: ignore[union-attr]
            if type(key) is not str or (key in calls and calls[key] not in answered) or _has_result(step):  # type: ignore[arg-type]
                return None
            calls[key] = index
        elif kind is ToolResult:
            call = calls.get(step.id, -1)  # type: ignore[union-attr,arg-type]
            if call < 0 or call in answered or not _is_of(step, steps[call]):  # type: ignore[arg-type]
                return None
            answered[call] = step  # type: ignore[assignment]
    if not answered:
        return list(enumerate(steps))  # type: ignore[arg-type]
    return [
        (index, _answered(step, answered[index]) if index in answered else step)  # type: ignore[arg-type,misc]
        for index, step in enumerate(steps)
        if type(step) is not ToolResult
    ]


def _is_of(result: ToolResult, call: ToolCall) -> bool:
    return (result.tool is None or result.tool == call.tool) and result.arguments is None


def _pair(steps: Sequence[AnyStep], ids: set[str], answers: dict[int, int], *, named: bool) -> None:
    """Add results that follow their calls to `answers` (index of call → index of result): the named, or the others."""
    by_id: dict[tuple[str, str | None], deque[int]] = defaultdict(deque)
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
                for tool in (step.tool, None):
                    by_id[(str(step.id), tool)].append(index)
            continue
        batch = index
        if isinstance(step, ToolResult) and named == (step.tool is not None or str(step.id) in ids):
            if step.id is None:
                call = by_place.take(step.tool, answers)
            elif str(step.id) in ids:
                call = _fitting(steps, by_id[(str(step.id), step.tool)], answers, step)
            else:
                call = by_place_without_id.take(step.tool, answers)
            if call is not None:
                answers[call] = index


class _Waiting:
    """Calls without a result, by batch and tool. Each is put in and taken out once, so that time stays linear."""

    def __init__(self) -> None:
        # Batch number and calls, the latest call first once the batch is asked for. A deque would take 600 bytes.
        self._batches: dict[str | None, list[tuple[int, list[int]]]] = defaultdict(list)

    def add(self, call: int, batch: int, tool: str) -> None:
        for name in (tool, None):
            batches = self._batches[name]
            if not batches or batches[-1][0] != batch:
                batches.append((batch, []))
            batches[-1][1].append(call)

    def take(self, tool: str | None, answers: dict[int, int]) -> int | None:
        """The oldest waiting call of the latest batch that has one."""
        batches = self._batches[tool]
        while batches:
            batch, calls = batches[-1]
            if batch >= 0:  # asked for the first time: no call is added any more, for the result ends the batch
                calls.reverse()
                batches[-1] = -1, calls
            while calls:
                call = calls.pop()
                if call not in answers:
                    return call
            batches.pop()
        return None


def _oldest(calls: deque[int], answers: dict[int, int]) -> int | None:
    while calls:
        call = calls.popleft()
        if call not in answers:
            return call
    return None


def _fitting(steps: Sequence[AnyStep], calls: deque[int], answers: dict[int, int], result: ToolResult) -> int | None:
    """The oldest of these calls without a result, unless it was made with other arguments than the result says."""
    call = _oldest(calls, answers)
    if call is None:
        return None
    made = steps[call]
    assert isinstance(made, ToolCall)
    if result.arguments is None or made.arguments is None or result.arguments == made.arguments:
        return call
    calls.appendleft(call)
    return None


def _pair_early(steps: Sequence[AnyStep], answers: dict[int, int]) -> set[int]:
    """Pair the results that came before their calls; return those that are calls of their own."""
    later: dict[tuple[str, str | None], deque[int]] = defaultdict(deque)
    for index, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.id is not None and index not in answers and not _has_result(step):
            for tool in (step.tool, None):
                later[(str(step.id), tool)].append(index)
    taken = set(answers.values())
    executions: set[int] = set()
    known = {(str(step.id), step.tool) for step in steps if isinstance(step, ToolCall) and step.id is not None}
    for index, step in enumerate(steps):
        if not isinstance(step, ToolResult) or index in taken:
            continue
        key = None if step.id is None else str(step.id)
        waiting = later.get((key, step.tool)) if key is not None else None
        call = _fitting(steps, waiting, answers, step) if waiting else None
        if call is not None:
            answers[call] = index
        elif step.tool is not None and (key, step.tool) not in known:
            executions.add(index)
            if key is not None:
                known.add((key, step.tool))
    return executions


def _has_result(call: ToolCall) -> bool:
    return call.failed or (bool(call.result_json) and bytes(call.result_json) != b"null")


def _answered(call: Step, result: AnyStep) -> ToolCall:
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    duration = call.duration_ms if call.duration_ms is not None else result.duration_ms
    arguments = result.arguments if call.arguments is None else call.arguments
    return ToolCall(
        *(call.tool, call.id, arguments, result.result_json, result.error, duration),
        *(call.group, call.parent, call.agent, call.started_at),
    )


def _execution(result: ToolResult) -> ToolCall:
    return ToolCall(
        result.tool or "", result.id, result.arguments, result.result_json, result.error, result.duration_ms
    )
