"""`expected_calls`: these calls are made, with these arguments.

The calls made are paired with the expected ones at the least cost (`_pairing`); the check holds if that is 0. With
`scope: effects` only calls that change the world are compared; with `failed: ignore`, only those that succeeded.
"""

from __future__ import annotations

from collections.abc import Iterator

from passmuster.checks._outcome import BROKEN, Outcome, Violation
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, decided
from passmuster.checks.layers.path._edit_script import describe, differences
from passmuster.checks.layers.path._pairing import Actual, expect, pair
from passmuster.suite import ExpectedCalls

__all__ = ["ORDER", "compile"]

ORDER = 12


def compile(asked: ExpectedCalls, context: Context) -> LayerCheck:
    """The check of these calls."""
    expected = [expect(call.tool, call.args, exact_args=asked.args == "exact", line=call.line) for call in asked.calls]
    effects = context.suite.effects
    changing = context.tools.bits((*effects.write, *effects.irreversible))

    def actual(view: View) -> list[Actual]:
        failed = view.failed if asked.failed == "ignore" else None
        return [
            Actual(call.tool, call.arguments, view.positions[index], index)
            for index, call in enumerate(view.calls)
            if (asked.scope == "all" or view.bits[index] & changing) and not (failed and failed[index])
        ]

    def decide(view: View) -> Outcome:
        try:
            return decided(not pair(expected, actual(view), asked.mode, asked.extras).cost)
        except TimeoutError:
            return BROKEN

    def message(view: View) -> str:
        try:
            made = actual(view)
            script = pair(expected, made, asked.mode, asked.extras)
        except TimeoutError as error:
            return str(error)
        if not script.cost:
            return f"all {len(expected)} calls were made as expected ({asked.mode}, extras: {asked.extras})"
        return "; ".join(describe(script, expected, made))

    def violations(view: View) -> Iterator[Violation]:
        made = actual(view)
        return differences(pair(expected, made, asked.mode, asked.extras), expected, made, view)

    return LayerCheck(decide, message, violations)
