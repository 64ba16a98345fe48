"""`expected_calls`: which calls the agent should make, not only which tools it should use.

The calls made are paired with the expected ones at the least cost (`pairing`); the check holds if that is 0. With
`scope: effects` only calls that change the world are compared; with `failed: ignore`, only those that succeeded.
"""

from __future__ import annotations

from passmuster.checks._edit_script import describe
from passmuster.checks._layer import LayerCheck
from passmuster.checks._outcome import Status
from passmuster.checks._pairing import Actual, expect, pair
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import Effects, ExpectedCalls

__all__ = ["calls_check"]


def calls_check(asked: ExpectedCalls, effects: Effects, tools: ToolIndex) -> LayerCheck[View]:
    """The check of the calls that a scenario lists."""
    expected = [expect(call.tool, call.args, exact_args=asked.args == "exact") for call in asked.calls]
    changing = tools.bits((*effects.write, *effects.irreversible))

    def actual(view: View) -> list[Actual]:
        failed = view.failed if asked.failed == "ignore" else None
        return [
            Actual(call.tool, call.arguments, view.positions[index], index)
            for index, call in enumerate(view.calls)
            if (asked.scope == "all" or view.bits[index] & changing) and not (failed and failed[index])
        ]

    def decide(view: View) -> Status:
        try:
            return "pass" if not pair(expected, actual(view), asked.mode, asked.extras).cost else "fail"
        except TimeoutError:
            return "error"

    def explain(view: View) -> str:
        try:
            made = actual(view)
            script = pair(expected, made, asked.mode, asked.extras)
        except TimeoutError as error:
            return str(error)
        if not script.cost:
            return f"all {len(expected)} calls were made as expected ({asked.mode}, extras: {asked.extras})"
        return "; ".join(describe(script, expected, made))

    return LayerCheck("expected_calls", decide, explain)
