"""`bench.agreement` on runs made up in the shape of its file: which of them the suite and the reward agree on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.agreement import WRITING, agreement, judge, main, suite_of

Json = dict[str, Any]

LOOK = ("get_user_details", {"user_id": "u1"}, "{}")
CANCEL = ("cancel_reservation", {"reservation_id": "R1"}, '{"status": "cancelled"}')
PAY = ("send_certificate", {"user_id": "u1", "amount": 50}, "Certificate sent")
TOO_MUCH = ("send_certificate", {"user_id": "u1", "amount": 5000}, "Error: the amount is too large")


def run(task: int, trial: int, reward: float, *calls: tuple[str, Json, str]) -> Json:
    """A run that made these calls; its task asks to look, to cancel and, if it is task 1, to pay."""
    said: list[Json] = [{"role": "user", "content": "Please help."}]
    for tool, arguments, result in calls:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        asked = [{"id": "call_1", "type": "function", "function": function}]
        said.append({"role": "assistant", "content": None, "tool_calls": asked})
        said.append({"role": "tool", "tool_call_id": "call_1", "name": tool, "content": result})
    wanted = (LOOK, CANCEL, PAY) if task else (LOOK, CANCEL)
    actions = [{"name": tool, "kwargs": arguments} for tool, arguments, _ in wanted]
    return {
        "task_id": task,
        "reward": reward,
        "info": {"task": {"user_id": "u1", "actions": actions, "outputs": []}},
        "traj": said,
        "trial": trial,
    }


RUNS = [
    run(0, 0, 1.0, CANCEL),
    run(0, 1, 0.0, LOOK, LOOK),
    run(0, 2, 1.0, CANCEL, TOO_MUCH),  # a failed attempt changed nothing
    run(1, 0, 1.0, PAY, LOOK, CANCEL),
    run(1, 1, 0.0, CANCEL, ("send_certificate", {"user_id": "u1", "amount": 55}, "Certificate sent")),
    run(1, 2, 0.0, CANCEL, PAY),  # the calls were right, and the task failed for another reason
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(RUNS, indent=2), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("ignore_failed", "held", "agreed"),
    [(False, [True, False, False, True, False, True], 4 / 6), (True, [True, False, True, True, False, True], 5 / 6)],
)
def test_each_run_is_judged_by_its_task(file: Path, ignore_failed: bool, held: list[bool], agreed: float) -> None:
    judged = list(judge(file, ignore_failed))
    assert [(run.task, run.trial) for run in judged] == [("0", 0), ("0", 1), ("0", 2), ("1", 0), ("1", 1), ("1", 2)]
    assert [run.held for run in judged] == held
    assert agreement(judged) == pytest.approx(agreed)


def test_the_suite_expects_what_changes_something() -> None:
    suite = suite_of([*RUNS, run(2, 0, 0.0)], ignore_failed=False)
    assert suite["effects"] == {"write": list(WRITING)}
    calls = suite["scenarios"][1]["path"]["expected_calls"]["calls"]
    assert calls == [{"tool": tool, "args": arguments} for tool, arguments, _ in (CANCEL, PAY)]


def test_the_figures_are_printed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["agreement", str(file), "--differing"])
    main()
    printed = capsys.readouterr().out
    assert "| every call | 6 | 66.7% | 1 | 1 |" in printed
    assert "| failed: ignore | 6 | 83.3% | 1 | 0 |" in printed
    assert "every call: task 0, trial 2: solved, but extra: send_certificate" in printed
