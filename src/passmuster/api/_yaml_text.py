"""Values and comments as YAML text. What comes from a trace can end neither its line nor its quotes."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
_WIDTH = 110


def yaml_scalar(value: str | float) -> str:
    """A string or a number; a string is quoted where a reader might take it for something else."""
    if not isinstance(value, str):
        return f"{value:.12g}"
    if re.fullmatch(_PLAIN, value) and value.lower() not in _WORDS:
        return value
    return _printable(json.dumps(value, ensure_ascii=False))


def yaml_list(values: Iterable[str | float]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(yaml_scalar, values))}]"


def yaml_block(key: str, values: Iterable[str], indent: str) -> str:
    """A key with a list: on one line where it fits, else on as few as it takes."""
    items = [yaml_scalar(value) for value in values]
    line = f"{indent}{key}: [{', '.join(items)}]\n"
    if len(line) <= _WIDTH or not items:
        return line
    lines = [f"{indent}{key}:\n{indent}  ["]
    for place, item in enumerate(items):
        item += "]\n" if place == len(items) - 1 else ","
        if len(lines[-1].rpartition("\n")[2]) + len(item) >= _WIDTH:
            lines.append(f"{indent}   {item}")
        else:
            lines[-1] += item if lines[-1].endswith("[") else f" {item}"
    return "\n".join(lines)


def comment(text: str, indent: str = "") -> str:
    """Lines of a comment, wrapped."""
    lines = textwrap.wrap(_printable(text), _WIDTH - len(indent), break_on_hyphens=False, break_long_words=False)
    return "".join(f"{indent}# {line}\n" for line in lines)


def commented(text: str, indent: str) -> str:
    """Lines of YAML, indented and turned into comments."""
    return "".join(f"{indent}# {line}\n" for line in text.splitlines())


def _printable(text: str) -> str:
    """Escapes for what YAML does not print, or prints as the end of a line."""
    return "".join(one if one.isprintable() and one != "\ufeff" else _escape(one) for one in text)


def _escape(one: str) -> str:
    code = ord(one)
    if 0xD800 <= code <= 0xDFFF:  # half a pair, which no file can hold
        return "\\uFFFD"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def yaml_flow(value: Any) -> str:
    """Any JSON value on one line, in braces and brackets."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{yaml_scalar(key)}: {yaml_flow(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(yaml_flow, value))}]"
    if isinstance(value, str):
        return yaml_scalar(value)
    return json.dumps(value)
