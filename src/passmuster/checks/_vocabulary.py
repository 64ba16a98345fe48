"""What checks contribute to the suite language, by name; each is imported when a suite uses it."""

from __future__ import annotations

from typing import Any

from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import Late, Value, Vocabulary

__all__ = ["VOCABULARY"]


def _matcher() -> Value[Any]:
    from passmuster.checks.matchers import MATCHER

    return MATCHER


def _selectors() -> Value[Any]:
    from passmuster.checks._selectors import SELECTORS

    return SELECTORS


def _rule() -> Value[Any]:
    from passmuster.checks.rules import RULE

    return RULE


def _behaviors() -> Value[Any]:
    from passmuster.checks.layers._behavior_grammar import BEHAVIORS

    return BEHAVIORS


def _behavior_list() -> Value[Any]:
    from passmuster.checks.layers._behavior_grammar import BEHAVIOR_LIST

    return BEHAVIOR_LIST


def _policy() -> Value[Any]:
    from passmuster.checks.args import POLICY

    return POLICY


def _json_schema() -> Value[Any]:
    from passmuster.checks._json_schema import JSON_SCHEMA

    return JSON_SCHEMA


VOCABULARY: Vocabulary = {
    "matcher": Late("a value or a matcher", _matcher),
    "selectors": Late("a tool pattern, a selector, or a list of these", _selectors),
    "rule": Late("a rule", _rule),
    "behaviors": Late("a map of names to checks", _behaviors),
    "behavior_list": Late("a behavior, or a list of these", _behavior_list),
    **LAYERS,
    "policy": Late("a policy file", _policy),
    "json_schema": Late("a JSON Schema", _json_schema),
}
