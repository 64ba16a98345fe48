"""Sequence rules, one module each; the module's name is the rule's `type`.

A rule is compiled into a function from a view to a `Decision`. Calls have positions; calls made in parallel share one.
*Earlier* is a smaller position, *directly before* the previous one, *within N* counts positions: parallel is not
before. A failed call is an attempt: it can break a rule, but it satisfies none.
"""

from passmuster._registry import Registry
from passmuster.checks._view import ToolIndex
from passmuster.checks.rules._deciding import (
    HELD as HELD,
)
from passmuster.checks.rules._deciding import (
    IDLE as IDLE,
)
from passmuster.checks.rules._deciding import (
    Decide as Decide,
)
from passmuster.checks.rules._deciding import (
    Decision as Decision,
)
from passmuster.checks.rules._deciding import (
    absence as absence,
)
from passmuster.checks.rules._deciding import (
    all_plain as all_plain,
)
from passmuster.checks.rules._deciding import (
    any_of as any_of,
)
from passmuster.checks.rules._deciding import (
    attempts as attempts,
)
from passmuster.checks.rules._deciding import (
    bits as bits,
)
from passmuster.checks.rules._deciding import (
    broken as broken,
)
from passmuster.checks.rules._deciding import (
    by_tool as by_tool,
)
from passmuster.checks.rules._deciding import (
    selectors as selectors,
)
from passmuster.checks.rules._deciding import (
    successes as successes,
)
from passmuster.checks.rules._deciding import (
    times as times,
)
from passmuster.suite import Rule

RULES = Registry(__name__)


def compile_rule(rule: Rule, tools: ToolIndex) -> Decide:
    """The function that evaluates one rule on one trace."""
    compiled: Decide = RULES[rule.type].compile(rule, tools)
    return compiled
