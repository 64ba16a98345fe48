"""Tool definitions as a policy: a saved MCP `tools/list` answer, or OpenAI or Anthropic tool definitions.

They may have any keys that say nothing about arguments. A key that was meant to hold the schema of the arguments and is
spelt otherwise would allow any arguments, so it is refused.
"""

from __future__ import annotations

from msgspec import Struct

from passmuster.checks._schema_words import looks_like_schema
from passmuster.suite import Entry, Mapping, Node, Reader, plain

SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")
_OTHERS = (
    *("name", "description", "title", "outputSchema", "output_schema", "annotations", "_meta", "icons", "execution"),
    *("type", "function", "strict", "cache_control", "input_examples", "custom", "format", "user_location"),
)
"""Keys of tool definitions that hold something else, though some of it looks like a schema."""
_LIKE = {
    *("schema", "jsonschema", "inputschema", "argsschema", "argumentsschema", "parametersschema", "paramsschema"),
    *("args", "arguments", "argument", "params", "param", "parameters", "parameter", "input", "inputs"),
}
"""What a key is called, in lower case without signs, that can hardly be anything but the schema of the arguments."""


class ToolDefinition(Struct, frozen=True):
    """One definition: the map that names the tool, its name, and where the schema of its arguments stands."""

    map_: Mapping
    name: Node
    schema: Entry | None
    annotations: Node | None


def read_definition(reader: Reader, item: Node, at: str) -> ToolDefinition | None:
    """The definition that a map spells; None, with a problem noted, where it has no name."""
    outer = reader.mapping(item, at)
    function = outer.get("function")
    map_ = function if isinstance(function, Mapping) else outer
    name = map_.get("name")
    if name is None:
        if isinstance(item, Mapping):
            reader.problem(item, f"{at}: a tool definition needs a 'name'")
        return None
    for place in (outer, map_) if map_ is not outer else (map_,):
        for entry in place:
            if why := _why_refused(entry, place is not map_):
                reader.problem(entry, f"{at}: {why}")
    stated = [map_.entries[key] for key in SCHEMA_KEYS if key in map_]
    for entry in stated[1:]:
        reader.problem(entry, f"{at}: '{entry.key}' beside '{stated[0].key}'; keep one of the two")
    return ToolDefinition(map_, name, stated[0] if stated else None, outer.get("annotations"))


def _why_refused(entry: Entry, outside: bool) -> str | None:
    """Why a key would say nothing about the arguments though it was meant to."""
    key = entry.key
    if key in SCHEMA_KEYS:
        return f"'{key}' beside 'function' says nothing; it belongs inside 'function'" if outside else None
    if key in _OTHERS or key.startswith("x-"):
        return None
    folded = "".join(char for char in key.lower() if char.isalnum())
    if folded not in _LIKE and not _near(folded) and not looks_like_schema(plain(entry.value)):
        return None
    return (
        f"'{key}' is no key of a tool definition, so any arguments would be allowed; the schema of the arguments "
        f"stands under {', '.join(SCHEMA_KEYS[:-1])} or {SCHEMA_KEYS[-1]}"
    )


def _near(word: str) -> bool:
    from rapidfuzz.distance import OSA  # late, for most definitions have no unknown key

    return any(OSA.distance(word, known) <= 2 for known in ("inputschema", "parameters"))
