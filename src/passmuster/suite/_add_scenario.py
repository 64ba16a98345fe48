"""A scenario added to a suite's own text; whatever else its author wrote stays as it is."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from passmuster.suite._editing import BOM

Write = Callable[[int | None], str]
"""The scenario as text: as an item of a list at this indentation, or, for None, on one line in braces."""


class _List(Struct, frozen=True):
    """Where the list of scenarios is: how far its items are indented (None: in brackets), and where it ends."""

    indent: int | None
    end: int
    empty: bool


def add_scenario(text: str, write: Write) -> str | None:
    """The text of a suite with one more scenario at the end of `scenarios`; None where that cannot be edited."""
    mark = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    newline = "\r\n" if "\r\n" in body else "\n"
    found, braces = _find(body)
    if found is None and braces is not None:
        added = f'{"" if body[:braces].rstrip().endswith(("{", ",")) else ","} "scenarios": [{write(None)}]'
        return f"{mark}{body[:braces].rstrip()}{added}{newline if newline in body else ''}{body[braces:]}"
    if found is None:
        start = "" if not body or body.endswith("\n") else newline
        return f"{mark}{body}{start}{newline}scenarios:{newline}{_lines(write(2), newline)}"
    if found.indent is None:
        comma = "" if found.empty or body[: found.end].rstrip().endswith(",") else ", "
        return f"{mark}{body[: found.end].rstrip()}{comma}{write(None)}{body[found.end :]}"
    if found.indent < 0:
        return None
    at = _after_comments(body, _next_line(body, found.end), found.indent)
    start = "" if body[:at].endswith("\n") else newline
    return f"{mark}{body[:at]}{start}{newline}{_lines(write(found.indent), newline)}{body[at:]}"


def _next_line(text: str, offset: int) -> int:
    if text[offset - 1 : offset] == "\n":  # a text in several lines ends with its last line
        return offset
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def _after_comments(text: str, offset: int, indent: int) -> int:
    """After the comments that belong to the last item: those that are indented further than its list."""
    while (line := text[offset:].partition("\n")[0]).lstrip().startswith("#"):
        if len(line) - len(line.lstrip()) <= indent:
            break
        offset = _next_line(text, offset + len(line))
    return offset


def _lines(text: str, newline: str) -> str:
    return text.replace("\n", newline)


def _find(text: str) -> tuple[_List | None, int | None]:
    """The list under the top-level key `scenarios`, and where the top-level map ends if it is in braces."""
    import yaml

    depth = 0
    is_key, wanted = True, False
    found: _List | None = None
    braces: int | None = None
    indent: int | None = None
    last = 0
    items = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        assert event.start_mark
        assert event.end_mark
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1 and wanted:
                end = event.start_mark.index if indent is None else last
                found = _List(indent, end, not items)
                wanted = False
            if depth == 0 and event.end_mark.index > event.start_mark.index:
                braces = event.start_mark.index
            if event.end_mark.index > event.start_mark.index:
                last = event.end_mark.index
            is_key = is_key if depth != 1 else True
            continue
        if depth == 1 and is_key:
            wanted = isinstance(event, yaml.ScalarEvent) and event.value == "scenarios"
            is_key = False
        elif depth == 1:
            if wanted and not isinstance(event, yaml.SequenceStartEvent):
                found, wanted = _List(-1, 0, True), False  # an alias, or no list
            if wanted:
                indent = None if event.flow_style else event.start_mark.column
                items = 0
            is_key = not isinstance(event, yaml.CollectionStartEvent)
        elif depth == 2 and wanted:
            items += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            last = event.end_mark.index
    return found, braces
