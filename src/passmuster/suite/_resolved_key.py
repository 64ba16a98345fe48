"""Top-level keys that a package above reads once the tests and scenarios of the suite are known."""

from __future__ import annotations

from abc import abstractmethod

from passmuster.suite._model import Suite
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import Value
from passmuster.suite.text._nodes import Node

__all__ = ["ResolvedKey"]


class ResolvedKey(Value[Node]):
    """The value of a key that refers to other parts of the suite."""

    def read(self, reader: Reader, node: Node, at: str) -> Node:
        return node

    @abstractmethod
    def resolve(self, reader: Reader, suite: Suite, node: Node) -> Suite:
        """The suite with what the key says."""
