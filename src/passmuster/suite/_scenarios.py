"""`scenarios:`, the tasks an agent is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as MappingOf
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from passmuster.suite._context import Context
from passmuster.suite._layers import LAYER_KEYS, Correctness, read_correctness, read_cost, read_path
from passmuster.suite._model import Scenario, Suite
from passmuster.suite._quantities import PASS_SCORE, REPEAT_POLICY, WEIGHT
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import TEXT, Value, Whole
from passmuster.suite.text._nodes import Mapping, Node, Scalar

if TYPE_CHECKING:
    from passmuster.suite._behaviors import Behavior

__all__ = ["KEYS", "read_defaults", "read_queries", "read_scenarios"]

L = TypeVar("L")
KeysOf = MappingOf[str, tuple[str, ...]]

_COUNTING: dict[str, Value[Any]] = {
    "label": TEXT,
    "weight": WEIGHT,
    "pass_score": PASS_SCORE,
    "repeat": Whole(1),
    "repeat_policy": REPEAT_POLICY,
}
"""How a scenario counts in the suite."""
KEYS = (
    *("id", "query", "category", "capability", "description", "tags"),
    *("correctness", "path", "cost", "expected_behaviors", "must_not"),
    *_COUNTING,
)
_LONGEST_ID = 60


def read_defaults(context: Context, suite: Suite, node: Node) -> Suite:
    """What every scenario states unless it says otherwise; read with each of them."""
    known = tuple(key for key in KEYS if key not in ("id", "query"))
    context.defaults = context.reader.mapping(node, "defaults", known)
    return suite


def read_scenarios(context: Context, suite: Suite, node: Node) -> Suite:
    """The scenarios in their order. One without an id gets it from the words of its query."""
    return replace(suite, scenarios=(*suite.scenarios, *_read(context, suite, node, "scenarios")))


def read_queries(context: Context, suite: Suite, node: Node) -> Suite:
    """The same, as questions that an agent is asked."""
    return replace(suite, scenarios=(*suite.scenarios, *_read(context, suite, node, "queries")))


def _read(context: Context, suite: Suite, node: Node, key: str) -> Iterator[Scenario]:
    reader = context.reader
    items = [(f"{key}[{place}]", item) for place, item in enumerate(reader.items(node, key))]
    maps = [(at, reader.mapping(item, at, KEYS)) for at, item in items if _is_map(reader, item, at)]
    ids = _ids(reader, maps, suite.scenarios)
    for at, map_ in maps:
        if at in ids:
            yield _scenario(reader, _merged(context.defaults, map_), at, ids[at], suite.behaviors)


def _merged(defaults: Mapping | None, own: Mapping, layers: KeysOf = LAYER_KEYS) -> Mapping:
    """The scenario's own map with the defaults in it: maps at every depth, lists replaced, `null` removes.

    In a layer `null` removes a key whether or not the defaults have it; a layer with nothing left is not stated.
    A key that no layer has stays, to be found wanting.
    """
    entries = dict(defaults.entries) if defaults else {}
    for entry in own:
        base = entries.get(entry.key)
        if isinstance(entry.value, Scalar) and entry.value.value is None:
            entries.pop(entry.key, None)
        elif isinstance(entry.value, Mapping) and (entry.key in layers or (base and isinstance(base.value, Mapping))):
            below = base.value if base and isinstance(base.value, Mapping) else None
            merged = _merged(below, entry.value, {})
            if entry.key in layers:
                known = layers[entry.key]
                merged.entries.update((inner.key, inner) for inner in entry.value if inner.key not in known)
            entries[entry.key] = replace(entry, value=merged)
            if entry.key in layers and entry.value.entries and not merged.entries:
                del entries[entry.key]
        else:
            entries[entry.key] = entry
    return replace(own, entries=entries)


def _is_map(reader: Reader, item: Node, at: str) -> bool:
    if not isinstance(item, Mapping):
        reader.expected("a map", item, at)
    return isinstance(item, Mapping)


def _scenario(reader: Reader, map_: Mapping, at: str, id_: str, library: MappingOf[str, Behavior]) -> Scenario:
    reader.optional_text(map_, "description", at, empty=True)
    correctness = _layer(reader, map_, at, "correctness", read_correctness)
    return Scenario(
        id=id_,
        query=reader.optional_text(map_, "query", at),
        category=reader.optional_text(map_, "category", at),
        capability=reader.optional_text(map_, "capability", at),
        tags=tuple(reader.text(tag, f"{at}.tags") for tag in reader.listed(map_, "tags")),
        correctness=correctness,
        path=_layer(reader, map_, at, "path", read_path),
        cost=_layer(reader, map_, at, "cost", read_cost),
        expected_behaviors=_behaviors(reader, map_, at, "expected_behaviors", library),
        must_not=_behaviors(reader, map_, at, "must_not", library),
        line=map_.line,
        **_counting(reader, map_, at, correctness),
    )


def _counting(reader: Reader, map_: Mapping, at: str, correctness: Correctness | None) -> dict[str, Any]:
    """How the scenario counts. Its label may stand in `correctness` too, where it is compared."""
    inner = correctness.label if correctness else None
    found = {
        entry.key: _COUNTING[entry.key].read(reader, entry.value, f"{at}.{entry.key}")
        for entry in map_
        if entry.key in _COUNTING
    }
    if inner is not None and found.setdefault("label", inner) != inner:
        reader.problem(map_.entries["label"], f"{at}: 'label' and 'correctness.label' differ; keep one of the two")
    return found


def _behaviors(
    reader: Reader, map_: Mapping, at: str, key: str, library: MappingOf[str, Behavior]
) -> tuple[Behavior, ...]:
    node = map_.get(key)
    if node is None:
        return ()
    from passmuster.suite._behaviors import read_behaviors  # late, for most suites name none

    return read_behaviors(reader, node, f"{at}.{key}", library)


def _layer(reader: Reader, map_: Mapping, at: str, key: str, read: Callable[[Reader, Node, str], L]) -> L | None:
    node = map_.get(key)
    if node is None:
        return None
    if isinstance(node, Mapping) and not any(not entry.key.startswith("x-") for entry in node):
        reader.problem(node, f"{at}.{key}: states nothing")
    return read(reader, node, f"{at}.{key}")


def _ids(reader: Reader, maps: list[tuple[str, Mapping]], known: Sequence[Scenario]) -> dict[str, str]:
    """The id of each scenario that has one: first those that are written, then those made from queries."""
    ids: dict[str, str] = {}
    taken = {scenario.id: scenario.line for scenario in known}
    for at, map_ in maps:
        node = map_.get("id")
        if node is None:
            continue
        id_ = reader.text(node, f"{at}.id")
        if id_ and id_ in taken:
            reader.problem(node, f"{at}: the id '{id_}' is taken on line {taken[id_]}")
        elif id_:
            ids[at] = id_
            taken[id_] = map_.line
    queries = {_folded(one.query): one.line for one in known if one.query and one.id == _slug(_folded(one.query))}
    for at, map_ in maps:
        if "id" in map_:
            continue
        query = map_.get("query")
        if query is None:
            reader.problem(map_, f"{at}: needs an 'id' or a 'query'")
            continue
        folded = _folded(getattr(query, "text", ""))
        if folded in queries:
            reader.problem(
                map_, f"{at}: has the same query as the scenario on line {queries[folded]}; give each an 'id'"
            )
            continue
        queries[folded] = map_.line
        ids[at] = _unused(_slug(folded), taken)
        taken[ids[at]] = map_.line
    return ids


def _folded(query: str) -> str:
    return " ".join(query.split())


def _slug(query: str) -> str:
    return "-".join(re.findall(r"\w+", query.lower()))[:_LONGEST_ID].rstrip("-") or "query"


def _unused(slug: str, taken: dict[str, int]) -> str:
    id_, number = slug, 1
    while id_ in taken:
        number += 1
        id_ = f"{slug}-{number}"
    return id_
