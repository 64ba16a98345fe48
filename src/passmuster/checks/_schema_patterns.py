"""The patterns of JSON Schema, translated when a schema has one: most have none, and the translation is not loaded."""

from __future__ import annotations


def why_no_pattern(pattern: str) -> str | None:
    """What is wrong with a pattern, with its column; None where it is one."""
    from passmuster.checks._ecma_pattern import PatternError, translated

    try:
        translated(pattern)
    except PatternError as error:
        return f"not an ECMA-262 pattern: {error}"
    return None


def engine_pattern(pattern: str) -> str:
    """The pattern for the engine that runs it; one that is wrong stays as it is."""
    from passmuster.checks._ecma_pattern import PatternError, translated

    try:
        return translated(pattern)
    except PatternError:
        return pattern
