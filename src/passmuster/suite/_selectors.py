"""Selectors: which calls a rule speaks of. A tool pattern, or a map that also looks at arguments and results."""

from __future__ import annotations

from msgspec import Struct

from passmuster.suite._matchers import Matcher, read_matcher
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Sequence

__all__ = ["Selector", "read_selector", "read_selectors"]

_KEYS = ("tool", "args", "result", "failed")


class Selector(Struct, frozen=True):
    """Calls of tools that fit a pattern and, where said, whose arguments, result and failure fit too."""

    patterns: tuple[str, ...]
    args: dict[str, Matcher] | None = None
    result: Matcher | None = None
    failed: bool | None = None

    @property
    def name(self) -> str:
        """What a message calls these calls."""
        text = " or ".join(self.patterns)
        details = []
        if self.args:
            details.append(f"with {', '.join(self.args)} as stated")
        if self.result is not None:
            details.append("with a result as stated")
        if self.failed is not None:
            details.append("failed" if self.failed else "succeeded")
        return f"{text} ({', '.join(details)})" if details else text


def read_selectors(reader: Reader, node: Node, at: str) -> list[Selector]:
    """One selector, or a list of them."""
    if not isinstance(node, Sequence):
        return [read_selector(reader, node, at)]
    if not node.items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
    return [read_selector(reader, item, f"{at}[{place}]") for place, item in enumerate(node.items)]


def read_selector(reader: Reader, node: Node, at: str) -> Selector:
    """The selector that a node spells. A list inside a list means any of its patterns."""
    if isinstance(node, Sequence):
        return Selector(_read_patterns(reader, node, at))
    if not isinstance(node, Mapping):
        return Selector((reader.pattern(node, at),))
    reader.mapping(node, at, _KEYS)
    if not any(key in node for key in _KEYS):
        reader.problem(node, f"{at}: an empty map selects nothing; name a 'tool'")
    tool, args, result, failed = (node.get(key) for key in _KEYS)
    return Selector(
        patterns=_read_patterns(reader, tool, f"{at}.tool") if tool is not None else ("*",),
        args=_read_args(reader, args, f"{at}.args") if args is not None else None,
        result=read_matcher(reader, result, f"{at}.result") if result is not None else None,
        failed=reader.boolean(failed, f"{at}.failed") if failed is not None else None,
    )


def _read_patterns(reader: Reader, node: Node, at: str) -> tuple[str, ...]:
    items = reader.one_or_more(node)
    if not items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
    return tuple(reader.pattern(item, at) for item in items)


def _read_args(reader: Reader, node: Node, at: str) -> dict[str, Matcher]:
    map_ = reader.mapping(node, at)
    return {entry.key: read_matcher(reader, entry.value, f"{at}.{entry.key}") for entry in map_}
