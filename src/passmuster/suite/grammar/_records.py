"""Records: maps whose keys are declared once, as annotated fields of a Struct.

    class Count(Record, frozen=True, kw_only=True):
        tool: Annotated[str, TOOL_PATTERN, Key("Which calls are counted.", example="refund")]
        max: Annotated[int | None, WHOLE, Key("At most this many.", example=3)] = None
        line: int = 0

Fields without a value type are no keys: `line`, `column`, `file` and `lines` (the line of each key that is written) are
filled in by the reader. Modules that declare records do without `from __future__ import annotations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, ClassVar, TypeVar

from msgspec import NODEFAULT, Struct

from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import Definitions, JsonSchema, Value
from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar

R = TypeVar("R", bound="Record")
Mistake = tuple[Node | Entry, str]
"""A place and what is wrong there."""


class Key(Struct, frozen=True):
    """What is said of a key besides its value type."""

    description: str
    """One sentence, for editors and reference tables."""
    example: Any = None
    needs: str | None = None
    """Another key that has to stand beside it for it to mean something."""
    name: str | None = None
    """Its spelling in a suite, where that cannot be the name of a field (`from`)."""


class Record(Struct, frozen=True, kw_only=True):
    """A map with declared keys."""

    schema_extra: ClassVar[JsonSchema] = {}
    """Constraints across keys, in JSON Schema."""
    mistakes_about: ClassVar[tuple[str, ...] | None] = None
    """The keys whose values `mistakes` looks at; by default all."""

    def mistakes(self, map_: Mapping) -> Iterable[Mistake]:
        """What is wrong across keys; asked where each of `mistakes_about` by itself is right."""
        return ()


class Field(Struct, frozen=True):
    """A declared key: its name in a suite and in the Struct, its value type, and what is said of it."""

    name: str
    attribute: str
    value: Value[Any]
    key: Key
    required: bool
    default: Any = None


@cache
def fields_of(cls: type[Struct]) -> dict[str, Field]:
    """The declared keys of a record by their names in a suite, in the order of declaration."""
    # `msgspec.structs.fields` would evaluate every annotation, which takes longer than reading most suites.
    stated = dict(zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False))
    defaults = {name: stated.get(name, NODEFAULT) for name in cls.__struct_fields__}
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        for attribute, annotation in getattr(base, "__annotations__", {}).items():
            metadata = getattr(annotation, "__metadata__", ())
            value = next((one for one in metadata if isinstance(one, Value)), None)
            if value is not None:
                key = next((one for one in metadata if isinstance(one, Key)), Key(""))
                name = key.name or attribute
                default = defaults[attribute]
                required = default is NODEFAULT
                found[name] = Field(name, attribute, value, key, required, None if required else default)
    return found


def read_record(
    cls: type[R], reader: Reader, node: Node, at: str, *, also: Iterable[str] = (), label: str | None = None
) -> R | None:
    """The record that a map spells; None, with problems noted, where a required key is missing or unreadable.

    `also` are keys that somebody else reads; `label` names the map in messages about unknown keys.
    """
    declared = fields_of(cls)
    map_ = reader.mapping(node, label or at, (*declared, *also))
    if map_ is not node:  # not a map, and noted as such
        return None
    wrong: set[str] = set()
    values: dict[str, Any] = {}
    for field in declared.values():
        entry = map_.entries.get(field.name)
        before = len(reader.problems)
        if entry is not None:
            values[field.attribute] = field.value.read(reader, entry.value, f"{at}.{field.name}" if at else field.name)
            if field.key.needs is not None and field.key.needs not in map_:
                reader.problem(entry, f"{at}: '{field.name}' means nothing without '{field.key.needs}'")
        elif field.required:
            reader.problem(map_, f"{at}: '{field.name}' is missing")
        if len(reader.problems) > before:
            wrong.add(field.name)
    values = {name: value for name, value in values.items() if value is not None}
    if any(field.required and field.attribute not in values for field in declared.values()):
        return None
    record = cls(**values, **_places(cls, reader, map_))
    if wrong.isdisjoint(declared if cls.mistakes_about is None else cls.mistakes_about):
        for place, message in record.mistakes(map_):
            reader.problem(place, f"{at}: {message}")
    return record


def _places(cls: type[Struct], reader: Reader, node: Mapping | Scalar) -> dict[str, Any]:
    """The fields that say where the record stands."""
    known: dict[str, Any] = {
        "file": reader.file,
        "line": node.line,
        "column": node.column,
        "lines": {entry.key: entry.line for entry in node} if isinstance(node, Mapping) else {},
    }
    declared = fields_of(cls)
    return {name: value for name, value in known.items() if name in cls.__struct_fields__ and name not in declared}


class RecordOf(Value[R]):
    """A map that spells a record; with `short`, the value of that key may stand alone instead of the map."""

    def __init__(self, cls: type[R], words: str = "a map", *, short: str | None = None) -> None:
        self.cls, self.words, self._short = cls, words, short

    def read(self, reader: Reader, node: Node, at: str) -> R:
        if self._short and isinstance(node, Scalar):
            field = fields_of(self.cls)[self._short]
            return self.cls(**{field.attribute: field.value.read(reader, node, at)}, **_places(self.cls, reader, node))
        return read_record(self.cls, reader, node, at)  # type: ignore[return-value]  # containers leave None out

    def schema(self, definitions: Definitions) -> JsonSchema:
        map_ = definitions.ref(self.cls.__name__, lambda: object_schema(self.cls, definitions))
        short = fields_of(self.cls)[self._short].value.schema(definitions) if self._short else None
        return {"anyOf": [short, map_]} if short else map_


def object_schema(cls: type[Record], definitions: Definitions) -> JsonSchema:
    """The JSON Schema of a record's map."""
    declared = fields_of(cls).values()
    schema: JsonSchema = {
        "type": "object",
        "description": first_line(cls.__doc__),
        "properties": {field.name: key_schema(field, definitions) for field in declared},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    if required := [field.name for field in declared if field.required]:
        schema["required"] = required
    if needs := {field.name: [field.key.needs] for field in declared if field.key.needs}:
        schema["dependentRequired"] = needs
    return schema | cls.schema_extra


def key_schema(field: Field, definitions: Definitions) -> JsonSchema:
    """The JSON Schema of one key's value, with what an editor shows about it."""
    schema = dict(field.value.schema(definitions))
    if field.key.description:
        schema["description"] = field.key.description
    if field.key.example is not None:
        schema["examples"] = [field.key.example]
    if field.default not in (None, (), {}) and isinstance(field.default, str | int | float | bool):
        schema["default"] = field.default
    return schema


def first_line(text: str | None) -> str:
    """The first line of a docstring."""
    return (text or "").strip().partition("\n")[0]


def reference_rows(cls: type[Record]) -> Iterator[tuple[str, str, str, str]]:
    """Key, value, default and description of each key, for a reference table."""
    for field in fields_of(cls).values():
        stated = isinstance(field.default, str | int | float) and field.default != ""
        default = "required" if field.required else f"`{str(field.default).lower()}`" if stated else ""
        yield field.name, field.value.words, default, field.key.description
