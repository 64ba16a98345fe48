"""YAML text to nodes, with every place kept and nothing constructed.

PyYAML's parser gives events; the composer here makes nodes of them. Words are read as YAML 1.2 reads
them (`no` and `12:30` are text), keys are text and unique, aliases share the node they name, and an
alias that names nothing is kept as the tool pattern it may be. Whatever does not stop the parser is
collected and told together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import yaml
from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError
from passmuster.suite.text._limits import MAX_DEPTH, Places, number, refuse_oversized
from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar, Sequence, kind_of

MAX_ALIASED = 100_000
"""The most nodes that all aliases of a file together may stand for."""

_BLANKS = dict.fromkeys(map(ord, "\t\n\r"))
_UNREADABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_SURROGATE = "[\ud800-\udfff]"
_WORDS: dict[str, bool | float | None] = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
    | dict.fromkeys((sign + word for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), float("inf"))
    | dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf"))
    | dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan"))
)
_NUMBER = re.compile(
    r"[-+]?[0-9]++ | 0o[0-7]++ | 0x[0-9a-fA-F]++"
    r"| [-+]?(?: \.[0-9]++ | [0-9]++(?:\.[0-9]*+)? )(?:[eE][-+]?[0-9]++)?",
    re.VERBOSE,
)
_TAG = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    f"{_TAG}str": (str,),
    f"{_TAG}int": (int,),
    f"{_TAG}float": (float, int),
    f"{_TAG}bool": (bool,),
    f"{_TAG}null": (type(None),),
}


def read_yaml(text: str, file: str) -> Node:
    """The nodes of one YAML document, or a `SuiteError` with everything found wrong in it."""
    refuse_oversized(text, file)
    text = text.removeprefix("\ufeff")
    composer = _Composer(text, file)
    if not _is_plain(text) and (unreadable := re.search(_UNREADABLE, text)):
        code = ord(unreadable.group())
        composer.stop(f"the character U+{code:04X} is not allowed in a YAML file; remove it", unreadable.start())
    for event in _events(text, composer.report):
        composer.take(event)
    return composer.document()


def _events(text: str, report: Callable[[str, int], None]) -> Iterator[yaml.Event]:
    """What the parser sees, up to the first thing it cannot read, which is reported."""
    try:
        yield from yaml.parse(text, Loader=_parser())
    # The parser written in Python lets ValueError and OverflowError out for escapes beyond Unicode.
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        from passmuster.suite.text._yaml_mistakes import explain  # late, for most files have none

        report(*explain(error, text))


def _is_plain(text: str) -> bool:
    """Whether it is ASCII that anybody can read, as most suites are; what it costs to compile a pattern is saved."""
    return text.isascii() and text.translate(_BLANKS).isprintable()


def _parser() -> Any:
    """The parser written in C where PyYAML was built with it, else the one in Python."""
    return yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader


class _Built(Struct, frozen=True):
    """A node where it is used, and what it weighs once every alias in it is written out."""

    node: Node
    offset: int
    size: int = 1
    height: int = 0
    is_merge: bool = False


class _Open(Struct):
    """A list or map whose end has not come yet; a map's children are its keys and values in turn."""

    is_map: bool
    anchor: str | None
    offset: int
    children: list[_Built]


class _Composer:
    """The nodes composed so far. A stack, not recursion: how deep a file goes is its author's choice."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._places = Places(text)
        self._problems: list[Problem] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Built | _Open] = {}
        self._aliased = 0
        self._root: _Built | None = None

    def take(self, event: yaml.Event) -> None:
        """The next event, put where it belongs."""
        offset = event.start_mark.index if event.start_mark else 0
        match event:
            case yaml.ScalarEvent():
                self._place(self._scalar(event, offset), event.anchor)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event, offset)
            case yaml.CollectionEndEvent():
                self._close()
            case yaml.AliasEvent():
                self._place(self._alias(event.anchor or "", offset))
            case yaml.DocumentStartEvent() if self._root:
                self.stop("a second document begins here; put each suite in a file of its own", offset)

    def document(self) -> Node:
        """The whole document, or everything that is wrong with it."""
        if self._problems:
            self._refuse()
        if self._root is None or self._root.node == Scalar(None, "", *self._places.of(self._root.offset)):
            self.stop("the file is empty; expected a map of keys and values", 0)
        return self._root.node

    def report(self, message: str, offset: int) -> None:
        """A problem that does not keep the rest from being read."""
        self._problems.append(Problem(message, self._file, *self._places.of(offset)))

    def stop(self, message: str, offset: int) -> NoReturn:
        """The last problem: the rest is not worth reading."""
        self.report(message, offset)
        self._refuse()

    def _refuse(self) -> NoReturn:
        # What the text broke off in has keys to be told about too.
        for unfinished in self._stack:
            if unfinished.is_map:
                self._entries(unfinished.children)
        raise SuiteError(sorted(self._problems, key=lambda problem: (problem.line or 0, problem.column or 0)))

    def _place(self, built: _Built, anchor: str | None = None) -> None:
        if anchor:
            self._anchors[anchor] = built
        if self._stack:
            self._stack[-1].children.append(built)
        else:
            self._root = built

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, offset: int) -> None:
        is_map = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, _TAG + ("map" if is_map else "seq")):
            self.report(_foreign_tag(event.tag, "a map" if is_map else "a list"), offset)
        self._refuse_depth(len(self._stack) + 1, offset)
        opened = _Open(is_map, event.anchor, offset, [])
        self._stack.append(opened)
        if event.anchor:
            self._anchors[event.anchor] = opened

    def _close(self) -> None:
        closed = self._stack.pop()
        place = self._places.of(closed.offset)
        node: Node
        if closed.is_map:
            node = Mapping(self._entries(closed.children), *place)
        else:
            node = Sequence([child.node for child in closed.children], *place)
        size = 1 + sum(child.size for child in closed.children)
        height = 1 + max((child.height for child in closed.children), default=0)
        built = _Built(node, closed.offset, size, height)
        # An anchor given again inside belongs to what it was given to last.
        is_latest = closed.anchor is not None and self._anchors[closed.anchor] is closed
        self._place(built, closed.anchor if is_latest else None)

    def _alias(self, name: str, offset: int) -> _Built:
        target = self._anchors.get(name)
        if target is None:
            text = f"*{name}"
            return _Built(Scalar(text, text, *self._places.of(offset), undefined_alias=True), offset)
        if isinstance(target, _Open):
            self.stop(f"`*{name}` stands inside what `&{name}` names, so it would never end; write it out", offset)
        self._aliased += target.size
        if self._aliased > MAX_ALIASED:
            message = f"aliases such as `*{name}` expand without end: to more than {MAX_ALIASED:,} values; use fewer"
            self.stop(message, offset)
        self._refuse_depth(len(self._stack) + target.height, offset)
        return replace(target, offset=offset)

    def _refuse_depth(self, depth: int, offset: int) -> None:
        if depth > MAX_DEPTH:
            self.stop(f"lists and maps are nested more than {MAX_DEPTH} deep here; write it flatter", offset)

    def _scalar(self, event: yaml.ScalarEvent, offset: int) -> _Built:
        text: str = event.value
        is_plain = not event.style
        value: str | int | float | None = text
        try:
            value = _resolve(text, event.tag, is_plain)
        except ValueError as error:
            self.report(str(error), offset)
        is_merge = is_plain and text == "<<" and event.tag is None
        return _Built(Scalar(value, text, *self._places.of(offset)), offset, is_merge=is_merge)

    def _entries(self, children: list[_Built]) -> dict[str, Entry]:
        """A map's own entries, then those it merges in: own keys win, and earlier maps before later ones."""
        entries: dict[str, Entry] = {}
        merged: list[Mapping] = []
        first_merge: int | None = None
        for key, value in zip(children[::2], children[1::2], strict=False):
            line, column = self._places.of(key.offset)
            if key.is_merge:
                merged += self._mergeable(value)
                first = first_merge
                first_merge = first or line
                name = "<<"
            elif mistake := _key_mistake(key.node):
                self.report(mistake, key.offset)
                continue
            else:
                assert isinstance(key.node, Scalar), "any other key is a mistake"
                name = key.node.text
                first = entries[name].line if name in entries else None
                entries.setdefault(name, Entry(name, line, column, value.node))
            if first is not None:
                self.report(f"the key {name[:60]!r} is already used on line {first}; keep one of the two", key.offset)
        for mapping in merged:
            for entry in mapping:
                entries.setdefault(entry.key, entry)
        return entries

    def _mergeable(self, value: _Built) -> list[Mapping]:
        nodes = value.node.items if isinstance(value.node, Sequence) else [value.node]
        for node in nodes:
            if isinstance(node, Scalar) and node.undefined_alias:
                self.report(
                    f"no anchor `&{node.text[1:]}` exists above, so `<<: {node.text}` merges nothing", value.offset
                )
            elif not isinstance(node, Mapping):
                self.report(f"`<<` merges a map or a list of maps, found {kind_of(node)}", value.offset)
        return [node for node in nodes if isinstance(node, Mapping)]


def _key_mistake(key: Node) -> str | None:
    match key:
        case Scalar(undefined_alias=True):
            return f'a key that begins with `*` has to be quoted: "{key.text}"'
        case Scalar(value=None):
            return "a key is missing before this `:`, or is null; write its name, in quotes if it is the word null"
        case Mapping():
            return "a key has to be plain text, found a map; a value that begins with `{` has to be quoted"
        case Sequence():
            return "a key has to be plain text, found a list; a key that begins with `[` has to be quoted"
        case _:
            return None


def _resolve(text: str, tag: str | None, is_plain: bool) -> str | int | float | None:
    """What a scalar means by the YAML 1.2 core schema; `ValueError`, worded for its author, if it means nothing."""
    if not text.isascii() and re.search(_SURROGATE, text):
        raise ValueError("this text holds half of a surrogate pair; write the character itself, not its \\u escapes")
    if tag == f"{_TAG}str" or (tag is None and not is_plain):
        return text
    if tag is not None and tag not in _TAGGED:
        raise ValueError(_foreign_tag(tag, "text"))
    value: str | int | float | None = text
    if text in _WORDS:
        value = _WORDS[text]
    elif _NUMBER.fullmatch(text):
        value = number(text)
    if tag is None:
        return value
    if not isinstance(value, _TAGGED[tag]) or (isinstance(value, bool) and not tag.endswith("bool")):
        raise ValueError(f"`!!{tag.removeprefix(_TAG)}` does not fit {text[:60]!r}; remove the tag or fix the value")
    return float(value) if tag.endswith("float") and value is not None else value


def _foreign_tag(tag: str, kind: str) -> str:
    shown = tag.replace(_TAG, "!!", 1)
    return f"the tag {shown[:60]!r} means nothing on {kind} here; remove it, or quote the value if `!` belongs to it"
