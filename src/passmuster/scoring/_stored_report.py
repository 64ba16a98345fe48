"""A report read back from its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from passmuster._problems import Problem, UsageError
from passmuster.scoring._report import Report


def stored_report(document: Mapping[str, Any], name: str) -> Report:
    """The report that a JSON document was written from. Raises `UsageError` if this version cannot read it."""
    try:
        for violation in _violations(document):
            violation["has_value"] = "value" in violation
        return msgspec.convert(document, Report)
    except (msgspec.ValidationError, TypeError, AttributeError) as error:
        raise UsageError(Problem(f"this report cannot be shown: {error}", name)) from error


def _violations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for test in document.get("tests", ()):
        yield from test.get("violations", ())
    for scenario in document.get("scenarios", ()):
        checks = [check for layer in scenario.get("layers", {}).values() for check in layer.get("checks", ())]
        for check in (*checks, *scenario.get("behaviors", {}).get("checks", ())):
            yield from check.get("violations", ())
