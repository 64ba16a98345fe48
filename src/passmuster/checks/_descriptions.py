"""What each kind of check asks for, in one sentence, from its declaration."""

from __future__ import annotations

from passmuster.checks._spec import CheckSpec
from passmuster.checks.kinds import KINDS
from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import Scenario, fields_of


def describe_check(name: str) -> str | None:
    """The description of a test's check, of a key of a layer, or of `expected_behaviors` and `must_not`."""
    if name in KINDS:
        return (KINDS.declared(name, CheckSpec).__doc__ or "").partition("\n")[0]  # type: ignore[type-abstract]
    for layer in LAYERS.values():
        if name in layer.keys:
            return layer.key(name).description
    return fields_of(Scenario)[name].key.description if name in ("expected_behaviors", "must_not") else None
