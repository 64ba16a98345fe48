"""Policies as Assay writes them: `allow`, `deny`, `schemas`, `constraints`, `arg_constraints`, `require_args`.

They become policies of ours, node by node, so that violations name the lines of the file. A tool that is denied may be
given no arguments at all, and where tools are allowed by a list, others are unknown and a violation.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from passmuster.suite import Entry, Mapping, Node, Scalar, Sequence, glob_matcher

_LISTS = ("allow", "deny")
_RUNTIME = (
    *("enforcement", "limits", "signatures", "tool_pins", "discovery", "runtime_monitor", "kill_switch", "metadata"),
    *("aliases", "on_error", "sequences", "tool_classes", "response"),
)
"""Keys about a running agent, which say nothing about arguments."""
_OF_TOOLS = (
    *("allow_classes", "deny_classes", "approval_required", "approval_required_classes", "restrict_scope"),
    *(
        "restrict_scope_classes",
        "restrict_scope_contract",
        "redact_args",
        "redact_args_classes",
        "redact_args_contract",
    ),
)
_OURS = ("version", "name", "description", "$defs", "definitions")


class Translated(Struct, frozen=True):
    """An Assay policy as ours."""

    policy: Mapping
    strict: bool
    """Whether a tool that it does not list is refused."""


def is_assay_policy(map_: Mapping) -> bool:
    """Whether the map is a policy in Assay's words."""
    tools = map_.get("tools")
    if isinstance(tools, Mapping) and any(_is_list(tools, key) for key in _LISTS):
        return True
    if isinstance(tools, Mapping) and ("arg_constraints" in tools or "require_args" in tools):
        return True
    if isinstance(tools, Mapping) and any(_of_tool(entry) is not entry for entry in tools):
        return True
    if any(_is_list(map_, key) for key in _LISTS) or isinstance(map_.get("constraints"), Sequence | Mapping):
        return True
    return isinstance(map_.get("schemas"), Mapping) or ("tools" not in map_ and _are_schemas(map_))


def left_out(map_: Mapping) -> Iterator[Entry]:
    """What of an Assay policy says nothing about arguments, and states something."""
    tools = map_.get("tools")
    inner = [tools.entries[key] for key in _OF_TOOLS if key in tools] if isinstance(tools, Mapping) else []
    for entry in [*(map_.entries[key] for key in _RUNTIME if key in map_), *inner]:
        if not (isinstance(entry.value, Scalar) and entry.value.value is None):
            yield entry


def translated(map_: Mapping) -> Translated:
    """The policy in our words."""
    tools = map_.get("tools")
    inside = tools if isinstance(tools, Mapping) else Mapping({}, map_.line, map_.column)
    found: dict[str, Entry] = {}
    for entry in _schemas(map_):
        found[entry.key] = _entry(entry, {"schema": entry})
    for entry in _denied_patterns(map_):
        found[entry.key] = entry
    for name, arguments, at in _constraints(map_, inside):
        found[name] = Entry(name, at.line, at.column, _map({"arguments": _key("arguments", arguments, at)}, at))
    for entry in inside:  # tools in our words, or with the properties of their arguments
        if entry.key not in (*_LISTS, *_OF_TOOLS, "arg_constraints", "require_args"):
            found[entry.key] = _of_tool(entry)
    allowed = [*_items(inside, "allow"), *_items(map_, "allow")]
    for item in allowed:
        if item.value != "*":
            found.setdefault(str(item.value), Entry(str(item.value), item.line, item.column, _map({}, item)))
    for item in [*_items(inside, "deny"), *_items(map_, "deny")]:
        refused = glob_matcher(str(item.value))
        for name in [str(item.value), *(name for name in found if refused(name))]:
            nothing = Scalar(False, "false", item.line, item.column)
            schema = _map({"schema": Entry("schema", item.line, item.column, nothing)}, item)
            found[name] = Entry(name, item.line, item.column, schema)
    line = map_.entries["tools"] if "tools" in map_ else map_
    ours = {key: map_.entries[key] for key in _OURS if key in map_}
    named = Mapping(found, line.line, line.column)
    strict = bool(allowed) and all(item.value != "*" for item in allowed)
    strict = strict or refuses_unconstrained(map_)
    return Translated(_map({**ours, "tools": Entry("tools", line.line, line.column, named)}, map_), strict)


def refuses_unconstrained(map_: Mapping) -> bool:
    """Whether the policy refuses tools for which it states nothing; by default Assay lets them pass."""
    stated = map_.get("enforcement")
    told = stated.get("unconstrained_tools") if isinstance(stated, Mapping) else None
    return isinstance(told, Scalar) and told.value == "deny"


def are_schemas(map_: Mapping) -> bool:
    """Whether the file is nothing but a JSON Schema per tool."""
    return "tools" not in map_ and not isinstance(map_.get("schemas"), Mapping) and _are_schemas(map_)


def _schemas(map_: Mapping) -> list[Entry]:
    """A JSON Schema per tool, under `schemas` or at the top."""
    stated = map_.get("schemas")
    if isinstance(stated, Mapping):
        return list(stated)
    return [entry for entry in map_ if entry.key not in _OURS] if _are_schemas(map_) else []


def _are_schemas(map_: Mapping) -> bool:
    entries = [entry for entry in map_ if entry.key not in _OURS]
    return bool(entries) and all(
        isinstance(entry.value, Mapping) and ("properties" in entry.value or "required" in entry.value)
        for entry in entries
    )


def _of_tool(entry: Entry) -> Entry:
    """A tool in our words; `args: {properties: …}` is its JSON Schema."""
    arguments = entry.value.get("args") if isinstance(entry.value, Mapping) else None
    if isinstance(arguments, Mapping) and "properties" in arguments:
        schema = Entry("schema", arguments.line, arguments.column, arguments)
        return Entry(entry.key, entry.line, entry.column, _map({"schema": schema}, entry))
    return entry


def _constraints(map_: Mapping, tools: Mapping) -> Iterator[tuple[str, Mapping, Entry | Mapping]]:
    """Each tool with its arguments, from `constraints`, `arg_constraints` and `require_args`."""
    by_tool: dict[str, tuple[dict[str, Entry], Entry | Mapping]] = {}
    rules = map_.get("constraints")
    for rule in rules.items if isinstance(rules, Sequence) else ():
        params = rule.get("params") if isinstance(rule, Mapping) else None
        tool = rule.get("tool") if isinstance(rule, Mapping) else None
        if isinstance(rule, Mapping) and isinstance(params, Mapping) and isinstance(tool, Scalar):
            arguments, _ = by_tool.setdefault(str(tool.value), ({}, rule))
            arguments.update({entry.key: _matched(entry) for entry in params})
    stated = tools.get("arg_constraints")
    for entry in stated if isinstance(stated, Mapping) else ():
        arguments, _ = by_tool.setdefault(entry.key, ({}, entry))
        arguments.update({one.key: one for one in entry.value} if isinstance(entry.value, Mapping) else {})
    required = tools.get("require_args")
    for entry in required if isinstance(required, Mapping) else ():
        arguments, _ = by_tool.setdefault(entry.key, ({}, entry))
        for item in entry.value.items if isinstance(entry.value, Sequence) else ():
            name = str(item.value) if isinstance(item, Scalar) else ""
            before = arguments.get(name)
            words = dict(before.value.entries) if before and isinstance(before.value, Mapping) else {}
            words["required"] = Entry("required", item.line, item.column, Scalar(True, "true", item.line, item.column))
            arguments[name] = Entry(name, item.line, item.column, _map(words, item))
    for name, (arguments, at) in by_tool.items():
        yield name, Mapping(arguments, at.line, at.column), at


def _denied_patterns(map_: Mapping) -> Iterator[Entry]:
    """`constraints: {TOOL: {deny_patterns: {ARG: regex}}}`: arguments that must not fit."""
    rules = map_.get("constraints")
    for rule in rules if isinstance(rules, Mapping) else ():
        stated = rule.value.get("deny_patterns") if isinstance(rule.value, Mapping) else None
        if not isinstance(stated, Mapping):
            continue
        properties = {one.key: _nested(one, "not", _nested(one, "pattern", one.value).value) for one in stated}
        schema = Mapping(properties, stated.line, stated.column)
        inner = Mapping({"properties": Entry("properties", stated.line, stated.column, schema)}, rule.line, rule.column)
        yield _entry(rule, {"schema": Entry("schema", rule.line, rule.column, inner)})


def _nested(entry: Entry, key: str, value: Node) -> Entry:
    """An entry whose value is a map of one key."""
    inner = Mapping({key: Entry(key, entry.line, entry.column, value)}, entry.line, entry.column)
    return Entry(entry.key, entry.line, entry.column, inner)


def _matched(entry: Entry) -> Entry:
    """`path: {matches: regex}`: a text that is there, is not empty and fits."""
    stated = entry.value.entries.get("matches") if isinstance(entry.value, Mapping) else None
    if stated is None:
        return entry
    words: dict[str, bool | int | str] = {"type": "string", "required": True, "minLength": 1}
    given = {key: Entry(key, entry.line, entry.column, _scalar(value, entry)) for key, value in words.items()}
    given["pattern"] = Entry("pattern", stated.line, stated.column, stated.value)
    return Entry(entry.key, entry.line, entry.column, _map(given, entry))


def _scalar(value: bool | int | str, at: Entry) -> Scalar:
    return Scalar(value, str(value), at.line, at.column)


def _entry(entry: Entry, words: dict[str, Entry]) -> Entry:
    inner = {key: Entry(key, one.line, one.column, one.value) for key, one in words.items()}
    return Entry(entry.key, entry.line, entry.column, _map(inner, entry))


def _key(name: str, value: Node, at: Entry | Mapping) -> Entry:
    return Entry(name, at.line, at.column, value)


def _map(entries: dict[str, Entry], at: Node | Entry) -> Mapping:
    return Mapping(entries, at.line, at.column)


def _is_list(map_: Mapping, key: str) -> bool:
    return isinstance(map_.get(key), Sequence)


def _items(map_: Mapping, key: str) -> list[Scalar]:
    node = map_.get(key)
    return [item for item in node.items if isinstance(item, Scalar)] if isinstance(node, Sequence) else []
