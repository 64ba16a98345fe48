"""The check `expected_tool_sequence`."""

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path.match_mode import compile_mode
from passmuster.suite import TEXT, OneOrMore


def _compile(sequence: tuple[str, ...], context: Context) -> LayerCheck | None:
    """The check for the default mode; where a mode is written, that key is the check."""
    return None if "match_mode" in context.stated else compile_mode("subset", context)


KEY = LayerKey(
    OneOrMore(TEXT, empty=True),
    "The reference sequence, which the calls have to match according to `match_mode`, by default `subset`.",
    _compile,
    order=6,
    example=["search", "generate"],
)
