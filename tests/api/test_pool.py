"""Runs that are compared with the last runs of the history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.baseline_runs import FAIL, PASS, suite_of, trace

from passmuster import api

IDS = [f"S-{number:02}" for number in range(20)]


def run(folder: Path, failing: int, *, keep: bool = True, history: str | None = None, **keys: Any) -> api.Report:
    suite = suite_of(IDS, baseline={"pool": 3, **keys.pop("baseline", {})}, **keys)
    (folder / "passmuster.json").write_text(json.dumps(suite), encoding="utf-8")
    traces = [trace(id_, FAIL if place < failing else PASS) for place, id_ in enumerate(IDS) for _ in range(3)]
    (folder / "t.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in traces), encoding="utf-8")
    options = api.RunOptions(traces=(str(folder / "t.jsonl"),), root=str(folder), history=history)
    with api.StandardInput() as stdin:
        done = api.run(str(folder), options, stdin)
    if keep:
        api.add_to_history(done, history)
    return done.report


def line(report: api.Report, id_: str) -> Any:
    (found,) = [one for one in report.gate if one.kind == "baseline" and one.id == id_]
    return found


def test_too_little_history_is_undecided(tmp_path: Path) -> None:
    for number in range(3):
        found = line(run(tmp_path, 1), "pool")
        assert (found.status, found.level, found.actual, found.expected) == ("undecided", "warning", number, 3)
    assert line(run(tmp_path, 1), "pool.pass_rate").status == "pass"


def test_confidence_is_shared_out_and_a_large_drop_blocks(tmp_path: Path) -> None:
    for _ in range(3):
        run(tmp_path, 1)
    worse = run(tmp_path, 8)
    found = line(worse, "pool.pass_rate")
    assert (found.level, found.status, worse.exit_code) == ("blocking", "fail", 1)
    assert found.values["level"] == pytest.approx(0.05 / 3)
    assert found.values["before"] == pytest.approx(0.95)
    # A run that was blocked is none to compare with.
    assert line(run(tmp_path, 8), "pool.pass_rate").level == "blocking"


def test_the_history_may_be_anywhere(tmp_path: Path) -> None:
    suite, elsewhere = tmp_path / "suite", tmp_path / "kept.db"
    suite.mkdir()
    for _ in range(3):
        run(suite, 1, history=str(elsewhere))
    assert elsewhere.exists()
    assert not (suite / ".passmuster").exists()
    assert line(run(suite, 1, history=str(elsewhere)), "pool.pass_rate").status == "pass"
    assert line(run(suite, 1, keep=False), "pool").status == "undecided"


def test_the_library_has_no_history(tmp_path: Path) -> None:
    run(tmp_path, 1, keep=False)
    import passmuster

    report = passmuster.evaluate(passmuster.load_suite(tmp_path), passmuster.read_traces(tmp_path / "t.jsonl"))
    assert [one.status for one in report.gate if one.id == "pool"] == ["undecided"]
