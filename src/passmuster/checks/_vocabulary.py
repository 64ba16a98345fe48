"""What checks contribute to the suite language, by name; each is imported when a suite uses it."""

from __future__ import annotations

from typing import Any

from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import Late, Value, Vocabulary


def _matcher() -> Value[Any]:
    from passmuster.checks.matchers import MATCHER

    return MATCHER


def _behaviors() -> Value[Any]:
    from passmuster.checks.layers._behavior_grammar import BEHAVIORS

    return BEHAVIORS


def _behavior_list() -> Value[Any]:
    from passmuster.checks.layers._behavior_grammar import BEHAVIOR_LIST

    return BEHAVIOR_LIST


def _policy() -> Value[Any]:
    from passmuster.checks.args import POLICY

    return POLICY


VOCABULARY: Vocabulary = {
    "matcher": Late("a value or a matcher", _matcher),
    "behaviors": Late("a map of names to checks", _behaviors),
    "behavior_list": Late("a behavior, or a list of these", _behavior_list),
    **LAYERS,
    "policy": Late("a policy file", _policy),
}
