"""A scenario that is put together from one test of another tool."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection
from typing import Any

from passmuster._problems import Problem, SuiteError
from passmuster.migration._draft import Draft, NoteKind, entries_of, items_of, made, text_of
from passmuster.suite import Node, Sequence, plain


class ScenarioDraft:
    """What a test asks of its runs, key by key."""

    def __init__(self, node: Node, draft: Draft, id_: Any, query: Any) -> None:
        self.node, self.draft, self.id = node, draft, made(id_, node)
        self.found: dict[str, Any] = {"id": self.id, "query": query}
        self.tests: list[Node] = []
        """Tests on the runs of the scenario, for what no scenario can state."""
        self._asked = 0

    def scenario(self) -> Node:
        """The scenario."""
        return made(self.found, self.node)

    def note(self, at: Node, kind: NoteKind, text: str) -> None:
        """Record what became of a part of the test."""
        self._asked += kind in ("ignored", "lost")
        self.draft.note(at, kind, f"test '{text_of(self.id)}': {text}")

    def carry(self, what: str, at: Node, translate: Callable[[], None]) -> None:
        """Translate one assertion. One of which nothing comes is lost, and noted."""
        before = self._asked
        translate()
        if self._asked == before:
            self.note(at, "lost", f"{what} states nothing that could be checked")

    def note_others(self, stated: dict[str, Node], known: Collection[str]) -> None:
        """Note the keys of the test that are not known, and so not carried over."""
        for key, value in stated.items():
            if key not in known:
                self.note(value, "lost", f"'{key}' is not known, so it is not carried over")

    def number(self, node: Node | None, default: float) -> float:
        """The number that a node is. Raises `SuiteError` where it is none."""
        try:
            found = float(text_of(node)) if node is not None else default
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            at = (node or self.node).line
            raise SuiteError(Problem(f"expected a number, found '{text_of(node)}'", str(self.draft.path), at))
        return found

    def copy(self, stated: dict[str, Node], *keys: str) -> None:
        """Take over keys that mean the same here."""
        self.found.update({key: stated[key] for key in keys if key in stated})

    def add(self, key: str, *items: Any, at: Node) -> None:
        """Add to a list of the scenario, such as `must_not`; what is asked already is not asked twice."""
        if not items:
            return
        self._asked += 1
        kept = items_of(self.found.get(key))
        for item in items:
            node = made(item, at)
            if all(plain(node) != plain(other) for other in kept):
                kept = [*kept, node]
        self.found[key] = made(kept, at)

    def state(self, layer: str, key: str, value: Any, at: Node) -> None:
        """State a check of a layer. What is stated twice has to hold both times; where it cannot, that is noted."""
        stated = entries_of(self.found.get(layer))
        if value == []:
            return
        self._asked += 1
        before = stated.get(key)
        if isinstance(value, list):
            value = [*items_of(before), *value]
        elif before is not None:
            both = _both(key, plain(before), plain(made(value, at)))
            if both is None:
                self.note(at, "weaker", f"'{key}' is stated twice, in two ways; the first one counts")
            value = before if both is None else both
        self.found[layer] = made({**stated, key: value}, at)

    def answer_matches(self, pattern: str, at: Node) -> None:
        """A pattern is found in the answer."""
        self.state("correctness", "regex_match", [pattern], at)

    def answer_lacks(self, pattern: str, at: Node) -> None:
        """A pattern is not found in the answer."""
        self.add("must_not", {"answer_matches": pattern}, at=at)

    def judge(self, rule: str, threshold: float, at: Node) -> None:
        """A judge is asked about the answer."""
        if threshold <= 0:
            self.note(at, "ignored", "every score reaches a threshold of 0, so no judge is asked")
            return
        rubric = made({"rule": rule, "threshold": min(1.0, threshold)}, at)
        self.state("correctness", "llm_judge", [rubric], at)

    def take(self, other: ScenarioDraft) -> None:
        """Ask what another test of the same query asks, too."""
        for key in ("expected_behaviors", "must_not"):
            self.add(key, *items_of(other.found.get(key)), at=other.node)
        for layer in ("correctness", "path", "cost"):
            for key, value in entries_of(made(other.found.get(layer), other.node)).items():
                self.state(layer, key, list(value.items) if isinstance(value, Sequence) else value, other.node)
        for test in other.tests:
            words = entries_of(test)
            self.tests.append(made({**words, "scenarios": [self.id]}, test))
        self.note(other.node, "changed", f"'{text_of(other.id)}' has the same query and is a part of this scenario")

    def test(self, metric: str, at: Node, **words: Any) -> None:
        """A test on the runs of the scenario."""
        self._asked += 1
        number = f"_{len(self.tests) + 1}" if self.tests else ""
        id_ = f"{text_of(self.id)}_{metric}{number}"
        self.tests.append(made({"id": id_, "metric": metric, "scenarios": [self.id], **words}, at))


def _both(key: str, one: Any, other: Any) -> Any:
    """A value that asks what two values of a key ask; None where there is none."""
    if one == other:
        return one
    if key == "json_schema":
        return {"allOf": [one, other]}
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    if numbers and key.startswith(("max_", "min_")):
        return min(one, other) if key.startswith("max_") else max(one, other)
    return None


def suite_of(drafts: list[ScenarioDraft], document: Node, top: dict[str, Any]) -> Any:
    """The suite of all scenarios. What other tools ask of path and cost blocks, as it does there.

    Tests with the same query become one scenario, for a run belongs to one.
    """
    drafts = _merged(drafts)
    layers = {layer: "block" for layer in ("path", "cost") if any(layer in draft.found for draft in drafts)}
    tests = [test for draft in drafts for test in draft.tests]
    found = {**top, **({"layers": layers} if layers else {}), "scenarios": [draft.scenario() for draft in drafts]}
    return made({**found, **({"tests": tests} if tests else {})}, document)


def _merged(drafts: list[ScenarioDraft]) -> list[ScenarioDraft]:
    by_query: dict[object, ScenarioDraft] = {}
    for draft in drafts:
        query = " ".join(text_of(made(draft.found.get("query"), draft.node)).split())
        first = by_query.setdefault(query or draft, draft)
        if first is not draft:
            first.take(draft)
    return list(by_query.values())


def slug(text: str, number: int) -> str:
    """An id made from a name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-") or f"test-{number}"


def unique(names: list[str]) -> list[str]:
    """Ids of which no two are equal."""
    found: dict[str, None] = {}
    last: dict[str, int] = {}
    for name in names:
        taken = name
        while taken in found:
            last[name] = last.get(name, 1) + 1
            taken = f"{name}-{last[name]}"
        found[taken] = None
    return list(found)


def json_of(text: str) -> Any:
    """The value that a text states as JSON. Raises `ValueError` where it is none, or too deep."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
