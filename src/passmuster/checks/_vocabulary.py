"""What checks contribute to the suite language, by name; each is imported when a suite uses it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import Late, Value, Vocabulary


def _late(words: str, module: str, name: str) -> Value[Any]:
    return Late(words, lambda: getattr(import_module(f"{__package__}.{module}"), name))


VOCABULARY: Vocabulary = {
    "matcher": _late("a value or a matcher", "matchers", "MATCHER"),
    "behaviors": _late("a map of names to checks", "layers._behavior_grammar", "BEHAVIORS"),
    "behavior_list": _late("a behavior, or a list of these", "layers._behavior_grammar", "BEHAVIOR_LIST"),
    **LAYERS,
    "policy": _late("a policy file", "args", "POLICY"),
}
