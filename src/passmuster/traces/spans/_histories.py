"""What later messages tell of earlier model calls: results, and calls that their own answers do not show."""

from __future__ import annotations

from passmuster.traces.spans._calls import canonical, folded
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._said import Answered, Asked, Said
from passmuster.traces.spans._turns import Request, Turn


def add_from_messages(turns: list[Turn]) -> dict[int, list[Answered]]:
    """The results that models were given, by request. Requests that only later messages show join their turn."""
    answers = _given_at_once(turns)
    _read_inputs(turns)
    for place, turn in enumerate(turns):
        said = _spoken(turn)
        if not said:
            continue
        earlier, begins = _predecessor(turns, place, said)
        mine = _aligned(turns[earlier:place], said[begins:]) if earlier >= 0 else []
        for one in said[begins:]:
            for answer in one.results:
                request = _answered_by_id(answer, mine, turns[:place])
                if request is None and earlier >= 0:
                    request = _answered_by_place(answer, mine, answers)
                if request is not None:
                    answers.setdefault(id(request), []).append(answer)
    return answers


def _given_at_once(turns: list[Turn]) -> dict[int, list[Answered]]:
    """The results that stand in the same answer as their requests: of tools that the model's API runs itself."""
    answers: dict[int, list[Answered]] = {}
    for turn in turns:
        hosted = [request for request in turn.requests if request.asked.hosted]
        for answer in (answer for one in turn.outputs or () for answer in one.results) if hosted else ():
            request = _answered_by_id(answer, hosted, []) or _answered_by_place(answer, hosted, answers)
            if request is not None:
                answers.setdefault(id(request), []).append(answer)
    return answers


_LOOK_BACK = 4
_FARTHEST = 200
"""How many model calls back a conversation may go on from."""


def _read_inputs(turns: list[Turn]) -> None:
    """Read what models were given. Most of it was given to an earlier call too, and is read once."""
    known: list[tuple[str, list[Said]]] = []
    for turn in turns:
        for node in turn.nodes:
            text = node.facts.given
            if not isinstance(text, str) or not text.endswith("]"):
                continue
            for earlier, said in reversed(known[-_LOOK_BACK:]):
                end = len(earlier) - 1
                if len(text) > end and text[end] == "," and text.startswith(earlier[:end]):
                    node.facts.inputs = said + conversation("[" + text[end + 1 :])
                    break
            if node.facts.inputs:
                known.append((text, node.facts.inputs))


def _answered_by_id(answer: Answered, mine: list[Request], earlier: list[Turn]) -> Request | None:
    if answer.id is None:
        return None
    for request in reversed(mine):
        if request.goes_by(answer.id):
            return request
    every = (request for turn in reversed(earlier) for request in turn.requests)
    return next((request for request in every if request.goes_by(answer.id)), None)


def _answered_by_place(answer: Answered, mine: list[Request], answers: dict[int, list[Answered]]) -> Request | None:
    for request in mine:
        if id(request) not in answers and (answer.tool is None or folded(answer.tool) == folded(request.asked.tool)):
            return request
    return None


def _spoken(turn: Turn) -> list[Said]:
    """What a model was given but for its instructions, which differ between agents that hand over to each other."""
    return [one for one in turn.inputs if one.role != "system"]


def _predecessor(turns: list[Turn], place: int, said: list[Said]) -> tuple[int, int]:
    """The model call that a conversation goes on from (-1 for none), and where in its messages the new ones begin."""
    for before in range(place - 1, max(-1, place - _FARTHEST), -1):
        earlier = _spoken(turns[before])
        length = len(earlier)
        if 0 < length < len(said) and _alike(earlier[-1], said[length - 1]) and _alike(earlier[0], said[0]):
            return before, length
    return -1, 0


def _alike(one: Said, other: Said) -> bool:
    return (
        one.role == other.role
        and one.text == other.text
        and [call.tool for call in one.calls] == [call.tool for call in other.calls]
        and [result.id for result in one.results] == [result.id for result in other.results]
    )


def _aligned(turns: list[Turn], new: list[Said]) -> list[Request]:
    """The requests of model calls as later messages repeat them, with the ids they use; the first call's own first."""
    open_ = [request for turn in turns for request in turn.requests]
    named = {call.id for one in new for call in one.calls if call.id}
    aligned: list[Request] = []
    for one in new:
        for call in one.calls if one.role == "assistant" else ():
            request = _repeated(call, open_, named)
            if request is None:
                request = Request(call, turns[0])
                turns[0].requests.append(request)
            else:
                open_.remove(request)
                if call.id:
                    request.aliases |= {call.id}
                    request.asked.id = request.asked.id or call.id
            if request.asked.arguments is None:
                request.asked.arguments = call.arguments
            aligned.append(request)
    return aligned + [request for request in open_ if request.turn is turns[0]]


def _repeated(call: Asked, known: list[Request], named: set[str]) -> Request | None:
    """Which of these requests a later message repeats: by id, else one like it whose id these messages do not use."""
    if call.id:
        for request in known:
            if request.goes_by(call.id):
                return request
    same = [
        request
        for request in known
        if folded(request.asked.tool) == folded(call.tool) and request.asked.id not in named
    ]
    wanted = canonical(call.arguments)
    equal = [request for request in same if canonical(request.asked.arguments) == wanted]
    partly = [request for request in same if None in (request.asked.arguments, call.arguments)]
    return next(iter(equal or partly), None)
