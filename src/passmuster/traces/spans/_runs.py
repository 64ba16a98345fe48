"""One run from its spans: model calls, tool calls, handoffs and messages in order, as a `Trace`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import UNSET, Raw, Struct

from passmuster.traces._building import Reading
from passmuster.traces._model import AnyStep, Handoff, Key, LlmCall, Message, Origin, Place, ToolCall, Trace
from passmuster.traces.spans._calls import Execution, executions_of, folded
from passmuster.traces.spans._histories import add_from_messages
from passmuster.traces.spans._matching import match_executions
from passmuster.traces.spans._said import Answered, Asked
from passmuster.traces.spans._times import milliseconds, rfc3339
from passmuster.traces.spans._tree import Node
from passmuster.traces.spans._turns import Turn, turns_of
from passmuster.traces.spans._values import raw_result, result_json
from passmuster.traces.spans._whole_run import account_for, agent_of, answer_of, duration_of, fault_of, query_of

_HANDOFF_TOOLS = {"transfer_to_agent": "agent_name", "handoff": "to_agent"}
"""Tools that frameworks offer for handing over, and the argument that names the agent."""
_TRANSFER = "transfer_to_"


class Run(Struct, eq=False):
    """The spans of one run and what they amount to."""

    nodes: list[Node]
    """In the order they began."""
    turns: list[Turn]
    inferred: tuple[str, ...] = ()
    trace_id: str | None = None


def run_of(nodes: list[Node]) -> Run:
    """The run that the spans of one trace record."""
    return Run(
        nodes, turns_of(nodes), trace_id=next((node.span.trace_id for node in nodes if node.span.trace_id), None)
    )


class _Placed(Struct, gc=False):
    """A step, when it happened, and the span that records it."""

    when: tuple[int, int, int]
    step: AnyStep
    node: Node


def trace_of(run: Run, reading: Reading) -> Trace | None:
    """The run as a trace; None where the spans record nothing that an agent did."""
    turns = run.turns
    answers: dict[int, list[Answered]] = {}
    executions = executions_of(run.nodes, turns)
    match_executions(executions, turns)
    if not _is_whole(turns, executions):
        answers = add_from_messages(turns)
        executions = executions_of(run.nodes, turns)
        match_executions(executions, turns)
    executions = [one for one in executions if one.certain or one.request is not None]
    _name_calls(executions)
    account_for(run.nodes, turns, reading)
    steps = [*_asked_steps(turns, executions, answers), *_unasked_steps(turns, executions)]
    if handoffs := [node for node in run.nodes if node.facts.kind == "handoff"]:  # which the calls of tools repeat
        steps = [one for one in steps if type(one.step) is not Handoff]
        steps += _handoffs(handoffs, run.nodes)
    query, answer = query_of(run.nodes, turns), answer_of(run.nodes, turns)
    if not steps and answer is None:
        return None
    steps.sort(key=attrgetter("when"))
    if query is not None and steps:
        steps.insert(0, _Placed((0, 0, 0), Message("user", query), steps[0].node))
    first = min([node.span for node in run.nodes], key=attrgetter("order"))
    source = reading.source
    places = tuple([Place((span := one.node.span).offset, span.line) for one in steps])
    return Trace(
        steps=tuple([one.step for one in steps]),
        trace_id=run.trace_id,
        scenario=_stated(run.nodes, "passmuster.scenario"),
        query=query,
        answer=answer,
        agent=agent_of(run.nodes, turns),
        total_duration_ms=duration_of(run.nodes),
        error=fault_of(run.nodes),
        started_at=rfc3339(next((node.start for node in run.nodes if node.start), 0)),
        inferred=run.inferred + _inferred_groups(steps, executions),
        origin=Origin(source.name, source.path, first.offset, 0, first.line, places),
        calls_unknown=not executions and any(turn.outputs is None for turn in turns),
    )


def _name_calls(executions: list[Execution]) -> None:
    """Give the spans of tools the ids that models call them by, for what runs inside them."""
    for one in executions:
        for node in one.nodes:
            node.facts.kind = "tool"
            if node.facts.call_id is None:
                node.facts.call_id = one.id or (one.request.asked.id if one.request is not None else None)


def _inferred_groups(steps: list[_Placed], executions: list[Execution]) -> tuple[str, ...]:
    """`groups`, where calls form a group for standing between two model calls, not for being asked for at once."""
    own = {id(one.node) for one in executions if one.request is None}
    if not own:
        return ()
    grouped = any(
        id(one.node) in own and isinstance(one.step, ToolCall) and one.step.group is not None for one in steps
    )
    return ("groups",) if grouped else ()


def _is_whole(turns: list[Turn], executions: list[Execution]) -> bool:
    """Whether answers and executions account for each other, so that nothing can be learned from later messages."""
    done = {id(one.request) for one in executions if one.request is not None and (one.error or one.result is not UNSET)}
    for turn in turns:
        if not turn.outputs or not done.issuperset(map(id, turn.requests)):
            return False
    return all(turn.requests for turn in turns[:-1])


def _stated(nodes: list[Node], name: str) -> str | None:
    for node in nodes:
        stated = node.span.attributes.get(name)
        if stated is not None:
            return str(stated)
    return None


# ── Steps ───────────────────────────────────────────────────────────────────────────────────────────────────


def _asked_steps(turns: list[Turn], executions: list[Execution], answers: dict[int, list[Answered]]) -> list[_Placed]:
    """Model calls, what they say, and the tool calls that they ask for."""
    found: list[_Placed] = []
    by_request = {id(one.request): one for one in executions if one.request is not None}
    for number, turn in enumerate(turns):
        agent, inside = turn.agent, turn.node.outer_call()
        found.append(_Placed((turn.start, 0, 0), _model_call(turn, agent, inside), turn.node))
        for place, said in enumerate(turn.outputs or ()):
            if said.text:
                found.append(_Placed((turn.end, 0, place), Message("assistant", said.text, agent), turn.node))
        rounds = [request.asked.round for request in turn.requests]
        for place, request in enumerate(turn.requests):
            execution = by_request.get(id(request))
            group: Key | None = None
            if rounds.count(rounds[place]) > 1:
                group = f"{number}.{rounds[place]}" if rounds[place] else number
            step = _call(request.asked, agent, execution, answers.get(id(request), ()), group, inside)
            node = execution.node if execution is not None else turn.node
            found.append(_Placed((turn.end, 1, place), step, node))
            taker = _taker(step, turns)
            if taker is not None:
                found.append(_Placed((turn.end, 2, place), Handoff(taker, agent), node))
    return found


def _model_call(turn: Turn, agent: str | None, inside: str | None) -> LlmCall:
    counted = turn.node.facts
    model, cost, identity = counted.model, counted.cost, counted.response_id
    if len(turn.nodes) > 1:
        facts = [one.facts for one in turn.nodes]
        counted = next((one for one in facts if one.tokens_in is not None and one.tokens_out is not None), counted)
        model = next((one.model for one in facts if one.model), None)
        cost = next((one.cost for one in facts if one.cost is not None), None)
        identity = next((one.response_id for one in facts if one.response_id), None)
    return LlmCall(
        model=model,
        tokens_in=None if turn.overwritten else counted.tokens_in,
        tokens_out=None if turn.overwritten else counted.tokens_out,
        cost_usd=cost,
        duration_ms=milliseconds(turn.start, turn.end),
        id=identity,
        parent=inside,
        tokens_cached=counted.tokens_cached,
        agent=agent,
        started_at=rfc3339(turn.start),
    )


def _unasked_steps(turns: list[Turn], executions: list[Execution]) -> Iterator[_Placed]:
    """The tool calls that no recorded answer of a model asks for."""
    for _, together in groupby(_unasked(executions, turns), key=lambda one: one[0]):
        members = [one for _, one in together]
        group = len(turns) + members[0].node.span.order if len(members) > 1 else None
        start = members[0].node.start
        for place, execution in enumerate(members):
            yield _Placed((start, 1, place), _own_call(execution, group), execution.node)


def _taker(call: ToolCall, turns: list[Turn]) -> str | None:
    """The agent that a call hands over to: its argument names it, or its name and the agent did go on."""
    place = _HANDOFF_TOOLS.get(call.tool)
    if place is not None and isinstance(call.arguments, dict):
        named = call.arguments.get(place)
        return named if isinstance(named, str) and named else None
    if call.tool.startswith(_TRANSFER):
        wanted = folded(call.tool.removeprefix(_TRANSFER))
        return next((turn.agent for turn in reversed(turns) if turn.agent and folded(turn.agent) == wanted), None)
    return None


def _unasked(executions: list[Execution], turns: list[Turn]) -> list[tuple[tuple[int, int], Execution]]:
    """The executions that no recorded answer asks for; those between the same two model calls have the same key."""
    if None not in [one.request for one in executions]:
        return []
    found: list[tuple[tuple[int, int], Execution]] = []
    together = _asked_together(turns)
    by_agent: dict[int, list[Turn]] = {}
    for turn in turns:
        by_agent.setdefault(id(turn.node.agent_node()), []).append(turn)
    for place, one in enumerate(executions):
        if one.request is not None:
            continue
        parent = id(one.node.parent)
        begun = by_agent.get(id(one.node.agent_node()), ())
        count = bisect_right(begun, one.node.start, key=lambda turn: turn.start)
        last = begun[count - 1] if count else None
        if one.id in together:
            key = (0, together[one.id])
        elif last is None or not one.node.start or last.requests or last.end > one.node.end:
            key = (parent, -1 - place)
        else:
            key = (parent, count)
        found.append((key, one))
    return found


def _asked_together(turns: list[Turn]) -> dict[str | None, int]:
    """The group of each call by id, where a model was given an earlier answer that asks for several at once."""
    together: dict[str | None, int] = {}
    for turn in turns:
        for said in turn.inputs:
            ids = [call.id for call in said.calls if call.id and call.id not in together]
            if len(ids) > 1:
                together |= dict.fromkeys(ids, len(together))
    return together


def _call(
    asked: Asked,
    agent: str | None,
    execution: Execution | None,
    answers: Sequence[Answered],
    group: Key | None,
    inside: str | None,
) -> ToolCall:
    arguments = asked.arguments
    result: Any = execution.result if execution is not None else UNSET
    error = execution.error if execution is not None else None
    if arguments is None and execution is not None:
        arguments = execution.arguments
    for answer in answers:
        if result is UNSET and answer.result is not None:
            result = answer.result
        if answer.failed and error is None:
            error = _words(answer.result)
    made = execution.node if execution is not None else None
    return ToolCall(
        tool=asked.tool,
        id=asked.id or (execution.id if execution is not None else None),
        arguments=arguments,
        result_json=Raw() if result is UNSET else raw_result(result),
        error=error,
        duration_ms=milliseconds(made.start, made.end) if made is not None else None,
        group=group,
        parent=inside,
        agent=agent or (made.agent if made is not None else None),
        started_at=rfc3339(made.start) if made is not None else None,
    )


def _own_call(execution: Execution, group: Key | None) -> ToolCall:
    """A call that was executed, and that no recorded answer of a model asks for."""
    node, result = execution.node, execution.result
    return ToolCall(
        tool=execution.tool,
        id=execution.id,
        arguments=execution.arguments,
        result_json=Raw() if result is UNSET else raw_result(result),
        error=execution.error,
        duration_ms=milliseconds(node.start, node.end),
        group=group,
        parent=node.outer_call(),
        agent=node.agent,
        started_at=rfc3339(node.start),
    )


def _words(result: Any) -> str:
    return (
        result
        if isinstance(result, str) and result
        else "failed"
        if not result
        else bytes(result_json(result)).decode()
    )


def _handoffs(handoffs: list[Node], nodes: list[Node]) -> Iterator[_Placed]:
    for node in handoffs:
        giver = node.agent
        later = (one.facts.agent for one in nodes if one.facts.kind == "agent" and one.start >= node.start)
        taker = node.facts.to or next((name for name in later if name and name != giver), None)
        if taker is not None:
            yield _Placed((node.start, 2, 0), Handoff(taker, giver), node)
