"""What scoring contributes to the suite language: the keys about the suite as a whole, imported late."""

from __future__ import annotations

from passmuster.suite import ResolvedKey, Resolver

_KEYS = (
    *("classification", "weights", "thresholds", "required_scenarios", "optional_scenarios"),
    *("pass_criteria", "composite", "baseline"),
)


def gate_vocabulary() -> dict[str, ResolvedKey]:
    """The keys of the gate by name."""
    return {name: ResolvedKey(name, _find) for name in _KEYS}


def _find(name: str) -> Resolver:
    from passmuster.scoring._gate_keys import GATE_KEYS

    return GATE_KEYS[name]
