"""The traces and suites that everything here is measured on: made from a fixed seed, the same on every machine.

The first corpus: a trace has ten calls of twenty tools and a model call before each, about 10 KB a line. The suite has
a policy with five arguments for every tool, six sequence rules and a blocklist of globs. One trace in 200 is broken.

The second corpus is heavy in arguments: ten calls a trace, twenty values a call, nested two deep (numbers, enums,
patterns, lists of objects), with a policy for all of them. One trace in 100 breaks it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.comparison import ARGUMENTS

__all__ = ["TOOLS", "trace_lines", "write_corpus", "write_heavy_corpus", "write_heavy_suite", "write_suite"]

_VERBS = ("get", "list", "update", "create", "notify")
TOOLS = [
    "authenticate",
    *(f"{verb}_{noun}" for verb in _VERBS for noun in ("customer", "order", "ticket")),
    "refund_payment",
    "close_session",
    "search_docs",
    "send_email",
]
_PROSE = (
    "customer asks about the order that arrived late and would like to know whether a refund is possible under the "
    "policy for damaged goods since the parcel was opened on delivery and the item inside did not match the invoice"
)
_WORDS = _PROSE.split(" ")
BAD_EVERY = 200


def _text(rng: random.Random, length: int) -> str:
    words: list[str] = []
    size = 0
    while size < length:
        word = rng.choice(_WORDS)
        words.append(word)
        size += len(word) + 1
    return " ".join(words)[:length]


def _arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "id": f"cust_{rng.randrange(10**8):08d}",
        "amount": round(rng.uniform(0, 500), 2),
        "count": rng.randrange(1, 50),
        "kind": rng.choice(["standard", "express", "gift"]),
        "note": _text(rng, 180),
    }


def trace(rng: random.Random, number: int, calls: int = 10) -> dict[str, Any]:
    """One trace; every so often one that breaks a rule."""
    steps: list[dict[str, Any]] = []
    bad = number % BAD_EVERY == BAD_EVERY - 1
    for place in range(calls):
        steps.append(
            {
                "type": "llm_call",
                "model": "model-large",
                "tokens_in": rng.randrange(500, 4000),
                "tokens_out": rng.randrange(20, 400),
                "cost_usd": round(rng.uniform(0.001, 0.02), 6),
                "duration_ms": rng.randrange(200, 3000),
            }
        )
        tool = "authenticate" if place == 0 else "close_session" if place == calls - 1 else rng.choice(TOOLS[1:-3])
        arguments = _arguments(rng)
        if bad and place == calls // 2:
            arguments["amount"] = 9999
        result = {"status": "ok", "items": [{"id": rng.randrange(10**6), "text": _text(rng, 110)} for _ in range(3)]}
        steps.append(
            {
                "type": "tool_call",
                "id": f"call_{number}_{place}",
                "tool": tool,
                "arguments": arguments,
                "result": result,
                "duration_ms": rng.randrange(5, 300),
            }
        )
    return {
        "trace_id": f"t-{number}",
        "query": _text(rng, 120),
        "answer": _text(rng, 400),
        "agent": {"name": "support", "version": "2.1.0"},
        "steps": steps,
    }


def trace_lines(seed: int = 1, calls: int = 10) -> Iterator[bytes]:
    """Traces without end, one a line."""
    rng = random.Random(seed)
    number = 0
    while True:
        yield json.dumps(trace(rng, number, calls), separators=(",", ":")).encode() + b"\n"
        number += 1


def write_corpus(path: Path, megabytes: float, calls: int = 10) -> int:
    """A file of about this size; returns the number of traces. The lines repeat after a thousand."""
    lines = trace_lines(calls=calls)
    return _write_lines(path, megabytes, [next(lines) for _ in range(1000 if calls <= 100 else 20)])


def write_heavy_corpus(path: Path, megabytes: float) -> int:
    """The second corpus: a file of about this size; returns the number of traces."""
    rng = random.Random(2)
    lines = [json.dumps(heavy_trace(rng, number), separators=(",", ":")) for number in range(1000)]
    return _write_lines(path, megabytes, [line.encode() + b"\n" for line in lines])


def _write_lines(path: Path, megabytes: float, block: list[bytes]) -> int:
    size, number = 0, 0
    with path.open("wb") as file:
        while size < megabytes * 1e6:
            line = block[number % len(block)]
            file.write(line)
            size += len(line)
            number += 1
    return number


_CURRENCIES = ["EUR", "USD", "GBP", "JPY", "CHF"]
HEAVY_ARGUMENTS: dict[str, Any] = {
    "order_id": {"type": "string", "required": True, "pattern": "^ord_[0-9]{8}$"},
    "customer": {
        "type": "object",
        "required": True,
        "properties": {
            "id": {"type": "string", "pattern": "^cust_[0-9]{6}$"},
            "tier": {"type": "string", "enum": ["basic", "plus", "gold"]},
            "age": {"type": "integer", "min": 0, "max": 150},
            "score": {"type": "number"},
        },
    },
    "lines": {
        "type": "array",
        "maxItems": 10,
        "items": {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
                "price": {"type": "number", "min": 0},
                "quantity": {"type": "integer", "max": 99},
                "currency": {"type": "string", "enum": _CURRENCIES},
            },
        },
    },
    "discount": {"type": "number", "min": 0, "max": 30},
    "tax": {"type": "number", "min": 0, "max": 30},
    "weight": {"type": "number", "min": 0, "max": 1000},
    "express": {"type": "boolean"},
}
"""Arguments of the second corpus; a call has twenty values of them, sixteen inside maps and lists of maps."""


def _heavy_arguments(rng: random.Random) -> dict[str, Any]:
    return {
        "order_id": f"ord_{rng.randrange(10**8):08d}",
        "customer": {
            "id": f"cust_{rng.randrange(10**6):06d}",
            "tier": rng.choice(["basic", "plus", "gold"]),
            "age": rng.randrange(18, 90),
            "score": round(rng.random(), 4),
        },
        "lines": [
            {
                "sku": f"{rng.choice(['ABC', 'XYZ', 'QRS'])}-{rng.randrange(10**4):04d}",
                "price": round(rng.uniform(1, 900), 2),
                "quantity": rng.randrange(1, 20),
                "currency": rng.choice(_CURRENCIES),
            }
            for _ in range(3)
        ],
        "discount": round(rng.uniform(0, 30), 1),
        "tax": 19.5,
        "express": rng.random() < 0.5,
    }


def heavy_trace(rng: random.Random, number: int) -> dict[str, Any]:
    """One trace of the second corpus; one in a hundred breaks the policy."""
    steps: list[dict[str, Any]] = []
    for place in range(10):
        arguments = _heavy_arguments(rng)
        if number % 100 == 99 and place == 5:
            arguments["lines"][1]["quantity"] = 1000
        tool = "authenticate" if place == 0 else "close_session" if place == 9 else rng.choice(TOOLS[1:-3])
        call = {"type": "tool_call", "id": f"call_{number}_{place}", "tool": tool, "arguments": arguments}
        steps.append({**call, "result": {"status": "ok"}})
    return {"trace_id": f"h-{number}", "query": _text(rng, 60), "answer": _text(rng, 120), "steps": steps}


def write_heavy_suite(folder: Path) -> Path:
    """The suite of the second corpus."""
    return _write_suite(folder, "heavy", HEAVY_ARGUMENTS)


def write_suite(folder: Path) -> Path:
    """The suite of the first corpus."""
    return _write_suite(folder, "passmuster", ARGUMENTS)


def _write_suite(folder: Path, name: str, arguments: dict[str, Any]) -> Path:
    """A suite, as JSON so that its own reading does not weigh."""
    policy = {"tools": {tool: {"arguments": arguments} for tool in TOOLS}}
    suite = {
        "version": "1",
        "suite": "bench",
        "tests": [
            {"id": "arguments", "metric": "args_valid", "policy": f"{name}-policy.json"},
            {
                "id": "order",
                "metric": "sequence_valid",
                "rules": [
                    {"type": "require", "tool": "authenticate"},
                    {"type": "before", "first": "authenticate", "then": ["update_*", "refund_payment"]},
                    {"type": "never_after", "trigger": "close_session", "forbidden": "*"},
                    {"type": "count", "tool": "send_email", "max": 5},
                    {"type": "after", "trigger": "create_ticket", "then": "close_session"},
                    {"type": "blocklist", "tools": ["debug_*", "test_*"]},
                ],
            },
            {
                "id": "blocked",
                "metric": "tool_blocklist",
                "blocklist": ["admin_*", "*_danger", "drop_*", "delete_*"],
            },
        ],
    }
    (folder / f"{name}-policy.json").write_text(json.dumps(policy, indent=1))
    path = folder / f"{name}.json"
    path.write_text(json.dumps(suite, indent=1))
    return path
