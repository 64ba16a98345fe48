"""Runs as message logs: what reading conversations is measured on. Each line is one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from bench.corpus import trace

__all__ = ["write_message_corpus"]


def write_message_corpus(path: Path, megabytes: float) -> None:
    """Conversations of ten calls, as messages of OpenAI's chat completions."""
    rng = random.Random(7)
    written, number = 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < megabytes * 1e6:
            line = json.dumps({"messages": _messages(trace(rng, number))}) + "\n"
            written += len(line)
            number += 1
            file.write(line)


def _messages(run: dict[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": run.get("query") or "What now?"}]
    for place, call in enumerate(step for step in run["steps"] if step["type"] == "tool_call"):
        function = {"name": call["tool"], "arguments": json.dumps(call["arguments"])}
        asked = {"id": f"call_{place}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        messages.append({"role": "tool", "tool_call_id": f"call_{place}", "content": json.dumps(call.get("result"))})
    return [*messages, {"role": "assistant", "content": "Done."}]
