"""Partial and strict runs, judges that are off, and what every report makes of the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.checks.building import calls, judge, write
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli.run import command as run_command
from passmuster.scoring._report import GateLine, Report

Stated = dict[str, Any]
OK: Stated = {"correctness": {"expected_in_answer": "ok"}}
INFRA = {"kind": "infra", "message": "rate limited"}


def scenarios(number: int, **more: Any) -> list[Stated]:
    return [{"id": f"S-{n}", **OK, **more} for n in range(number)]


def runs(passed: int, failed: int = 0, **more: Any) -> list[Stated]:
    """One trace for each of so many scenarios, of which the first so many passed."""
    return [{"scenario": f"S-{n}", "answer": "ok" if n < passed else "no", **more} for n in range(passed + failed)]


def line(report: Report, kind: str, id_: str) -> GateLine:
    (found,) = [line for line in report.gate if (line.kind, line.id) == (kind, id_)]
    return found


# ── Partial and strict runs, and what reports make of it ────────────────────────────────────────────────────

WHOLE: Stated = {
    "scenarios": [*scenarios(4, category="happy"), {"id": "W", "path": {"max_tool_calls": 0}, "category": "happy"}],
    "thresholds": {"blocking": {"pass_rate": "10%"}, "warning": {"accuracy": "100%"}},
    "pass_criteria": {"overall": "10%", "by_category": {"happy": "10%"}},
    "composite": "pass = pass_rate > 0.1",
    "required_scenarios": ["S-0"],
}
RAN = [*runs(3, 1), {"scenario": "W", "answer": "", "steps": calls("x")}]
SUITE_LEVEL = {"threshold", "criteria", "composite", "input"}


def test_a_partial_run_leaves_suite_level_lines_out() -> None:
    whole, partial = judge(WHOLE, RAN), judge(WHOLE, RAN, only=("S-*",))
    assert {one.kind for one in whole.gate} >= {"threshold", "criteria", "composite", "required", "scenario"}
    assert not {one.kind for one in partial.gate} & SUITE_LEVEL
    assert (whole.partial, whole.exit_code) == (False, 0)
    # Nothing tolerates the failure here: what would is not judged.
    assert (partial.partial, partial.exit_code, line(partial, "scenario", "S-3").tolerated_by) == (True, 1, None)
    assert judge(WHOLE, RAN, only=("S-0",)).verdict == "pass"


def test_strict_leaves_tolerated_lines_alone_and_turns_other_warnings_into_failures() -> None:
    loose, strict = judge(WHOLE, RAN), judge(WHOLE, RAN, strict=True)
    assert (loose.verdict, loose.exit_code, strict.verdict, strict.exit_code) == ("warn", 0, "fail", 1)
    levels = {(one.kind, one.id): one.level for one in strict.gate if one.status != "pass"}
    assert levels == {
        ("scenario", "S-3"): "warning",
        ("scenario", "W"): "blocking",
        ("threshold", "accuracy"): "blocking",
    }


def broken_run() -> list[Stated]:
    traces = [dict(one) for one in RAN]
    traces[0]["error"] = INFRA
    return traces


@pytest.mark.parametrize(
    ("traces", "strict", "exit_code"),
    [
        ([*runs(4), {"scenario": "W", "answer": ""}], False, 0),
        (RAN, False, 0),
        (RAN, True, 1),
        (broken_run(), False, 3),
    ],
    ids=["green", "tolerated", "strict", "an outside part"],
)
def test_every_report_agrees_with_the_exit_code(
    traces: list[Stated], strict: bool, exit_code: int, tmp_path: Path
) -> None:
    path, source = write(tmp_path, WHOLE, traces)
    formats = [f"--report={name}={tmp_path / name}" for name in ("json", "junit", "sarif", "console")]
    options = ["--root", str(tmp_path), "--no-history", "--traces", str(source), *formats]
    ran = CliRunner().invoke(run_command, [str(path), *options, *(["--strict"] if strict else [])])
    assert ran.exit_code == exit_code
    told = json.loads((tmp_path / "json").read_text())
    assert told["exit_code"] == exit_code
    root = ElementTree.fromstring((tmp_path / "junit").read_text())
    counts = {name: int(root.get(name, "")) for name in ("failures", "errors")}
    assert (counts["failures"] > 0, counts["errors"] > 0) == (exit_code == 1, exit_code == 3)
    cases = [(case.get("classname", "").rsplit(".", 1)[1], case.get("name")) for case in root.iter("testcase")]
    for kind in ("threshold", "criteria", "composite", "required"):
        in_gate = [one["id"] for one in told["gate"] if one["kind"] == kind]
        assert sorted(name or "" for group, name in cases if group == kind) == sorted(in_gate)
    (found,) = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert any(one["level"] == "error" for one in found["results"]) == (exit_code != 0)
    last = {0: "PASS", 1: "FAIL", 3: "ERROR"}[exit_code]
    assert ran.stdout.strip().splitlines()[-1].startswith(last)


# ── Judges that are off ─────────────────────────────────────────────────────────────────────────────────────


def unjudged(tmp_path: Path, strict: bool = False, answer: str = "Hello.", **correctness: Any) -> Report:
    """A scenario for a judge that is off, and one that does well; half of them may fail."""
    named = [{"id": "S-0", "correctness": {"llm_judge": "Is kind.", **correctness}}, {"id": "S-1", **OK}]
    path, source = write(
        tmp_path,
        {"scenarios": named, "pass_criteria": {"overall": "50%"}},
        [{"scenario": "S-0", "answer": answer}, *runs(2)[1:]],
    )
    suite = passmuster.load_suite(path, root=tmp_path)
    return passmuster.evaluate(suite, passmuster.read_traces(source), judge="off", strict=strict)


def test_one_more_check_that_fails_does_not_excuse_that_judges_are_off(tmp_path: Path) -> None:
    assert (unjudged(tmp_path).verdict, unjudged(tmp_path, strict=True).exit_code) == ("warn", 1)
    failed = unjudged(tmp_path, expected_in_answer="bye")
    assert (failed.verdict, line(failed, "scenario", "S-0").tolerated_by) == ("warn", "pass_criteria.overall")
    assert unjudged(tmp_path, strict=True, expected_in_answer="bye").exit_code == 1
