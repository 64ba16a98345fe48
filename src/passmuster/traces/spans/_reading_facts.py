"""The facts of a span, from all dialects that know its attributes."""

from __future__ import annotations

from collections.abc import Callable

from passmuster.traces.spans._facts import Facts, failure
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import text
from passmuster.traces.spans.dialects import DIALECTS

_REMEMBERED = 10_000
"""Sets of names whose dialects are remembered; names are untrusted."""
_Names = tuple[str, ...]
_ASKED: dict[tuple[_Names, _Names], tuple[Callable[[Span, Facts], None], ...]] = {}
"""The dialects that know any of the names of a span's attributes and events."""


def facts_of(span: Span) -> Facts:
    """What a span says."""
    facts = Facts()
    names = tuple(span.attributes), tuple(sorted({event.name for event in span.events})) if span.events else ()
    asked = _ASKED.get(names)
    if asked is None:
        asked = _remember(*names)
    for add in asked:
        add(span, facts)
    if facts.kind == "tool" and facts.error is None:
        facts.error = failure(span)
        if facts.error is None and span.attributes.get("tool.status") == "error":  # strands before 1.10
            facts.error = text(facts.result) or "failed"
    return facts


def _remember(names: _Names, events: _Names) -> tuple[Callable[[Span, Facts], None], ...]:
    if len(_ASKED) >= _REMEMBERED:
        _ASKED.clear()
    heads = {name.partition(".")[0] for name in (*names, *events)}
    readers = [prepare(names, events) for known, prepare in DIALECTS if not known.isdisjoint(heads)]
    asked = _ASKED[names, events] = tuple([add for add in readers if add is not None])
    return asked
