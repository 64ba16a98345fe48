"""Equal violations of a test together: the same constraint or rule, broken in the same way by the same argument."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from passmuster.checks import Violation
from passmuster.reports._text import headline, one_line, place, shown

_VALUES = 3
_GLANCE = 40
_SIGNS = {
    "max": ">",
    "maximum": ">",
    "min": "<",
    "minimum": "<",
    "exclusiveMaximum": ">=",
    "exclusiveMinimum": "<=",
}
"""What a value did that broke the constraint."""


class ViolationGroup(Struct, frozen=True):
    """Violations that are alike, by the first of them."""

    first: Violation
    count: int
    traces: int
    """How many traces have one."""
    values: tuple[str, ...]
    """The first different values that were found."""
    more_values: bool


def grouped(violations: Iterable[Violation]) -> list[ViolationGroup]:
    """The groups of violations, those that block first, then the largest."""
    alike: dict[tuple[object, ...], list[Violation]] = {}
    for violation in violations:
        alike.setdefault(_key(violation), []).append(violation)
    return sorted(map(_group, alike.values()), key=lambda group: (not _blocks(group.first), -group.count))


def group_line(group: ViolationGroup) -> str:
    """The group in one line: how often, what was broken, what was found, and where the first stands."""
    first = group.first
    times = f"{group.count}× " if group.count > 1 else ""
    places = []
    if policy := place(first.policy_file, first.policy_line):
        places.append(f"policy {policy}")
    trace = place(first.trace_file, first.trace_line) or one_line(first.trace_id or "")
    if trace:
        places.append(f"first: {trace}" if group.count > 1 else trace)
    waived = [f"waived: {one_line(first.waived)}"] if first.waived else []
    return "; ".join([f"{times}{_broken(group)}", *waived, *places])


def times_line(group: ViolationGroup) -> str:
    """How often a violation was found, for the end of its block; empty for a single one."""
    if group.count == 1:
        return ""
    found = f", found {_values(group)}" if len(group.values) > 1 else ""
    on = f" on {group.traces} traces" if group.traces > 1 else ""
    return f"Times: {group.count}{on}{found}"


def _key(violation: Violation) -> tuple[object, ...]:
    argument = violation.argument
    if argument and "[" in argument:  # the same of every item of a list
        argument = re.sub(r"\[\d+\]", "[]", argument)
    located = violation.policy_line is not None
    return (
        violation.policy_file,
        violation.policy_line,
        violation.tool,
        argument,
        violation.constraint,
        violation.rule,
        violation.pattern,
        violation.level,
        violation.waived,
        violation.expected,
        violation.actual,
        None if located else violation.message,
    )


def _group(violations: list[Violation]) -> ViolationGroup:
    values: dict[str, None] = {}
    for one in violations:
        if one.has_value and len(values) <= _VALUES:
            values[shown(one.value, _GLANCE)] = None
    traces = {(one.trace_file, one.trace_id) for one in violations}
    return ViolationGroup(
        violations[0], len(violations), len(traces), tuple(values)[:_VALUES], more_values=len(values) > _VALUES
    )


def _broken(group: ViolationGroup) -> str:
    first = group.first
    described = f" ({one_line(first.description)})" if first.description else ""
    if first.rule is not None or first.argument is None:
        return f"{headline(first)}{described}"
    subject = f"{one_line(first.tool)}.{one_line(first.argument)}" if first.tool else one_line(first.argument)
    name, _, bound = (first.constraint or "").partition(": ")
    found = f", found {_values(group)}" if group.values else ""
    if name in _SIGNS and group.values:
        return f"{subject} {_SIGNS[name]} {one_line(bound)}{found}"
    return f"{subject}: {one_line(first.message)}{found}"


def _values(group: ViolationGroup) -> str:
    return ", ".join(group.values) + (", …" if group.more_values else "")


def _blocks(violation: Violation) -> bool:
    return violation.level == "block" and violation.waived is None
