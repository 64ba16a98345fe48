"""The check `regex_match`."""

from passmuster.checks._regex_search import search_within_limit
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, quoted, shortened
from passmuster.suite import REGEX, OneOrMore


def _compile(patterns: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these patterns."""
    searches = [(pattern, search_within_limit(pattern)) for pattern in patterns]

    def missing(view: View) -> list[str]:
        """The patterns not found, up to one that takes too long."""
        found: list[str] = []
        for pattern, search in searches:
            try:
                if not search(view.trace.answer or ""):
                    found.append(pattern)
            except TimeoutError:
                break
        return found

    return answer_check(
        lambda view: all(search(view.trace.answer or "") for _, search in searches),
        lambda view: f"the answer matches {quoted(patterns)}",
        lambda view: f"{quoted(missing(view))} not found in the answer {shortened(view.trace.answer)}",
    )


KEY = LayerKey(
    OneOrMore(REGEX),
    "The pattern is found in the answer (Python's `re.search`); of a list, every one.",
    _compile,
    order=5,
    example=r"[0-9]+ EUR",
)
