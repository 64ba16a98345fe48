"""Policies: which arguments each tool may be given. All ways of writing one become JSON Schema.

A policy is `tools.NAME.arguments.ARG` in our own words, `tools.NAME.schema` in JSON Schema 2020-12, a saved
MCP `tools/list` answer, or a list of OpenAI or Anthropic tool definitions. Beside each schema stands a
map of *anchors*: for every place a violation can come from, the line and the wording of the policy.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from passmuster.suite._arguments import Anchor, Anchors, SchemaPath, read_arguments, read_schema
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar, Sequence

__all__ = ["Anchor", "Anchors", "Effect", "Policy", "SchemaPath", "ToolPolicy", "read_policy"]

Effect = Literal["read", "write", "irreversible"]


class ToolPolicy(Struct, frozen=True):
    """The schema for the arguments of one tool, or of all tools that fit a pattern."""

    pattern: str
    schema: dict[str, Any]
    anchors: Anchors
    line: int


class Policy(Struct, frozen=True):
    """What a policy file says; `line` is that of its `tools`."""

    file: str
    line: int
    tools: list[ToolPolicy]
    effects: dict[str, Effect] = {}
    """What tools do to the world, where MCP annotations say so."""


def read_policy(reader: Reader, node: Node) -> Policy:
    """The policy that a whole file spells."""
    if isinstance(node, Sequence):
        return Policy(reader.file, node.line, _definitions(reader, node, {}), _effects(reader, node))
    map_ = reader.mapping(node, "policy")
    answer = map_.get("result")
    if "jsonrpc" in map_ and isinstance(answer, Mapping):  # a saved JSON-RPC answer around the list
        map_ = answer
    tools = map_.get("tools")
    if tools is None:
        if isinstance(node, Mapping):
            reader.problem(node, "a policy needs 'tools': a map of tool names, or a list of tool definitions")
        return Policy(reader.file, node.line, [])
    line = map_.entries["tools"].line
    shared = {key: value for key in ("$defs", "definitions") if (value := map_.get(key)) is not None}
    if isinstance(tools, Sequence):
        return Policy(reader.file, line, _definitions(reader, tools, shared), _effects(reader, tools))
    reader.mapping(map_, "policy", ("tools", "version", "name", "description", "$defs", "definitions"))
    named = reader.mapping(tools, "tools")
    if isinstance(tools, Mapping) and not tools.entries:
        reader.problem(tools, "tools: is empty, so no call would be checked")
    read = [_tool(reader, entry.key, entry.value, entry.line, shared) for entry in named]
    for entry in named:
        if bad := globs.why_bad_glob(entry.key):
            reader.problem(entry, f"tools: {bad}")
    return Policy(reader.file, line, read)


def _tool(reader: Reader, name: str, node: Node, line: int, shared: dict[str, Node]) -> ToolPolicy:
    at = f"tools.{name}"
    if isinstance(node, Scalar) and node.value is None:  # `refund:` with nothing below: known, any arguments
        return ToolPolicy(name, {"type": "object"}, {}, line)
    map_ = reader.mapping(node, at, ("arguments", "schema", "description", "additional_arguments"))
    schema_node = map_.get("schema")
    if schema_node is not None:
        for key in ("arguments", "additional_arguments"):
            if key in map_:
                reader.problem(map_.entries[key], f"{at}: '{key}' cannot stand beside 'schema'; say it there")
        schema, anchors = read_schema(reader, schema_node, f"{at}.schema", shared)
        return ToolPolicy(name, schema, anchors, line)
    arguments = map_.get("arguments")
    if arguments is None or (isinstance(arguments, Scalar) and arguments.value is None):
        arguments = Mapping({}, map_.line, map_.column)
    schema, anchors = read_arguments(reader, arguments, f"{at}.arguments")
    closed = map_.get("additional_arguments")
    if closed is not None and not reader.boolean(closed, f"{at}.additional_arguments"):
        schema["additionalProperties"] = False
        line_of_key = map_.entries["additional_arguments"].line
        anchors[("additionalProperties",)] = Anchor(reader.file, line_of_key, "additional_arguments: false")
    return ToolPolicy(name, schema, anchors, line)


_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")


def _definitions(reader: Reader, node: Sequence, shared: dict[str, Node]) -> list[ToolPolicy]:
    """MCP, OpenAI or Anthropic tool definitions; keys that say nothing about arguments are theirs to have."""
    tools: list[ToolPolicy] = []
    seen: dict[str, int] = {}
    if not node.items:
        reader.problem(node, "tools: is empty, so no call would be checked")
    for place, item in enumerate(node.items):
        at = f"tools[{place}]"
        map_ = reader.mapping(item, at)
        function = map_.get("function")
        if isinstance(function, Mapping):
            map_ = function
        name_node = map_.get("name")
        if name_node is None:
            if isinstance(item, Mapping):
                reader.problem(item, f"{at}: a tool definition needs a 'name'")
            continue
        name = reader.text(name_node, f"{at}.name")
        if name in seen:
            reader.problem(name_node, f"{at}: the tool '{name}' is already defined on line {seen[name]}")
        seen[name] = name_node.line
        entry = next((map_.entries[key] for key in _SCHEMA_KEYS if key in map_), None)
        if entry is None or (isinstance(entry.value, Scalar) and entry.value.value is None):
            read: tuple[dict[str, Any], Anchors] = ({"type": "object"}, {})
        else:
            read = read_schema(reader, entry.value, f"{at}.{entry.key}", shared)
        tools.append(ToolPolicy(globs.escape(name), *read, map_.line))
    return tools


def _effects(reader: Reader, node: Sequence) -> dict[str, Effect]:
    """What MCP annotations say of each tool that has some."""
    found: dict[str, Effect] = {}
    for place, item in enumerate(node.items):
        name = item.get("name") if isinstance(item, Mapping) else None
        annotations = item.get("annotations") if isinstance(item, Mapping) else None
        if isinstance(name, Scalar) and isinstance(annotations, Mapping):
            effect = _effect(reader, annotations, f"tools[{place}]")
            found |= {name.text: effect} if effect else {}
    return found


def _effect(reader: Reader, node: Mapping, at: str) -> Effect | None:
    """One that changes something is destructive unless it says otherwise."""
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
