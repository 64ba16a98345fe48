"""`scenarios:`, the tasks an agent is given."""

from __future__ import annotations

import re

from msgspec.structs import replace

from passmuster.suite.context import Context
from passmuster.suite.model import Scenario, Suite
from passmuster.suite.nodes import Mapping, Node
from passmuster.suite.reading import Reader

__all__ = ["KEYS", "KEYS_LATER", "read_scenarios"]

KEYS = ("id", "query", "category", "capability", "description", "tags")
KEYS_LATER = (
    *("correctness", "path", "cost", "expected_behaviors", "must_not", "label", "weight", "pass_score"),
    *("repeat", "repeat_policy"),
)
_LONGEST_ID = 60


def read_scenarios(context: Context, suite: Suite, node: Node) -> Suite:
    """The scenarios in their order. One without an id gets it from the words of its query."""
    reader = context.reader
    items = [(f"scenarios[{place}]", item) for place, item in enumerate(reader.items(node, "scenarios"))]
    maps = [(at, reader.mapping(item, at, KEYS, KEYS_LATER)) for at, item in items if _is_map(reader, item, at)]
    ids = _ids(reader, maps)
    return replace(suite, scenarios=tuple(_scenario(reader, map_, at, ids[at]) for at, map_ in maps if at in ids))


def _is_map(reader: Reader, item: Node, at: str) -> bool:
    if not isinstance(item, Mapping):
        reader.expected("a map", item, at)
    return isinstance(item, Mapping)


def _scenario(reader: Reader, map_: Mapping, at: str, id_: str) -> Scenario:
    reader.optional_text(map_, "description", at, empty=True)
    return Scenario(
        id=id_,
        query=reader.optional_text(map_, "query", at),
        category=reader.optional_text(map_, "category", at),
        capability=reader.optional_text(map_, "capability", at),
        tags=tuple(reader.text(tag, f"{at}.tags") for tag in reader.listed(map_, "tags")),
        line=map_.line,
    )


def _ids(reader: Reader, maps: list[tuple[str, Mapping]]) -> dict[str, str]:
    """The id of each scenario that has one: first those that are written, then those made from queries."""
    ids: dict[str, str] = {}
    taken: dict[str, int] = {}
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
    queries: dict[str, int] = {}
    for at, map_ in maps:
        if "id" in map_:
            continue
        query = map_.get("query")
        if query is None:
            reader.problem(map_, f"{at}: needs an 'id' or a 'query'")
            continue
        folded = " ".join(getattr(query, "text", "").split())
        if folded in queries:
            reader.problem(
                map_, f"{at}: has the same query as the scenario on line {queries[folded]}; give each an 'id'"
            )
            continue
        queries[folded] = map_.line
        ids[at] = _unused(_slug(folded), taken)
        taken[ids[at]] = map_.line
    return ids


def _slug(query: str) -> str:
    return "-".join(re.findall(r"\w+", query.lower()))[:_LONGEST_ID].rstrip("-") or "query"


def _unused(slug: str, taken: dict[str, int]) -> str:
    id_, number = slug, 1
    while id_ in taken:
        number += 1
        id_ = f"{slug}-{number}"
    return id_
