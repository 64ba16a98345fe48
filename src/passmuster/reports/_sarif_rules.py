"""SARIF rules: one per kind of check, described by its declaration, and one per kind of gate line."""

from __future__ import annotations

from typing import Any

from passmuster.checks import describe_check
from passmuster.reports._text import one_line

_GATE_LINES: dict[str, tuple[str, str, str]] = {
    "scenario": (
        "Each scenario passes.",
        "Every scenario that is not optional was run and met its expectations.",
        "The text names the layer, check or behavior that failed. A missing scenario needs a recorded trace.",
    ),
    "required": (
        "Required scenarios pass.",
        "A scenario that the suite requires was run and passed; nothing tolerates its failure.",
        "Look at the scenario of the same id.",
    ),
    "threshold": (
        "Metrics reach their thresholds.",
        "A metric of the whole suite satisfies its bound.",
        "Look at the scenarios that failed; they lower the metric.",
    ),
    "criteria": (
        "Pass criteria are met.",
        "The required pass rates are reached, overall and by category.",
        "Look at the scenarios that failed in the named category.",
    ),
    "composite": (
        "The composite formula holds.",
        "The formula named `pass` is true for the metrics of this run.",
        "Compare the values of the metrics with the formula.",
    ),
    "baseline": (
        "Nothing is worse than the baseline.",
        "Metrics and scenarios are at least as good as recorded in the baseline, within the stated drop.",
        "Find what changed since the baseline, or record a new one on purpose.",
    ),
    "vacuous": (
        "Each test and scenario checks something.",
        "Some trace exercised the test, and the scenario states an expectation.",
        "Record a trace that exercises it, or correct the names in it.",
    ),
    "input": (
        "Suite and traces match.",
        "Every trace belongs to a scenario of the suite, and every waiver is used.",
        "Correct the name, or remove what is no longer used.",
    ),
    "judge": (
        "The judge could be asked.",
        "Every check that needs a judge was decided.",
        "Make the judge reachable, or record its answers in the cache.",
    ),
    "error": (
        "Everything could be decided.",
        "No judge, worker process or infrastructure failed during the evaluation.",
        "Fix what the message names and run again.",
    ),
}
"""For each kind of gate line: name, description, and what to do."""
_CHECK_HELP = "Compare the expected with the actual value, then look at the location in the trace."


def rule_descriptor(rule: str) -> dict[str, Any]:
    """The rule as SARIF describes it: a check by its declaration, a gate line by its kind."""
    name = one_line(rule)
    declared = describe_check(rule)
    if rule in _GATE_LINES:
        short, full, help_text = _GATE_LINES[rule]
    elif declared:
        short, full, help_text = declared, f"The check `{name}`: {declared}", _CHECK_HELP
    else:
        short = f"The custom metric '{name}' holds."
        full, help_text = (
            f"Every trace satisfies the custom metric '{name}'.",
            "The metric's message says what it found.",
        )
    words = [word for word in name.replace("-", "_").split("_") if word]
    # The name must differ from the id, also when only its capitals would.
    words = words if len(words) > 1 else [*words, "check"]
    return {
        "id": name,
        "name": "".join(word[:1].upper() + word[1:] for word in words),
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": "error"},
    }
