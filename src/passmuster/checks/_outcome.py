"""The result of one check on one trace, for tests and scenario layers alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

Status = Literal["pass", "warn", "fail", "skip", "error", "missing", "not_run"]
Level = Literal["block", "warn", "log"]
LEVELS: tuple[Level, ...] = ("log", "warn", "block")

_GRAVITY: dict[Status, int] = {"not_run": 0, "skip": 0, "pass": 1, "warn": 2, "missing": 3, "fail": 4, "error": 5}


def worst(a: Status, b: Status) -> Status:
    """The graver of two statuses."""
    return a if _GRAVITY[a] >= _GRAVITY[b] else b


class Neighbours(Struct, frozen=True, omit_defaults=True):
    """Where a call stands: how many calls the trace has, and which came just before and after."""

    calls: int
    before: str | None = None
    after: str | None = None


class Violation(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One broken constraint or rule, located in the suite and in the trace. Fields that do not apply are left out."""

    kind: Literal["missing", "extra", "different"] | None = None
    """For `expected_calls`: what has to be edited."""
    tool: str | None = None
    argument: str | None = None
    """Dotted path, `items[2].price`, counted from 0."""
    value: Any = None
    has_value: bool = False
    """Tells `value: null` from no value at all; not part of any report."""
    constraint: str | None = None
    """In the policy's own spelling: `max: 30`."""
    rule: str | None = None
    description: str | None = None
    """What the rule is for, in the suite's own words."""
    pattern: str | None = None
    expected: str | None = None
    actual: str | None = None
    call_index: int | None = None
    """From 1, tool calls only. For a missing call: the place where it would stand."""
    calls_found: int | None = None
    level: Level = "block"
    policy_file: str | None = None
    policy_line: int | None = None
    trace_id: str | None = None
    trace_file: str | None = None
    trace_line: int | None = None
    message: str
    suggestion: str | None = None
    scenario: str | None = None
    neighbours: Neighbours | None = None
    waived: str | None = None
    """The waiver that turned this into a warning: its reason and last day."""


def status_of(violations: Iterable[Violation]) -> Status:
    """What violations come to: fail, unless their own levels are lower."""
    levels = {violation.level for violation in violations}
    return "fail" if "block" in levels else "warn" if "warn" in levels else "pass"


class Outcome(Struct, frozen=True):
    """One check on one trace."""

    status: Status
    exercised: bool
    violations: tuple[Violation, ...] = ()
    rules_exercised: int = 0
    """One bit a rule, the first rule's the lowest: whether it was exercised."""
    rules_violated: int = 0
    checked: int = 0
    """How many calls were looked at, where a check counts them."""
    stats: dict[str, Any] | None = None
    score: float | None = None
    message: str | None = None
    """Why it was skipped or broke; for layers, the finding in words."""
    cause: Literal["no_verdict", "not_needed", "unknown_arguments"] | None = None
    """Why there is no decision, where the check itself is not the reason: a judge had no verdict, or was not asked
    because an earlier check had failed; or a call does not record its arguments."""


PASS, FAIL, SKIP, BROKEN = Outcome("pass", True), Outcome("fail", True), Outcome("skip", True), Outcome("error", True)
"""What layer checks decide. They are explained only for the run of a scenario that a report shows."""
CALLS_UNKNOWN = "the trace does not record its tool calls"
"""Why a check on calls is undecided where a trace has no `steps`, or its source could not have shown calls."""
IDLE = Outcome("pass", False)
"""It holds, and nothing happened that could have broken it."""
