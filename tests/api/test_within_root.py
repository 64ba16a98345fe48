"""What a suite names is written within the root, whatever its paths and links say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli_runner import CliRunner, Result

from passmuster.cli import command

TEST = {"id": "t", "metric": "tool_blocklist", "blocklist": ["bad"]}
TRACE = '{"steps": [{"type": "tool_call", "tool": "good"}]}\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with a suite in a folder of it, and a folder beside the root."""
    (tmp_path / "root" / "suite").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "root" / "t.jsonl").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "root"


def run(root: Path, suite: dict[str, object], *arguments: str) -> Result:
    (root / "suite" / "passmuster.json").write_text(json.dumps({"tests": [TEST], **suite}))
    given = ["run", "root/suite", "--root", "root", "--traces", "root/t.jsonl", *arguments]
    return CliRunner().invoke(command, given)


@pytest.mark.parametrize(
    "folder",
    [
        "../../outside",
        "../..",
        "/tmp",
        "{tmp}/outside",
        "../../root2",
        "a/../../../outside",
        "../link",
        "../link/deeper",
    ],
)
def test_the_report_folder_does_not_leave_the_root(root: Path, folder: str) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    written = folder.format(tmp=root.parent)
    found = run(root, {"output": {"format": ["json"], "dir": written}}, "--no-history")
    assert found.exit_code == 2
    assert "output.dir: " in found.stderr
    assert "outside the root" in found.stderr
    assert list((root.parent / "outside").iterdir()) == []


@pytest.mark.parametrize("folder", ["reports", "../reports", "..", ".", "a/b/../c"])
def test_anywhere_within_the_root_is_fine(root: Path, folder: str) -> None:
    found = run(root, {"output": {"format": ["json"], "dir": folder}}, "--no-history")
    assert found.exit_code == 0, found.stderr
    assert (root / "suite" / folder / "report.json").resolve().is_file()


def test_a_report_that_is_a_link_does_not_leave_the_root_either(root: Path) -> None:
    (root / "suite" / "passmuster-report").mkdir()
    (root / "suite" / "passmuster-report" / "report.json").symlink_to(root.parent / "outside" / "r.json")
    found = run(root, {"output": {"format": ["json"]}}, "--no-history")
    assert (found.exit_code, list((root.parent / "outside").iterdir())) == (2, [])
    assert "outside the root" in found.stderr


def test_reports_named_on_the_command_line_go_anywhere(root: Path) -> None:
    assert run(root, {}, "--no-history", "--report", "json=outside/r.json").exit_code == 0
    assert (root.parent / "outside" / "r.json").is_file()


@pytest.mark.parametrize("linked", [".passmuster", ".passmuster/history.db"])
def test_a_history_behind_a_link_out_of_the_root_is_left_alone(root: Path, linked: str) -> None:
    if "/" in linked:
        (root / ".passmuster").mkdir()
    (root / linked).symlink_to(root.parent / "outside" / ("h.db" if "/" in linked else ""))
    found = run(root, {})
    assert found.exit_code == 0
    assert "a link leads out of the root" in found.stderr
    assert list((root.parent / "outside").iterdir()) == []
    shown = CliRunner().invoke(command, ["history", "root/suite", "--root", "root"])
    assert (shown.exit_code, "a link leads out of the root" in shown.stderr) == (2, True)


@pytest.mark.parametrize("key", ["output", "policy", "baseline", "cache", "calibration", "traces", "plugins"])
@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "x/" * 3000 + "y", "\ud800", "a\nb"])
def test_a_path_that_cannot_be_one_is_an_error_with_its_place(root: Path, key: str, path: str) -> None:
    judge = {"provider": "openai", "model": "m"}
    suites: dict[str, dict[str, object]] = {
        "output": {"output": {"format": ["json"], "dir": path}},
        "policy": {"tests": [{"id": "a", "metric": "args_valid", "policy": path}]},
        "baseline": {"baseline": {"file": path}},
        "cache": {"judge_config": {**judge, "cache": path}},
        "calibration": {"judge_config": {**judge, "require_calibration": True, "calibration": path}},
        "traces": {"traces": [path]},
        "plugins": {"plugins": [path]},
    }
    found = run(root, suites[key], "--no-history")
    assert found.exit_code in (0, 2)
    assert "Traceback" not in found.stderr
    assert "unexpected failure" not in found.stderr
    if "\0" in path and key != "traces":
        assert found.exit_code == 2
