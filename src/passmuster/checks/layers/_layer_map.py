"""How a layer of a scenario is read: a map whose keys are the modules of a package."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from passmuster._registry import Registry
from passmuster.suite import Definitions, JsonSchema, Layer, LayerValue, Mapping, Node, Reader, Suite

if TYPE_CHECKING:
    from passmuster.checks.layers._layer import LayerKey


class LayerMap(LayerValue):
    """The map of one layer. Only the modules of keys that are stated are imported."""

    words = "a map"

    def __init__(self, package: str, description: str) -> None:
        self.modules, self.description = Registry(f"{__package__}.{package}"), description

    @property
    def keys(self) -> Collection[str]:
        return self.modules

    def key(self, name: str) -> LayerKey:
        """The declaration of a key."""
        declared: LayerKey = self.modules[name].KEY
        return declared

    def read(self, reader: Reader, node: Node, at: str) -> Layer:
        map_ = reader.mapping(node, at, self.modules)
        if isinstance(node, Mapping) and all(entry.key.startswith("x-") for entry in node):
            reader.problem(node, f"{at}: states nothing")
        stated = [entry for entry in map_ if entry.key in self.modules]
        values: dict[str, Any] = {}
        may_ask = False
        for entry in stated:
            key = self.key(entry.key)
            value = key.value.read(reader, entry.value, f"{at}.{entry.key}")
            if value is not None:
                values[entry.key] = value
            if key.needs is not None and key.needs not in map_:
                reader.problem(entry, f"{at}: '{entry.key}' means nothing without '{key.needs}'")
            may_ask = may_ask or key.asks_judge
        return Layer(values, {entry.key: entry.line for entry in stated}, may_ask)

    def mistakes(self, layer: Layer, suite: Suite) -> Iterator[tuple[int, str]]:
        for name, value in layer.values.items():
            lacks = self.key(name).lacks
            message = lacks(value, suite) if lacks else None
            if message is not None:
                yield layer.lines[name], message

    def schema(self, definitions: Definitions) -> JsonSchema:
        # Whether a key has what it needs is known when `defaults` are merged in.
        return {
            "type": "object",
            "description": self.description,
            "properties": {name: self.key(name).schema(definitions) for name in self.modules},
            "patternProperties": {"^x-": {}},
            "additionalProperties": False,
        }


LAYERS = {
    "correctness": LayerMap("answer", "What the answer has to be."),
    "path": LayerMap("path", "Which tools the agent should use, and how."),
    "cost": LayerMap("cost", "Limits on what a run may use."),
}
