"""`run --live --stop-early` with real processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agents.live import run, runs_path, script, traces, write_suite
from tests.cli_runner import CliRunner

from passmuster.cli._main import command

SCENARIOS = [
    {"id": f"S-{n}", "query": "Hello", "repeat": 2, "correctness": {"expected_in_answer": "hello"}} for n in range(6)
]
BOUND = {"thresholds": {"blocking": {"pass_rate": "90%"}}}


def write(folder: Path, answer: str, **more: Any) -> None:
    agent = {"command": script(folder, f"print({answer!r})"), "concurrency": 2}
    write_suite(folder, agent, SCENARIOS, **BOUND, **more)


@pytest.mark.parametrize(
    ("stop", "fewest", "most"), [("off", 12, 12), (None, 6, 7), ("certain", 2, 4)], ids=["off", "default", "certain"]
)
def test_runs_that_cannot_change_the_verdict_do_not_take_place(
    tmp_path: Path, stop: str | None, fewest: int, most: int
) -> None:
    write(tmp_path, "no")
    report = run(tmp_path, stop_early=stop)
    assert report.exit_code == 1
    assert fewest <= report.traces.read == len(traces(tmp_path)) <= most
    assert report.early_stop is not None
    assert report.early_stop.not_run == 12 - report.traces.read
    assert report.incomplete == (stop != "off")


def test_the_command_says_what_was_skipped_and_keeps_it_out_of_the_history(tmp_path: Path) -> None:
    write(tmp_path, "no")
    where = tmp_path / "report.json"
    words = ["run", str(tmp_path), "--live", "--stop-early", "certain", "--report", f"json={where}"]
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 1, found.output
    assert "Not run: " in found.output
    assert "cannot reach >= 90% any more" in found.output
    told = json.loads(where.read_bytes())["early_stop"]
    assert (told["rule"], told["planned"]) == ("certain", 12)
    assert not (tmp_path / ".passmuster" / "history.db").exists()
    assert CliRunner().invoke(command, [*words[:3], "--stop-early", "often"]).exit_code == 2
    assert CliRunner().invoke(command, ["run", str(tmp_path), "--stop-early", "off"]).exit_code == 2


def test_what_was_run_before_counts_after_an_interruption(tmp_path: Path) -> None:
    write(tmp_path, "no")
    first = run(tmp_path, stop_early="off")
    assert first.early_stop is not None
    lines = runs_path(tmp_path).read_bytes().splitlines(keepends=True)
    runs_path(tmp_path).write_bytes(b"".join(lines[:3]))
    report = run(tmp_path, resume=True, stop_early="certain")
    assert report.early_stop is not None
    assert (report.exit_code, report.traces.read, report.early_stop.not_run) == (1, 3, 9)
    assert report.early_stop.seed == first.early_stop.seed
