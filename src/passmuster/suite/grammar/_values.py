"""Value types: what may stand in a place of a suite, how it is read, and its JSON Schema."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from passmuster._control_characters import why_control_character
from passmuster.suite.text._nodes import Mapping, Node, Scalar, Sequence, plain

if TYPE_CHECKING:
    from passmuster.suite.grammar._reader import Reader

_EMPTY = "the list is empty, so nothing would be checked"

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
JsonSchema = dict[str, Any]
Vocabulary = MappingOf[str, "Value[Any]"]
"""Value types by name: what other packages contribute to the suite language."""


class Definitions(dict[str, JsonSchema]):
    """The `$defs` of a JSON Schema while it is put together, and the vocabulary it is for."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        super().__init__()
        self.vocabulary: Vocabulary = vocabulary or {}

    def ref(self, name: str, make: Callable[[], JsonSchema]) -> JsonSchema:
        """A reference to the definition of this name, which is made when it is first referred to."""
        if name not in self:
            self[name] = {}  # a definition may refer to itself
            self[name] = make()
        return {"$ref": f"#/$defs/{name}"}


class Value(Generic[T_co]):
    """What may stand in a place of a suite."""

    words: str
    """What a message or a reference table calls it: `a number from 0 to 1`."""

    @abstractmethod
    def read(self, reader: Reader, node: Node, at: str) -> T_co:
        """The value of a node. Problems are noted on the reader, and a harmless value is returned then."""

    @abstractmethod
    def schema(self, definitions: Definitions) -> JsonSchema:
        """The JSON Schema (2020-12) of what is read."""


class Text(Value[str]):
    """A string; numbers are taken as they were written (`version: 2.10`)."""

    words = "a string"

    def __init__(self, *, empty: bool = False) -> None:
        self._empty = empty

    def read(self, reader: Reader, node: Node, at: str) -> str:
        return reader.text(node, at, empty=self._empty)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"type": ["string", "number"]} if self._empty else {"type": ["string", "number"], "pattern": r"\S"}


class Number(Value[float]):
    """A finite number, within bounds where some are given."""

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        self._least, self._most = least, most
        if most is not None:
            self.words = f"a number from {least} to {most}"
        else:
            self.words = "a number" if least is None else f"a number of {least} or more"

    def read(self, reader: Reader, node: Node, at: str) -> float:
        before = len(reader.problems)
        value = reader.number(node, at)
        low, high = self._least, self._most
        if len(reader.problems) > before or ((low is None or value >= low) and (high is None or value <= high)):
            return value
        reader.expected(self.words, node, at)
        return low or 0

    def schema(self, definitions: Definitions) -> JsonSchema:
        bounds = {"minimum": self._least, "maximum": self._most}
        return {"type": "number", **{word: bound for word, bound in bounds.items() if bound is not None}}


class Whole(Value[int]):
    """A whole number of at least `least`, and of at most `most` where that is given."""

    def __init__(self, least: int = 0, most: int | None = None) -> None:
        self._least, self._most = least, most
        self.words = f"a whole number of {least} or more" if most is None else f"a whole number from {least} to {most}"

    def read(self, reader: Reader, node: Node, at: str) -> int:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int) or not self._least <= value <= (self._most or value):
            reader.expected(self.words, node, at)
            return self._least
        return value

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"type": "integer", "minimum": self._least, **({"maximum": self._most} if self._most else {})}


class Choice(Value[Any]):
    """One of some words."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices
        self.words = " | ".join(choices)

    def read(self, reader: Reader, node: Node, at: str) -> Any:
        return reader.choice(node, at, self.choices)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"enum": list(self.choices)}


class ListOf(Value[tuple[T, ...]]):
    """A list. Items that could not be read are left out."""

    def __init__(self, item: Value[T], *, least: int = 0) -> None:
        self._item, self._least = item, least
        self.words = f"a list of: {item.words}"

    def read(self, reader: Reader, node: Node, at: str) -> tuple[T, ...]:
        items = enumerate(reader.items(node, at))
        found = [self._item.read(reader, item, f"{at}[{place}]") for place, item in items]
        if isinstance(node, Sequence) and len(node.items) < self._least:
            reader.problem(node, f"{at}: {_EMPTY}")
        return tuple(value for value in found if value is not None)

    def schema(self, definitions: Definitions) -> JsonSchema:
        least = {"minItems": self._least} if self._least else {}
        return {"type": "array", "items": self._item.schema(definitions), **least}


class OneOrMore(Value[tuple[T, ...]]):
    """One item, or a list of them. An empty list is refused, with `why_not_empty`, unless `empty` is allowed."""

    def __init__(self, item: Value[T], *, empty: bool = False, why_not_empty: str = _EMPTY) -> None:
        self._item, self._empty, self._why_not_empty = item, empty, why_not_empty
        self.words = f"{item.words}, or a list of these"

    def read(self, reader: Reader, node: Node, at: str) -> tuple[T, ...]:
        items = reader.one_or_more(node)
        if not items and not self._empty:
            reader.problem(node, f"{at}: {self._why_not_empty}")
        found = [self._item.read(reader, item, at) for item in items]
        return tuple(value for value in found if value is not None)

    def schema(self, definitions: Definitions) -> JsonSchema:
        item = self._item.schema(definitions)
        return {"anyOf": [item, {"type": "array", "items": item, **({} if self._empty else {"minItems": 1})}]}


class MapOf(Value[dict[str, T]]):
    """A map of names to values."""

    def __init__(self, item: Value[T], *, keys: str | None = None) -> None:
        self._item, self._keys = item, keys
        self.words = f"a map of names to: {item.words}"

    def read(self, reader: Reader, node: Node, at: str) -> dict[str, T]:
        found = {
            entry.key: self._item.read(reader, entry.value, f"{at}.{entry.key}") for entry in reader.mapping(node, at)
        }
        return {key: value for key, value in found.items() if value is not None}

    def schema(self, definitions: Definitions) -> JsonSchema:
        names = {"propertyNames": {"pattern": self._keys}} if self._keys else {}
        return {"type": "object", "additionalProperties": self._item.schema(definitions), **names}


class Either(Value[T_co]):
    """Read by the kind of the node: a value type for each kind that may stand here."""

    def __init__(
        self,
        words: str,
        *,
        scalar: Value[T_co] | None = None,
        list: Value[T_co] | None = None,
        map: Value[T_co] | None = None,
    ) -> None:
        self.words = words
        self._of = {Scalar: scalar, Sequence: list, Mapping: map}

    def read(self, reader: Reader, node: Node, at: str) -> T_co:
        value = self._of[type(node)]
        if value is None:
            reader.expected(self.words, node, at)
            value = next(one for one in self._of.values() if one)
            return value.read(type(reader)(reader.file), node, at)  # its problems are told already
        return value.read(reader, node, at)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"anyOf": [one.schema(definitions) for one in self._of.values() if one]}


class Custom(Value[T_co]):
    """A value with a reading function and a JSON Schema of its own."""

    def __init__(
        self,
        words: str,
        read: Callable[[Reader, Node, str], T_co],
        schema: JsonSchema | Callable[[Definitions], JsonSchema],
    ) -> None:
        self.words, self._read, self._schema = words, read, schema

    def read(self, reader: Reader, node: Node, at: str) -> T_co:
        return self._read(reader, node, at)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return self._schema(definitions) if callable(self._schema) else self._schema


class Slot(Value[Any]):
    """A place that a package above fills: what may stand here is in the vocabulary under this name."""

    def __init__(self, name: str, words: str) -> None:
        self.name, self.words = name, words

    def read(self, reader: Reader, node: Node, at: str) -> Any:
        return reader.vocabulary[self.name].read(reader, node, at)

    def schema(self, definitions: Definitions) -> JsonSchema:
        value = definitions.vocabulary.get(self.name)
        return value.schema(definitions) if value else {}


class Unread(Value[Node]):
    """A node that is read later, when more of the suite is known. Its JSON Schema is that of the value it will be."""

    def __init__(self, value: Value[Any]) -> None:
        self._value, self.words = value, value.words

    def read(self, reader: Reader, node: Node, at: str) -> Node:
        return node

    def schema(self, definitions: Definitions) -> JsonSchema:
        return self._value.schema(definitions)


class Late(Value[T_co]):
    """A value type that is imported when it is first used, because most suites do without it."""

    def __init__(self, words: str, find: Callable[[], Value[T_co]]) -> None:
        self.words, self._find = words, find

    def read(self, reader: Reader, node: Node, at: str) -> T_co:
        return self._find().read(reader, node, at)

    def schema(self, definitions: Definitions) -> JsonSchema:
        return self._find().schema(definitions)


def _read_path(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    why = reader.linked_files.why_refused(text) if reader.linked_files and text else None
    if why:
        reader.problem(node, f"{at}: {why}")
    return text


def address_of_api(advice: str) -> Custom[str]:
    """The address of an API, which may hold neither user nor password; `advice` says where these belong."""

    def read(reader: Reader, node: Node, at: str) -> str:
        text = reader.text(node, at)
        if "@" in re.split(r"[/?#]", text.partition("://")[2] or text, maxsplit=1)[0]:
            stored = "holds a user or a password, which would be stored wherever the address is"
            reader.problem(node, f"{at}: {stored}; {advice}")
        elif text and not text.startswith(("http://", "https://")):
            reader.expected("an address such as http://localhost:11434/v1", node, at)
        return text

    return Custom("an address", read, {"type": "string", "pattern": "^https?://"})


def _read_phrase(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    if control := why_control_character(text, "\n\r\t"):
        reader.problem(node, f"{at}: the text has {control[0]}")
    elif text.strip() and text != text.strip("\r\n"):
        reader.problem(node, f"{at}: begins or ends with a line break, which would have to be found too; write '|-'")
    return text


TEXT = Text()
PROSE = Text(empty=True)
PATH = Custom("the path of a file", _read_path, TEXT.schema)
"""A file within the root, relative to the suite; it need not exist yet."""
TEXT_FILE: Custom[str | None] = Custom(
    "the path of a text file", lambda reader, node, at: reader.linked_text(node, at), TEXT.schema
)
"""The content of a file within the root, relative to the suite."""
NUMBER = Number()
AMOUNT = Number(0)
FRACTION = Number(0, 1)
WHOLE = Whole()
BOOLEAN = Custom("true or false", lambda reader, node, at: reader.boolean(node, at), {"type": "boolean"})
TOOL_PATTERN = Custom(
    "a tool name or pattern",
    lambda reader, node, at: reader.pattern(node, at),
    {"type": "string", "minLength": 1, "pattern": r"^\S(.*\S)?$"},
)
REGEX = Custom("a regular expression", lambda reader, node, at: reader.regex(node, at), TEXT.schema)
PHRASE = Custom(TEXT.words, _read_phrase, TEXT.schema)
"""A text that is looked for inside another."""
ANYTHING: Custom[Any] = Custom("any value", lambda reader, node, at: plain(node), {})
