"""Calls made in parallel: which calls of a trace stand at one position."""

from __future__ import annotations

from passmuster.traces._model import ToolCall, Trace


def positions_of(trace: Trace) -> list[int]:
    """The position of each tool call, from 0; adjacent calls of one group share it.

    A model call, a message or a handoff between two calls parts them, even if they state the same group: what comes
    after it was decided later. A step that ran inside a call of the group does not.
    """
    positions: list[int] = []
    here, group = -1, None
    inside: set[str | int] = set()
    for step in trace.steps:
        if type(step) is ToolCall:
            if step.group is None or step.group != group:
                here, group, inside = here + 1, step.group, set()
            positions.append(here)
        elif getattr(step, "parent", None) not in inside:
            group = None
            continue
        own = getattr(step, "id", None)
        if own is not None:
            inside.add(own)
    return positions
