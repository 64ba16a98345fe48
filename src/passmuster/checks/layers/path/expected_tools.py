"""The check `expected_tools`."""

from collections.abc import Iterator

from passmuster import metrics
from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import figure, listed, reaches
from passmuster.suite import TEXT, OneOrMore


def _compile(expected: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these tools."""
    wanted = set(expected)
    least: float = context.stated.get("min_tool_recall", 1.0)

    def decide(view: View) -> Outcome:
        if not wanted:
            return decided(not view.names)
        return decided(wanted.issubset(view.names) or reaches(metrics.tool_recall(expected, view.names), least))

    def missing(view: View) -> list[str]:
        return [tool for tool in dict.fromkeys(expected) if tool not in view.names]

    def message(view: View) -> str:
        if not wanted:
            return f"no tool is expected, used: {listed(view.names)}"
        recall = metrics.tool_recall(expected, view.names)
        text = f"tool_recall {figure(recall)} {'≥' if reaches(recall, least) else '<'} {figure(least)}"
        return f"{text}: missing {listed(missing(view))}" if missing(view) else text

    def violations(view: View) -> Iterator[Violation]:
        absent = missing(view)
        yield view.violation(
            None if wanted else 0,
            message=message(view),
            tool=view.names[0] if not wanted else absent[0] if len(absent) == 1 else None,
            expected=listed(expected),
            actual=listed(list(dict.fromkeys(view.names))),
        )

    return LayerCheck(decide, message, violations)


KEY = LayerKey(
    OneOrMore(TEXT, empty=True),
    "All of these are used, or as many as `min_tool_recall` requires. `[]`: no tool is used.",
    _compile,
    order=1,
    example=["get_order", "issue_refund"],
)
