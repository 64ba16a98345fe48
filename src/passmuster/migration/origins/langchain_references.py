"""Reference trajectories for LangChain's `agentevals`: messages with the tool calls that are expected."""

from __future__ import annotations

from typing import Any, cast

from passmuster.migration._draft import Draft, entries_of, items_of, made, text_of
from passmuster.migration._scenario_draft import ScenarioDraft, json_of, slug, suite_of, unique
from passmuster.suite import Mapping, Node, Sequence, plain

DESCRIPTION = "Reference trajectories of LangChain (agentevals): examples with the messages that are expected."

_REFERENCES = ("reference_outputs", "reference_trajectory", "reference", "outputs", "expected")
_CALLS: dict[str, dict[str, Any]] = {
    "strict": {"mode": "exact"},
    "unordered": {"mode": "any_order", "extras": "forbid"},
    "subset": {"mode": "any_order", "extras": "forbid", "missing": "allow"},
    "superset": {"mode": "any_order"},
}


def recognize(document: Node) -> bool:
    """Examples with references that are messages with tool calls."""
    examples = _examples(document)
    return bool(examples) and all(_reference(entries_of(example)) is not None for example in examples)


def translate(document: Node, draft: Draft) -> Mapping:
    """Each example as a scenario that expects the calls of its reference."""
    top = entries_of(document)
    examples = _examples(document)
    queries = [_query(entries_of(example)) for example in examples]
    ids = unique([slug(query, number) for number, query in enumerate(queries, 1)])
    found = [_scenario(*one, top, draft) for one in zip(examples, ids, queries, strict=True)]
    return cast(Mapping, suite_of(found, document, {}))


def _examples(document: Node) -> list[Node]:
    if isinstance(document, Sequence):
        return document.items
    top = entries_of(document)
    listed = next((top[key] for key in ("examples", "tests", "dataset", "data") if key in top), None)
    if isinstance(listed, Sequence):
        return listed.items
    return [document] if any(key in top for key in _REFERENCES[:3]) else []


def _messages(node: Node | None) -> list[Node] | None:
    """The messages that a value is, or holds."""
    inner = entries_of(node).get("messages", node)
    items = inner.items if isinstance(inner, Sequence) else []
    if items and all({"role", "type"} & entries_of(item).keys() for item in items):
        return items
    return None


def _reference(example: dict[str, Node]) -> list[Node] | None:
    return next((found for key in _REFERENCES if (found := _messages(example.get(key))) is not None), None)


def _query(example: dict[str, Node]) -> str:
    """What the user asked: in the inputs, else in the reference."""
    given = example.get("inputs") or example.get("input") or example.get("query")
    if text_of(given):
        return text_of(given)
    for messages in (_messages(given), _reference(example)):
        for message in messages or ():
            stated = entries_of(message)
            if text_of(stated.get("role") or stated.get("type")) in ("user", "human"):
                return text_of(stated.get("content"))
    return next((text_of(value) for value in entries_of(given).values() if text_of(value)), "")


def _scenario(node: Node, id_: str, query: str, top: dict[str, Node], draft: Draft) -> ScenarioDraft:
    stated = entries_of(node)
    found = ScenarioDraft(node, draft, id_, query)
    if not query:
        found.note(node, "weaker", "the example says nothing about its query, so traces have to name the scenario")
        del found.found["query"]
    mode = text_of(stated.get("trajectory_match_mode") or top.get("trajectory_match_mode")) or "strict"
    arguments = text_of(stated.get("tool_args_match_mode") or top.get("tool_args_match_mode")) or "exact"
    arguments = _compared(mode, arguments)
    if mode not in _CALLS:
        found.note(node, "changed", f"the match mode '{mode}' is not known; 'strict' is asked")
    calls = [_call(call, arguments, found) for message in _reference(stated) or () for call in _tool_calls(message)]
    if not calls and mode == "superset":
        found.note(node, "ignored", "a 'superset' of no calls is any calls, which checks nothing")
        return found
    if not calls:
        found.state("path", "max_tool_calls", 0, node)
        return found
    closed = {"args": "exact"} if arguments in ("exact", "most") else {}
    asked = {**_CALLS.get(mode, _CALLS["strict"]), **closed}
    found.state("path", "expected_calls", {"calls": calls, **asked}, node)
    if mode == "strict":
        found.note(node, "changed", "'strict' compares tool calls in their order; texts between them are not compared")
    return found


def _compared(mode: str, arguments: str) -> str:
    """How arguments are compared: `exact`, `ignore`, or with those of the reference as the `least` or the `most`.

    agentevals compares in both directions where calls are `unordered`, and in the other one for a `subset`.
    """
    if arguments not in ("subset", "superset"):
        return arguments
    if mode == "unordered":
        return "exact"
    return "least" if (arguments == "superset") != (mode == "subset") else "most"


def _tool_calls(message: Node) -> list[Node]:
    stated = entries_of(message)
    calls = items_of(stated.get("tool_calls") or entries_of(stated.get("additional_kwargs")).get("tool_calls"))
    parts = [part for part in items_of(stated.get("content")) if text_of(entries_of(part).get("type")) == "tool_use"]
    return [*calls, *parts]


def _call(node: Node, arguments: str, found: ScenarioDraft) -> Node:
    stated = entries_of(node)
    function = entries_of(stated.get("function"))
    tool = function.get("name") or stated.get("name")
    given: Any = function.get("arguments") or stated.get("args") or stated.get("arguments") or stated.get("input")
    if text_of(given):
        try:
            given = json_of(text_of(given))
        except ValueError:
            found.note(node, "lost", f"the arguments of {text_of(tool)} are no JSON, so they are not compared")
            given = None
    if arguments == "ignore" or given is None:
        return made({"tool": tool}, node)
    values = plain(given) if isinstance(given, Mapping) else given
    if not isinstance(values, dict):
        found.note(node, "lost", f"the arguments of {text_of(tool)} are no map, so they are not compared")
        return made({"tool": tool}, node)
    asked = {key: _literal(value) for key, value in values.items()}
    if arguments == "most":
        asked = {key: {"$one_of": [value, {"$absent": True}]} for key, value in asked.items()}
    return made({"tool": tool, "args": asked}, node)


def _literal(value: Any) -> Any:
    """A value that is compared as it is, not as a matcher."""
    return {"$eq": value} if isinstance(value, dict | list) else value
