"""What scenarios state, as the suite sees it: values and lines, whose meaning belongs to the checks.

`checks` contributes how layers and behaviors are read, through the vocabulary.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from passmuster.suite.grammar._values import Value

if TYPE_CHECKING:
    from passmuster.suite._model import Suite


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
