"""Selectors: which calls are meant. A tool pattern, or a map that also looks at arguments and results."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from passmuster.checks._view import ToolIndex, View, result_of
from passmuster.suite import (
    BOOLEAN,
    TOOL_PATTERN,
    Definitions,
    JsonSchema,
    Key,
    Late,
    MapOf,
    Mapping,
    Mistake,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Sequence,
    Value,
    fields_of,
    read_record,
)

if TYPE_CHECKING:
    from passmuster.checks.matchers import Matcher


def _matcher() -> "Value[Matcher]":
    from passmuster.checks.matchers import MATCHER  # late, for many selectors look at names alone

    return MATCHER


_PATTERNS = OneOrMore(TOOL_PATTERN)
_MATCHER = Late("a value or a matcher", _matcher)


class Selector(Record, frozen=True, kw_only=True):
    """Calls of tools that fit a pattern and, where stated, whose arguments, result and failure fit too."""

    tool: Annotated[
        tuple[str, ...],
        _PATTERNS,
        Key("A tool pattern, or a list of which any may match; without it, any tool.", example="refund_*"),
    ] = ("*",)
    args: Annotated[
        "dict[str, Matcher] | None",
        MapOf(_MATCHER),
        Key(
            "Arguments, by name or dotted path (a name that itself contains the dot takes precedence), "
            "with the value or matcher of each.",
            example={"amount": {"$gt": 200}},
        ),
    ] = None
    result: Annotated[
        "Matcher | None", _MATCHER, Key("The value or matcher of the result.", example={"approved": True})
    ] = None
    failed: Annotated[
        bool | None,
        BOOLEAN,
        Key("Only calls that failed (`true`) or did not (`false`); replaces the rule's treatment of failed calls."),
    ] = None

    schema_extra = {  # noqa: RUF012 - a class variable of the base
        "anyOf": [{"required": [key]} for key in ("tool", "args", "result", "failed")]
    }

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        if not any(key in map_ for key in fields_of(Selector)):
            yield map_, "an empty map selects nothing; name a 'tool'"

    @property
    def name(self) -> str:
        """What a message calls these calls."""
        text = " or ".join(self.tool)
        details = []
        if self.args:
            details.append(f"with {', '.join(self.args)} as stated")
        if self.result is not None:
            details.append("with a result as stated")
        if self.failed is not None:
            details.append("failed" if self.failed else "succeeded")
        return f"{text} ({', '.join(details)})" if details else text


Selectors = tuple[Selector, ...]


class _Selectors(Value[Selectors]):
    """One selector or a list of them; a list inside the list is a selector with several patterns."""

    words = "a tool pattern, a selector, or a list of these"

    def __init__(self, *, empty: bool = False) -> None:
        self._empty = empty

    def read(self, reader: Reader, node: Node, at: str) -> Selectors:
        if not isinstance(node, Sequence):
            return (_read_selector(reader, node, at),)
        if not node.items and not self._empty:
            reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
        return tuple(_read_selector(reader, item, f"{at}[{place}]") for place, item in enumerate(node.items))

    def schema(self, definitions: Definitions) -> JsonSchema:
        one = definitions.ref(
            "selector", lambda: {"anyOf": [TOOL_PATTERN.schema(definitions), RecordOf(Selector).schema(definitions)]}
        )
        inner = {"type": "array", "minItems": 1, "items": TOOL_PATTERN.schema(definitions)}
        several = {"type": "array", "items": {"anyOf": [one, inner]}, **({} if self._empty else {"minItems": 1})}
        return {"anyOf": [one, several]}


def _read_selector(reader: Reader, node: Node, at: str) -> Selector:
    if isinstance(node, Mapping):
        return read_record(Selector, reader, node, at) or Selector()
    return Selector(tool=_PATTERNS.read(reader, node, at))


SELECTORS = _Selectors()
Calls = Annotated[Selectors, SELECTORS]
"""The type of a key that says which calls are meant."""
CallsOrNone = Annotated[Selectors, _Selectors(empty=True)]
"""The same where an empty list has a meaning: nothing is allowed."""


class CallSelector:
    """A selector, compiled: which calls of a view it means."""

    def __init__(self, selector: Selector, tools: ToolIndex) -> None:
        self.name = selector.name
        self.bits = tools.bits(selector.tool)
        self._args = self._result = None
        if selector.args:
            from passmuster.checks.matchers import compile_args

            self._args = compile_args(selector.args)
        if selector.result is not None:
            self._result = selector.result.compile()
        self._failed = selector.failed
        self.plain = self._args is None and self._result is None and self._failed is None

    def attempts(self, view: View) -> list[int]:
        """The indexes of the calls meant, failed ones included."""
        mine = self.bits
        if not view.any_bits & mine:
            return []
        found = [place for place, bits in enumerate(view.bits) if bits & mine]
        return found if self.plain else [place for place in found if self._fits(view, place)]

    def successes(self, view: View) -> list[int]:
        """The indexes of the calls meant that did not fail; with `failed` stated, all calls meant."""
        found = self.attempts(view)
        if view.failed is None or self._failed is not None:
            return found
        return [place for place in found if not view.failed[place]]

    def absence(self, view: View) -> str:
        """Why there is no success: never called, or called and failed."""
        tried = self.attempts(view)
        return f"{self.name} was called {times(len(tried))} and failed" if tried else f"{self.name} was never called"

    def _fits(self, view: View, place: int) -> bool:
        call = view.calls[place]
        if self._failed is not None and self._failed != bool(view.failed and view.failed[place]):
            return False
        if self._args is not None and not self._args(call.arguments):
            return False
        return self._result is None or self._result(result_of(call))


class Selection(list[CallSelector]):
    """Compiled selectors; a call is meant if any of them means it."""

    def __init__(self, given: Selectors, tools: ToolIndex) -> None:
        super().__init__(CallSelector(one, tools) for one in given)
        self.name = " or ".join(one.name for one in self)
        self.bits = tools.bits(pattern for one in given for pattern in one.tool)
        """A trace in which no call has one of these bits has no call that is meant."""
        self.plain = all(one.plain for one in self)
        """Whether the selectors look at names alone."""

    def attempts(self, view: View) -> list[int]:
        """The indexes of the calls meant, in order, failed ones included."""
        if len(self) == 1:
            return self[0].attempts(view)
        return sorted({call for one in self for call in one.attempts(view)})

    def successes(self, view: View) -> list[int]:
        """The indexes of the calls meant that did not fail, in order."""
        if len(self) == 1:
            return self[0].successes(view)
        return sorted({call for one in self for call in one.successes(view)})


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"
