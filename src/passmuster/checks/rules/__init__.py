"""Sequence rules, one module each; the module's name is the rule's `type`.

A rule is a record of its keys that compiles into a function from a view to a `Decision`. Calls have positions; calls
made in parallel share one. *Earlier* is a smaller position, *directly before* the previous one, *within N* counts
positions: parallel is not before. A failed call is an attempt: it can break a rule, but it satisfies none.

Work is linear in the calls of a trace, also where every call breaks the rule. Where a rule looks at names alone and the
trace is plain, the view's index decides whether it held without a look at the calls.
"""

from passmuster.checks._outcome import Violation
from passmuster.checks._selectors import (
    Calls,
    CallSelector,
    CallsOrNone,
    Selection,
    Selectors,
    selectors_in,
    times,
    unclear_calls,
)
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules._rule import HELD, IDLE, RULE, RULES, AnyRule, Decide, Decision, Rule, rule_class
