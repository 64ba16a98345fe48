"""Parses one formula into a tree. Nothing in a suite is executed.

From loose to tight: `OR`, `AND`, `NOT`, one comparison, `+ −`, `× ÷`, a sign. Signs may be ASCII or as in print.
Mixing numbers and truth values is an error here, before anything has a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

from passmuster._problems import did_you_mean
from passmuster.suite import Expression, Name, Number, Operation, Prefix, Step, compare

_DEEPEST = 50
_LONGEST = 20_000
_TOKEN = re.compile(
    r"(?P<space>[^\S\n]+|\#[^\n]*)|(?P<break>\n)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+|\ ?%)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>>=|<=|!=|==|[≥≤≠=<>+*/×·÷−–-])|(?P<bracket>[()])"
)
_SPELLINGS = {"≥": ">=", "≤": "<=", "≠": "!=", "==": "=", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"}
_MIRRORED = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "=", "!=": "!="}
"""The same comparison with its sides exchanged."""
_COMPARISON = 3
_COMPARISONS = dict.fromkeys((">=", "<=", ">", "<", "=", "!="), _COMPARISON)
_RANKS = {"or": 1, "and": 2, **_COMPARISONS, "+": 4, "-": 4, "*": 5, "/": 5}
"""How tightly an operator binds."""
WORDS = ("and", "or", "not")


class Token(NamedTuple):
    """One word or sign. `text` is its ASCII spelling; the kind `end` stands after the last one."""

    kind: str
    text: str
    start: int
    end: int


class Mistake(Exception):
    """What is wrong, and where in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Part(NamedTuple):
    """A parsed part of a formula."""

    tree: Expression
    is_truth: bool | None
    """None where it depends on a formula that has a mistake, so that one mistake is reported once."""
    start: int


class Scope:
    """The names that a formula may use: metrics, and the formulas above it."""

    def __init__(self, known: Collection[str], unfed: Mapping[str, str], rates: Collection[str] = ()) -> None:
        self.known, self.unfed, self.rates = known, unfed, rates
        self.truths: dict[str, bool | None] = {}
        self.below: set[str] = set()

    def kind_of(self, name: str, offset: int) -> bool | None:
        """Whether the name is a truth value. Raises `Mistake` for an unknown name."""
        if name in self.truths:
            return self.truths[name]
        if name in self.unfed:
            raise Mistake(self.unfed[name], offset)
        if name in self.known:
            return False
        if name in self.below:
            raise Mistake(f"'{name}' is not defined yet; a formula uses those above it", offset)
        longer = [known for known in self.known if known.startswith(name) and not known.isidentifier()]
        if longer:
            message = f"'{longer[0]}' cannot be used in a formula; only an id of letters, digits and _ can"
            raise Mistake(message, offset)
        raise Mistake(f"unknown name '{name}'{did_you_mean(name, [*self.truths, *self.known])}", offset)


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens of a text, line breaks included."""
    if len(text) > _LONGEST:
        raise Mistake(f"the text has {len(text):,} characters; the most that is read is {_LONGEST:,}", 0)
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Mistake(f"'{text[at]}' means nothing here; a formula is made of names, numbers and operators", at)
        kind, word = str(found.lastgroup), found[0]
        if kind == "name" and word.lower() in WORDS:
            kind, word = "operator", word.lower()
        if kind != "space":
            yield Token(kind, _SPELLINGS.get(word, word), at, found.end())
        at = found.end()


class Parser:
    """A recursive-descent parser over the tokens of one formula."""

    def __init__(self, tokens: Sequence[Token], end: int, scope: Scope) -> None:
        self._tokens = [token for token in tokens if token.kind != "break"]
        self._end = Token("end", "", end, end)
        self._scope = scope
        self._at = 0
        self._depth = 0

    def formula(self) -> Part:
        part = self._expression(1)
        if self._here.kind != "end":
            self._refuse("an operator")
        return part

    @property
    def _here(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _take(self) -> Token:
        token = self._here
        self._at += 1
        return token

    def _refuse(self, expected: str) -> NoReturn:
        token = self._here
        found = f"'{token.text}'" if token.text else "the end of the formula"
        raise Mistake(f"expected {expected}, found {found}", token.start)

    def _rank(self) -> int:
        return _RANKS.get(self._here.text, 0) if self._here.kind == "operator" else 0

    def _expression(self, least: int) -> Part:
        """The expression here, with operators that bind at least this tightly."""
        left = self._operand()
        while (rank := self._rank()) >= least:
            signs, parts = [], [left]
            while self._rank() == rank:
                signs.append(self._take())
                parts.append(self._expression(rank + 1))
            left = _joined(parts, signs, rank, self._scope.rates)
        return left

    def _operand(self) -> Part:
        token = self._here
        if token.text == "(":
            return self._nested(self._bracketed)
        if token.text in ("-", "not"):
            return self._nested(self._prefixed)
        if token.kind not in ("number", "name"):
            self._refuse("a name, a number or '('")
        self._take()
        if token.kind == "number":
            return Part(Number(_number(token)), False, token.start)
        return Part(Name(token.text), self._scope.kind_of(token.text, token.start), token.start)

    def _nested(self, read: Callable[[], Part]) -> Part:
        """What `read` finds here. Raises `Mistake` where it is nested too deeply."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Mistake(f"the formula is nested more than {_DEEPEST} deep here; define parts of it", self._here.start)
        part = read()
        self._depth -= 1
        return part

    def _bracketed(self) -> Part:
        opened = self._take()
        part = self._expression(1)
        if self._here.kind == "end":
            raise Mistake("this '(' is never closed", opened.start)
        if self._here.text != ")":
            self._refuse("an operator or ')'")
        self._take()
        return part._replace(start=opened.start)

    def _prefixed(self) -> Part:
        token = self._take()
        if token.text == "-":
            part = self._operand()
            _refuse_kind(part, False, "'-' needs a number")
            return Part(Prefix("-", part.tree), False, token.start)
        part = self._expression(_COMPARISON)
        _refuse_kind(part, True, "NOT needs a comparison")
        return Part(Prefix("not", part.tree), True, token.start)


def _number(token: Token) -> float:
    digits = token.text.rstrip("% ")
    value = float(f"{digits}e-2" if token.text.endswith("%") else digits)  # so that 85% is the very 0.85
    if not math.isfinite(value):
        raise Mistake(f"the number '{token.text[:20]}' is too large", token.start)
    return value


def _joined(parts: list[Part], signs: list[Token], rank: int, rates: Collection[str]) -> Part:
    """Operators of one rank with their operands, type-checked."""
    needs_truth = rank < _COMPARISON
    for place, part in enumerate(parts):
        sign = signs[max(place - 1, 0)].text.upper()
        _refuse_kind(part, needs_truth, f"{sign} joins comparisons" if needs_truth else f"'{sign}' needs numbers")
    if rank == _COMPARISON:
        if len(signs) > 1:
            raise Mistake("comparisons cannot be chained; write 'a < b AND b < c'", signs[1].start)
        _refuse_idle(parts[0], signs[0].text, parts[1], rates)
        _refuse_idle(parts[1], _MIRRORED[signs[0].text], parts[0], rates)
    for operator, part in zip(signs, parts[1:], strict=True):
        if operator.text == "/" and part.tree == Number(0.0):
            raise Mistake("a division by 0 never has a value", part.start)
    steps = tuple(Step(sign.text, part.tree) for sign, part in zip(signs, parts[1:], strict=True))  # type: ignore[arg-type]
    return Part(Operation(parts[0].tree, steps), rank <= _COMPARISON, parts[0].start)


def _refuse_kind(part: Part, truth: bool, message: str) -> None:
    if part.is_truth is not None and part.is_truth != truth:
        raise Mistake(f"{message}, found {'a comparison' if part.is_truth else 'a number'}", part.start)


def _refuse_idle(part: Part, operator: str, limit: Part, rates: Collection[str]) -> None:
    """In formulas a rate is a fraction: `accuracy >= 90` would never hold, and `accuracy >= 0` always holds."""
    name, value = part.tree.name if isinstance(part.tree, Name) else None, _stated(limit.tree)
    if name not in rates or value is None:
        return
    if compare(value, ">", 1.0):
        message = f"'{name}' lies between 0 and 1, so it cannot be compared with {value:g}; write {value:g}%"
        raise Mistake(message, limit.start)
    at_least, at_most = compare(0.0, operator, value), compare(1.0, operator, value)
    if at_least == at_most and operator not in ("=", "!="):
        never = "fail" if at_least else "hold"
        raise Mistake(f"'{name} {operator} {value:g}' could never {never}", min(part.start, limit.start))


def _stated(tree: Expression) -> float | None:
    """The value of a number, with its sign."""
    match tree:
        case Number():
            return tree.value
        case Prefix(operator="-", operand=Number(value=value)):
            return -value
    return None
