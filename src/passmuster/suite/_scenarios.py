"""`scenarios:`, the tasks an agent is given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Mapping as MappingOf

from msgspec.structs import replace

from passmuster.suite._context import Context
from passmuster.suite._model import Scenario, Suite, Turn
from passmuster.suite._stated import Behavior, LayerValue
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import fields_of, object_schema, read_record
from passmuster.suite.grammar._values import ANYTHING, Custom, Definitions, JsonSchema
from passmuster.suite.text._nodes import Mapping, Node, Scalar
from passmuster.suite.text._nodes import Sequence as SequenceNode

_LAYERS = ("correctness", "path", "cost")
_LONGEST_ID = 60


def _default_keys() -> list[str]:
    return [key for key in fields_of(Scenario) if key not in ("id", "query")]


def read_defaults(context: Context, suite: Suite, node: Node) -> Suite:
    """What every scenario states unless it says otherwise; read with each of them."""
    context.defaults = context.reader.mapping(node, "defaults", _default_keys())
    for at, map_ in [("defaults", context.defaults), *_layers_of(context.defaults, "defaults")]:
        for entry in [entry for entry in map_ if _is_null(entry.value)]:
            context.reader.problem(entry, f"{at}.{entry.key}: is empty; there is nothing that it could remove")
            del map_.entries[entry.key]
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
    known = fields_of(Scenario)
    maps = [(at, reader.mapping(item, at, known)) for at, item in items if _is_map(reader, item, at)]
    ids = _ids(reader, maps, suite.scenarios)
    layers = {name: _keys_of(reader, name) for name in _LAYERS}
    for at, map_ in maps:
        if at in ids:
            own = _without_idle_nulls(reader, context.defaults, map_, at)
            yield _scenario(reader, _merged(context.defaults, own, layers), at, ids[at], suite.behaviors)


def _keys_of(reader: Reader, layer: str) -> Collection[str]:
    value = reader.vocabulary[layer]
    assert isinstance(value, LayerValue)
    return value.keys


def _merged(defaults: Mapping | None, own: Mapping, layers: MappingOf[str, Collection[str]]) -> Mapping:
    """The scenario's own map with the defaults in it: maps at every depth, lists replaced, `null` removes.

    A layer with nothing left is not stated. What is wrong stays, to be found wanting: a key that no layer has, and a
    `null` that removes nothing.
    """
    entries = dict(defaults.entries) if defaults else {}
    for entry in own:
        base = entries.get(entry.key)
        if base and _is_null(entry.value):
            del entries[entry.key]
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


def _without_idle_nulls(reader: Reader, defaults: Mapping | None, own: Mapping, at: str) -> Mapping:
    """The map without keys, of itself and its layers, that are left empty with no default to remove: mistakes."""
    own = _refuse_idle_nulls(reader, defaults, own, fields_of(Scenario), at)
    entries = dict(own.entries)
    for name in _LAYERS:
        if (entry := entries.get(name)) and isinstance(entry.value, Mapping):
            base = defaults.get(name) if defaults else None
            layer = _refuse_idle_nulls(reader, base, entry.value, _keys_of(reader, name), f"{at}.{name}")
            entries[name] = replace(entry, value=layer)
    return replace(own, entries=entries)


def _refuse_idle_nulls(reader: Reader, defaults: Node | None, own: Mapping, known: Collection[str], at: str) -> Mapping:
    stated = defaults.entries if isinstance(defaults, Mapping) else {}
    idle = [one for one in own if _is_null(one.value) and one.key in known and one.key not in stated]
    for entry in idle:
        reader.problem(entry, f"{at}.{entry.key}: is empty, and 'defaults' has nothing that it could remove")
    refused = {entry.key for entry in idle}
    return replace(own, entries={key: entry for key, entry in own.entries.items() if key not in refused})


def _layers_of(map_: Mapping, at: str) -> Iterator[tuple[str, Mapping]]:
    """The layers in a map that are maps themselves."""
    for name in _LAYERS:
        if isinstance(layer := map_.get(name), Mapping):
            yield f"{at}.{name}", layer


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


def _is_map(reader: Reader, item: Node, at: str) -> bool:
    if not isinstance(item, Mapping):
        reader.expected("a map", item, at)
    return isinstance(item, Mapping)


def _scenario(reader: Reader, map_: Mapping, at: str, id_: str, library: MappingOf[str, Behavior]) -> Scenario:
    written = read_record(Scenario, reader, map_, at, also=map_.entries) or Scenario()
    label = written.correctness.values.get("label") if written.correctness else None
    if label is not None and written.label not in (None, label):
        reader.problem(map_.entries["label"], f"{at}: 'label' and 'correctness.label' differ; keep one of the two")
    if written.pass_score == 0 and not (written.must_not or written.label or written.turns or _states_layer(written)):
        problem = "'pass_score: 0' gates nothing by itself; add a 'must_not', or a layer such as 'correctness'"
        reader.problem(map_.entries["pass_score"], f"{at}: {problem}")
    return replace(
        written,
        id=id_,
        label=written.label if written.label is not None else label,
        expected_behaviors=tuple(_defined(one, library) for one in written.expected_behaviors),
        must_not=tuple(_defined(one, library) for one in written.must_not),
        query=_query(reader, map_, written, at),
        turns=tuple(_turn(one, library) for one in written.turns),
    )


def _query(reader: Reader, map_: Mapping, written: Scenario, at: str) -> str | None:
    """What the agent is asked first."""
    first = written.turns[0].user if written.turns else None
    if first is not None and written.query is not None and _folded(first) != _folded(written.query):
        reader.problem(map_.entries["query"], f"{at}: 'query' and the first 'user' of 'turns' differ; leave one out")
    return written.query if first is None else first


def _turn(turn: Turn, library: MappingOf[str, Behavior]) -> Turn:
    return replace(
        turn,
        expected_behaviors=tuple(_defined(one, library) for one in turn.expected_behaviors),
        must_not=tuple(_defined(one, library) for one in turn.must_not),
    )


def _states_layer(scenario: Scenario) -> bool:
    return any(layer is not None for layer in (scenario.correctness, scenario.path, scenario.cost))


def _defined(behavior: Behavior, library: MappingOf[str, Behavior]) -> Behavior:
    """A bare name stands for the check of that name in the suite's `behaviors`."""
    known = library.get(behavior.name) if behavior.check is None else None
    return replace(known, line=behavior.line) if known else behavior


def _scenario_schema(definitions: Definitions, keys: Collection[str]) -> JsonSchema:
    """A scenario's map; `null` removes what `defaults` state."""
    schema = object_schema(Scenario, definitions)
    properties = {}
    for key in keys:
        value = schema["properties"][key]
        if key in _LAYERS:
            value = {**value, "properties": {name: _or_null(inner) for name, inner in value["properties"].items()}}
        properties[key] = value if key == "id" else _or_null(value)
    return {**schema, "properties": properties}


def _or_null(schema: JsonSchema) -> JsonSchema:
    described: JsonSchema = {key: schema[key] for key in ("description", "examples") if key in schema}
    return {**described, "anyOf": [schema, {"type": "null"}]}


def _scenarios_schema(definitions: Definitions) -> JsonSchema:
    one = definitions.ref("scenario", lambda: _scenario_schema(definitions, fields_of(Scenario)))
    return {
        "type": "array",
        "items": {"allOf": [one], "anyOf": [{"required": [key]} for key in ("id", "query", "turns")]},
    }


SCENARIOS = Custom("a list of scenarios", ANYTHING.read, _scenarios_schema)
DEFAULTS = Custom("a map", ANYTHING.read, lambda definitions: _scenario_schema(definitions, _default_keys()))


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
        query = map_.get("query") or _first_turn(map_)
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


def _first_turn(map_: Mapping) -> Node | None:
    turns = map_.get("turns")
    first = turns.items[0] if isinstance(turns, SequenceNode) and turns.items else None
    return first.get("user") if isinstance(first, Mapping) else None


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
