"""`count`: the number of calls is within bounds."""

from collections.abc import Iterator
from typing import Annotated

from passmuster.checks._demands import Demand, at_most, tools_of
from passmuster.checks.rules import (
    HELD,
    IDLE,
    Calls,
    Decide,
    Decision,
    Rule,
    Selection,
    Selectors,
    ToolIndex,
    View,
    Violation,
    times,
)
from passmuster.suite import WHOLE, Key, Mapping, Mistake


class Count(Rule, frozen=True, kw_only=True):
    """The number of calls is within bounds. A list: their sum."""

    tool: Annotated[Calls, Key("The calls that are counted.", example="issue_refund")]
    min: Annotated[int | None, WHOLE, Key("At least this many, failed calls not counted.", example=1)] = None
    max: Annotated[int | None, WHOLE, Key("At most this many, failed calls included.", example=3)] = None
    exactly: Annotated[int | None, WHOLE, Key("Exactly this many, failed calls not counted.", example=1)] = None

    schema_extra = {  # noqa: RUF012 - a class variable of the base
        "oneOf": [{"required": ["exactly"]}, {"anyOf": [{"required": ["min"]}, {"required": ["max"]}]}]
    }

    mistakes_about = ("min", "max", "exactly")

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        least, most, exactly = self.min, self.max, self.exactly
        if exactly is not None and (least is not None or most is not None):
            yield map_, "'exactly' cannot be combined with 'min' or 'max'"
        elif exactly is None and least is None and most is None:
            yield map_, "needs at least one of 'min', 'max', 'exactly'"
        elif least == 0 and most is None:
            yield map_, "'min: 0' alone can never fail"
        elif least is not None and most is not None and least > most:
            yield map_, f"min {least} is above max {most}, so it can never hold"

    def demands(self) -> Iterator[Demand]:
        """The least and the highest number of calls."""
        least = self.exactly if self.exactly is not None else self.min
        most = self.exactly if self.exactly is not None else self.max
        if least:
            yield Demand("least", tools_of(self.tool), least)
        if most is not None:
            yield from at_most(self.tool, most)

    def compile(self, tools: ToolIndex) -> Decide:
        """Successes are counted for a minimum or an exact number, attempts for a maximum."""
        if self.exactly is None:
            return count_calls(self, self.tool, tools, least=self.min, most=self.max)
        if not self.exactly:
            return count_calls(self, self.tool, tools, most=0)
        return count_calls(self, self.tool, tools, least=self.exactly, exactly=True)


def count_calls(
    rule: Rule,
    tool: Selectors,
    tools: ToolIndex,
    *,
    least: int | None = None,
    most: int | None = None,
    exactly: bool = False,
) -> Decide:
    """Counts the calls that selectors mean; one that several of them mean is one call."""
    counted = Selection(tool, tools)
    what = " and ".join(selector.name for selector in counted)
    counted_bits = counted.bits

    def decide(view: View) -> Decision:
        if least is None and not view.any_bits & counted_bits:
            return HELD if view.names else IDLE
        tried = counted.attempts(view)
        done = tried if least is None else counted.successes(view)
        few = least is not None and (len(done) < least or (exactly and len(done) > least))
        many = most is not None and len(tried) > most
        return (True, list(explain(view, tried, done, few, many))) if few or many else HELD

    def explain(view: View, tried: list[int], done: list[int], few: bool, many: bool) -> Iterator[Violation]:
        if few and least is not None:
            bound = f"{'exactly' if exactly else 'at least'} {times(least)}"
            extra = done[least] if len(done) > least else None
            advice = f"Have the agent call {what} {bound}."
            told = "" if tried else "; ".join(filter(None, (one.difference(view) for one in counted)))
            actual = f"{_how_often(len(tried), len(done))}{f': {told}' if told else ''}"
            yield violation(view, extra, tried, bound, actual, advice)
        if many and most is not None:
            bound = f"at most {times(most)}" if most else "never"
            advice = f"Stop the agent from calling {what} so often."
            yield violation(view, tried[most], tried, bound, _how_often(len(tried)), advice)

    def violation(view: View, call: int | None, tried: list[int], bound: str, actual: str, advice: str) -> Violation:
        return rule.broken(
            view,
            call,
            tool=what,
            calls_found=len(tried),
            expected=f"{what} to be called {bound}",
            actual=f"{what} {actual}",
            suggestion=advice,
        )

    return decide


def _how_often(tried: int, done: int | None = None) -> str:
    if not tried:
        return "was never called"
    if done is None or done == tried:
        return f"was called {times(tried)}"
    if not done:
        return f"was called {times(tried)} and failed"
    return f"was called {times(tried)} and failed {times(tried - done)}"
