"""Top-level keys that a package above reads once the tests and scenarios of the suite are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from passmuster.suite._model import Suite
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import Definitions, JsonSchema, Value
from passmuster.suite.text._nodes import Node


class Resolver(Protocol):
    """How such a key is read."""

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
