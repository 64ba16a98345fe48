"""What is known of a run as a whole: query, answer, agent, failure, duration; and what of it nobody understands."""

from __future__ import annotations

from passmuster.traces._building import Reading
from passmuster.traces._model import Agent, Fault
from passmuster.traces.spans._said import last_text
from passmuster.traces.spans._times import milliseconds
from passmuster.traces.spans._tree import Node
from passmuster.traces.spans._turns import Turn


def query_of(nodes: list[Node], turns: list[Turn]) -> str | None:
    """What was asked: as the outermost agent states it, else what the user says to the first model call."""
    around = [*reversed([*turns[0].node.ancestors()])] if turns else []
    around += [node for node in nodes if node.parent is None and node not in around]
    asked = [node for node in around if node.facts.kind == "agent" and not node.facts.tells_late]
    stated = next((query for node in asked if (query := node.facts.query) is not None), None)
    said = last_text(turns[0].inputs, "user") if turns else None
    if stated is not None:
        return said if said and said in stated else stated
    for node in around:
        if said is None or (node.facts.read_query and not node.facts.tells_late):
            query = node.facts.query
            if query is not None and (said is None or query in said):
                return query
    return said


def answer_of(nodes: list[Node], turns: list[Turn]) -> str | None:
    """The last answer of a model that asks for no tool, else what the outermost agent states."""
    if turns:
        last = max(turns, key=lambda turn: (turn.end, turn.start))
        if last.outputs and all(request.asked.hosted for request in last.requests):
            texts = [said.text for said in last.outputs if said.text]
            if texts:
                return texts[-1]
    outermost = sorted(nodes, key=lambda node: node.depth)
    stated = (node.facts.answer for node in outermost if node.facts.kind in ("agent", "step"))
    return next((answer for answer in stated if answer), None)


def agent_of(nodes: list[Node], turns: list[Turn]) -> Agent | None:
    name = next((turn.agent for turn in turns if turn.agent), None)
    if name is None:
        name = next((node.agent for node in nodes if node.agent), None)
    return Agent(name) if name else None


def fault_of(nodes: list[Node]) -> Fault | None:
    """Why the agent did not finish, where the outermost span says that it failed."""
    for node in nodes:
        if node.parent is None and node.span.failed and node.facts.kind in ("agent", "step", ""):
            return Fault(node.span.message or "the outermost span has failed")
    return None


def duration_of(nodes: list[Node]) -> float | None:
    """From the first span that has a time to the last one that ends; `nodes` are in the order they began."""
    start = next((node.start for node in nodes if node.start), 0)
    return milliseconds(start, max([node.end for node in nodes]))


def account_for(nodes: list[Node], turns: list[Turn], reading: Reading) -> None:
    """Report what could hold a tool call and is in no dialect."""
    for turn in turns:
        spoken = list(turn.outputs or ())
        for node in turn.nodes:
            spoken += node.facts.inputs_read
        for said in spoken:
            for found in said.unread:
                reading.lose(turn.node.span.offset, f"a message of a model holds {found}, which is not understood")
    for node in nodes:
        kind = node.facts.kind
        if kind == "tool" and not (node.facts.tool or node.span.name):
            reading.lose(node.span.offset, "a span of a tool has no name")
        if kind == "" and (name := _suspicious(node)):
            reading.lose(
                node.span.offset,
                f"the span '{node.span.name}' has '{name}' and is of no known kind, so that it could be a tool call",
            )


_SIGNS = ("gen_ai.tool.call", "tool_call", "tool.call", "toolCall", "function_call", "function_tool", "tool_name")
_PARTS = ("tool.name", "tool.input", "tool.args", "tool.arguments", "tool_input", "tool_args", "tool_arguments")


def _suspicious(node: Node) -> str | None:
    """The attribute by which a span of no known kind could be a tool call."""
    for key in node.span.attributes:
        if (
            any(sign in key for sign in _SIGNS)
            or key.endswith(_PARTS)
            or (key == "gen_ai.operation.name" and "tool" in str(node.span.attributes[key]))
        ):
            return key
    return None
