"""Sequence rules, one module each; the module's name is the rule's `type`.

A rule is a record of its keys that compiles into a function from a view to a `Decision`. Calls have positions; calls
made in parallel share one. *Earlier* is a smaller position, *directly before* the previous one, *within N* counts
positions: parallel is not before. A failed call is an attempt: it can break a rule, but it satisfies none.
"""

from passmuster.checks._outcome import Violation
from passmuster.checks._selectors import SELECTORS, SELECTORS_OR_NONE, CallSelector, Selectors
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules._evaluation import (
    HELD,
    IDLE,
    Decide,
    Decision,
    absence,
    all_plain,
    any_of,
    attempts,
    bits,
    by_tool,
    selectors,
    successes,
    times,
)
from passmuster.checks.rules._rule import RULE, RULES, AnyRule, Rule, rule_class
