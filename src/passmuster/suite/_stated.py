"""What packages above contribute to the suite language: layers and behaviors of scenarios, keys of the gate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from passmuster.suite.grammar._values import Definitions, JsonSchema, Value
from passmuster.suite.text._nodes import Node

if TYPE_CHECKING:
    from passmuster.suite._model import Suite
    from passmuster.suite.grammar._reader import Reader


class Layer(Struct, frozen=True):
    """One layer of a scenario: the value and the line of each key."""

    values: dict[str, Any]
    lines: dict[str, int]
    may_ask: bool = False
    """Whether one of its checks asks a judge."""


class LayerValue(Value[Layer]):
    """How a layer is read."""

    @property
    @abstractmethod
    def keys(self) -> Collection[str]:
        """The keys that it may state."""

    @abstractmethod
    def mistakes(self, layer: Layer, suite: Suite) -> Iterator[tuple[int, str]]:
        """The line of each key that lacks something elsewhere in the suite, and a message."""


class Behavior(Struct, frozen=True):
    """Something a run can show."""

    name: str
    check: Any
    """How it is decided; None for a bare name, which the trace or a judge has to tell."""
    line: int
    may_ask: bool = False
    """Whether a judge may have to tell."""


class Resolver(Protocol):
    """How a top-level key is read once the tests and scenarios of the suite are known."""

    def resolve(self, reader: Reader, suite: Suite, node: Node) -> Suite:
        """The suite with what the key says."""

    def schema(self, definitions: Definitions) -> JsonSchema:
        """The JSON Schema of its value."""


class ResolvedKey(Value[Node]):
    """The value of such a key; its resolver is imported when it is first used."""

    def __init__(self, name: str, find: Callable[[str], Resolver]) -> None:
        self._name = self.words = name
        self._find = find

    def read(self, reader: Reader, node: Node, at: str) -> Node:
        return node

    def resolve(self, reader: Reader, suite: Suite, node: Node) -> Suite:
        return self._find(self._name).resolve(reader, suite, node)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return self._find(self._name).schema(definitions)
