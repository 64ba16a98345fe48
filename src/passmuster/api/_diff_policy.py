"""What a new policy would have blocked, and what it would let through, in one pass over recorded traces."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from passmuster.api._inputs import StandardInput, trace_files
from passmuster.api._load_suite import load_suite
from passmuster.api._options import RunOptions
from passmuster.checks import Violation, redact_violation
from passmuster.engine import OnProgress, policy_changes, redactor_of
from passmuster.redaction import Redactor
from passmuster.scoring import Direction, PolicyChanges, RuleChange
from passmuster.traces import PartLines, lines_of


class ChangedRule(Struct, frozen=True):
    """A rule on a tool, and the calls that only one of the policies blocks for it."""

    test: str
    rule: str
    tool: str | None
    calls: int
    traces: int
    examples: list[Violation]


class PolicyDiff(Struct, frozen=True):
    """What changes between two policies. Secrets are hidden in all of it."""

    old: str
    new: str
    traces: int
    newly_blocked_traces: int
    newly_allowed_traces: int
    blocked_by_both: int
    undecided: int
    """Traces on which one of the policies could not be decided, and neither blocks."""
    newly_blocked_calls: int
    newly_allowed_calls: int
    newly_blocked: list[ChangedRule]
    """By the rules of the new policy, those with most calls first."""
    newly_allowed: list[ChangedRule]
    """By the rules of the old policy."""
    bad_lines: int = 0
    root: str = ""
    """The folder that files are named from."""

    @property
    def changed(self) -> bool:
        """Whether any call or trace has another verdict."""
        calls = self.newly_blocked_calls or self.newly_allowed_calls
        return bool(calls or self.newly_blocked_traces or self.newly_allowed_traces)


def diff_policy(
    old: str, new: str, options: RunOptions, stdin: StandardInput, *, on_progress: OnProgress | None = None
) -> PolicyDiff:
    """Evaluate each trace by two suites, without judges, and tell what only one of them blocks.

    Without `options.traces`, those that the new suite names are read.
    """
    before = load_suite(old, root=options.root, plugins=options.plugins)
    after = load_suite(new, root=options.root, plugins=options.plugins)
    sources = trace_files(after, options.traces, stdin, options.trace_format)
    settings = replace(options.settings, judge="off")
    execution = options.execution(sources, lambda note: None)
    counted = policy_changes(
        before, after, sources, settings, execution=execution, plugins=options.plugins, on_progress=on_progress
    )
    safe = _Safe(redactor_of(after), counted.changes, counted.part_lines)
    by_verdicts = counted.changes.traces

    def traces(were: tuple[str, ...], are: tuple[str, ...]) -> int:
        return sum(by_verdicts.get(f"{was}>{now}", 0) for was in were for now in are)

    free = ("allowed", "undecided")
    return PolicyDiff(
        old=old,
        new=new,
        traces=counted.read,
        newly_blocked_traces=traces(free, ("blocked",)),
        newly_allowed_traces=traces(("blocked",), free),
        blocked_by_both=traces(("blocked",), ("blocked",)),
        undecided=traces(free, free) - traces(("allowed",), ("allowed",)),
        newly_blocked_calls=counted.changes.calls_blocked,
        newly_allowed_calls=counted.changes.calls_allowed,
        newly_blocked=safe.rules("newly_blocked"),
        newly_allowed=safe.rules("newly_allowed"),
        bad_lines=counted.bad_lines,
        root=str(after.root),
    )


class _Safe:
    """The changed rules with secrets hidden and examples located."""

    def __init__(self, redactor: Redactor, changes: PolicyChanges, parts: PartLines) -> None:
        self._redactor, self._changes = redactor, changes
        self._lines = lines_of(changes.spots(), parts)

    def rules(self, direction: Direction) -> list[ChangedRule]:
        changes = [one for one in self._changes.rules.values() if one.direction == direction]
        changes.sort(key=lambda one: (-one.calls, one.test, one.rule, one.tool or ""))
        found = [self._rule(one) for one in changes]
        rest = self._changes.other.get(direction)
        return [*found, ChangedRule("other", "rules that are not told apart", None, rest, 0, [])] if rest else found

    def _rule(self, change: RuleChange) -> ChangedRule:
        text = self._redactor.text
        examples = [
            redact_violation(replace(one.violation, trace_line=self._lines.get(one.spot)), self._redactor)
            for one in change.examples
        ]
        tool = None if change.tool is None else text(change.tool)
        return ChangedRule(change.test, text(change.rule), tool, change.calls, change.traces, examples)
