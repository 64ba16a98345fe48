"""The check `expected_calls`.

The calls made are paired with the expected ones at the least cost (`_pairing`); the check holds if that is 0. With
`scope: effects` only calls that change the world are compared; with `failed: ignore`, only those that succeeded.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from msgspec.structs import replace

from passmuster.checks._outcome import BROKEN, FAIL, PASS, SKIP, Outcome, Violation
from passmuster.checks._view import ToolSet, View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._edit_script import describe, differences
from passmuster.checks.layers.path._pairing import RIGHT_ARGUMENTS, Actual, Extras, Mode, expect, pair
from passmuster.checks.matchers import ARGS, Matcher
from passmuster.suite import (
    BOOLEAN,
    TOOL_PATTERN,
    Choice,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    ListOf,
    Mapping,
    Mistake,
    Node,
    Reader,
    Record,
    RecordOf,
    Sequence,
    Suite,
)

_NOTHING_ASKED = "every call may be missing and extras are allowed, so nothing would be checked; write 'extras: forbid'"
_NO_CALL = "no call is listed and extras are allowed, so nothing would be checked"


class ExpectedCall(Record, frozen=True, kw_only=True):
    """One call that should be made, with the arguments that matter."""

    tool: Annotated[str, TOOL_PATTERN, Key("The tool, or a pattern.", example="issue_refund")]
    args: Annotated[
        dict[str, Matcher] | None,
        ARGS,
        Key("Arguments by name or dotted path, with the value or matcher of each; without it, any arguments."),
    ] = None
    match: Annotated[
        Literal["subset", "exact"] | None,
        Choice("subset", "exact"),
        Key("How its arguments are compared; by default as `args` of `expected_calls` says."),
    ] = None
    optional: Annotated[bool, BOOLEAN, Key("Whether it may be missing.")] = False
    line: int


CALLS = ListOf(RecordOf(ExpectedCall, "a tool, or a map of `tool`, `args`, `match` and `optional`", short="tool"))


class ExpectedCalls(Record, frozen=True, kw_only=True):
    """Which calls should be made, and how strictly they are compared."""

    calls: Annotated[tuple[ExpectedCall, ...], CALLS, Key("The calls, each a tool or a map with `args`.")]
    mode: Annotated[
        Mode, Choice(*get_args(Mode)), Key("`exact` is in order with nothing extra, whatever `extras` says.")
    ] = "any_order"
    extras: Annotated[Extras, Choice(*get_args(Extras)), Key("Whether calls that are not listed are differences.")] = (
        "allow"
    )
    missing: Annotated[
        Literal["forbid", "allow"],
        Choice("forbid", "allow"),
        Key("`allow`: each listed call may be missing; with `extras: forbid`, only listed calls are made."),
    ] = "forbid"
    args: Annotated[
        Literal["subset", "exact"],
        Choice("subset", "exact"),
        Key("`exact`: an argument that is not listed is a difference."),
    ] = "subset"
    scope: Annotated[
        Literal["all", "effects"],
        Choice("all", "effects"),
        Key("`effects`: only calls of tools under `effects.write` and `effects.irreversible`."),
    ] = "all"
    failed: Annotated[
        Literal["count", "ignore"],
        Choice("count", "ignore"),
        Key("`count`: a failed call can be an expected one; `ignore`: failed calls are left out."),
    ] = "count"

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """Something has to be asked for."""
        if self.extras == "forbid" or self.mode == "exact":
            return
        if not self.calls:
            yield map_.entries["calls"].value, _NO_CALL
        elif self.missing == "allow" or all(call.optional for call in self.calls):
            yield map_.entries["calls"].value, _NOTHING_ASKED


_CALLS_MAP = RecordOf(ExpectedCalls)


def _read(reader: Reader, node: Node, at: str) -> ExpectedCalls:
    if not isinstance(node, Sequence):
        return _CALLS_MAP.read(reader, node, at)
    if not node.items:
        reader.problem(node, f"{at}: {_NO_CALL}")
    calls = CALLS.read(reader, node, at)
    if calls and all(call.optional for call in calls):
        reader.problem(node, f"{at}: {_NOTHING_ASKED}")
    return ExpectedCalls(calls=calls)


def _schema(definitions: Definitions) -> JsonSchema:
    return {"anyOf": [{**CALLS.schema(definitions), "minItems": 1}, _CALLS_MAP.schema(definitions)]}


EXPECTED_CALLS = Custom("a list of calls, or a map", _read, _schema)


def _lacks(asked: ExpectedCalls, suite: Suite) -> str | None:
    """`scope: effects` compares nothing where no tool is said to have an effect."""
    if asked.scope == "all" or suite.effects.write or suite.effects.irreversible:
        return None
    return (
        "path.expected_calls: 'scope: effects' needs 'effects.write' or 'effects.irreversible' in the suite, "
        "or a policy whose MCP annotations say which tools change something"
    )


def _compile(asked: ExpectedCalls, context: Context) -> LayerCheck:
    """The check of these calls."""
    expected = [
        expect(
            call.tool,
            call.args,
            exact_args=(call.match or asked.args) == "exact",
            line=call.line,
            optional=call.optional or asked.missing == "allow",
        )
        for call in asked.calls
    ]
    effects = context.suite.effects
    changing = ToolSet((*effects.write, *effects.irreversible), context.tools)

    def actual(view: View) -> list[Actual]:
        failed = view.failed if asked.failed == "ignore" else None
        return [
            Actual(call.tool, call.arguments, view.positions[index], index)
            for index, call in enumerate(view.calls)
            if (asked.scope == "all" or changing.fits(view, index)) and not (failed and failed[index])
        ]

    def decide(view: View) -> Outcome:
        try:
            made = actual(view)
            if not pair(expected, made, asked.mode, asked.extras).cost:
                return PASS
            return SKIP if is_open(made) else FAIL
        except TimeoutError:
            return BROKEN

    def is_open(made: list[Actual]) -> bool:
        """Whether the calls would be as expected, had each with unknown arguments been made with the right ones."""
        if not any(call.arguments is None for call in made):
            return False
        right = [replace(call, arguments=RIGHT_ARGUMENTS) if call.arguments is None else call for call in made]
        return not pair(expected, right, asked.mode, asked.extras).cost

    def message(view: View) -> str:
        try:
            made = actual(view)
            script = pair(expected, made, asked.mode, asked.extras)
            if script.cost and is_open(made):
                return "unknown: a call that may be an expected one does not record its arguments"
        except TimeoutError as error:
            return str(error)
        if not script.cost:
            return f"all {len(expected)} calls were made as expected ({asked.mode}, extras: {asked.extras})"
        return "; ".join(describe(script, expected, made))

    def violations(view: View) -> Iterator[Violation]:
        made = actual(view)
        return differences(pair(expected, made, asked.mode, asked.extras), expected, made, view)

    return LayerCheck(decide, message, violations)


KEY = LayerKey(
    EXPECTED_CALLS,
    "These calls are made, with these arguments.",
    _compile,
    order=12,
    example=[{"tool": "issue_refund", "args": {"amount": {"$lte": 90}}}],
    lacks=_lacks,
)
