"""Redaction of a violation: secrets hidden and long values cut."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from passmuster.checks._outcome import Violation
from passmuster.redaction import SENTENCE_LIMIT, VALUE_LIMIT, Redactor

_SENTENCES = ("message", "expected", "actual", "constraint", "suggestion", "waived")
_NAMES = ("tool", "argument", "rule", "pattern", "trace_id", "scenario")


def redact_violation(violation: Violation, redactor: Redactor, known: Collection[str] = ()) -> Violation:
    """The violation with everything that came from traces or custom code made safe; `known` is hidden anywhere."""
    changes: dict[str, Any] = {}
    own: list[str] = []
    if violation.has_value:
        changes["value"], own = redactor.argument(violation.tool, violation.argument, violation.value, known)
    for names, limit in ((_SENTENCES, SENTENCE_LIMIT), (_NAMES, VALUE_LIMIT)):
        for name in names:
            if (found := getattr(violation, name)) is not None:
                changes[name] = redactor.text(str(found), limit, known, own)
    if (nearby := violation.neighbours) is not None:
        before, after = (
            None if tool is None else redactor.text(tool, VALUE_LIMIT, known, own)
            for tool in (nearby.before, nearby.after)
        )
        changes["neighbours"] = replace(nearby, before=before, after=after)
    return replace(violation, **changes)
