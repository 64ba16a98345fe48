"""The pytest plugin, in pytest processes of its own; with pytest 8 and 9 and xdist in fresh environments.

These are made with pip from a package index. Where there is none, their tests are skipped with a notice; .ci/run sets
PASSMUSTER_HAS_INDEX, and then a failed installation is a failure.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.test_docs import assert_prints, blocks, session

from passmuster import api, reports

REPOSITORY = Path(__file__).parents[2]
PAGE = "docs/pytest.md"
OTHERS = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:cacheprovider")
"""Plugins of the development environment that have nothing to do here."""


def run_pytest(folder: Path, *words: str, python: Path | None = None) -> tuple[int, str]:
    """The exit code of pytest in a folder, and what it prints; `python` is the interpreter of another environment."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTEST_ADDOPTS", "PYTHONPATH")}
    env |= {"COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-m", "pytest"] if python else [sys.executable, "-m", "pytest", *OTHERS]
    found = subprocess.run([*command, *words], cwd=folder, env=env, capture_output=True, timeout=300)
    return found.returncode, (found.stdout + found.stderr).decode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the page."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    for block in blocks(PAGE):
        if "." in block.title:
            (folder / block.title).parent.mkdir(exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
    return folder


def new_environment(version: int, folder: Path) -> Path:
    """The interpreter of an environment with nothing but this package, a version of pytest, and xdist."""
    python = folder / "bin" / "python"
    constraints = str(REPOSITORY / "constraints.txt")
    wanted = [str(REPOSITORY), f"pytest=={version}.*", "pytest-xdist"]
    env = {**os.environ, "PIP_BUILD_CONSTRAINT": constraints, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15", *wanted],
    ):
        found = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
        if found.returncode:
            complain = pytest.fail if os.environ.get("PASSMUSTER_HAS_INDEX") else pytest.skip
            complain(f"an environment with pytest {version} cannot be made: {found.stderr[-300:]}")
    return python


def outcomes(junit: Path) -> dict[str, str]:
    """How each item ended, by its name."""
    cases = ElementTree.parse(junit).iter("testcase")
    return {str(case.get("name")): next((child.tag for child in case), "passed") for case in cases}


def expected(folder: Path) -> dict[str, str]:
    """The same from the report of `passmuster run`."""
    with api.StandardInput() as stdin:
        options = api.RunOptions(reports=(api.Destination("console", "-"),))
        report = api.run(str(folder / "passmuster.yaml"), options, stdin).report
    ended = {"pass": "passed", "fail": "failure", "error": "failure"}
    told = {f"{case.group}/{case.id}": ended.get(case.ending, "skipped") for case in reports.cases(report)}
    return {**told, "gate": "failure" if report.exit_code else "passed"}


@pytest.mark.parametrize("version", [8, 9])
def test_in_a_new_environment(version: int, project: Path, tmp_path: Path) -> None:
    """One test for all that is asked of it, as making an environment takes longest."""
    python = new_environment(version, tmp_path / "environment")
    assert_installed(project, python)
    assert_items_end_as_in_the_report(project, version, python)
    assert_page(project, version, python)


def assert_items_end_as_in_the_report(project: Path, version: int, python: Path) -> None:
    code, output = run_pytest(project, "-n", "2", "--junitxml=out.xml", "passmuster.yaml", python=python)
    assert code == 1, output
    found = outcomes(project / "out.xml")
    assert found == expected(project), output
    assert found["scenarios/PAY-2"] == "skipped"
    words = ("-x", "-k", "tests or PAY-1", "--strict-markers", "passmuster.yaml")
    code, output = run_pytest(project, *words, python=python)
    assert f"pytest-{version}." in output
    assert code == 1
    assert "1 failed, 3 deselected" in output
    assert "stopping after 1 failures" in output


def assert_installed(project: Path, python: Path) -> None:
    """The plugin is found by its entry point, in the environment: not in this checkout."""
    code, output = run_pytest(project, "--co", "-q", python=python)
    assert (code, "passmuster.yaml::gate" in output) == (0, True), output
    place = [str(python), "-P", "-c", "import passmuster; print(passmuster.__file__)"]
    installed = subprocess.run(place, capture_output=True, text=True, timeout=60, cwd=project).stdout
    assert Path(installed.strip()).is_relative_to(python.parent.parent), installed


def test_what_the_page_shows_is_what_happens(project: Path) -> None:
    assert_page(project)


def assert_page(project: Path, version: int = 9, python: Path | None = None) -> None:
    for block in blocks(PAGE):
        if block.language == "console":
            for line, printed in session(block.text):
                _, output = run_pytest(project, *line.split()[1:], python=python)
                if version == 8:  # which gives no reasons in its summary
                    printed = re.sub(r"(?m)^(FAILED \S+) - .*", r"\1", printed)
                assert_prints(printed, output, line)


def test_a_project_without_a_suite_pays_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\ndef test_modules():\n    print(sorted(one for one in sys.modules if 'passmuster' in one))\n"
    )
    (tmp_path / "other.yaml").write_text("tests: []\n")
    code, output = run_pytest(tmp_path, "-s", "-q")
    assert (code, "1 passed" in output) == (0, True), output
    assert "['passmuster', 'passmuster._lazy', 'passmuster._version', 'passmuster.pytest_plugin']" in output


def test_mistakes_are_told_in_words_and_suites_without_traces_are_left_alone(project: Path) -> None:
    bad, idle = project / "bad", project / "idle"
    bad.mkdir()
    idle.mkdir()
    (bad / "passmuster.yaml").write_text("tests: [{id: x, metric: tool_blocklst}]\n")
    (idle / "passmuster.json").write_text(json.dumps({"scenarios": [{"id": "A", "correctness": {"exact_match": "x"}}]}))
    (project / "traces" / "broken.jsonl").write_text("{\n")
    code, output = run_pytest(project, "-p", "no:randomly", "bad", "idle", "passmuster.yaml", "-q")
    assert code == 2, output
    assert "bad/passmuster.yaml:1" in output
    assert "tool_blocklist" in output
    assert "Traceback" not in output
    code, output = run_pytest(project, "passmuster.yaml", "-q")
    assert (code, output.count("traces/broken.jsonl:1") >= 5) == (1, True), output
    assert "Traceback" not in output
    code, output = run_pytest(project, "idle", "-q", "--passmuster-traces", "traces/runs.jsonl", "--passmuster-strict")
    assert "FAILED idle/passmuster.json::scenarios/A" in output


def test_mistakes_in_a_call_of_the_fixture_end_at_the_call(tmp_path: Path) -> None:
    (tmp_path / "test_mistakes.py").write_text(
        "SUITE = {'scenarios': [{'id': 'a[1]', 'correctness': {'exact_match': 'x'}}]}\n\n"
        "def test_id(passmuster):\n    passmuster.check({'answer': 'x'}, suite=SUITE, scenario='a[2]')\n\n"
        "def test_type(passmuster):\n    passmuster.check(42, suite=SUITE)\n\n"
        "def test_nothing(passmuster):\n    passmuster.check([], suite=SUITE)\n\n"
        "def test_no_suite(passmuster):\n    passmuster.check({'answer': 'x'})\n\n"
        "def test_no_scenario(passmuster):\n    passmuster.check({'answer': 'x'}, suite=SUITE)\n\n"
        "def test_fine(passmuster):\n    passmuster.check({'answer': 'x', 'steps': []}, suite=SUITE, scenario='a[1]')\n"
    )
    (tmp_path / ".git").mkdir()
    code, output = run_pytest(tmp_path)
    assert (code, "5 failed, 1 passed" in output) == (1, True), output
    for expected in (
        "has no scenario 'a[2]'",
        "found int",
        "it holds no trace",
        "no suite found",
        "say which one it is",
    ):
        assert expected in output
    assert "pytest_plugin/_checker.py" not in output
