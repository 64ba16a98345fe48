"""The traces and the thirteen checks on which this program and `ciagent` are timed, in the form of each.

Both forms hold the same calls, figures and answer. The totals are stated in both, since `ciagent` does not sum them
while it judges. Imports nothing but what Python has, for both interpreters read it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.corpus import trace

__all__ = ["BROKEN", "CHECKS", "QUERY", "TRACES", "write_suite", "write_traces"]

Json = dict[str, Any]

TRACES = 1000
QUERY = "Where is my order, and can I have my money back?"
_ANSWER = (
    "Your refund of 129.50 EUR for order A-10442 is on its way and will reach your account within five working days. "
    "The parcel was opened on delivery and the item inside did not match the invoice, so we have closed the ticket in "
    "your favour. You need not send anything back. If the amount has not arrived by then, answer this message and "
    "name the order; a colleague will look into it on the same day. Thank you for your patience."
)
_PATH = [
    "authenticate",
    "get_customer",
    "list_order",
    "get_order",
    "get_ticket",
    "update_order",
    "create_ticket",
    "update_ticket",
    "notify_customer",
    "close_session",
]
CHECKS: dict[str, Json] = {
    "correctness": {
        "expected_in_answer": ["refund", "order A-10442"],
        "not_in_answer": ["as an AI", "guarantee", "password"],
        "regex_match": r"\b[0-9]+\.[0-9]{2} EUR\b",
    },
    "path": {
        "expected_tools": _PATH[:8],
        "min_tool_precision": 0.75,
        "min_sequence_similarity": 0.75,
        "max_tool_calls": 10,
        "max_loops": 1,
        "forbidden_tools": ["delete_customer", "refund_payment"],
    },
    "cost": {
        "max_total_tokens": 60_000,
        "max_llm_calls": 10,
        "max_latency_ms": 60_000,
        "max_cost_usd": 0.5,
    },
}
"""What is asked, in words that both understand."""


def _calls(record: Json) -> list[Json]:
    return [step for step in record["steps"] if step["type"] == "tool_call"]


def _rename(record: Json, tools: dict[int, str]) -> None:
    for place, tool in tools.items():
        _calls(record)[place]["tool"] = tool


def _reverse(record: Json) -> None:
    for call, tool in zip(_calls(record), reversed(_PATH), strict=True):
        call["tool"] = tool


def _one_more_call(record: Json) -> None:
    record["steps"].append(_calls(record)[-1] | {"tool": _PATH[0]})


def _everything(record: Json) -> None:
    record["answer"] = "As an AI I cannot tell."
    _one_more_call(record)
    for call in _calls(record):
        call["tool"] = "refund_payment"
    record |= {"total_tokens": 10**6, "total_llm_calls": 11, "total_duration_ms": 10**6, "total_cost_usd": 9.0}


_BREAKS: dict[str, Any] = {
    "expected_in_answer": lambda record: record.update(answer=_ANSWER.replace("A-10442", "A-1")),
    "not_in_answer": lambda record: record.update(answer=_ANSWER + " We GUARANTEE it."),
    "regex_match": lambda record: record.update(answer=_ANSWER.replace("129.50", "some")),
    "expected_tools": lambda record: _rename(record, {6: "notify_customer"}),
    "min_tool_precision": lambda record: _rename(record, {1: "x", 2: "y", 3: "z"}),
    "min_sequence_similarity": _reverse,
    "max_tool_calls": _one_more_call,
    "max_loops": lambda record: _rename(record, {1: _PATH[0], 2: _PATH[0]}),
    "forbidden_tools": lambda record: _rename(record, {9: "delete_customer"}),
    "max_total_tokens": lambda record: record.update(total_tokens=60_001),
    "max_llm_calls": lambda record: record.update(total_llm_calls=11),
    "max_latency_ms": lambda record: record.update(total_duration_ms=60_001),
    "max_cost_usd": lambda record: record.update(total_cost_usd=0.51),
    "everything": _everything,
}
_BETWEEN = 70
BROKEN: dict[int, str] = {_BETWEEN * (place + 1): name for place, name in enumerate(_BREAKS)}
"""Which trace breaks which check, and perhaps others with it; the last breaks all."""


def _records() -> Iterator[Json]:
    """The traces in this program's form; each but the first has two neighbouring calls of its path swapped."""
    rng = random.Random(1)
    for number in range(TRACES):
        record = trace(rng, number)
        models = [step for step in record["steps"] if step["type"] == "llm_call"]
        _rename(record, dict(enumerate(_PATH)))
        if number:
            place = rng.randrange(1, 8)
            _rename(record, {place: _PATH[place + 1], place + 1: _PATH[place]})
        record |= {
            "scenario": "money-back",
            "query": QUERY,
            "answer": _ANSWER,
            "total_tokens": sum(step["tokens_in"] + step["tokens_out"] for step in models),
            "total_llm_calls": len(models),
            "total_duration_ms": sum(step["duration_ms"] for step in record["steps"]),
            "total_cost_usd": round(sum(step["cost_usd"] for step in models), 6),
        }
        if number in BROKEN:
            _BREAKS[BROKEN[number]](record)
        yield record


def _as_ciagent(record: Json) -> Json:
    """The same trace in the form of `ciagent`: one span of an agent."""
    models = [step for step in record["steps"] if step["type"] == "llm_call"]
    span = {
        "span_id": record["trace_id"],
        "kind": "agent",
        "name": record["agent"]["name"],
        "input_data": record["query"],
        "output_data": record["answer"],
        "tool_calls": [
            {
                "tool_name": call["tool"],
                "arguments": call["arguments"],
                "result": call["result"],
                "duration_ms": call["duration_ms"],
            }
            for call in _calls(record)
        ],
        "llm_calls": [{key: value for key, value in step.items() if key != "type"} for step in models],
    }
    totals = ("total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd")
    return {
        "trace_id": record["trace_id"],
        "agent_name": record["agent"]["name"],
        "spans": [span],
        "metadata": {"final_output": record["answer"]},
    } | {key: record[key] for key in totals}


def write_traces(folder: Path) -> tuple[Path, Path]:
    """The traces, one a line, in this program's form and in that of `ciagent`. The first is the baseline, too."""
    ours, theirs = folder / "traces.jsonl", folder / "ciagent.jsonl"
    with ours.open("w") as one, theirs.open("w") as other:
        for record in _records():
            one.write(json.dumps(record, separators=(",", ":")) + "\n")
            other.write(json.dumps(_as_ciagent(record), separators=(",", ":")) + "\n")
    return ours, theirs


def write_suite(folder: Path) -> Path:
    """A suite of one scenario that states the checks."""
    path = folder / "passmuster.json"
    path.write_text(json.dumps({"suite": "layers", "scenarios": [{"id": "money-back", "query": QUERY} | CHECKS]}))
    return path
