"""What the fuzz targets start from: valid suites, policies, traces, baselines, verdict caches and command lines."""

from __future__ import annotations

import json
from typing import Any

from tests.suite.suite_files import VALID

POLICY: dict[str, Any] = {
    "tools": {
        "pay": {
            "arguments": {
                "amount": {"type": "number", "required": True, "min": 0, "max": 200, "on_violation": "warn"},
                "note": {"type": "string", "maxLength": 40, "pattern": "^[a-z ]*$"},
                "items": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {"n": {"min": 1}}}},
                "when": {"type": "string", "format": "date"},
                "kind": {"enum": ["a", "b", 3]},
            },
            "additional_arguments": False,
        },
        "look_*": {
            "schema": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"$ref": "#/$defs/i"}},
                "$defs": {"i": {"type": "string"}},
            }
        },
        "any": {"schema": True},
    }
}
MCP_POLICY: dict[str, Any] = {
    "tools": [
        {"name": "pay", "inputSchema": {"type": "object", "properties": {"amount": {"type": "number", "maximum": 5}}}},
        {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    ]
}

SUITE: dict[str, Any] = {
    "suite": "fuzzed",
    "effects": {"irreversible": ["delete_*"]},
    "behaviors": {"paid": {"tool_called": "pay"}, "kind": {"answer_contains": ["please"]}},
    "tests": [
        {"id": "args", "metric": "args_valid", "policy": "policy.json"},
        {"id": "inline", "metric": "args_valid", "tool": "pay", "constraints": {"amount": {"max": 100}}},
        {
            "id": "order",
            "metric": "sequence_valid",
            "rules": [
                {"type": "before", "first": "look", "then": "pay"},
                {"type": "count", "tool": "pay", "max": 2},
                {
                    "type": "after",
                    "trigger": {"tool": "pay", "args": {"amount": {"$gt": 5}}},
                    "then": "log",
                    "within": 3,
                },
                {"type": "sequence", "tools": ["look", "pay"]},
            ],
        },
        {"id": "never", "metric": "tool_blocklist", "blocklist": ["delete_db", "admin_*"]},
    ],
    "scenarios": [
        {
            "id": "S-1",
            "query": "Pay the invoice",
            "category": "happy",
            "weight": 2,
            "correctness": {"expected_in_answer": ["paid"], "regex_match": "[a-z]+"},
            "path": {"expected_tools": ["look", "pay"], "max_tool_calls": 5, "forbidden_tools": ["delete_*"]},
            "cost": {"max_total_tokens": 1000, "max_latency_ms": 5000},
            "expected_behaviors": ["paid"],
            "must_not": [{"tool_called": "delete_db"}],
        },
        {
            "id": "S-2",
            "query": "Hello",
            "category": "adversarial",
            "path": {"expected_calls": [{"tool": "pay", "args": {"amount": 5}}]},
        },
    ],
    "thresholds": {"blocking": {"pass_rate": {"min": "50%", "confidence": "90%"}}, "warning": {"latency_p95": "< 5s"}},
    "weights": {"by_category": {"happy": 2}},
    "pass_criteria": {"overall": "50%"},
    "required_scenarios": ["S-1"],
    "composite": {"score": "pass_rate * 0.5 + accuracy * 0.5", "pass": "score >= 0.5"},
    "waivers": [{"test": "never", "reason": "known", "expires": "2026-12-31", "tool": "admin_*"}],
    "failed_when": [{"tool": "pay", "result": {"ok": False}}],
    "redact": {"patterns": ["ord_[0-9]+"], "arguments": ["pay.note"]},
}
SMALL_SUITE: dict[str, Any] = {
    "tests": [SUITE["tests"][1], SUITE["tests"][3]],
    "scenarios": [{"id": "S-1", "must_not": [{"tool_called": "delete_db"}], "cost": {"max_total_tokens": 1000}}],
}
SUITES: list[dict[str, Any]] = [SUITE, SUITE, VALID]

STEPS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": "Pay the invoice"},
    {"type": "llm_call", "model": "m", "tokens_in": 10, "tokens_out": 4, "cost_usd": 0.01, "duration_ms": 7},
    {"type": "tool_call", "id": "c1", "tool": "look", "arguments": {"id": "x"}, "result": {"ok": True}, "group": 1},
    {
        "type": "tool_call",
        "id": "c2",
        "tool": "pay",
        "arguments": {"amount": 5, "note": "ord_12"},
        "error": None,
        "group": 1,
    },
    {"type": "handoff", "from": "a", "to": "b"},
]
NATIVE: dict[str, Any] = {
    "trace_id": "t-1",
    "scenario": "S-1",
    "query": "Pay the invoice",
    "answer": "paid, please",
    "run": 1,
    "agent": {"name": "a", "version": "1.2"},
    "steps": STEPS,
    "total_tokens": 14,
    "total_duration_ms": 40,
    "behaviors": {"paid": True},
    "tags": ["x"],
    "error": None,
    "metadata": {"k": [1, 2]},
}
_CALL = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5}'}}
CHAT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": [{"type": "text", "text": "Pay the invoice"}]},
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"ok": true}'},
        {"role": "assistant", "content": "paid"},
    ],
    "scenario": "S-1",
}
EVENTS: list[dict[str, Any]] = [
    {"type": "trace", "trace_id": "t-9", "scenario": "S-2"},
    {"type": "message", "role": "user", "content": "Hello"},
    {"type": "tool_call", "tool": "pay", "arguments": {"amount": 5}, "id": 1},
    {"type": "tool_result", "id": 1, "result": {"ok": False}},
    {"type": "llm_call", "model": "m", "tokens_in": 1, "tokens_out": 2},
    {"type": "message", "role": "assistant", "content": "done"},
]


def lines(records: Any) -> bytes:
    """The records as JSON lines; what is no list is one record."""
    listed = records if isinstance(records, list) else [records]
    return "".join(json.dumps(record) + "\n" for record in listed).encode("utf-8", "surrogatepass")


TRACES: list[list[dict[str, Any]]] = [[NATIVE], [NATIVE, {**NATIVE, "scenario": "S-2"}], [CHAT], EVENTS, [NATIVE, CHAT]]
CACHE: list[dict[str, Any]] = [
    {"key": f"{number:064x}", "kind": "llm_judge", "model": "m", "score": 3, "reason": "fine", "hint": "h"}
    for number in (1, 2, 3)
]
WORDS = [
    *(
        "run",
        "baseline",
        "save",
        "show",
        "suggest",
        "ratchet",
        "history",
        "compare",
        "judge",
        "audit",
        "schema",
        "suite",
    ),
    *(
        "trace",
        "report",
        ".",
        "t.jsonl",
        "bad.jsonl",
        "nothing",
        "passmuster.json",
        "b.json",
        "1",
        "2",
        "0",
        "-1",
        "-",
        "",
    ),
    *(
        "--traces",
        "--report",
        "--baseline",
        "--only",
        "--tag",
        "--judge",
        "--agent-version",
        "--strict",
        "--root",
        "--json",
    ),
    *(
        "--skip-bad-lines",
        "--no-plugins",
        "--workers",
        "--today",
        "--no-history",
        "--quiet",
        "--format",
        "-o",
        "--last",
    ),
    *(
        "json=r.json",
        "junit=-",
        "sarif=s.sarif",
        "json=/",
        "x=y",
        "=",
        "json=",
        "native",
        "openai_messages",
        "off",
        "live",
    ),
    *(
        "S-1",
        "S-*",
        "[",
        "auto",
        "99",
        "2026-01-01",
        "2026-13-01",
        "--help",
        "--version",
        "-h",
        "\ud800",
        "a\nb",
        "é",
        "~",
    ),
    *(
        "--margin",
        "--slack",
        "1%",
        "5",
        "100%",
        "--accept-loss",
        "--metric",
        "pass_rate",
        "--labels",
        "--repeats",
        "cached",
    ),
]
