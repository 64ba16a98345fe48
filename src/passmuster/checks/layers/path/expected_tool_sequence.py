"""The check `expected_tool_sequence`."""

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path.match_mode import compile_mode
from passmuster.suite import TEXT, OneOrMore


def _compile(sequence: tuple[str, ...], context: Context) -> LayerCheck | None:
    """The check for the default mode. Where a mode is written, or a similarity, that key is the check."""
    named = "match_mode" in context.stated or "min_sequence_similarity" in context.stated
    return None if named else compile_mode("in_order", context)


KEY = LayerKey(
    OneOrMore(TEXT, empty=True),
    "The reference sequence, which the calls have to match according to `match_mode`, by default `in_order`; with "
    "`min_sequence_similarity` and no mode, only the reference of the similarity.",
    _compile,
    order=6,
    example=["search", "generate"],
)
