"""One thing that is wrong with a suite though it can be read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

LINTS = {
    "invalid": "The suite and its policies can be read.",
    "contradiction": "What the suite asks can be met all at once.",
    "never_fires": "Every rule can apply to some run.",
    "shadowed": "Every pattern of a list fits something that the others do not.",
    "impossible_bound": "Every bound can be reached, and can be missed.",
    "impossible_schema": "Every schema fits some value.",
    "unused": "Every policy and behavior is used.",
    "expired_waiver": "No waiver has expired.",
    "uncovered_scenario": "Weights and criteria by category cover every scenario.",
    "notice": "Nothing in the suite looks like a slip.",
}
"""What `passmuster check` looks for, by name."""


class LintFinding(Struct, frozen=True):
    """A lint, and where it is."""

    lint: str
    level: Literal["error", "warning"]
    message: str
    file: str
    line: int | None = None
