"""What scoring contributes to the suite language: the keys about the suite as a whole, imported late."""

from __future__ import annotations

from passmuster.suite import GATE_KEYS, ResolvedKey, Resolver


def gate_vocabulary() -> dict[str, ResolvedKey]:
    """The keys of the gate by name."""
    return {name: ResolvedKey(name, _find) for name in GATE_KEYS}


def _find(name: str) -> Resolver:
    from passmuster.scoring._gate_keys import GATE_KEYS

    return GATE_KEYS[name]
