"""Conversations in a neutral form: what one party said, and the trace that a list of such turns is.

A reader of messages maps its format to `Turn`s. The rest is the same for all of them: one output of a model is one
model call with its tool calls, in one group if there are several; an output that is recorded in pieces, which share the
id of the response, is one output; results find their calls by id; the first user text is the query, and the last output
of the model that asks for no tool is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from passmuster.traces._model import AnyStep, Handoff, Key, LlmCall, Message, Place, Step, ToolCall, ToolResult
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE
from passmuster.traces._usage import UNKNOWN, Usage

NOWHERE = Place(0, 0)


class Turn(Struct, gc=False):
    """One message: of the user, of the model, or of a tool."""

    role: str
    """`user`, `assistant`, `system` or `tool`."""
    text: str | None = None
    speaker: str | None = None
    """What the source calls the role, where it has another name for it."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    handoffs: list[Handoff] = []
    response_id: Key | None = None
    """Outputs with the same id are pieces of one."""
    model: str | None = None
    usage: Usage = UNKNOWN
    cost_usd: float | None = None
    duration_ms: float | None = None
    started_at: str | float | None = None
    agent: str | None = None
    parent: Key | None = None
    """The id of the call that this ran inside."""
    aside: bool = False
    """Not by the user, though written in their name: no query."""
    hosted: int = 0
    """How many of the calls the API made itself, before it finished this output."""
    no_model_call: bool = False
    """What the agent did without asking its model."""
    item: bool = False
    """One of several items that make up an output; they follow each other."""
    place: Place = NOWHERE


class PlainTurns(list[Turn]):
    """Turns of which none is a piece of another, names an agent, or ran inside a call."""


class Conversation(Struct, frozen=True):
    """The steps of a run, where each is, and what was asked and answered."""

    steps: tuple[Step, ...]
    places: tuple[Place, ...]
    query: str | None
    answer: str | None


def converse(turns: Sequence[Turn]) -> Conversation:
    """The run that these turns are."""
    if type(turns) is PlainTurns:
        return _converse_plainly(turns)
    steps: list[AnyStep] = []
    places: list[Place] = []
    for output in _outputs(turns):
        if type(output) is list:
            for step, place in _steps(output):
                steps.append(step)
                places.append(place)
            continue
        turn: Turn = output  # type: ignore[assignment]
        place, text = turn.place, turn.text
        if turn.calls or turn.results or turn.handoffs or turn.response_id is not None:
            made = _steps_of_one(turn)
            steps += made
            places += [place] * len(made)
            continue
        # Most turns are text and nothing else.
        if turn.role == "assistant" and not turn.no_model_call:
            steps.append(_model_call([turn]) if turn.model or turn.usage is not UNKNOWN else _bare_call(turn))
            places.append(place)
        if text is not None:
            steps.append(Message(turn.speaker or turn.role, text, turn.agent))
            places.append(place)
    paired = pair_results(steps)
    if len(paired) == len(steps):
        return Conversation(tuple([step for _, step in paired]), tuple(places), query_of(turns), answer_of(turns))
    return Conversation(
        tuple([step for _, step in paired]),
        tuple([places[index] for index, _ in paired]),
        query_of(turns),
        answer_of(turns),
    )


def _converse_plainly(turns: PlainTurns) -> Conversation:
    """The same for plain turns, in half the time."""
    steps: list[AnyStep] = []
    places: list[Place] = []
    count = 0
    for turn in turns:
        role, text, calls, place = turn.role, turn.text, turn.calls, turn.place
        if role == "assistant":
            steps.append(NO_FIGURES)
            places.append(place)
        if text is not None and (text or not calls):
            steps.append(Message(role, text))
            places.append(place)
        if calls:
            steps += [replace(call, group=calls[0].id) for call in calls] if len(calls) > 1 else calls
            places += [place] * len(calls)
        elif turn.results:
            count += len(turn.results)
            steps += turn.results
            places += [place] * len(turn.results)
    if count:
        paired = pair_results(steps)
        places = [places[index] for index, _ in paired]
        steps = [step for _, step in paired]
    return Conversation(tuple(steps), tuple(places), query_of(turns), answer_of(turns))  # type: ignore[arg-type]


def query_of(turns: Iterable[Turn]) -> str | None:
    """What the agent was asked: the first text of the user."""
    for turn in turns:
        if turn.text and turn.role == "user" and not turn.aside and turn.parent is None:
            return turn.text
    return None


def answer_of(turns: Sequence[Turn]) -> str | None:
    """What the agent answered: the last output of its model that asks for no tool, or that nothing follows."""
    last = True
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.role != "assistant" or turn.parent is not None:
            continue
        key = turn.response_id
        output = [turn] if key is None else [one for one in turns[: index + 1] if one.response_id == key]
        texts = [one.text for one in output if one.text is not None and one.role == "assistant"]
        asks = sum([len(one.calls) - one.hosted for one in output]) > 0
        if texts and (not asks or (last and any(texts))):
            return "".join(texts)
        last = False
    return None


def _outputs(turns: Sequence[Turn]) -> Sequence[Turn | list[Turn]]:
    """The turns, each alone, but for the pieces of one output, which are together at the place of the first."""
    keys = [turn.response_id for turn in turns if turn.response_id is not None and turn.role == "assistant"]
    if len(set(keys)) == len(keys):
        return turns
    outputs: list[Turn | list[Turn]] = []
    known: dict[Key, list[Turn]] = {}
    for turn in turns:
        key = turn.response_id if turn.role == "assistant" else None
        if key is None:
            outputs.append(turn)
        elif key in known:
            known[key].append(turn)
        else:
            known[key] = [turn]
            outputs.append(known[key])
    return outputs


def _bare_call(turn: Turn) -> LlmCall:
    """A model call of which only that it was made is known, and perhaps when and by whom."""
    if turn.agent is None and turn.parent is None and turn.started_at is None and turn.duration_ms is None:
        return NO_FIGURES if turn.cost_usd is None else LlmCall(cost_usd=turn.cost_usd)
    return _model_call([turn])


NO_FIGURES = LlmCall()


def _steps_of_one(turn: Turn) -> list[AnyStep]:
    """The steps of an output that is one turn."""
    calls, agent, parent = turn.calls, turn.agent, turn.parent
    made: list[AnyStep] = []
    if turn.role == "assistant" and not turn.no_model_call:
        made.append(_model_call([turn]))
    if turn.text is not None and (turn.text or not calls):
        made.append(Message(turn.speaker or turn.role, turn.text, agent))
    if len(calls) > 1 or agent is not None or parent is not None:
        made += [step for step, _ in _steps([turn]) if type(step) is ToolCall]
    else:
        made += calls
    made += turn.results
    made += turn.handoffs
    return made


def _steps(output: list[Turn]) -> Iterable[tuple[AnyStep, Place]]:
    first = output[0]
    if first.role == "assistant" and not first.no_model_call:
        yield _model_call(output), first.place
    calls = [(call, turn) for turn in output for call in turn.calls]
    for turn in output:
        if turn.text is not None and (turn.text or not calls):
            yield Message(turn.speaker or turn.role, turn.text, turn.agent), turn.place
    group = calls[0][0].id if len(calls) > 1 else None
    if len(calls) > 1 and group is None:
        group = f"{first.place.line or first.place.offset}.{first.place.index}"
    for call, turn in calls:
        agent = call.agent if call.agent is not None else turn.agent
        parent = call.parent if call.parent is not None else turn.parent
        if group is not None or agent is not None or parent is not None:
            call = replace(call, group=group, agent=agent, parent=parent)
        yield call, turn.place
    for turn in output:
        for result in turn.results:
            yield result, turn.place
        for handoff in turn.handoffs:
            yield handoff, turn.place


def _model_call(output: list[Turn]) -> LlmCall:
    """One model call of an output. Its pieces repeat the counts, and early ones may be lower."""
    first = output[0]
    usage = first.usage
    for turn in output[1:]:
        usage = Usage(
            _most(usage.tokens_in, turn.usage.tokens_in),
            _most(usage.tokens_out, turn.usage.tokens_out),
            _most(usage.tokens_cached, turn.usage.tokens_cached),
        )
    return LlmCall(
        model=first.model or next((turn.model for turn in output if turn.model), None),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=first.cost_usd,
        duration_ms=first.duration_ms,
        id=first.response_id,
        parent=first.parent,
        tokens_cached=usage.tokens_cached,
        agent=first.agent,
        started_at=first.started_at,
    )


def _most(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def result_json(value: Any) -> Raw:
    """A result as JSON: text that holds a JSON object or list is that value, any other text a string."""
    if type(value) is str:
        if value.startswith(_OPENING) or value.lstrip().startswith(_OPENING):
            try:
                return _check(value)
            except UNREADABLE:
                pass
        return Raw(_encode(value))
    try:
        return Raw(_encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return Raw(_encode(str(value)))


_OPENING = ("{", "[")
_check = msgspec.json.Decoder(Raw).decode
"""Finds all mistakes in JSON but invalid UTF-8, in a third of the time of decoding it."""
_encode = msgspec.json.Encoder().encode


def name_agents(turns: list[Turn], main: str | None = None) -> None:
    """Leave the agents of turns only where several took part; `main` is who made turns of no other."""
    if type(turns) is PlainTurns:
        return
    known = {turn.agent for turn in turns if turn.role == "assistant"}
    if known <= {None}:
        return
    for turn in turns:
        turn.agent = (turn.agent or main) if len(known) > 1 else None
