"""Mutations of JSON values and of bytes, drawn from a seeded generator: the same seed gives the same input."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

ODD_TEXTS = [
    *("", " ", "\0", "\n", "a\nb", "\ud800", "\u200b", "ÿ" * 40, "x" * 5_000, "null", "true", "nan", "-0", "1e999"),
    *(
        "(a+)+$",
        "[",
        "*",
        "**",
        "[!",
        "(?",
        "a{1000000}",
        "\\",
        "$",
        "$.",
        "..",
        "../x",
        "/etc/passwd",
        "a.b[0]",
        "[0]",
    ),
    *(">= 85%", "≥ 0.85", "< 5s", "100%", "101%", "-1%", "0%", "$0.5", "1_000", "٣", "1.0.0", "v", "2026-02-30", "all"),
    *(
        "pass = 1",
        "pass = pass_rate / 0",
        "(((",
        "a AND",
        "= =",
        "pass_rate >= 1",
        "S-1",
        "pay",
        "tool_call",
        "llm_call",
    ),
    *("system_fingerprint", "function", "{", "}", "{}", "[]", '"', "<b>", "]]>", "\x1b[31m", "%s", "{0}", "\u2028"),
]
ODD_NUMBERS = [
    *(0, -0.0, 1, -1, 2, 3, 0.5, 0.1, 99, 100, 101, 1e-320, 5e-324, 1e300, 1.7e308, -1e308, 2**31, 2**53 + 1),
    *(2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(10**400), 0.30000000000000004, 1e16, 1e-9, 1e-10),
]
KEYS = [
    *(
        "id",
        "type",
        "tool",
        "tools",
        "name",
        "steps",
        "arguments",
        "args",
        "result",
        "error",
        "group",
        "parent",
        "role",
    ),
    *(
        "content",
        "messages",
        "tool_calls",
        "function",
        "x-note",
        "max",
        "min",
        "pattern",
        "rules",
        "metric",
        "scenario",
    ),
    *("query", "answer", "run", "tags", "weight", "$ref", "$schema", "$gt", "$regex", "$not", "", "a.b", "\0", "ids"),
    *("attributes", "spans", "input", "output", "children", "turns", "total_tokens", "confidence", "undecided", "file"),
]


def odd_value(rng: Random, depth: int = 0) -> Any:
    """A value that few programs expect where it stands."""
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(ODD_TEXTS)
    if kind < 7:
        return rng.choice(ODD_NUMBERS)
    if kind == 7:
        return rng.choice([None, True, False, [], {}, [[]], [{}], {"": {}}])
    if kind == 8 and depth < 3:
        return [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if depth < 3:
        return {rng.choice(KEYS): odd_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    nested: Any = rng.choice(ODD_TEXTS)
    for _ in range(rng.choice([3, 60, 300])):
        nested = [nested] if rng.random() < 0.5 else {"a": nested}
    return nested


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        keys: list[Any] = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        for key in keys:
            found.append((inner, key))
            if isinstance(inner[key], dict | list):
                waiting.append(inner[key])
    return found


def mutated(value: Any, rng: Random, most: int = 3) -> Any:
    """A copy of a JSON value with a few mutations."""
    value = deepcopy(value)
    for _ in range(1 if rng.random() < 0.6 else rng.randint(1, most)):
        places = _places(value) if isinstance(value, dict | list) else []
        if not places:
            return odd_value(rng)
        container, key = rng.choice(places)
        _mutate_at(container, key, places, rng)
    return value


def _mutate_at(container: Any, key: Any, places: list[tuple[Any, Any]], rng: Random) -> None:
    match rng.randrange(10):
        case 0 | 1 | 2:
            container[key] = odd_value(rng)
        case 3:
            del container[key]
        case 4:
            other, where = rng.choice(places)
            container[key] = deepcopy(other[where])
        case 5:
            container[key] = [container[key]] if rng.random() < 0.5 else {rng.choice(KEYS): container[key]}
        case 6 if isinstance(container, dict):
            container[rng.choice(KEYS)] = odd_value(rng)
        case 6:
            container.insert(key, odd_value(rng))
        case 7 if isinstance(container, dict):
            container[_misspelt(str(key), rng)] = container.pop(key)
        case 7:
            container.append(deepcopy(container[key]))
        case 8 if isinstance(container[key], str):
            text = container[key]
            container[key] = text[: rng.randint(0, len(text))] + rng.choice(ODD_TEXTS) + text[-rng.randint(1, 5) :]
        case _ if isinstance(container[key], bool | int | float):
            container[key] = rng.choice([-container[key], container[key] * 10**9, str(container[key])])
        case _:
            container[key] = odd_value(rng)


def _misspelt(key: str, rng: Random) -> str:
    if not key or rng.random() < 0.3:
        return rng.choice(KEYS)
    at = rng.randrange(len(key))
    return rng.choice([key[:at] + key[at + 1 :], key[:at] + key[at] + key[at:], key.upper(), key + "s", f" {key}"])


PIECES = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"'",
        b":",
        b": ",
        b",",
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *(
        b"\xff\xfe",
        b"- ",
        b"&a ",
        b"*a",
        b"*a_*",
        b"<<: *a",
        b"!!python/object:os.system",
        b"!!set",
        b"? ",
        b"|",
        b">-",
    ),
    *(
        b"---\n",
        b"...\n",
        b"%YAML 1.1\n",
        b"# ",
        b"\xc3\x28",
        b"\xed\xa0\x80",
        b"\\u0000",
        b"\\ud83d",
        b"1e400",
        b"NaN",
    ),
    *(b"\x1f\x8b\x08", b"PK\x03\x04", b"null", b"~", b"  ", b"{}", b"[]", b'{"steps": []}\n', b"\xe2\x80\xa8"),
]


def mutated_bytes(data: bytes, rng: Random, most: int = 4) -> bytes:
    """The bytes with a few of them flipped, cut out, repeated, moved or added."""
    for _ in range(1 if rng.random() < 0.6 else rng.randint(1, most)):
        at = rng.randint(0, len(data))
        span = rng.choice([1, 1, 2, 4, 8, 40, 400])
        match rng.randrange(7):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + span :]
            case 2:
                data = data[:at] + data[at : at + span] * rng.choice([2, 3, 50]) + data[at + span :]
            case 3:
                to = rng.randint(0, len(data))
                data = data[:to] + data[at : at + span] + data[to:]
            case 4:
                data = data[:at]
            case _:
                data = data[:at] + rng.choice(PIECES) + data[at:]
    return data[:200_000]
