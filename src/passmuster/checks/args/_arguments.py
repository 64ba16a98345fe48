"""The arguments of one tool in a policy's own words: `{ARG: {type: number, max: 30}}`, and the JSON Schema of them."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.checks._json_schema import Schema, SchemaProblem, compile_schema, dotted, of_a_map
from passmuster.checks._json_values import TYPES
from passmuster.checks._schema_patterns import why_no_pattern
from passmuster.checks._schema_words import FORMATS, type_meant
from passmuster.checks.args._anchors import Anchor, Anchors, SchemaPath, nearest_anchor
from passmuster.suite import (
    ANYTHING,
    BOOLEAN,
    NUMBER,
    PROSE,
    WHOLE,
    Choice,
    Custom,
    Either,
    Entry,
    JsonSchema,
    Key,
    MapOf,
    Mapping,
    Mistake,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Scalar,
    Sequence,
    Value,
    kind_of,
    plain,
)


class ArgumentsSchema(Struct, frozen=True):
    """The JSON Schema of a tool's arguments, and where each of its constraints stands in the policy."""

    schema: Schema
    anchors: Anchors = {}


def _read_required(reader: Reader, node: Node, at: str) -> Any:
    return [reader.text(item, at) for item in node.items] if isinstance(node, Sequence) else reader.boolean(node, at)


def _read_enum(reader: Reader, node: Node, at: str) -> list[Node]:
    if isinstance(node, Sequence) and not node.items:
        reader.problem(node, f"{at}: an empty list allows no value")
    return reader.items(node, at)


def _read_format(reader: Reader, node: Node, at: str) -> str:
    name = reader.text(node, at)
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or f"; known: {', '.join(FORMATS)}"
        reader.problem(node, f"{at}: unknown format '{name}', so no value would be checked{hint}")
    return name


def _read_factor(reader: Reader, node: Node, at: str) -> float:
    value = reader.number(node, at)
    if not value > 0:
        reader.problem(node, f"{at}: has to be above 0")
    return value


def _read_pattern(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at, empty=True)
    if why := why_no_pattern(text):
        reader.problem(node, f"{at}: {why}")
    return text


def _read_type(reader: Reader, node: Node, at: str) -> str:
    name = node.value if isinstance(node, Scalar) else None
    if not isinstance(name, str) or name not in TYPES:
        found = node.text if isinstance(node, Scalar) else kind_of(node)
        reader.problem(node, f"{at}: '{found}' is not a JSON type{type_meant(found)}")
        return "string"
    return name


def _read_argument(reader: Reader, node: Node, at: str) -> Any:
    if isinstance(node, Scalar) and node.value is None:
        reader.problem(node, f"{at}: is empty, so nothing would be checked; write '{{}}' for any value")
        return None
    return RecordOf(Argument).read(reader, node, at)


_ARGUMENT: Value[Any] = Custom("a map", _read_argument, lambda definitions: RecordOf(Argument).schema(definitions))
_PROPERTIES = MapOf(_ARGUMENT)
_REQUIRED = Custom(
    "true or false", _read_required, {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}
)
_ENUM = Custom("a list of values", _read_enum, {"type": "array", "minItems": 1})
_FORMAT = Custom("a format of JSON Schema", _read_format, {"enum": list(FORMATS)})
_PATTERN = Custom("a regular expression", _read_pattern, PROSE.schema)
_FACTOR = Custom("a number above 0", _read_factor, {"type": "number", "exclusiveMinimum": 0})
_OTHERS: Value[Any] = Either("true, false or a map", scalar=BOOLEAN, map=_ARGUMENT)
_TYPE = Custom(Choice(*TYPES).words, _read_type, Choice(*TYPES).schema)
_LEVEL = Choice("block", "warn", "log")


class Argument(Record, frozen=True, kw_only=True):
    """What a policy says of one argument."""

    type: Annotated[Any, OneOrMore(_TYPE), Key("A JSON type, or a list of them.", example="number")] = None
    required: Annotated[
        Any, _REQUIRED, Key("The argument is required. On an object also a list of its required properties.")
    ] = None
    min: Annotated[Any, NUMBER, Key("The same as `minimum`.", example=0)] = None
    max: Annotated[Any, NUMBER, Key("The same as `maximum`.", example=30)] = None
    minimum: Annotated[Any, NUMBER, Key("A number of at least this.")] = None
    maximum: Annotated[Any, NUMBER, Key("A number of at most this.")] = None
    exclusiveMinimum: Annotated[Any, NUMBER, Key("A number above this.")] = None
    exclusiveMaximum: Annotated[Any, NUMBER, Key("A number below this.")] = None
    multipleOf: Annotated[Any, _FACTOR, Key("A whole multiple of this number.")] = None
    minLength: Annotated[Any, WHOLE, Key("The minimum number of characters of a string.")] = None
    maxLength: Annotated[Any, WHOLE, Key("The maximum number of characters of a string.")] = None
    pattern: Annotated[
        Any,
        _PATTERN,
        Key("An ECMA-262 regular expression that is found in the value; anchor it with `^` and `$`.", example="^ord_"),
    ] = None
    format: Annotated[Any, _FORMAT, Key("A format of JSON Schema; it is asserted.", example="email")] = None
    enum: Annotated[Any, _ENUM, Key("One of these values.", example=["EUR", "USD"])] = None
    const: Annotated[Any, ANYTHING, Key("Exactly this value.")] = None
    items: Annotated[Any, _ARGUMENT, Key("The constraints on each item of a list, with these same keys.")] = None
    minItems: Annotated[Any, WHOLE, Key("The minimum number of items of a list.")] = None
    maxItems: Annotated[Any, WHOLE, Key("The maximum number of items of a list.")] = None
    uniqueItems: Annotated[Any, BOOLEAN, Key("No two items are equal.")] = None
    properties: Annotated[Any, _PROPERTIES, Key("The properties of an object, with these same keys.")] = None
    additionalProperties: Annotated[
        Any, _OTHERS, Key("Whether an object may have other properties, or the constraints on them.")
    ] = None
    on_violation: Annotated[str, _LEVEL, Key("What a violation does; applies to everything inside, too.")] = "block"
    description: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None

    mistakes_about = ("type",)

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """A bound that is stated twice, and a constraint that the stated type can never break."""
        seen: set[str] = set()
        for entry in map_:
            word = _word(entry)
            if word in seen:
                yield entry, f"'{entry.key}' repeats '{word}' or its short form"
            seen.add(word)
        families = {"number" if name == "integer" else name for name in self.type or ()}
        for entry in _constraining(map_) if families else ():
            if _FAMILIES[_word(entry)] not in families:
                yield entry, f"'{entry.key}' means nothing for type {' or '.join(self.type)} and could never fail"


_SPELLED = {"min": "minimum", "max": "maximum"}
_NOT_SCHEMA = ("required", "on_violation", "description")
_FAMILIES = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), "array"),
    **dict.fromkeys(("properties", "additionalProperties"), "object"),
}


def _word(entry: Entry) -> str:
    return _SPELLED.get(entry.key, entry.key)


def _constraining(map_: Mapping) -> list[Entry]:
    """The keys that only values of one type can break."""
    return [entry for entry in map_ if _word(entry) in _FAMILIES]


class _Builder:
    """Turns nodes that have been read without a problem into JSON Schema."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.anchors: Anchors = {}

    def properties(self, node: Mapping, path: SchemaPath, level: str) -> JsonSchema:
        """`properties` and `required` of an object. An argument is optional unless `required: true`."""
        found: JsonSchema = {}
        required: list[str] = []
        for entry in node:
            map_ = entry.value
            assert isinstance(map_, Mapping)  # it has been read without a problem
            found[entry.key] = self.argument(map_, (*path, "properties", entry.key), level)
            needed = map_.entries.get("required")
            if needed and isinstance(needed.value, Scalar) and needed.value.value is True:
                required.append(entry.key)
                anchor = Anchor(self.file, needed.line, needed, _level(map_, level))
                self.anchors[(*path, "required", entry.key)] = anchor
        return {**({"properties": found} if found else {}), **({"required": required} if required else {})}

    def argument(self, map_: Mapping, path: SchemaPath, inherited: str) -> JsonSchema:
        """The schema of one argument or of a value inside it."""
        level = _level(map_, inherited)
        schema: JsonSchema = {}
        for entry in map_:
            word = _word(entry)
            if word in _NOT_SCHEMA or word.startswith("x-"):
                continue
            self.anchors[(*path, word)] = Anchor(self.file, entry.line, entry, level)
            if word == "properties" and isinstance(entry.value, Mapping):
                schema |= self.properties(entry.value, path, level)
            elif word in ("items", "additionalProperties") and isinstance(entry.value, Mapping):
                schema[word] = self.argument(entry.value, (*path, word), level)
            elif word == "pattern" and isinstance(entry.value, Scalar):  # `pattern: 42` is a text, too
                schema[word] = entry.value.value if isinstance(entry.value.value, str) else entry.value.text
            else:
                schema[word] = plain(entry.value)
        used = _constraining(map_)
        if "type" not in schema and len({_FAMILIES[_word(entry)] for entry in used}) == 1:
            # JSON Schema lets `max: 30` accept every string. Whoever writes it means a number, so "50" has to break it.
            schema["type"] = _FAMILIES[_word(used[0])]
            self.anchors[(*path, "type")] = self.anchors[(*path, _word(used[0]))]
        listed = map_.entries.get("required")
        if listed and isinstance(listed.value, Sequence):  # JSON Schema's way of saying it of the inner properties
            schema["required"] = [*schema.get("required", []), *plain(listed.value)]
            self.anchors[(*path, "required")] = Anchor(self.file, listed.line, listed, level)
        return schema


def _level(map_: Mapping, inherited: str) -> str:
    stated = map_.get("on_violation")
    return stated.text if isinstance(stated, Scalar) else inherited


def _read_arguments(reader: Reader, node: Node, at: str) -> ArgumentsSchema:
    before = len(reader.problems)
    _PROPERTIES.read(reader, node, at)
    if len(reader.problems) > before or not isinstance(node, Mapping):
        return ArgumentsSchema({})
    builder = _Builder(reader.file)
    found = ArgumentsSchema({"type": "object", **builder.properties(node, (), "block")}, builder.anchors)
    note_uncompilable(reader, node, at, found)
    return found


ARGUMENTS = Custom("a map of arguments to what they may be", _read_arguments, _PROPERTIES.schema)


def note_uncompilable(reader: Reader, node: Node, at: str, found: ArgumentsSchema) -> None:
    """Note what keeps a schema from being compiled or from checking what it says, at the line where it stands."""
    anchors = found.anchors

    def spelled(path: SchemaPath) -> str:
        anchor = anchors.get(path)
        return anchor.said.key if anchor and isinstance(anchor.said, Entry) else str(path[-1])

    try:
        compile_schema(of_a_map(found.schema), spelled)
    except SchemaProblem as problem:
        for mistake in problem.mistakes:
            anchor = nearest_anchor(anchors, mistake.path) if mistake.path else _of_ref(anchors, mistake.message)
            message = f"{at}: {dotted(mistake.path)}{mistake.message}"
            reader.problem(replace(node, line=anchor.line, column=1) if anchor else node, message)


def _of_ref(anchors: Anchors, message: str) -> Anchor | None:
    """An unresolved `$ref` is reported without its place."""
    refs = (anchor for path, anchor in anchors.items() if path and path[-1] == "$ref")
    return next((ref for ref in refs if ref.constraint.split(": ", 1)[-1].lstrip("#") in message), None)
