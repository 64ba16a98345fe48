"""Suites on disk, written and loaded in a line or two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import passmuster

VALID = {
    "version": "1",
    "suite": "a-suite",
    "description": "what it is for",
    "agent": {"name": "support", "version": "2.10"},
    "traces": ["traces/*.jsonl"],
    "defaults": {"cost": {"max_total_tokens": 9000}},
    "effects": {"read": ["get_*"], "write": ["pay"], "irreversible": ["delete_*"]},
    "layers": {"path": "block", "cost": "warn"},
    "queries": [{"query": "What do you cost?", "correctness": {"expected_in_answer": "EUR"}, "path": {"max_loops": 0}}],
    "scenarios": [
        {"id": "S-1", "query": "Where is my order?", "category": "orders", "capability": "lookup", "tags": ["ticket"]},
        {"query": "Delete my account, please!", "description": "without an id"},
    ],
    "tests": [
        {"id": "policy", "metric": "args_valid", "policy": "policies/p.yaml", "strict": True, "tools": ["pay*"]},
        {
            "id": "inline",
            "metric": "args_valid",
            "severity": "warn",
            "tool": "refund",
            "constraints": {"amount": {"type": "number", "min": 0, "max": 200, "on_violation": "log"}},
        },
        {
            "id": "order",
            "metric": "sequence_valid",
            "description": "every kind of rule",
            "scenarios": ["S-*"],
            "tags": ["ticket"],
            "rules": [
                {"type": "require", "tool": "look"},
                {"type": "before", "first": ["a", "b"], "then": {"tool": "c", "args": {"n": {"$gt": 1}}}},
                {"type": "immediately_before", "first": "a", "then": "b"},
                {"type": "blocklist", "tools": ["admin_*"]},
                {"type": "allowlist", "tools": []},
                {"type": "count", "tool": "a", "min": 1, "max": 3},
                {"type": "max_calls", "tool": "a", "max": 3},
                {"type": "after", "trigger": "a", "then": {"tool": "b", "result": {"ok": True}}, "within": 2},
                {"type": "never_after", "trigger": {"tool": "a", "failed": True}, "forbidden": "b"},
                {"type": "eventually", "tool": "a", "within": 5},
                {"type": "sequence", "tools": ["a", "b"], "strict": True},
            ],
        },
        {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["*_dangerous"], "severity": "log"},
    ],
    "waivers": [
        {"test": "order", "tool": "a*", "scenario": "S-1", "reason": "known", "expires": "2030-01-31"},
    ],
    "failed_when": [{"tool": "pay", "result": {"status": {"$one_of": ["error", "declined"]}}}],
    "redact": {"patterns": ["ord_[0-9]+"], "arguments": ["pay.card.number"]},
    "output": {"format": ["json", "junit"], "dir": "reports"},
}
"""A suite that says something under every key there is."""

POLICY = "tools:\n  pay:\n    arguments:\n      amount: {type: number, required: true, max: 30}\n  refund: {}\n"


def write(folder: Path, suite: str | object, name: str = "passmuster.yaml", policy: str | None = POLICY) -> Path:
    """A suite file (text as it is, data as JSON, which is YAML too) with a policy beside it."""
    if policy is not None:
        (folder / "policies").mkdir(exist_ok=True)
        (folder / "policies" / "p.yaml").write_text(policy, encoding="utf-8")
    path = folder / name
    path.write_text(suite if isinstance(suite, str) else json.dumps(suite), encoding="utf-8")
    return path


def load(folder: Path, suite: str | object, name: str = "passmuster.yaml") -> passmuster.Suite:
    return passmuster.load_suite(write(folder, suite, name))


def problems(folder: Path, suite: str | object, policy: str | None = POLICY) -> list[str]:
    """What is wrong with the suite, each as it is printed."""
    with pytest.raises(passmuster.SuiteError) as caught:
        passmuster.load_suite(write(folder, suite, policy=policy))
    return [str(problem) for problem in caught.value.problems]
