"""Policies: which arguments each tool may be given. All ways of writing one become JSON Schema.

A policy is `tools.NAME.arguments.ARG` in words of its own, `tools.NAME.schema` in JSON Schema 2020-12, a saved MCP
`tools/list` answer, or a list of OpenAI or Anthropic tool definitions.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from jsonschema_rs import Validator
from msgspec import Struct

from passmuster.checks._json_schema import read_schema
from passmuster.checks.args._anchors import Anchor, Anchors, SchemaPath
from passmuster.checks.args._arguments import ARGUMENTS, ArgumentsSchema, note_uncompilable
from passmuster.suite import (
    BOOLEAN,
    PROSE,
    Custom,
    Key,
    Mapping,
    Mistake,
    Node,
    Reader,
    Record,
    Scalar,
    Sequence,
    Unread,
    escape_glob,
    plain,
    read_record,
    why_bad_glob,
)

Effect = Literal["read", "write", "irreversible"]
_SHARED = ("$defs", "definitions")
_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")


class ToolPolicy(Struct, frozen=True):
    """What the arguments of one tool, or of all tools that fit a pattern, have to be."""

    pattern: str
    arguments: ArgumentsSchema
    line: int


class CompiledTool(Struct, frozen=True):
    """What is said of one tool, compiled, and the policy file it stands in."""

    validator: Validator
    policy: ToolPolicy
    file: str


class Policy(Struct, frozen=True):
    """What a policy file says; `line` is that of its `tools`."""

    file: str
    line: int
    tools: tuple[ToolPolicy, ...] = ()
    effects: dict[str, Effect] = {}
    """What tools do to the world, where MCP annotations say so."""


class ToolEntry(Record, frozen=True, kw_only=True):
    """What a policy says of one tool."""

    arguments: Annotated[
        Node | None, Unread(ARGUMENTS), Key("Arguments by name.", example={"percent": {"type": "number", "max": 30}})
    ] = None
    additional_arguments: Annotated[bool, BOOLEAN, Key("Whether arguments that are not listed are allowed.")] = True
    schema: Annotated[
        Node | None,
        Unread(Custom("a JSON Schema", read_schema, {"type": ["object", "boolean"]})),
        Key("Instead: a JSON Schema (2020-12) of the arguments as a whole."),
    ] = None
    description: Annotated[Node | None, Unread(PROSE), Key("A comment; ignored.")] = None
    lines: dict[str, int]

    mistakes_about = ("schema",)

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """A schema says all about the arguments."""
        for key in ("arguments", "additional_arguments"):
            if self.schema is not None and key in map_:
                yield map_.entries[key], f"'{key}' cannot be combined with 'schema'; state it there"


def read_policy(reader: Reader, node: Node) -> Policy:
    """The policy that a whole file spells."""
    if isinstance(node, Sequence):
        return _of_definitions(reader, node, node.line, {})
    map_ = reader.mapping(node, "policy")
    answer = map_.get("result")
    if "jsonrpc" in map_ and isinstance(answer, Mapping):  # a saved JSON-RPC answer around the list
        map_ = answer
    tools = map_.get("tools")
    if tools is None:
        if isinstance(node, Mapping):
            reader.problem(node, "a policy needs 'tools': a map of tool names, or a list of tool definitions")
        return Policy(reader.file, node.line)
    line = map_.entries["tools"].line
    shared = {key: value for key in _SHARED if isinstance(value := map_.get(key), Mapping)}
    if isinstance(tools, Sequence):
        return _of_definitions(reader, tools, line, shared)
    reader.mapping(map_, "policy", ("tools", "version", "name", "description", *_SHARED))
    named = reader.mapping(tools, "tools")
    if isinstance(tools, Mapping) and not tools.entries:
        reader.problem(tools, "tools: is empty, so no call would be checked")
    for entry in named:
        if bad := why_bad_glob(entry.key):
            reader.problem(entry, f"tools: {bad}")
    read = [
        ToolPolicy(entry.key, _tool(reader, entry.value, f"tools.{entry.key}", shared), entry.line) for entry in named
    ]
    return Policy(reader.file, line, tuple(read))


POLICY = Custom(
    "a policy file", lambda reader, node, at: reader.linked(node, at, read_policy), {"type": "string", "minLength": 1}
)


def _tool(reader: Reader, node: Node, at: str, shared: dict[str, Mapping]) -> ArgumentsSchema:
    if isinstance(node, Scalar) and node.value is None:  # `refund:` with nothing below: known, any arguments
        return ArgumentsSchema({"type": "object"})
    entry = read_record(ToolEntry, reader, node, at)
    if entry is None:
        return ArgumentsSchema({"type": "object"})
    if entry.schema is not None:
        return _full_schema(reader, entry.schema, f"{at}.schema", shared)
    arguments = entry.arguments
    if arguments is None or (isinstance(arguments, Scalar) and arguments.value is None):
        arguments = Mapping({}, node.line, node.column)
    read = ARGUMENTS.read(reader, arguments, f"{at}.arguments")
    if entry.additional_arguments or not isinstance(read.schema, dict):
        return read
    anchor = Anchor(reader.file, entry.lines["additional_arguments"], "additional_arguments: false")
    closed = {("additionalProperties",): anchor, **read.anchors}
    return ArgumentsSchema({**read.schema, "additionalProperties": False}, closed)


def _full_schema(reader: Reader, node: Node, at: str, shared: dict[str, Mapping]) -> ArgumentsSchema:
    """A full JSON Schema, with the definitions that its file shares between tools."""
    schema = read_schema(reader, node, at)
    anchors: Anchors = {}
    if isinstance(schema, bool):
        key = at.rpartition(".")[2]
        anchors[()] = Anchor(reader.file, node.line, f"{key}: {'true' if schema else 'false'}")
        return ArgumentsSchema(schema, anchors)
    _anchor_all(reader.file, node, (), anchors)
    for key, definitions in shared.items():
        own = schema.setdefault(key, {})
        for entry in definitions if isinstance(own, dict) else ():
            if entry.key not in own:
                own[entry.key] = plain(entry.value)
                _anchor_all(reader.file, entry.value, (key, entry.key), anchors)
    found = ArgumentsSchema(schema, anchors)
    note_uncompilable(reader, node, at, found)
    return found


def _anchor_all(file: str, node: Node, path: SchemaPath, anchors: Anchors) -> None:
    if isinstance(node, Mapping):
        for entry in node:
            anchors[(*path, entry.key)] = Anchor(file, entry.line, entry)
            _anchor_all(file, entry.value, (*path, entry.key), anchors)
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            _anchor_all(file, item, (*path, place), anchors)


def _of_definitions(reader: Reader, node: Sequence, line: int, shared: dict[str, Mapping]) -> Policy:
    """MCP, OpenAI or Anthropic tool definitions; they may have any keys that say nothing about arguments."""
    tools: dict[str, ToolPolicy] = {}
    lines: dict[str, int] = {}
    effects: dict[str, Effect] = {}
    if not node.items:
        reader.problem(node, "tools: is empty, so no call would be checked")
    for place, item in enumerate(node.items):
        at = f"tools[{place}]"
        map_ = reader.mapping(item, at)
        annotations = map_.get("annotations")
        function = map_.get("function")
        if isinstance(function, Mapping):
            map_ = function
        name_node = map_.get("name")
        if name_node is None:
            if isinstance(item, Mapping):
                reader.problem(item, f"{at}: a tool definition needs a 'name'")
            continue
        name = reader.text(name_node, f"{at}.name")
        if name in tools:
            reader.problem(name_node, f"{at}: the tool '{name}' is already defined on line {lines[name]}")
        lines[name] = name_node.line
        entry = next((map_.entries[key] for key in _SCHEMA_KEYS if key in map_), None)
        if entry is None or (isinstance(entry.value, Scalar) and entry.value.value is None):
            read = ArgumentsSchema({"type": "object"})
        else:
            read = _full_schema(reader, entry.value, f"{at}.{entry.key}", shared)
        tools[name] = ToolPolicy(escape_glob(name), read, map_.line)
        if isinstance(annotations, Mapping) and (effect := _effect(reader, annotations, at)):
            effects[name] = effect
    return Policy(reader.file, line, tuple(tools.values()), effects)


def _effect(reader: Reader, node: Mapping, at: str) -> Effect | None:
    """What MCP annotations say; a tool that changes something is destructive unless they say otherwise."""
    hints = {
        key: reader.boolean(value, f"{at}.annotations.{key}")
        for key in ("readOnlyHint", "destructiveHint")
        if (value := node.get(key)) is not None
    }
    if not hints:
        return None
    if hints.get("readOnlyHint"):
        return "read"
    return "irreversible" if hints.get("destructiveHint", True) else "write"
