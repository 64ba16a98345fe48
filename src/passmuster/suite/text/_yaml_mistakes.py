"""What a text that is not YAML should have been: the parser's complaint, turned into words for its author."""

from __future__ import annotations

import re

# What the two parsers complain of (they word it differently), whether to point at where the complaint is or at
# where the thing it is about began, and what to tell the author. The first that fits is taken.
_MISTAKES: tuple[tuple[str, bool, str], ...] = (
    (r"quoted scalar: found unexpected", True, "this quote is never closed; add the closing {char}"),
    (r"not find expected ':'", True, "expected `key: value`, found a line without `: `; add it, or indent the line"),
    (r"start any token", False, "a value cannot begin with {char}; put it in quotes"),
    (r"unknown escape", False, "this backslash does not begin a YAML escape; write `\\\\`, or use single quotes"),
    (
        r"escape code|escape sequence|hexa?decimal|Overflow|Value",
        False,
        "this escape is not a character; write the character itself, or all its digits (\\U0001F600)",
    ),
    (r"scanning an alias", True, "a value cannot go on with `*` here; put the whole value in quotes"),
    (r"scanning an anchor", True, "a value that begins with `&` has to be quoted"),
    (r"directive|incompatible", False, "a line that begins with `%` is for YAML itself; remove it, or quote the value"),
    (r"tag|URI|UTF-8", True, "this tag cannot be read; a value that begins with `!` has to be quoted"),
    (
        r"block scalar",
        False,
        "after `|` or `>` the text begins on the next line, indented; quote a value with this sign",
    ),
    (r"node content.* at the end", False, "the file ends where a value was expected; close the `[` or `{{` above it"),
    (r"node content", False, "expected a value, found {char}; put it in quotes if it belongs to the text"),
    (r"document start", False, "found {char} after the end of the document; remove it, or fix the text before it"),
    (
        r"entries are not allowed|keys are not allowed",
        False,
        "{char} is not allowed here; begin a list on a line of its own, or quote the value",
    ),
)
_END = "the end of the file"
_GLOB = re.compile(r"(?<![^\s\[{,])(?:\[[^\[\]\s,]*\])?\*(?:\[[^\[\]\s]*\]|[^\s,\[\]{}])*")


def explain(error: Exception, text: str) -> tuple[str, int]:
    """What to tell the author of a text the parser cannot read, and the offset to point at."""
    at: int = getattr(getattr(error, "problem_mark", None), "index", 0)
    complaint = f"{getattr(error, 'context', None) or ''}: {getattr(error, 'problem', error)}, {type(error).__name__}"
    complaint += "" if text[at:].strip() else " at the end"
    began: int = getattr(getattr(error, "context_mark", None), "index", at)
    lines = re.split(r"\r\n?|\n", text[:at])
    if glob := _unquoted_glob(text, began if "alias" in complaint else at):
        pattern = glob.group()[:60].rstrip(":")
        return f'a tool pattern that begins with `{pattern[0]}` has to be quoted: "{pattern}"', glob.start()
    if text[at : at + 1] == "\t" and re.search("start any token|tab character", complaint):
        return "a tab cannot indent a line in YAML; use spaces", at
    if closing := re.search(r"',' or '(.)'", complaint):
        return _explain_brackets(text, began, at, closing[1], len(lines))
    if "mapping values" in complaint:
        return _explain_colon(lines[-1]), at
    for pattern, at_start, message in _MISTAKES:
        if re.search(pattern, complaint):
            offset = began if at_start else at
            return message.format(char=_shown(text, offset)), offset
    if re.search(r"expected key|block end|'-' indicator", complaint):
        if text[at : at + 1] == ":":
            return "a key is missing before this `:`; write its name", at
        if lines[-1].strip():
            return f"a value ended before {_shown(text, at)}; put the whole value in quotes, or close a quote above", at
        return (
            "this line does not fit the lines above; keys, or the `-` of a list, must begin in one column, unmixed",
            at,
        )
    return f"this is not YAML ({complaint})", at


def _explain_brackets(text: str, began: int, at: int, close: str, line: int) -> tuple[str, int]:
    found = _shown(text, at)
    if found == _END or re.search(r"[\r\n]", text[began:at]):
        return f"this `{text[began]}` is not closed: expected `,` or `{close}`, found {found} on line {line}", began
    return f"expected `,` or `{close}`, found {found}; text that holds one of these signs has to be quoted", at


def _explain_colon(before: str) -> str:
    if re.search(r":\s", before):
        return "a second `: ` on one line; put the value in quotes, or the key on a line of its own"
    key = before.strip()
    return f"`{key}:` cannot begin here; the line above it has a value already, or lacks the space after its `:`"


def _unquoted_glob(text: str, offset: int) -> re.Match[str] | None:
    """The tool pattern that begins with `*` and holds this offset, if there is one."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    globs = _GLOB.finditer(text, start, offset + 200)
    return next((glob for glob in globs if glob.start() <= offset <= glob.end()), None)


def _shown(text: str, offset: int) -> str:
    """The character at this offset, as a message names it."""
    char = text[offset : offset + 1]
    if not text[offset:].strip():
        return _END
    return f"`{char}`" if char.isprintable() else repr(char)
