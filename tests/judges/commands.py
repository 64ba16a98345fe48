"""The command in a process of its own, on a suite that asks the judge of `loopback`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.judges.loopback import Asked, Behaviour, Loopback, Mind, scored

import passmuster

SOURCE = Path(passmuster.__file__).parent.parent
KINDS = {
    "Judge how well the answer": "llm_judge",
    "Judge whether the answer is safe": "safety_check",
    "Judge whether every factual claim": "hallucination_check",
    "Judge whether the behavior": "behavior",
}


class Ran(NamedTuple):
    """How a command ended, and the report it wrote."""

    code: int
    report: dict[str, Any]
    stdout: str
    stderr: str

    def scenario(self, id_: str) -> dict[str, Any]:
        found: dict[str, Any] = next(one for one in self.report["scenarios"] if one["id"] == id_)
        return found

    def checks(self, id_: str) -> dict[str, tuple[str, str]]:
        """The checks of correctness by name: status and message."""
        layer = self.scenario(id_)["layers"]["correctness"]
        return {check["name"]: (check["status"], check["message"]) for check in layer["checks"]}

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.report["gate"] if line["kind"] == kind]

    def line(self, kind: str, id_: str) -> dict[str, Any]:
        found: dict[str, Any] = next(line for line in self.lines(kind) if line["id"] == id_)
        return found


def kind_of(asked: Asked) -> str:
    """Which of the four questions this is."""
    return next(kind for words, kind in KINDS.items() if words in asked.system)


def by_kind(**scores: int) -> Mind:
    """A judge with one score for each kind of question; 5 for those not named."""

    def think(asked: Asked) -> Behaviour:
        return scored(scores.get(kind_of(asked), 5))

    return think


def by_answer(asked: Asked) -> Behaviour:
    """A judge that gives the score that the answer begins with."""
    return scored(int(asked.quoted["answer"][0]))


def judge_config(judge: Loopback, provider: str = "openai", **more: Any) -> dict[str, Any]:
    """What a suite writes to ask this judge, and not to wait long."""
    base_url = judge.address + ("/v1" if provider == "openai" else "")
    return {"provider": provider, "model": "loop-1", "base_url": base_url, "backoff_seconds": 0.01, **more}


def write(
    folder: Path,
    config: Mapping[str, Any] | None,
    scenarios: Sequence[Mapping[str, Any]],
    traces: Sequence[Mapping[str, Any]],
    **more: Any,
) -> None:
    """A suite in JSON, and its traces beside it."""
    folder.mkdir(exist_ok=True)
    suite = {"suite": "s", "traces": ["traces.jsonl"], "scenarios": list(scenarios), **more}
    if config is not None:
        suite["judge_config"] = dict(config)
    (folder / "passmuster.json").write_text(json.dumps(suite), encoding="utf-8")
    lines = [json.dumps({"steps": [], **trace}) for trace in traces]
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment(**changes: str) -> dict[str, str]:
    """The environment without keys: nothing here may need one that it was not given."""
    secret = ("OPENAI_", "ANTHROPIC_", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(secret)}
    return {**kept, "PYTHONPATH": str(SOURCE), "COLUMNS": "80", **changes}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "passmuster", *arguments]


def run(folder: Path, *options: str, **env: str) -> Ran:
    """`passmuster run` in the folder."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    arguments = ("run", "--root", ".", "--no-history", "--report", "json=report.json", *options)
    ended = passmuster_(folder, *arguments, **env)
    found = json.loads(report.read_bytes()) if report.exists() else {}
    assert not found or found["exit_code"] == ended.returncode
    return Ran(ended.returncode, found, ended.stdout, ended.stderr)


def passmuster_(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Any command in the folder."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**env),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
