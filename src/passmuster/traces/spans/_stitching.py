"""Model calls without a root span: which of them are one run.

Each such call is a trace of its own. Two belong together if the messages given to one end with the answer of the other:
the same ids of calls, or the same whole text. Links go forward in time, one to one; where two calls could be meant,
neither is linked.
"""

from __future__ import annotations

from passmuster.traces.spans._calls import folded
from passmuster.traces.spans._runs import Run
from passmuster.traces.spans._said import Said
from passmuster.traces.spans._turns import Turn
from passmuster.traces.spans._values import result_json

_Key = tuple[object, ...]


def stitched(runs: list[Run]) -> list[Run]:
    """The runs, with those joined that are parts of one."""
    loose = [run for run in runs if is_loose(run)]
    if len(loose) < 2:
        for run in loose:
            if _may_be_part(run.turns[0], run.turns[-1]):
                run.inferred = ("run",)
        return _absorbed(runs)
    loose.sort(key=lambda run: (run.turns[0].start, run.turns[0].end))
    following = _links(loose)
    followers = set(following.values())
    heads = [place for place in range(len(loose)) if place not in followers]
    joined: dict[int, Run] = {}
    for head in heads:
        chain = [head]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        members = [loose[place] for place in chain]
        nodes = sorted((node for run in members for node in run.nodes), key=lambda node: (node.start, node.span.order))
        turns = [turn for run in members for turn in run.turns]
        part = _may_be_part(turns[0], turns[-1])
        joined[id(members[0])] = Run(nodes, turns, ("run",) if part or len(chain) > 1 else (), members[0].trace_id)
    single = {id(run) for run in loose}
    return _absorbed([joined.get(id(run), run) for run in runs if id(run) in joined or id(run) not in single])


def is_loose(run: Run) -> bool:
    """Whether a trace is nothing but model calls."""
    if not run.turns:
        return False
    roots = [node for node in run.nodes if node.parent is None]
    return all(node.facts.kind == "model" for node in roots) and not any(
        node.facts.kind in ("agent", "tool", "handoff") for node in run.nodes
    )


def _may_be_part(first: Turn, last: Turn) -> bool:
    """Whether a run seems to have begun before its first model call, or gone on after its last one."""
    return (
        last.outputs is None or bool(last.requests) or any(said.role in ("assistant", "tool") for said in first.inputs)
    )


def _links(runs: list[Run]) -> dict[int, int]:
    """For each run its continuation, by their places in time order."""
    waiting: dict[_Key, list[int]] = {}
    wanted: dict[int, list[int]] = {}
    for place, run in enumerate(runs):
        for key in _trailing_keys(run.turns[0].inputs):
            earlier = [one for one in waiting.get(key, ()) if runs[one].turns[-1].end <= run.turns[0].start]
            if earlier:
                wanted[place] = _narrowed(runs, earlier, run)
                break
        for key in _keys(run.turns[-1].outputs or []):
            waiting.setdefault(key, []).append(place)
    following: dict[int, int] = {}
    contested: set[int] = set()
    for place, candidates in wanted.items():
        open_ = [one for one in candidates if one not in following]
        if len(open_) == 1:
            following[open_[0]] = place
        elif not open_:
            contested.update(candidates)
    return {one: place for one, place in following.items() if one not in contested}


def _narrowed(runs: list[Run], earlier: list[int], run: Run) -> list[int]:
    """Of several possible predecessors, those whose own messages this one repeats."""
    if len(earlier) == 1:
        return earlier
    said = [_plain(one) for one in run.turns[0].inputs]
    fitting = []
    for one in earlier:
        given = [_plain(inner) for inner in runs[one].turns[0].inputs]
        if given and said[: len(given)] == given:
            fitting.append((len(given), one))
    longest = max((length for length, _ in fitting), default=0)
    return [one for length, one in fitting if length == longest] or earlier


def _plain(said: Said) -> tuple[object, ...]:
    calls = tuple((folded(call.tool), bytes(result_json(call.arguments))) for call in said.calls)
    return said.role, said.text or "", calls, tuple(bytes(result_json(one.result)) for one in said.results)


def _trailing_keys(said: list[Said]) -> list[_Key]:
    """The keys of what the model said last before it was called again."""
    end = len(said)
    while end and said[end - 1].role != "assistant":
        end -= 1
    start = end
    while start and said[start - 1].role == "assistant":
        start -= 1
    return _keys(said[start:end])


def _keys(said: list[Said]) -> list[_Key]:
    """By what an answer can be recognized: the ids of its calls, the calls themselves, or its whole text."""
    calls = [call for one in said for call in one.calls]
    ids = tuple(sorted(call.id for call in calls if call.id))
    keys: list[_Key] = []
    if ids:
        keys.append(("ids", *ids))
    if calls:
        keys.append(("calls", *sorted((folded(call.tool), bytes(result_json(call.arguments))) for call in calls)))
    elif text := "".join(one.text or "" for one in said).strip():
        keys.append(("text", text))
    return keys


def _absorbed(runs: list[Run]) -> list[Run]:
    """The runs, with traces of nothing but tools added to the one run that asked for all of their calls."""
    asked: dict[str, list[Run]] = {}
    for run in runs:
        for turn in run.turns:
            for request in turn.requests:
                if request.asked.id:
                    asked.setdefault(request.asked.id, []).append(run)
    kept = []
    for run in runs:
        ids = [node.facts.call_id for node in run.nodes if node.facts.kind == "tool"]
        owners = {id(owner) for one in ids if one for owner in asked.get(one, ())}
        if run.turns or not ids or None in ids or len(owners) != 1 or not all(one in asked for one in ids if one):
            kept.append(run)
            continue
        owner = asked[str(ids[0])][0]
        owner.nodes = sorted([*owner.nodes, *run.nodes], key=lambda node: (node.start, node.span.order))
        owner.inferred = ("run",)
    return kept
