"""What changes between two policies, for a person. The values come redacted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from passmuster._problems import plural
from passmuster.checks import Violation
from passmuster.reports._text import headline, one_line, place

_RULES = 30
_EXAMPLES = 3


class _Rule(Protocol):
    @property
    def test(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def calls(self) -> int: ...
    @property
    def traces(self) -> int: ...
    @property
    def examples(self) -> Sequence[Violation]: ...


def changed_rule_lines(
    title: str, calls: int, traces: int, rules: Sequence[_Rule], paths: Mapping[str, str]
) -> Iterator[str]:
    """The rules for which calls are newly blocked, or newly let through, each with examples in files by these names."""
    yield ""
    if not calls and not traces:
        yield f"{title}: nothing"
        return
    yield f"{title}: {plural(traces, 'trace')}, {plural(calls, 'call')}"
    for rule in rules[:_RULES]:
        yield f"   {_named(rule)}: {plural(rule.calls, 'call')} in {plural(rule.traces, 'trace')}"
        for violation in rule.examples[:_EXAMPLES]:
            file = violation.trace_file
            where = place(paths[file] if file else file, violation.trace_line)
            trace = f" (trace {one_line(violation.trace_id)})" if violation.trace_id else ""
            yield f"      {where}{trace}: {headline(violation)}"
    if len(rules) > _RULES:
        yield f"   … and {plural(len(rules) - _RULES, 'more rule')} (all of them with --json)"


def _named(rule: _Rule) -> str:
    tool = f" on {one_line(rule.tool)}" if rule.tool else ""
    return f"{one_line(rule.test)}, {one_line(rule.rule)}{tool}"
