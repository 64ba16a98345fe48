"""Policies: which arguments each tool may be given. All ways of writing one become JSON Schema.

A policy is `tools.NAME.arguments.ARG` in words of its own, `tools.NAME.schema` in JSON Schema 2020-12, a saved MCP
`tools/list` answer, or a list of OpenAI or Anthropic tool definitions.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from jsonschema_rs import Validator
from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks._json_schema import read_schema
from passmuster.checks._schema_patterns import engine_pattern
from passmuster.checks.args._anchors import Anchor, Anchors, SchemaPath
from passmuster.checks.args._arguments import ARGUMENTS, ArgumentsSchema, note_uncompilable
from passmuster.checks.args._definitions import read_definition
from passmuster.suite import (
    BOOLEAN,
    PROSE,
    Custom,
    Entry,
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
    why_no_tool,
)

if TYPE_CHECKING:
    from passmuster.checks.args._assay_policy import Translated

Effect = Literal["read", "write", "irreversible"]
_SHARED = ("$defs", "definitions")
_ASSAY = {"allow", "deny", "schemas", "constraints", "arg_constraints", "require_args"}


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
    strict: bool = False
    """Whether it lists all tools there are, so that any other is a violation."""


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
    if _ASSAY & map_.entries.keys() or tools is None or (isinstance(tools, Mapping) and _may_be_assay(tools)):
        from passmuster.checks.args import _assay_policy  # late, for most policies are written in our words

        if _assay_policy.is_assay_policy(map_):
            return _of_assay(reader, _assay_policy.left_out(map_), _assay_policy.translated(map_))
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
        if bad := why_bad_glob(entry.key) or why_no_tool(entry.key):
            reader.problem(entry, f"tools: {bad}")
    read = [
        ToolPolicy(entry.key, _tool(reader, entry.value, f"tools.{entry.key}", shared), entry.line) for entry in named
    ]
    return Policy(reader.file, line, tuple(read))


def _may_be_assay(tools: Mapping) -> bool:
    return bool(_ASSAY & tools.entries.keys()) or any(
        isinstance(entry.value, Mapping) and "args" in entry.value for entry in tools
    )


def _of_assay(reader: Reader, ignored: Iterable[Entry], found: "Translated") -> Policy:
    for entry in ignored:
        reader.remark(entry, f"policy: '{entry.key}' says nothing about arguments, so it is not checked here")
    return replace(read_policy(reader, found.policy), strict=found.strict)


def _read(reader: Reader, node: Node, at: str) -> Policy | None:
    return read_policy(reader, node) if isinstance(node, Mapping) else reader.linked(node, at, read_policy)


POLICY: Custom[Policy | None] = Custom(
    "a policy file, or a policy",
    _read,
    {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object", "minProperties": 1}]},
)


def _tool(reader: Reader, node: Node, at: str, shared: dict[str, Mapping]) -> ArgumentsSchema:
    if isinstance(node, Scalar) and node.value is None:
        reader.problem(node, f"{at}: is empty; write '{{}}' for a tool that is known and takes any arguments")
        return ArgumentsSchema({"type": "object"})
    entry = read_record(ToolEntry, reader, node, at)
    if entry is None:
        return ArgumentsSchema({"type": "object"})
    if entry.schema is not None:
        return _full_schema(reader, entry.schema, f"{at}.schema", shared)
    arguments = entry.arguments
    if arguments is None:
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
            # The validator names a property by the pattern that is run.
            key = engine_pattern(entry.key) if path[-1:] == ("patternProperties",) else entry.key
            anchors[(*path, key)] = Anchor(file, entry.line, entry)
            _anchor_all(file, entry.value, (*path, key), anchors)
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            _anchor_all(file, item, (*path, place), anchors)


def _of_definitions(reader: Reader, node: Sequence, line: int, shared: dict[str, Mapping]) -> Policy:
    """MCP, OpenAI or Anthropic tool definitions."""
    tools: dict[str, ToolPolicy] = {}
    lines: dict[str, int] = {}
    effects: dict[str, Effect] = {}
    if not node.items:
        reader.problem(node, "tools: is empty, so no call would be checked")
    for place, item in enumerate(node.items):
        at = f"tools[{place}]"
        definition = read_definition(reader, item, at)
        if definition is None:
            continue
        name = reader.text(definition.name, f"{at}.name")
        if name in tools:
            reader.problem(definition.name, f"{at}: the tool '{name}' is already defined on line {lines[name]}")
        lines[name] = definition.name.line
        entry, read = definition.schema, ArgumentsSchema({"type": "object"})
        if entry is not None:
            read = _full_schema(reader, entry.value, f"{at}.{entry.key}", shared)
        tools[name] = ToolPolicy(escape_glob(name), read, definition.map_.line)
        annotations = definition.annotations
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
