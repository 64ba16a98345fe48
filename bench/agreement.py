"""How often a suite agrees with what is known about recorded runs: `python -m bench.agreement PATH`.

PATH is a result file of tau-bench: runs with their messages in `traj`, the actions that solve the task in
`info.task.actions`, and in `reward` whether the run solved it. A suite is made from the actions alone: of each task the
calls that change something are expected, with their arguments and nothing besides. Every run is judged on its own,
and a status of `expected_calls` agrees with the reward if the check holds just where the task was solved.
"""

from __future__ import annotations

import argparse
import datetime
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from passmuster.engine._load_suite import load_suite
from passmuster.engine._plan import Plan
from passmuster.traces._reading import read_traces

__all__ = ["Judged", "agreement", "judge", "suite_of"]

Json = dict[str, Any]

TODAY = datetime.date(2026, 1, 1)
READING = ("get_", "search_", "list_", "calculate", "think", "transfer")
"""How the names of tools begin that change nothing."""
WRITING = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
"""Tools that change something, whether or not a task's actions name them."""
FAILURES = [{"tool": "*", "result": {"$regex": "^Error"}}]


class Judged(Struct, frozen=True):
    """One run: which it is, what the suite says of it, what is known of it, and why the suite says so."""

    task: str
    trial: int | None
    held: bool
    solved: bool
    reason: str

    @property
    def agrees(self) -> bool:
        return self.held == self.solved


def suite_of(runs: list[Json], ignore_failed: bool) -> Json:
    """A scenario a task, from the actions that solve it."""
    tasks = {str(run["task_id"]): run["info"]["task"]["actions"] for run in runs}
    changing = {action["name"] for actions in tasks.values() for action in actions if _changes(action["name"])}
    suite: Json = {
        "suite": "agreement",
        "effects": {"write": sorted(changing.union(WRITING))},
        "scenarios": [
            {"id": task, "path": {"expected_calls": _expected(actions, ignore_failed)}}
            for task, actions in tasks.items()
        ],
    }
    return suite | {"failed_when": FAILURES} if ignore_failed else suite


def _changes(tool: str) -> bool:
    return not tool.startswith(READING)


def _expected(actions: list[Json], ignore_failed: bool) -> Json:
    calls = [{"tool": action["name"], "args": action["kwargs"]} for action in actions if _changes(action["name"])]
    expected: Json = {"calls": calls, "extras": "forbid", "scope": "effects"}
    return expected | {"failed": "ignore"} if ignore_failed else expected


def judge(path: Path, ignore_failed: bool) -> Iterator[Judged]:
    """Every run of the file, judged by the suite that the file's own tasks make."""
    runs = json.loads(path.read_bytes())
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as folder:
        written = Path(folder, "passmuster.json")
        written.write_text(json.dumps(suite_of(runs, ignore_failed)), encoding="utf-8")
        plan = Plan(load_suite(written), TODAY)
    for run, trace in zip(runs, read_traces(path), strict=True):
        evaluation = plan.evaluate(trace)
        assert evaluation.scenario == str(run["task_id"])
        assert evaluation.explain is not None
        (check,) = [line for line in evaluation.explain().layers["path"].checks if line.name == "expected_calls"]
        yield Judged(
            str(run["task_id"]), trace.run, check.status == "pass", run["reward"] == 1, check.message or check.status
        )


def agreement(judged: list[Judged]) -> float:
    """The part of the runs on which suite and reward say the same."""
    return sum(run.agrees for run in judged) / len(judged)


def main() -> None:
    """Print both figures, and on request the runs on which suite and reward differ."""
    parser = argparse.ArgumentParser(prog="bench.agreement", description=__doc__)
    parser.add_argument("path", type=Path, help="a result file of tau-bench")
    parser.add_argument("--differing", action="store_true", help="list the runs on which they differ")
    given = parser.parse_args()
    print("| expected_calls, scope: effects | runs | agrees | held, not solved | solved, not held |")
    print("|---|---|---|---|---|")
    differing: list[str] = []
    for ignore_failed, name in ((False, "every call"), (True, "failed: ignore")):
        judged = list(judge(given.path, ignore_failed))
        lax = sum(run.held and not run.solved for run in judged)
        strict = sum(run.solved and not run.held for run in judged)
        print(f"| {name} | {len(judged)} | {agreement(judged):.1%} | {lax} | {strict} |")
        differing += [
            f"{name}: task {run.task}, trial {run.trial}: {'solved' if run.solved else 'not solved'}, but {run.reason}"
            for run in judged
            if not run.agrees
        ]
    if given.differing:
        print("", *differing, sep="\n")


if __name__ == "__main__":
    main()
