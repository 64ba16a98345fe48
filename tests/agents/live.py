"""Live runs for tests: a suite with an agent in a folder, run in this process with real child processes."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from passmuster import api

ONE = {"id": "A", "query": "Hello", "correctness": {"expected_in_answer": "hello"}}


def write_suite(
    folder: Path, agent: dict[str, Any], scenarios: list[dict[str, Any]] | None = None, **more: Any
) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    suite = {"suite": "live", "agent": agent, "scenarios": scenarios or [ONE], **more}
    (folder / "passmuster.json").write_text(json.dumps(suite))


def script(folder: Path, code: str, name: str = "agent.py") -> list[str]:
    """A Python program as a command."""
    import sys

    (folder / name).write_text(textwrap.dedent(code))
    return [sys.executable, name]


def run(
    folder: Path,
    resume: bool = False,
    max_cost_usd: float | None = None,
    stop_early: str | None = None,
    **options: Any,
) -> api.Report:
    how = api.LiveOptions(resume=resume, max_cost_usd=max_cost_usd, stop_early=stop_early)
    return api.run_live(str(folder), api.RunOptions(**options), how).report


def runs_path(folder: Path) -> Path:
    return folder / ".passmuster" / "live" / "passmuster.json" / "runs.jsonl"


def traces(folder: Path) -> list[dict[str, Any]]:
    """The runs as they are on disk."""
    return [json.loads(line) for line in runs_path(folder).read_bytes().splitlines()]
