"""Selectors: which calls are meant. A tool pattern, or a map that also looks at arguments and results."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from passmuster.checks._json_values import MISSING, argument_at
from passmuster.checks._quoting import HIDDEN, is_secret_path, quoted
from passmuster.checks._view import ToolIndex, ToolSet, View, result_of
from passmuster.suite import (
    BOOLEAN,
    TEXT,
    TOOL_PATTERN,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    Late,
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
    glob_matcher,
    read_record,
    why_bad_glob,
)

if TYPE_CHECKING:
    from passmuster.checks.matchers import Matcher


def _matcher() -> "Value[Matcher]":
    from passmuster.checks.matchers import MATCHER  # late, for many selectors look at names alone

    return MATCHER


def _args() -> "Value[dict[str, Matcher]]":
    from passmuster.checks.matchers import ARGS

    return ARGS


_PATTERNS = OneOrMore(TOOL_PATTERN)


def _read_agent(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    if text and (why := why_bad_glob(text)):
        reader.problem(node, f"{at}: {why}")
        return ""
    return text


_AGENTS = OneOrMore(Custom("the name of an agent, or a glob", _read_agent, TEXT.schema))
_MATCHER = Late("a value or a matcher", _matcher)
_ARGS = Late("a map of names to: a value or a matcher", _args)


class Selector(Record, frozen=True, kw_only=True):
    """Calls of tools that fit a pattern and, where stated, whose arguments, result and failure fit too."""

    tool: Annotated[
        tuple[str, ...],
        _PATTERNS,
        Key("A tool pattern, or a list of which any may match; without it, any tool.", example="refund_*"),
    ] = ("*",)
    args: Annotated[
        "dict[str, Matcher] | None",
        _ARGS,
        Key(
            "Arguments, by name or dotted path (a name that itself contains the dot takes precedence), "
            "with the value or matcher of each.",
            example={"amount": {"$gt": 200}},
        ),
    ] = None
    result: Annotated[
        "Matcher | None", _MATCHER, Key("The value or matcher of the result.", example={"approved": True})
    ] = None
    agent: Annotated[
        tuple[str, ...] | None,
        _AGENTS,
        Key(
            "The agent that made the call: a name, a glob, or a list of which any may match. A call that does not "
            "record one was made by the `agent` of its trace; where neither is recorded, it is not selected.",
            example="billing",
        ),
    ] = None
    failed: Annotated[
        bool | None,
        BOOLEAN,
        Key("Only calls that failed (`true`) or did not (`false`); replaces the rule's treatment of failed calls."),
    ] = None

    schema_extra = {  # noqa: RUF012 - a class variable of the base
        "anyOf": [{"required": [key]} for key in ("tool", "args", "result", "agent", "failed")]
    }

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        if not any(key in map_ for key in fields_of(Selector)):
            yield map_, "an empty map selects nothing; name a 'tool'"
        if self.args == {}:
            yield map_.entries["args"], "'args' is empty and means nothing; drop it, or name an argument"

    @property
    def name(self) -> str:
        """What a message calls these calls."""
        return f"{' or '.join(self.tool)}{self.details}"

    @property
    def details(self) -> str:
        """What is asked of the calls besides their tool, to follow the tool's name; empty where nothing is."""
        stated = [f"{key} {_asked(key, matcher)}" for key, matcher in (self.args or {}).items()]
        if self.result is not None:
            stated.append(f"result {self.result.in_words()}")
        if self.agent is not None:
            stated.append(f"by {' or '.join(self.agent)}")
        if self.failed is not None:
            stated.append("failed" if self.failed else "succeeded")
        return f" ({', '.join(stated)})" if stated else ""


def _asked(path: str, matcher: "Matcher") -> str:
    return HIDDEN if is_secret_path(path) else matcher.in_words()


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
        self.name, self.details = selector.name, selector.details
        self._selector, self._hidden = selector, tools.hidden
        self._tools = ToolSet(selector.tool, tools)
        self.bits = self._tools.bits
        self._args = self._result = None
        if selector.args:
            from passmuster.checks.matchers import compile_args

            self._args = compile_args(selector.args)
        if selector.result is not None:
            self._result = selector.result.compile_for_result()
        self._agents = [glob_matcher(pattern) for pattern in selector.agent or ()]
        self._failed = selector.failed
        stated = (self._args, self._result, self._failed, self._agents or None)
        self._by_name_alone = all(one is None for one in stated)
        self.plain = self._by_name_alone and self._tools.exact

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

    def is_unclear(self, view: View) -> bool:
        """Whether a call may be meant that does not record the arguments it is told by."""
        if self._args is None or not view.any_bits & self.bits:
            return False
        return any(call.arguments is None and self._tools.fits(view, place) for place, call in enumerate(view.calls))

    def absence(self, view: View) -> str:
        """Why there is no success: never called, called and failed, or called with something else."""
        tried = self.attempts(view)
        if tried:
            return f"{self.name} was called {times(len(tried))} and failed"
        difference = self.difference(view)
        return f"{self.name} was never called" + (f": {difference}" if difference else "")

    def difference(self, view: View) -> str | None:
        """How the calls of the tool differ from those that are meant; None where the tool was not called."""
        others = [] if self._by_name_alone else self._tools.calls(view)
        return self._instead(view, others) if others else None

    def _instead(self, view: View, others: list[int]) -> str:
        """What the calls of the tool were like that are not meant; the last of them is told in full."""
        last = others[-1]
        call = view.calls[last]
        found = []
        if self._selector.agent is not None and not self._is_by(view, last):
            found.append(f"made by {view.trace.agent_of(call) or 'an agent that is not recorded'}")
        for key, matcher in (self._selector.args or {}).items():
            value = argument_at(call.arguments, key)
            if not matcher.compile()(value):
                found.append(f"{key} was {self._quoted(call.tool, key, value)}")
        if self._result is not None and not self._result(result_of(call)):
            result = result_of(call)
            found.append(f"its result was {'not recorded' if result is MISSING else quoted(result)}")
        if self._failed is not None and self._failed != bool(view.failed and view.failed[last]):
            found.append("it succeeded" if self._failed else "it failed")
        which = f"call {last + 1}" if len(others) == 1 else f"the last of {len(others)} calls (call {last + 1})"
        return f"{view.names[last]} was called, but on {which} {' and '.join(found)}"

    def _quoted(self, tool: str, path: str, value: object) -> str:
        if value is MISSING or is_secret_path(path):
            return "missing" if value is MISSING else HIDDEN
        if self._hidden:
            from passmuster.redaction import Redactor

            value = Redactor((), self._hidden).argument(tool, path, value)[0]
        return quoted(value)

    def means(self, view: View, place: int) -> bool:
        """Whether this very call is meant."""
        return bool(view.bits[place] & self.bits) and (self.plain or self._fits(view, place))

    def _is_by(self, view: View, place: int) -> bool:
        agent = view.trace.agent_of(view.calls[place])
        return agent is not None and any(fits(agent) for fits in self._agents)

    def _fits(self, view: View, place: int) -> bool:
        call = view.calls[place]
        if not self._tools.exact and not self._tools.fits(view, place):
            return False
        if self._failed is not None and self._failed != bool(view.failed and view.failed[place]):
            return False
        if self._agents and not self._is_by(view, place):
            return False
        if self._args is not None and (call.arguments is None or not self._args(call.arguments)):
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

    def called(self, view: View, place: int) -> str:
        """What a message calls a call that is meant: its tool, with what else was asked of it."""
        meant = next((one for one in self if one.means(view, place)), None)
        return f"{view.names[place]}{meant.details if meant else ''}"

    def is_unclear(self, view: View) -> bool:
        """Whether a call may be meant that does not record the arguments it is told by."""
        return not self.plain and any(one.is_unclear(view) for one in self)

    def successes(self, view: View) -> list[int]:
        """The indexes of the calls meant that did not fail, in order."""
        if len(self) == 1:
            return self[0].successes(view)
        return sorted({call for one in self for call in one.successes(view)})


def selectors_in(record: Struct) -> list[Selector]:
    """The selectors in the fields of a record, such as a rule."""
    fields = (getattr(record, name) for name in record.__struct_fields__)
    return [one for value in fields if isinstance(value, tuple) for one in value if isinstance(one, Selector)]


def unclear_calls(record: Record, tools: ToolIndex) -> Callable[[View], bool] | None:
    """What tells whether a selector in a record, such as a rule, may mean a call whose arguments are unknown; None
    where no selector looks at arguments."""
    compiled = [CallSelector(one, tools) for one in selectors_in(record) if one.args]
    return (lambda view: any(one.is_unclear(view) for one in compiled)) if compiled else None


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"
