"""`count`: the number of calls is within bounds."""

from __future__ import annotations

from passmuster.checks._outcome import Violation
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import HELD, IDLE, Decide, Decision, attempts, bits, broken, selectors, successes, times
from passmuster.suite import rules as r


def compile(rule: r.Count, tools: ToolIndex) -> Decide:
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
