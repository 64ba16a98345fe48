"""Demands on tools that cannot be met together: what is required and forbidden, and rules that can never apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, permutations
from typing import Any

from msgspec import Struct

from passmuster.api._lint_finding import LintFinding
from passmuster.checks import Demand, covers, may_overlap, spec_of
from passmuster.suite import Behavior, Layer, Scenario, Suite, Test, escape_glob

_MOST_LISTED = 2_000
"""Longer lists of patterns are not compared pair by pair."""


class _Stated(Struct, frozen=True):
    """A demand, who makes it, where, and on which runs; None: on all."""

    demand: Demand
    words: str
    line: int
    file: str
    runs: frozenset[str] | None
    blocks: bool

    @property
    def tools(self) -> str:
        return " or ".join(f"'{tool}'" for tool in self.demand.tools)

    def meets(self, other: _Stated) -> bool:
        """Whether both are asked of some run."""
        return self.runs is None or other.runs is None or not self.runs.isdisjoint(other.runs)

    def reaches(self, other: _Stated) -> bool:
        """Whether it is asked of all runs that the other is asked of."""
        return self.runs is None or (other.runs is not None and other.runs <= self.runs)


def tool_findings(suite: Suite) -> Iterator[LintFinding]:
    """All findings about tools."""
    stated = list(_demands(suite))
    forbidding = [one for one in stated if one.blocks and _forbids(one)]
    limiting = [one for one in stated if one.demand.kind == "most" and one.demand.count]
    for one in stated:
        match one.demand.kind:
            case "least":
                yield from _unmet(one, forbidding)
                yield from _too_few(one, limiting)
            case "about":
                if other := _excluding(one, forbidding):
                    message = f"{one.words} can never apply: {one.tools} is forbidden by {_place(other, one)}"
                    yield LintFinding("never_fires", "error", message, one.file, one.line)
            case "needs":
                if other := _excluding(one, forbidding):
                    message = f"{one.words} can never hold: it needs {one.tools}, which {_place(other, one)} forbids"
                    yield LintFinding("contradiction", "error", message, one.file, one.line)
    yield from _circles(suite)
    yield from _shadowed(suite)


def _forbids(one: _Stated) -> bool:
    return one.demand.kind == "only" or (one.demand.kind == "most" and not one.demand.count)


def _excludes(other: _Stated, tool: str) -> bool:
    """Whether a demand forbids every tool that fits the pattern."""
    if other.demand.kind == "only":
        return not any(may_overlap(allowed, tool) for allowed in other.demand.tools)
    return any(covers(pattern, tool) for pattern in other.demand.tools)


def _excluding(one: _Stated, forbidding: Iterable[_Stated]) -> _Stated | None:
    """What forbids every tool that a demand is about."""
    found: _Stated | None = None
    always = one.demand.kind == "least"  # else it is met by runs that it says nothing about
    others = [other for other in forbidding if other is not one and (other.meets if always else other.reaches)(one)]
    for tool in one.demand.tools:
        found = next((other for other in others if _excludes(other, tool)), None)
        if found is None:
            return None
    return found


def _unmet(one: _Stated, forbidding: list[_Stated]) -> Iterator[LintFinding]:
    if other := _excluding(one, forbidding):
        message = f"{one.words} asks for {one.tools}, which {_place(other, one)} forbids: no run can meet both"
        yield LintFinding("contradiction", "error", message, one.file, one.line)


def _too_few(one: _Stated, limiting: list[_Stated]) -> Iterator[LintFinding]:
    for other in limiting:
        limit = other.demand
        if limit.count >= one.demand.count or not other.meets(one):
            continue
        if all(any(covers(pattern, tool) for pattern in limit.tools) for tool in one.demand.tools):
            asked = f"{one.words} asks for at least {one.demand.count} calls of {one.tools}"
            message = f"{asked}, and {_place(other, one)} allows {limit.count}: no run can meet both"
            yield LintFinding("contradiction", "error", message, one.file, one.line)
            return


def _place(other: _Stated, one: _Stated) -> str:
    file = "" if other.file == one.file else f"{other.file}:"
    return f"{other.words} ({file or 'line '}{other.line})"


# ── What a suite demands ────────────────────────────────────────────────────────────────────────────────────


def _demands(suite: Suite) -> Iterator[_Stated]:
    for test in suite.tests:
        yield from _of_test(test, _runs(test, suite), suite.file)
    for scenario in suite.scenarios:
        yield from _of_scenario(scenario, suite.file)


def _runs(test: Test, suite: Suite) -> frozenset[str] | None:
    """The runs that a test is about: the ids of scenarios, and tags, which traces may have without a scenario."""
    if test.scenarios is None and test.tags is None:
        return None
    listed = [
        one.id
        for one in suite.scenarios
        if (test.scenarios is None or one.id in test.scenarios)
        and (test.tags is None or not set(test.tags).isdisjoint(one.tags))
    ]
    tags = [f"tag {tag}" for tag in test.tags or ()] if test.scenarios is None else []
    return frozenset((*listed, *tags))


def _of_test(test: Test, runs: frozenset[str] | None, file: str) -> Iterator[_Stated]:
    spec: Any = spec_of(test)
    blocks = test.severity == "block"
    for rule in getattr(spec, "rules", ()):
        for demand in rule.demands():
            yield _Stated(demand, f"the rule '{rule.type}' of '{test.id}'", rule.line, file, runs, blocks)
    for blocked in getattr(spec, "blocklist", ()):
        words = f"the blocklist of '{test.id}'"
        yield _Stated(Demand("most", (blocked.pattern,), 0), words, blocked.line, file, runs, blocks)
    if getattr(spec, "strict", False) and not spec.tools:
        policy = spec.effective_policy
        known = Demand("only", tuple(one.pattern for one in policy.tools))
        yield _Stated(known, f"the strict policy of '{test.id}'", policy.line, policy.file, runs, blocks)
    if getattr(spec, "max_tool_calls", None) is not None:
        limit = Demand("most", ("*",), spec.max_tool_calls)
        yield _Stated(limit, f"the limit of '{test.id}'", spec.lines["max_tool_calls"], file, runs, blocks)


def _of_scenario(scenario: Scenario, file: str) -> Iterator[_Stated]:
    runs = frozenset({scenario.id})
    parts = [(scenario.path, scenario.expected_behaviors, scenario.must_not, scenario.pass_score == 1.0)]
    parts += [(turn.path, turn.expected_behaviors, turn.must_not, True) for turn in scenario.turns]
    for number, (path, expected, must_not, all_of_them) in enumerate(parts):
        whole = number == 0  # what a turn forbids, another turn may do
        for key, demand, line in _of_path(path) if path is not None else ():
            if whole or demand.kind == "least":
                yield _Stated(demand, f"'{key}' of scenario '{scenario.id}'", line, file, runs, True)
        for behavior in expected if all_of_them else ():
            for demand in _of_behavior(behavior):
                if whole or demand.kind == "least":
                    words = f"the behavior '{behavior.name}' of scenario '{scenario.id}'"
                    yield _Stated(demand, words, behavior.line, file, runs, True)
        for behavior in must_not if whole else ():
            for tools in _called(behavior.check, "tool_called"):
                words = f"'must_not' of scenario '{scenario.id}'"
                yield _Stated(Demand("most", tools, 0), words, behavior.line, file, runs, True)


def _of_behavior(behavior: Behavior) -> Iterator[Demand]:
    check = behavior.check
    for one in getattr(check, "tool_called", ()):
        yield Demand("least", one.tool)
        break  # of a list, any
    if hasattr(check, "demands"):
        yield from check.demands()
    for tools in _called(check, "tool_not_called"):
        yield Demand("most", tools, 0)


def _called(check: Any, key: str) -> Iterator[tuple[str, ...]]:
    """The patterns of a behavior about calls, where it looks at nothing but names."""
    for one in getattr(check, key, ()):
        if not one.details:
            yield one.tool


def _of_path(path: Layer) -> Iterator[tuple[str, Demand, int]]:
    """The demands of a scenario's path. Names there are literal, but for those that are patterns by declaration."""
    values, lines = path.values, path.lines
    expected = values.get("expected_tools")
    if expected is not None and values.get("min_tool_recall", 1.0) == 1.0:
        for tool in dict.fromkeys(expected):
            yield "expected_tools", Demand("least", (escape_glob(tool),)), lines["expected_tools"]
        if not expected:
            yield "expected_tools", Demand("only", ()), lines["expected_tools"]
        elif len(set(expected)) > 1:
            yield "expected_tools", Demand("least", ("*",), len(set(expected))), lines["expected_tools"]
    sequence = values.get("expected_tool_sequence")
    asks_all = "match_mode" in values or "min_sequence_similarity" not in values
    if sequence and asks_all and values.get("match_mode") != "superset":
        line = lines["expected_tool_sequence"]
        for tool in dict.fromkeys(sequence):
            yield "expected_tool_sequence", Demand("least", (escape_glob(tool),)), line
        ordered = values.get("match_mode", "in_order") in ("in_order", "strict")
        yield "expected_tool_sequence", Demand("least", ("*",), len(sequence) if ordered else len(set(sequence))), line
    calls = values.get("expected_calls")
    if calls is not None and calls.missing == "forbid":
        needed = [call for call in calls.calls if not call.optional]
        for call in needed:
            yield "expected_calls", Demand("least", (call.tool,)), call.line
        if len(needed) > 1:
            yield "expected_calls", Demand("least", ("*",), len(needed)), lines["expected_calls"]
    for pattern in values.get("forbidden_tools", ()):
        yield "forbidden_tools", Demand("most", (pattern,), 0), lines["forbidden_tools"]
    if "max_tool_calls" in values:
        yield "max_tool_calls", Demand("most", ("*",), values["max_tool_calls"]), lines["max_tool_calls"]


# ── Orders that contradict each other ───────────────────────────────────────────────────────────────────────


def _circles(suite: Suite) -> Iterator[LintFinding]:
    """Tools that each have to come before the other, and what has to follow and must not."""
    ordered = [
        (rule, _runs(test, suite), test)
        for test in suite.tests
        for rule in getattr(spec_of(test), "rules", ())
        if rule.type in ("before", "immediately_before", "after", "never_after")
    ]
    groups: dict[frozenset[str], list[tuple[Any, frozenset[str] | None, Test]]] = {}
    for one in ordered:
        groups.setdefault(frozenset(tool for demand in one[0].demands() for tool in demand.tools), []).append(one)
    pairs = chain.from_iterable(permutations(group, 2) for group in groups.values())
    for (rule, runs, test), (other, others, _) in pairs:
        if runs is not None and others is not None and runs.isdisjoint(others):
            continue
        if _is_circle(rule, other) and (rule.line, rule.type) <= (other.line, other.type):
            message = f"the rule '{rule.type}' of '{test.id}' and the one on line {other.line} exclude each other"
            yield LintFinding("contradiction", "error", message, suite.file, rule.line)


def _is_circle(rule: Any, other: Any) -> bool:
    if rule.type in ("before", "immediately_before") and other.type in ("before", "immediately_before"):
        return _same(rule.first, other.then) and _same(other.first, rule.then) and not _same(rule.first, rule.then)
    pair = {rule.type: rule, other.type: other}
    if set(pair) != {"after", "never_after"}:
        return False
    after, never = pair["after"], pair["never_after"]
    return _same(after.trigger, never.trigger) and _same(after.then, never.forbidden)


def _same(one: Any, other: Any) -> bool:
    """Whether two lists of selectors mean the same single tool, whatever its arguments."""
    tools = {tool for selectors in (one, other) for selector in selectors for tool in selector.tool}
    return len(tools) == 1 and not any(selector.details for selectors in (one, other) for selector in selectors)


# ── Patterns that others cover ──────────────────────────────────────────────────────────────────────────────


def _shadowed(suite: Suite) -> Iterator[LintFinding]:
    for what, patterns in _lists(suite):
        for place, (pattern, line) in enumerate(patterns if len(patterns) <= _MOST_LISTED else ()):
            for other_place, (other, _) in enumerate(patterns):
                if place != other_place and covers(other, pattern) and (other != pattern or other_place < place):
                    told = f"is listed twice in {what}" if other == pattern else f"in {what} is covered by '{other}'"
                    yield LintFinding("shadowed", "error", f"'{pattern}' {told}", suite.file, line)
                    break


def _lists(suite: Suite) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The lists of patterns in which one that another covers changes nothing."""
    for test in suite.tests:
        spec: Any = spec_of(test)
        yield f"the blocklist of '{test.id}'", [(one.pattern, one.line) for one in getattr(spec, "blocklist", ())]
        for rule in getattr(spec, "rules", ()):
            if rule.type in ("blocklist", "allowlist"):
                plain = [one for one in rule.tools if not one.details]
                patterns = [(pattern, rule.line) for one in plain for pattern in one.tool]
                yield f"the rule '{rule.type}' of '{test.id}'", patterns
    for scenario in suite.scenarios:
        if scenario.path is not None and "forbidden_tools" in scenario.path.values:
            line = scenario.path.lines["forbidden_tools"]
            patterns = [(pattern, line) for pattern in scenario.path.values["forbidden_tools"]]
            yield f"'forbidden_tools' of scenario '{scenario.id}'", patterns
