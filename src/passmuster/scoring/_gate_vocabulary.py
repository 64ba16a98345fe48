"""What scoring contributes to the suite language: the keys about the suite as a whole."""

from __future__ import annotations

from passmuster.suite import GATE_KEYS, Definitions, JsonSchema, Node, Reader, ResolvedKey, Suite

__all__ = ["gate_vocabulary"]


class _GateKey(ResolvedKey):
    """A key of the gate; how it is read is imported when a suite has it."""

    words = "see the reference"

    def __init__(self, name: str) -> None:
        self._name = name

    def resolve(self, reader: Reader, suite: Suite, node: Node) -> Suite:
        from passmuster.scoring._gate_keys import GATE_KEYS

        return GATE_KEYS[self._name](reader, suite, node)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {}


def gate_vocabulary() -> dict[str, _GateKey]:
    """The keys of the gate by name."""
    return {name: _GateKey(name) for name in GATE_KEYS}
