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
    "behaviors": {"verified": {"tool_called": "verify_*"}},
    "judge_config": {"provider": "openai", "model": "a-model", "cache": "verdicts.jsonl"},
    "defaults": {"cost": {"max_total_tokens": 9000}},
    "effects": {"read": ["get_*"], "write": ["pay"], "irreversible": ["delete_*"]},
    "layers": {"path": "block", "cost": "warn"},
    "queries": [{"query": "What do you cost?", "correctness": {"expected_in_answer": "EUR"}, "path": {"max_loops": 0}}],
    "classification": {"positive": "spam", "from": {"json": "$.label"}},
    "latency_budget_ms": 5000,
    "prices": "genai-prices",
    "repeat_policy": "majority",
    "weights": {"by_category": {"orders": 2}, "by_capability": {"lookup": 0.5}, "metrics": {"f1": 1, "pass_rate": 3}},
    "thresholds": {
        "blocking": {"description": "what has to be", "pass_rate": 90},
        "warning": {"latency_p95": "< 5000ms", "weighted_score": {"min": "80%"}},
        "risk": {"critical": {"f1": {"min": 0.8, "confidence": "95%", "undecided": "block"}}},
        "progressive": {"accuracy": {"1.0": 80, "v2.0": "≥ 85%", "target": 95}},
    },
    "required_scenarios": {"description": "without these nothing passes", "ids": ["S-1"]},
    "optional_scenarios": ["delete-my-account-please"],
    "pass_criteria": {"overall": "≥ 80%", "by_category": {"orders": "100%"}},
    "composite": {"score": "accuracy × 0.5 + (1 - normalized_latency) × 0.5", "pass": "score ≥ 0.85 AND f1 > 0.5"},
    "baseline": {
        "file": "baseline.json",
        "max_drop": "1%",
        "confidence": 0.9,
        "metrics": ["pass_rate", "f1"],
        "on_regression": "block",
    },
    "scenarios": [
        {
            "id": "S-1",
            "query": "Where is my order?",
            "category": "orders",
            "capability": "lookup",
            "tags": ["ticket"],
            "expected_behaviors": ["verified", {"answer_contains": "order"}, {"judge": "is polite", "threshold": 0.8}],
            "must_not": [{"type": "require", "tool": "pay", "name": "pays"}, "was rude"],
            "label": "spam",
            "weight": 2,
            "pass_score": 0.5,
            "repeat": 3,
            "repeat_policy": "80%",
        },
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
