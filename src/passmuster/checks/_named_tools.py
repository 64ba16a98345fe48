"""The tools that a suite names, and which of them nobody has: a misspelt name in a blocklist forbids nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from passmuster._problems import did_you_mean
from passmuster.checks._spec import CheckSpec, spec_of
from passmuster.suite import Scenario, Suite, Turn, glob_matcher, is_literal

_HINTED = 500
"""Known names among which a hint is looked for where nothing is close."""
_PATH_KEYS = ("forbidden_tools", "expected_tools", "expected_tool_sequence")


class NamedTool(Struct, frozen=True):
    """A tool name or pattern, and where the suite has it."""

    pattern: str
    line: int
    said: str
    """What names it, to begin a sentence: `the rule 'before'`."""


class KnownTools:
    """The tools that policies and traces have."""

    def __init__(self, suite: Suite, seen: Collection[str]) -> None:
        policies = [pattern for test in suite.tests for pattern in spec_of(test).known_tools()]
        self._names = set(seen) | {pattern for pattern in policies if is_literal(pattern)}
        self._globs = [glob_matcher(pattern) for pattern in policies if not is_literal(pattern)]
        self._sorted = sorted(self._names)

    def has(self, pattern: str) -> bool:
        """Whether some tool fits the pattern."""
        if pattern in self._names:
            return True
        if is_literal(pattern):
            return any(fits(pattern) for fits in self._globs)
        return any(map(glob_matcher(pattern), self._names))

    def unknown(self, patterns: Iterable[str]) -> str:
        """What to add to a message about a rule that no trace exercised: which of its tools nobody has."""
        missing = [pattern for pattern in dict.fromkeys(patterns) if not self.has(pattern)]
        if not missing or not self._names:
            return ""
        names = ", ".join(f"'{pattern}'" for pattern in missing)
        near = self.near(missing[0])
        hint = f"; did you mean '{near}'?" if near else did_you_mean(missing[0], self._sorted[:_HINTED])
        return f": neither a policy nor any trace has {names}{hint}"

    def near(self, pattern: str) -> str | None:
        """The known name that a pattern was most likely meant to be; None where none is close."""
        return next((name for name in self._sorted if _is_slip(pattern, name)), None)


def _is_slip(pattern: str, name: str) -> bool:
    """Whether one is the other misspelt: in another case, with another sign, or with a slip of the finger."""
    if not is_literal(pattern):  # of a glob, what stands before the first wildcard
        head = pattern[: min(pattern.find(sign) for sign in "*?[" if sign in pattern)]
        start = name[: len(head)]
        return len(head) >= 4 and head != start and (_folded(head) == _folded(start) or sorted(head) == sorted(start))
    if _folded(pattern) == _folded(name):
        return True
    if min(len(pattern), len(name)) < 5 or _letters(pattern) == _letters(name):  # `search_v1` is not `search_v2`
        return False
    from rapidfuzz.distance import OSA  # late, for most suites name tools that are there

    slips = 1 if len(pattern) < 10 else 2
    return OSA.distance(pattern, name, score_cutoff=slips) <= slips


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(".", "")


def _letters(name: str) -> str:
    return "".join(char for char in name if not char.isdigit())


def uncovered_tools(suite: Suite, seen: Iterable[str]) -> list[str]:
    """The tools that were called and that no policy file of the suite has; none where it has no policy file."""
    policies = [pattern for test in suite.tests for pattern in spec_of(test).known_tools()]
    if not policies:
        return []
    names = {pattern for pattern in policies if is_literal(pattern)}
    globs = [glob_matcher(pattern) for pattern in policies if not is_literal(pattern)]
    return sorted(name for name in seen if name not in names and not any(fits(name) for fits in globs))


def misspelt_tools(suite: Suite, known: KnownTools) -> Iterator[tuple[NamedTool, str]]:
    """The tools that a suite names and nobody has, each once, with the name that was most likely meant."""
    told: set[str] = set()
    for named in _named(suite):
        if named.pattern in told:
            continue
        told.add(named.pattern)
        if not known.has(named.pattern) and (near := known.near(named.pattern)):
            yield named, near


def _named(suite: Suite) -> Iterator[NamedTool]:
    for test in suite.tests:
        spec: CheckSpec = spec_of(test)
        for pattern, line, said in spec.named_tools():
            yield NamedTool(pattern, line or test.line, said)
    for failed in suite.failed_when:
        yield NamedTool(failed.tool, failed.line, "'failed_when'")
    for scenario in suite.scenarios:
        yield from _in_scenario(scenario, scenario.id)
        for turn in scenario.turns:
            yield from _in_scenario(turn, scenario.id)


def _in_scenario(stated: Scenario | Turn, id_: str) -> Iterator[NamedTool]:
    if stated.path is not None:
        for key in _PATH_KEYS:
            for pattern in stated.path.values.get(key, ()):
                yield NamedTool(pattern, stated.path.lines[key], f"'{key}' of scenario '{id_}'")
        if (expected := stated.path.values.get("expected_calls")) is not None:
            for call in expected.calls:
                yield NamedTool(call.tool, call.line, f"'expected_calls' of scenario '{id_}'")
    from passmuster.checks._selectors import selectors_in  # late, for suites without scenarios

    for behavior in (*stated.expected_behaviors, *stated.must_not):
        for selector in selectors_in(behavior.check) if isinstance(behavior.check, Struct) else ():
            for pattern in selector.tool:
                yield NamedTool(pattern, behavior.line, f"the behavior '{behavior.name}'")
