"""Sequence rules about which tools were called, and how often: `require`, `eventually`, `count`, and the lists."""

from __future__ import annotations

from passmuster.checks._deciding import (
    HELD,
    IDLE,
    Decide,
    Decision,
    absence,
    all_plain,
    any_of,
    attempts,
    bits,
    broken,
    selectors,
    successes,
    times,
)
from passmuster.checks._outcome import Violation
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import rules as r

__all__ = ["allowlist", "blocklist", "count", "eventually", "require"]


def require(rule: r.Require, tools: ToolIndex) -> Decide:
    """Each of the tools was called with success."""
    wanted = selectors(rule.tool, tools)
    plain, each = all_plain(wanted), [selector.bits for selector in wanted]

    def decide(view: View) -> Decision:
        if plain and view.plain:
            for one in each:
                if not view.any_bits & one:
                    break
            else:
                return HELD
        missing = [selector for selector in wanted if not selector.successes(view)]
        if not missing:
            return HELD
        return True, [
            broken(
                rule,
                view,
                None,
                tool=selector.name,
                expected=f"{selector.name} to be called",
                actual=absence(selector, view),
                suggestion=f"Have the agent call {selector.name} on every run, or drop the rule.",
            )
            for selector in missing
        ]

    return decide


def eventually(rule: r.Eventually, tools: ToolIndex) -> Decide:
    """Each of the tools was called with success among the first positions."""
    wanted = selectors(rule.tool, tools)
    within = rule.within
    window = "" if within is None else f" among the first {within} position{'s' if within > 1 else ''}"

    def decide(view: View) -> Decision:
        found: list[Violation] = []
        for selector in wanted:
            done = selector.successes(view)
            if done and (within is None or view.positions[done[0]] < within):
                continue
            late = done[0] if done else None
            if late is None:
                actual = absence(selector, view)
            else:
                actual = f"{selector.name} came only at position {view.positions[late] + 1}"
                if view.positions[selector.attempts(view)[0]] < (within or 0):
                    actual += ", for it was called before and failed"
            found.append(
                broken(
                    rule,
                    view,
                    late,
                    tool=selector.name,
                    expected=f"{selector.name} to be called{window}",
                    actual=actual,
                    suggestion=f"Have the agent call {selector.name} earlier.",
                )
            )
        return True, found

    return decide


def count(rule: r.Count, tools: ToolIndex) -> Decide:
    """The calls are as many as allowed: successes for a minimum or an exact number, attempts for a maximum.

    A call that several selectors of the list mean is one call.
    """
    counted = selectors(rule.tool, tools)
    what = " and ".join(selector.name for selector in counted)
    least, most = rule.least, rule.most
    counted_bits = bits(counted)

    def decide(view: View) -> Decision:
        if least is None and not view.any_bits & counted_bits:
            return HELD if view.names else IDLE
        tried = attempts(counted, view)
        done = successes(counted, view) if least is not None else []
        found: list[Violation] = []

        def add(bound: str, actual: str, call: int | None, suggestion: str) -> None:
            found.append(
                broken(
                    rule,
                    view,
                    call,
                    tool=what,
                    calls_found=len(tried),
                    expected=f"{what} to be called {bound}",
                    actual=f"{what} {actual}",
                    suggestion=suggestion,
                )
            )

        if least is not None and (len(done) < least or (rule.exactly and len(done) > least)):
            bound = f"exactly {times(least)}" if rule.exactly else f"at least {times(least)}"
            extra = done[least] if len(done) > least else None
            add(bound, _how_often(len(tried), len(done)), extra, f"Have the agent call {what} {bound}.")
        if most is not None and len(tried) > most:
            bound = f"at most {times(most)}" if most else "never"
            add(bound, _how_often(len(tried)), tried[most], f"Stop the agent from calling {what} so often.")
        return (least is not None or bool(view.names)), found

    return decide


def _how_often(tried: int, done: int | None = None) -> str:
    if not tried:
        return "was never called"
    if done is None or done == tried:
        return f"was called {times(tried)}"
    if not done:
        return f"was called {times(tried)} and failed"
    return f"was called {times(tried)} and failed {times(tried - done)}"


def blocklist(rule: r.Blocklist, tools: ToolIndex) -> Decide:
    """None of the tools was called, not even without success. One violation a tool."""
    blocked = selectors(rule.tools, tools)
    blocked_bits = bits(blocked)

    def decide(view: View) -> Decision:
        if not view.any_bits & blocked_bits:
            return HELD if view.names else IDLE
        patterns: dict[int, str] = {}
        for selector in blocked:
            for call in selector.attempts(view):
                patterns.setdefault(call, selector.name)
        return True, [
            broken(
                rule,
                view,
                calls[0],
                tool=tool,
                pattern=patterns[calls[0]],
                calls_found=len(calls),
                expected=f"{tool} not to be called",
                actual=f"{tool} was called {times(len(calls))}",
                suggestion=f"Take {tool} out of the agent's tools, or out of the blocklist.",
            )
            for tool, calls in _by_tool(sorted(patterns), view).items()
        ]

    return decide


def allowlist(rule: r.Allowlist, tools: ToolIndex) -> Decide:
    """Nothing but these tools was called. One violation a tool."""
    allowed = selectors(rule.tools, tools)
    only = f"only {any_of(allowed)} to be called" if allowed else "no tool to be called"

    def decide(view: View) -> Decision:
        fine = set(attempts(allowed, view))
        if len(fine) == len(view.names):
            return bool(view.names), []
        other = [call for call in range(len(view.names)) if call not in fine]
        return True, [
            broken(
                rule,
                view,
                calls[0],
                tool=tool,
                calls_found=len(calls),
                expected=only,
                actual=f"{tool} was called {times(len(calls))}",
                suggestion=f"Take {tool} out of the agent's tools, or add it to the allowlist.",
            )
            for tool, calls in _by_tool(other, view).items()
        ]

    return decide


def _by_tool(calls: list[int], view: View) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for call in calls:
        grouped.setdefault(view.names[call], []).append(call)
    return grouped
