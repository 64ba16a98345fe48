"""A part of the promises, through the command line: suites and traces in a folder, and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench.promises import Row, beta

SEED = 2_028


class Folder:
    """A suite of scenarios that pass with the answer `yes`, and commands run next to it."""

    def __init__(self, path: Path, number: int, **keys: Any) -> None:
        self.path = path
        scenarios = [{"id": f"S-{place}", "correctness": {"expected_in_answer": "yes"}} for place in range(number)]
        suite = {"scenarios": scenarios, "thresholds": {"blocking": {"pass_rate": "1%"}}, **keys}
        (path / "passmuster.json").write_text(json.dumps(suite), encoding="utf-8")

    def traces(self, name: str, passed: Sequence[int], runs: int) -> str:
        lines = [
            json.dumps({"scenario": f"S-{place}", "run": run, "steps": [], "answer": "yes" if run < number else "no"})
            for place, number in enumerate(passed)
            for run in range(runs)
        ]
        (self.path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    def run(self, *words: str) -> int:
        command = [sys.executable, "-m", "passmuster", *words]
        return subprocess.run(command, cwd=self.path, capture_output=True, check=False).returncode


def measured_commands() -> Iterator[Row]:
    """Rows whose figures are shares of exit codes."""
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as made:
        yield from _perfect(Path(made))
    with tempfile.TemporaryDirectory() as made:
        yield from _baselines(rng, Path(made))
    with tempfile.TemporaryDirectory() as made:
        yield from _ratchet(rng, Path(made))


def _perfect(path: Path) -> Iterator[Row]:
    scenarios = [{"id": f"S-{place}", "expected_behaviors": ["greets"]} for place in range(2)]
    bound = {"min": "99%", "confidence": "95%", "undecided": "block"}
    suite = {"scenarios": scenarios, "thresholds": {"blocking": {"behavior_coverage": bound}}}
    folder = Folder(path, 0)
    (path / "passmuster.json").write_text(json.dumps(suite), encoding="utf-8")
    lines = [json.dumps({"scenario": f"S-{place}", "steps": [], "behaviors": ["greets"]}) for place in range(2)]
    (path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code = folder.run("run", "--no-history", "--traces", "t.jsonl")
    yield Row("command: two perfect scenarios pass 99 % with confidence", float(code == 0), 0, 0, 10**6)


def _baselines(rng: np.random.Generator, path: Path) -> Iterator[Row]:
    folder = Folder(path, 20, baseline={"file": "b.json"})
    compare = ("run", "--no-history", "--quiet", "--traces")
    folder.run("baseline", "save", "--traces", folder.traces("good.jsonl", [5] * 20, 5), "-o", "b.json")
    code = folder.run(*compare, folder.traces("bad.jsonl", [0] * 4 + [5] * 16, 5))
    yield Row("command: 4 of 20 scenarios that break are blocked", float(code == 1), 1, 1, 10**6)
    alarms, few = 0, 30
    for _ in range(few):
        own = beta(rng, 0.9, 20)
        folder.run(
            "baseline", "save", "--traces", folder.traces("a.jsonl", rng.binomial(1, own).tolist(), 1), "-o", "b.json"
        )
        alarms += folder.run(*compare, folder.traces("b.jsonl", rng.binomial(10, own).tolist(), 10)) == 1
    yield Row("command: unchanged agent, 20 × 1 → 10 runs: blocked", alarms / few, 0, 0.055, few)


def _ratchet(rng: np.random.Generator, path: Path) -> Iterator[Row]:
    own, failed, few = beta(rng, 0.9, 40), 0, 40
    folder = Folder(path, 40)
    folder.run(
        "baseline", "save", "--traces", folder.traces("a.jsonl", rng.binomial(1, own).tolist(), 1), "-o", "b.json"
    )
    folder.run("baseline", "ratchet", "--baseline", "b.json")
    for _ in range(few):
        fresh = folder.traces("fresh.jsonl", rng.binomial(1, own).tolist(), 1)
        failed += folder.run("run", "--no-history", "--quiet", "--traces", fresh) == 1
    yield Row("command: ratchet, 40 fresh runs of an unchanged agent: failed", failed / few, 0, 0.06, few)
