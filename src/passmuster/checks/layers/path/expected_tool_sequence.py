"""`expected_tool_sequence`: the calls made fit this sequence in the sense of `match_mode`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.path import match_mode

__all__ = ["ORDER", "compile"]

ORDER = 6


def compile(sequence: tuple[str, ...], context: Context) -> LayerCheck | None:
    """The check for the default mode; where a mode is written, that key is the check."""
    return None if "match_mode" in context.stated else match_mode.compile("subset", context)
