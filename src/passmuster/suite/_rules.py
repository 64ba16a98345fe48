"""Sequence rules: what a suite may ask of the order and number of calls. This is their grammar.

What each rule means is said in `checks.sequence`, where it is decided.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from passmuster._problems import did_you_mean
from passmuster.suite._selectors import Selector, read_selectors
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar

__all__ = [
    "After",
    "Allowlist",
    "Before",
    "Blocklist",
    "Count",
    "Eventually",
    "ImmediatelyBefore",
    "NeverAfter",
    "OrderedTools",
    "Require",
    "Rule",
    "read_rule",
]

Selectors = list[Selector]


class Rule(Struct, frozen=True, kw_only=True):
    """One rule and where it stands."""

    type: str
    file: str
    line: int


class Require(Rule, frozen=True, kw_only=True):
    """Each of these tools is called."""

    tool: Selectors


class Before(Rule, frozen=True, kw_only=True):
    """No call of `then` without an earlier call of each `first`."""

    first: Selectors
    then: Selectors


class ImmediatelyBefore(Rule, frozen=True, kw_only=True):
    """Every call of `then` has a call of `first` directly before it."""

    first: Selectors
    then: Selectors


class Blocklist(Rule, frozen=True, kw_only=True):
    """None of these is called."""

    tools: Selectors


class Allowlist(Rule, frozen=True, kw_only=True):
    """Nothing but these is called."""

    tools: Selectors


class Count(Rule, frozen=True, kw_only=True):
    """The number of calls is within bounds."""

    tool: Selectors
    least: int | None = None
    most: int | None = None
    exactly: bool = False


class After(Rule, frozen=True, kw_only=True):
    """Every `trigger` is followed by `then`, within so many positions."""

    trigger: Selectors
    then: Selectors
    within: int | None = None


class NeverAfter(Rule, frozen=True, kw_only=True):
    """Nothing `forbidden` after the first `trigger`."""

    trigger: Selectors
    forbidden: Selectors


class Eventually(Rule, frozen=True, kw_only=True):
    """Each of these is called among the first so many positions."""

    tool: Selectors
    within: int | None = None


class OrderedTools(Rule, frozen=True, kw_only=True):
    """All of these appear in this order; `strict`: directly one after another."""

    tools: Selectors
    strict: bool = False


class _Parts:
    """One rule's keys, read one by one."""

    def __init__(self, reader: Reader, node: Mapping, at: str) -> None:
        self.reader, self.node, self.at = reader, node, at

    def selectors(self, key: str) -> Selectors:
        value = self.reader.required(self.node, key, self.at)
        return read_selectors(self.reader, value, f"{self.at}.{key}") if value is not None else []

    def allowed(self, key: str) -> Selectors:
        """As `selectors`, but an empty list has a meaning: nothing is allowed."""
        value = self.node.get(key)
        return [] if value is not None and getattr(value, "items", None) == [] else self.selectors(key)

    def whole(self, key: str, least: int = 0) -> int | None:
        value = self.node.get(key)
        return self.reader.whole(value, f"{self.at}.{key}", least) if value is not None else None

    def flag(self, key: str) -> bool:
        value = self.node.get(key)
        return self.reader.boolean(value, f"{self.at}.{key}") if value is not None else False


def _count(parts: _Parts, type_: str, file: str, line: int) -> Count:
    least, most, exactly = parts.whole("min"), parts.whole("max"), parts.whole("exactly")
    reader, node, at = parts.reader, parts.node, parts.at
    if exactly is not None and (least is not None or most is not None):
        reader.problem(node, f"{at}: 'exactly' cannot stand beside 'min' or 'max'")
    elif exactly is None and least is None and most is None:
        wanted = "'max'" if type_ == "max_calls" else "at least one of 'min', 'max', 'exactly'"
        reader.problem(node, f"{at}: needs {wanted}")
    elif least == 0 and most is None:
        reader.problem(node, f"{at}: 'min: 0' alone can never fail")
    elif least is not None and most is not None and least > most:
        reader.problem(node, f"{at}: min {least} is above max {most}, so it can never hold")
    if exactly is not None:
        least, most = (exactly, None) if exactly else (None, 0)
    return Count(
        type=type_, file=file, line=line, tool=parts.selectors("tool"), least=least, most=most, exactly=bool(exactly)
    )


def _eventually(p: _Parts, t: str, f: str, n: int) -> Rule:
    return Eventually(type=t, file=f, line=n, tool=p.selectors("tool"), within=p.whole("within", 1))


def _after(p: _Parts, t: str, f: str, n: int) -> Rule:
    trigger, then = p.selectors("trigger"), p.selectors("then")
    return After(type=t, file=f, line=n, trigger=trigger, then=then, within=p.whole("within", 1))


_Read = Callable[[_Parts, str, str, int], Rule]
_RULES: dict[str, tuple[tuple[str, ...], _Read]] = {
    "require": (("tool",), lambda p, t, f, n: Require(type=t, file=f, line=n, tool=p.selectors("tool"))),
    "before": (
        ("first", "then"),
        lambda p, t, f, n: Before(type=t, file=f, line=n, first=p.selectors("first"), then=p.selectors("then")),
    ),
    "immediately_before": (
        ("first", "then"),
        lambda p, t, f, n: ImmediatelyBefore(
            type=t, file=f, line=n, first=p.selectors("first"), then=p.selectors("then")
        ),
    ),
    "blocklist": (("tools",), lambda p, t, f, n: Blocklist(type=t, file=f, line=n, tools=p.selectors("tools"))),
    "allowlist": (("tools",), lambda p, t, f, n: Allowlist(type=t, file=f, line=n, tools=p.allowed("tools"))),
    "count": (("tool", "min", "max", "exactly"), _count),
    "max_calls": (("tool", "max"), _count),
    "after": (("trigger", "then", "within"), _after),
    "never_after": (
        ("trigger", "forbidden"),
        lambda p, t, f, n: NeverAfter(
            type=t, file=f, line=n, trigger=p.selectors("trigger"), forbidden=p.selectors("forbidden")
        ),
    ),
    "eventually": (("tool", "within"), _eventually),
    "sequence": (
        ("tools", "strict"),
        lambda p, t, f, n: OrderedTools(type=t, file=f, line=n, tools=p.selectors("tools"), strict=p.flag("strict")),
    ),
}


def read_rule(reader: Reader, node: Node, at: str, also: tuple[str, ...] = ()) -> Rule | None:
    """The rule that a map spells; None, with a problem noted, where it spells none. `also` are further keys."""
    map_ = reader.mapping(node, at)
    type_node = map_.get("type")
    if type_node is None:
        if isinstance(node, Mapping):
            reader.problem(node, f"{at}: 'type' is missing; one of {', '.join(_RULES)}")
        return None
    name = type_node.value if isinstance(type_node, Scalar) else None
    if not isinstance(name, str) or name not in _RULES:
        hint = did_you_mean(str(name), _RULES) or f"; known: {', '.join(_RULES)}"
        reader.problem(type_node, f"{at}: unknown rule type '{name}'{hint}")
        return None
    keys, read = _RULES[name]
    reader.mapping(map_, f"{at} ({name})", ("type", *keys, "description", *also))
    reader.optional_text(map_, "description", at, empty=True)
    return read(_Parts(reader, map_, at), name, reader.file, map_.line)
