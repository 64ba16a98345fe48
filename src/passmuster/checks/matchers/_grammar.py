"""How a matcher is written in a suite.

A plain value means equal (numbers by value), a plain map each listed key, a plain list element by element. A map of
`$` words says more; all of them have to hold.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, TypeVar

from passmuster._control_characters import why_control_character
from passmuster._problems import did_you_mean
from passmuster.checks._json_values import TYPES, why_bad_path
from passmuster.checks.matchers import _matchers as m
from passmuster.checks.matchers._possible import why_impossible
from passmuster.suite import (
    ANYTHING,
    NUMBER,
    REGEX,
    TEXT,
    Choice,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    ListOf,
    Mapping,
    Mistake,
    Node,
    OneOrMore,
    Reader,
    Record,
    Scalar,
    Sequence,
    Value,
    fields_of,
    object_schema,
    read_record,
    why_bad_glob,
)

T = TypeVar("T")


class _AnyMatcher(Value[m.Matcher]):
    words = "a value or a matcher"

    def read(self, reader: Reader, node: Node, at: str) -> m.Matcher:
        if isinstance(node, Sequence):
            return m.Items(tuple(self.read(reader, item, f"{at}[{n}]") for n, item in enumerate(node.items)))
        if isinstance(node, Scalar):
            if node.undefined_alias:
                reader.text(node, at)
            elif why := _why_no_literal(node):
                reader.problem(node, f"{at}: {why}")
            return m.Equal(node.value)
        if any(entry.key.startswith("$") for entry in node):
            return _read_words(reader, node, at)
        if why := _why_no_keys(node):
            reader.problem(node, f"{at}: {why}")
        return m.Keys({entry.key: self.read(reader, entry.value, f"{at}.{entry.key}") for entry in node})

    def schema(self, definitions: Definitions) -> JsonSchema:
        return definitions.ref("matcher", lambda: self._schema(definitions))

    def _schema(self, definitions: Definitions) -> JsonSchema:
        own = self.schema(definitions)
        no_words = {"propertyNames": {"not": {"pattern": r"^\$"}}}
        return {
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": own},
                {"type": "object", **no_words, "additionalProperties": own},
                {**object_schema(MatcherWords, definitions), "not": no_words},
            ]
        }


MATCHER = _AnyMatcher()


class _Args(Value[dict[str, m.Matcher]]):
    """What is asked of arguments, by name or dotted path."""

    words = f"a map of names to: {_AnyMatcher.words}"

    def read(self, reader: Reader, node: Node, at: str) -> dict[str, m.Matcher]:
        found: dict[str, m.Matcher] = {}
        for entry in reader.mapping(node, at):
            if entry.key in _WORDS:
                reader.problem(
                    entry, f"{at}: '{entry.key}' stands where the name of an argument belongs, and can never fit"
                )
            elif why := why_bad_path(entry.key):
                reader.problem(entry, f"{at}: {why}")
            before = len(reader.problems)
            found[entry.key] = matcher = MATCHER.read(reader, entry.value, f"{at}.{entry.key}")
            if len(reader.problems) == before and (why := why_impossible(matcher)):
                reader.problem(entry.value, f"{at}.{entry.key}: {why}")
        return found

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"type": "object", "additionalProperties": MATCHER.schema(definitions)}


ARGS = _Args()
_OPERATOR = r"(?:[<>]=?|=[<>]|[≥≤≠]|[!=]=|=)"
_AMOUNT = r"\s*[-+]?\s*[$€£]?\s*(?:\d[\d_,.]*|\.\d+)(?:e[-+]?\d+)?\s*(?:%|[A-Za-z]{1,4})?\s*"
_COMPARISON = re.compile(rf"\s*(?:(?:and|or|&&|\|\||,)?\s*{_OPERATOR}{_AMOUNT})+", re.IGNORECASE)
_BARE = {"gt": NUMBER, "gte": NUMBER, "lt": NUMBER, "lte": NUMBER, "regex": TEXT, "glob": TEXT}
"""Words of matchers that hardly are the keys of an argument, where they are all that a map has."""


def _why_no_literal(node: Scalar) -> str | None:
    """Why a plain value was hardly meant to be compared as it stands."""
    if node.value is None and not node.text:
        return "is empty; write 'null' for the value null, or '{$absent: true}' where there is none"
    if not isinstance(node.value, str):
        return None
    text = node.value
    if _COMPARISON.fullmatch(text):
        meant = f"write {_as_matcher(text)}, or {{$eq: '{text}'}} for the text"
        return f"'{text}' is a text, which can never match a number; {meant}"
    word = re.match(r"\s*(\$\w+)", text)
    if word and word[1] in _WORDS:
        return f"'{text}' is a text, which can never match a number; write {{{word[1]}: …}}, or {{$eq: '{text}'}}"
    return None


def _as_matcher(text: str) -> str:
    """What somebody meant by `"> 1000"`."""
    words = {">": "$gt", ">=": "$gte", "=>": "$gte", "≥": "$gte", "<": "$lt", "<=": "$lte", "=<": "$lte", "≤": "$lte"}
    found = re.findall(rf"({_OPERATOR}){_AMOUNT}", text)
    numbers = re.findall(r"[-+]?[\d.][\d_,.]*", text)
    parts = [f"{words.get(sign, '$eq')}: {number}" for sign, number in zip(found, numbers, strict=False)]
    inner = "{" + ", ".join(parts) + "}"
    return f"{{$not: {numbers[0]}}}" if found[0] in ("!=", "≠") else inner


def _why_no_keys(node: Mapping) -> str | None:
    """Why a plain map was hardly meant as the fields of an argument."""
    if path := next((entry.key for entry in node if re.search(r"\[(\*|-?\d+)\]", entry.key)), None):
        return f"'{path}' can never fit: paths stand directly under 'args'; in here write maps and lists"
    bare = [entry.key for entry in node if entry.key in _BARE and isinstance(entry.value, Scalar)]
    if not bare or len(bare) < len(node.entries):
        return None
    name = bare[0]
    return f"'{name}' is the name of a field here and can never compare; write '${name}', or $eq for a map with it"


class _As(Value[m.Matcher]):
    """The matcher that is made of a value."""

    def __init__(self, value: Value[T], make: Callable[[T], m.Matcher]) -> None:
        self._value, self._make = value, make
        self.words = value.words

    def read(self, reader: Reader, node: Node, at: str) -> m.Matcher:
        return self._make(self._value.read(reader, node, at))

    def schema(self, definitions: Definitions) -> JsonSchema:
        return self._value.schema(definitions)


def _read_true(reader: Reader, node: Node, at: str) -> bool:
    if not (isinstance(node, Scalar) and node.value is True):
        reader.expected("true", node, at)
    return True


def _read_glob(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    control = why_control_character(text)
    if bad := why_bad_glob(text) or (f"the pattern has {control[0]}" if control else None):
        reader.problem(node, f"{at}: {bad}")
    return text


def _read_options(reader: Reader, node: Node, at: str) -> tuple[m.Matcher, ...]:
    options = ListOf(MATCHER).read(reader, node, at)
    if not options:
        reader.problem(node, f"{at}: an empty list can never match")
    return options


_TRUE = Custom("true", _read_true, {"const": True})
_GLOB = Custom("a glob", _read_glob, TEXT.schema(Definitions()))
_OPTIONS = Custom("a list of matchers", _read_options, lambda defs: ListOf(MATCHER, least=1).schema(defs))
_Maybe = m.Matcher | None


class MatcherWords(Record, frozen=True, kw_only=True):
    """What a value has to be, in `$` words; all of them have to hold."""

    eq: Annotated[
        _Maybe, _As(ANYTHING, m.Equal), Key("Exactly this literal value, also if it contains `$` keys.", name="$eq")
    ] = None
    any: Annotated[_Maybe, _As(_TRUE, lambda _: m.Present()), Key("`true`: any value, but present.", name="$any")] = (
        None
    )
    ignore: Annotated[
        _Maybe, _As(_TRUE, lambda _: m.Ignore()), Key("`true`: any value, or absent.", name="$ignore")
    ] = None
    absent: Annotated[_Maybe, _As(_TRUE, lambda _: m.Absent()), Key("`true`: absent.", name="$absent")] = None
    optional: Annotated[
        _Maybe, _As(MATCHER, m.Optional), Key("Absent, or matching the inner matcher.", name="$optional")
    ] = None
    one_of: Annotated[_Maybe, _As(_OPTIONS, m.OneOf), Key("Any of these matchers.", name="$one_of")] = None
    not_: Annotated[_Maybe, _As(MATCHER, m.Not), Key("Present, and not matching the inner matcher.", name="$not")] = (
        None
    )
    regex: Annotated[
        _Maybe, _As(REGEX, m.Regex), Key("A text in which this Python regular expression is found.", name="$regex")
    ] = None
    glob: Annotated[_Maybe, _As(_GLOB, m.Glob), Key("A text that matches the glob as a whole.", name="$glob")] = None
    contains: Annotated[
        _Maybe,
        _As(MATCHER, m.Contains),
        Key("A list with a matching element, or a text with this substring.", name="$contains"),
    ] = None
    approx: Annotated[
        float | None, NUMBER, Key("A number near this one, with `$within` or `$rel` beside it.", name="$approx")
    ] = None
    within: Annotated[float | None, NUMBER, Key("The distance for `$approx`.", name="$within", needs="$approx")] = None
    rel: Annotated[
        float | None, NUMBER, Key("The distance for `$approx` as a fraction of it.", name="$rel", needs="$approx")
    ] = None
    gt: Annotated[_Maybe, _As(NUMBER, partial(m.Compare, "$gt")), Key("A number above this one.", name="$gt")] = None
    gte: Annotated[
        _Maybe, _As(NUMBER, partial(m.Compare, "$gte")), Key("This number, or one above it.", name="$gte")
    ] = None
    lt: Annotated[_Maybe, _As(NUMBER, partial(m.Compare, "$lt")), Key("A number below this one.", name="$lt")] = None
    lte: Annotated[
        _Maybe, _As(NUMBER, partial(m.Compare, "$lte")), Key("This number, or one below it.", name="$lte")
    ] = None
    type: Annotated[
        _Maybe,
        _As(OneOrMore(Choice(*TYPES)), m.TypeIs),
        Key("A value of this JSON Schema type, or of one in a list.", name="$type"),
    ] = None
    unordered: Annotated[
        _Maybe,
        _As(ListOf(MATCHER), m.Unordered),
        Key("A list of exactly these elements, in any order.", name="$unordered"),
    ] = None
    lines: dict[str, int]

    schema_extra = {  # noqa: RUF012 - a class variable of the base
        "dependentSchemas": {"$approx": {"oneOf": [{"required": ["$within"]}, {"required": ["$rel"]}]}},
    }

    mistakes_about = ("$approx", "$within", "$rel")

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        if self.approx is not None and (self.within is None) == (self.rel is None):
            yield map_.entries["$approx"], "$approx needs either $within (a distance) or $rel (a fraction) beside it"
        elif self._distance() < 0:
            yield map_.entries["$approx"], "a negative tolerance can never match"

    def _distance(self) -> float:
        return self.within or (self.rel or 0) * abs(self.approx or 0)

    def matcher(self) -> m.Matcher:
        """What the words ask for together, in the order they are written in."""
        declared = fields_of(MatcherWords)
        written = [getattr(self, declared[word].attribute) for word in self.lines if word in declared]
        parts = [one for one in written if isinstance(one, m.Matcher)]
        if self.approx is not None:
            parts.append(m.Approx(self.approx, self._distance()))
        return parts[0] if len(parts) == 1 else m.AllOf(tuple(parts))


_WORDS = fields_of(MatcherWords)


def _read_words(reader: Reader, node: Mapping, at: str) -> m.Matcher:
    known = _WORDS
    first = next(entry.key for entry in node if entry.key.startswith("$"))
    others = [entry for entry in node if entry.key not in known and not entry.key.startswith("x-")]
    for entry in others:
        if entry.key.startswith("$"):
            hint = did_you_mean(entry.key, known) or f"; known: {', '.join(known)}"
            reader.problem(entry, f"{at}: unknown matcher '{entry.key}'{hint}")
        else:
            reader.problem(entry, f"{at}: '{entry.key}' stands beside '{first}'; for a literal map use $eq")
    before = len(reader.problems)
    words = read_record(MatcherWords, reader, node, at, also=[entry.key for entry in others])
    matcher = words.matcher() if words else m.AllOf(())
    if len(reader.problems) == before and isinstance(matcher, m.AllOf) and (why := why_impossible(matcher)):
        reader.problem(node, f"{at}: {why}")
    return matcher
