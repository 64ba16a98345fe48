"""AgentCI's first format (`agentci.yaml`): tests with an input and assertions."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

from passmuster.migration._draft import Draft, entries_of, items_of, made, text_of
from passmuster.migration._scenario_draft import ScenarioDraft, slug, suite_of, unique
from passmuster.suite import Mapping, Node

DESCRIPTION = "Test files of AgentCI, version 1: tests with `input` and `assertions`."

_IGNORED = ("framework", "mocks", "adapter", "runner", "metadata", "version")
_LIMITS = {"max_cost_usd": "max_cost_usd", "max_steps": "max_llm_calls"}
_TEST = ("name", "input", "description", "tags", "golden_trace", "assertions", "metadata", *_LIMITS)


def recognize(document: Node) -> bool:
    """Tests with a name and an input, and assertions or a golden trace."""
    tests = [entries_of(item) for item in items_of(document.get("tests"))] if isinstance(document, Mapping) else []
    return bool(tests) and all({"name", "input"} <= test.keys() and "id" not in test for test in tests)


def translate(document: Mapping, draft: Draft) -> Mapping:
    """Each test as a scenario; AgentCI fails on cost and steps, so these layers block."""
    top: dict[str, Any] = {}
    for entry in document:
        if entry.key == "name":
            top["suite"] = entry.value
        elif entry.key in _IGNORED:
            draft.note(entry, "ignored", f"'{entry.key}' checks nothing")
        elif entry.key == "agent":
            top["agent"] = made({"name": entry.value}, entry)
        elif entry.key not in ("tests", "defaults"):
            top[entry.key] = entry.value
    defaults = entries_of(document.get("defaults"))
    items = items_of(document.get("tests"))
    ids = unique([slug(text_of(entries_of(item).get("name")), number) for number, item in enumerate(items, 1)])
    return cast(
        Mapping, suite_of([_scenario(*one, defaults, draft) for one in zip(items, ids, strict=True)], document, top)
    )


def _scenario(node: Node, id_: str, defaults: dict[str, Node], draft: Draft) -> ScenarioDraft:
    stated = entries_of(node)
    found = ScenarioDraft(node, draft, id_, stated.get("input"))
    found.copy(stated, "description", "tags")
    found.note_others(stated, _TEST)
    for limit, key in _LIMITS.items():
        if (value := stated.get(limit) or defaults.get(limit)) is not None:
            found.state("cost", key, value, node)
    if "golden_trace" in stated:
        text = f"'golden_trace' is compared by --baseline {text_of(stated['golden_trace'])}"
        found.note(stated["golden_trace"], "changed", text)
    for assertion in items_of(stated.get("assertions")):
        what = f"the assertion '{text_of(entries_of(assertion).get('type'))}'"
        found.carry(what, assertion, partial(_assert, found, entries_of(assertion), assertion))
    return found


def _assert(found: ScenarioDraft, stated: dict[str, Node], node: Node) -> None:
    kind, value = text_of(stated.get("type")), text_of(stated.get("value"))
    tool, field = stated.get("tool"), text_of(stated.get("field"))
    match kind:
        case "tool_called":
            found.add("expected_behaviors", {"tool_called": tool}, at=node)
        case "tool_not_called":
            found.add("must_not", {"tool_called": tool}, at=node)
        case "tool_call_count":
            count = made({"type": "count", "tool": tool, "exactly": stated.get("value")}, node)
            found.add("expected_behaviors", count, at=node)
        case "arg_equals" | "arg_contains":
            matcher: Any = stated.get("value") if kind == "arg_equals" else {"$regex": re.escape(value)}
            found.add("expected_behaviors", {"tool_called": {"tool": tool, "args": {field: matcher}}}, at=node)
            found.note(node, "changed", f"'{kind}' holds where any call has such an argument, not only the first one")
        case "cost_under":
            found.state("cost", "max_cost_usd", stated.get("threshold"), node)
        case "steps_under":
            found.state("cost", "max_llm_calls", stated.get("threshold"), node)
        case "output_contains":
            found.answer_matches(re.escape(value), node)
        case "output_not_contains":
            found.answer_lacks(re.escape(value), node)
        case _:
            found.note(node, "lost", f"the assertion '{kind}' is not known, so it is not checked")
