"""Adding a check, a rule, a metric, … takes exactly one file.

Each file that CONTRIBUTING.md shows is added, alone, to a copy of the package. It then works, and appears wherever its
kind is listed: `--help`, the JSON Schema, SARIF's rules, the tables of docs/.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
SHOWN = dict(
    re.findall(
        r"^```python src/passmuster/(\S+)\n(.*?)^```$",
        (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)
"""The files of CONTRIBUTING.md by their path in the package."""


class Copy:
    """A copy of the package with one more file, and a folder to run it in."""

    def __init__(self, folder: Path, added: str) -> None:
        self.package, self.folder = folder / "copy" / "passmuster", folder / "work"
        shutil.copytree(REPOSITORY / "src" / "passmuster", self.package)
        self.folder.mkdir()
        (file,) = [name for name in SHOWN if name.startswith(f"{added}/")]
        (self.package / file).write_text(SHOWN[file], encoding="utf-8")
        self.name = Path(file).stem

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit code of a command, and what it printed."""
        return self.python("-m", "passmuster", *arguments)

    def python(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.package.parent)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def evaluate(self, suite: dict[str, Any], *traces: dict[str, Any]) -> tuple[int, str]:
        """What a run of this suite on these traces prints."""
        (self.folder / "passmuster.json").write_text(json.dumps(suite))
        (self.folder / "traces.jsonl").write_text("".join(f"{json.dumps(trace)}\n" for trace in traces))
        return self.run("run", "--traces", "traces.jsonl", "--no-history", "--report", "sarif=report.sarif")

    def schema(self) -> str:
        code, printed = self.run("schema", "suite")
        assert code == 0
        return printed

    def sarif_rules(self) -> dict[str, str]:
        run = json.loads((self.folder / "report.sarif").read_text())["runs"][0]
        return {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}

    def table(self, name: str) -> str:
        """A reference table of docs/, as this copy would write it."""
        code, printed = self.python("-c", f"from passmuster import api; print(api.reference_tables()[{name!r}])")
        assert code == 0
        return printed


def calls(*tools: str) -> dict[str, Any]:
    return {"trace_id": "t", "steps": [{"type": "tool_call", "tool": tool, "arguments": {}} for tool in tools]}


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Copy:
    return Copy(tmp_path, request.param)


def added(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("copy", [folder], indirect=True)


@added("checks/kinds")
def test_a_check(copy: Copy) -> None:
    suite = {"tests": [{"id": "no_loops", "metric": copy.name, "most": 2}]}
    code, printed = copy.evaluate(suite, calls("search", "search", "search"))
    assert code == 1
    assert "Called 3 times in a row (most: 2)" in printed
    assert "Policy line: passmuster.json:1" in printed
    assert copy.sarif_rules()[copy.name] == "No tool is called more than so many times in a row."
    assert copy.evaluate(suite, calls("search", "search"))[0] == 0
    code, printed = copy.evaluate({"tests": [{"id": "no_loops", "metric": copy.name, "mots": 2}]}, calls("search"))
    assert (code, "unknown key 'mots'; did you mean 'most'?" in printed) == (2, True)
    assert f'"{copy.name}_test"' in copy.schema()
    assert f"| `{copy.name}` |" in copy.table("checks")


@added("checks/rules")
def test_a_sequence_rule(copy: Copy) -> None:
    suite = {"tests": [{"id": "order", "metric": "sequence_valid", "rules": [{"type": copy.name, "tool": "login"}]}]}
    code, printed = copy.evaluate(suite, calls("search", "login"))
    assert code == 1
    assert f"Rule: {copy.name}" in printed
    assert copy.sarif_rules().keys() == {"sequence_valid"}  # one SARIF rule per kind of check
    assert "login as the first call" in (copy.folder / "report.sarif").read_text()
    assert copy.evaluate(suite, calls("login", "search"))[0] == 0
    assert f'"{copy.name}_rule"' in copy.schema()
    assert f"| `{copy.name}` | `tool` |" in copy.table("rules")


@added("checks/layers/path")
def test_a_path_check(copy: Copy) -> None:
    scenario = {"id": "S", "path": {copy.name: 1}}
    suite = {"layers": {"path": "block"}, "scenarios": [scenario]}
    code, printed = copy.evaluate(suite, {"scenario": "S", **calls("search", "get_order")})
    assert code == 1
    assert "2 different tools used, 1 allowed" in printed
    assert copy.sarif_rules()[copy.name] == "At most so many different tools are used."
    assert copy.evaluate(suite, {"scenario": "S", **calls("search", "search")})[0] == 0
    assert f'"{copy.name}": {{' in copy.schema()
    assert f"| `{copy.name}` |" in copy.table("path")


@added("scoring/metrics")
def test_a_metric(copy: Copy) -> None:
    scenarios = [{"id": name, "category": "billing", "path": {"forbidden_tools": ["x"]}} for name in ("A", "B")]
    suite = {"scenarios": scenarios, "thresholds": {"blocking": {copy.name: 60}}}
    runs = [{"scenario": "A", **calls("y")}, {"scenario": "B", **calls("x")}]
    code, printed = copy.evaluate(suite, *runs)
    assert code == 1
    assert f"{copy.name} is 50%, required >= 60%" in printed
    assert f'"{copy.name}": {{' in copy.schema()
    assert f"| `{copy.name}` |" in copy.table("metrics")


@added("traces/formats")
def test_a_reader(copy: Copy) -> None:
    suite = {"tests": [{"id": "no_admin", "metric": "tool_blocklist", "blocklist": ["admin_*"]}]}
    code, printed = copy.evaluate(suite, {"id": "run-7", "calls": [["admin_reset", {}]]})
    assert code == 1
    assert "Trace line: traces.jsonl:1 (trace run-7)" in printed
    assert copy.run("run", "--traces", "traces.jsonl", "--format", copy.name, "--quiet")[0] == 1
    assert copy.name in copy.run("run", "--traces", "traces.jsonl", "--format", "nonsense")[1]
    assert f"| `{copy.name}` |" in copy.table("trace formats")


@added("reports/formats")
def test_a_report(copy: Copy) -> None:
    suite = {
        "tests": [{"id": "no_admin", "metric": "tool_blocklist", "blocklist": ["admin_*"]}],
        "output": {"format": [copy.name]},
    }
    assert copy.evaluate(suite, calls("admin_reset"))[0] == 1
    code, printed = copy.run("run", "--traces", "traces.jsonl", "--quiet", "--report", f"{copy.name}=-")
    assert (code, printed) == (1, "fail no_admin\n")
    assert copy.run("run", "--traces", "traces.jsonl", "--quiet")[0] == 1
    assert len(list((copy.folder / "passmuster-report").iterdir())) == 1
    assert copy.name in copy.run("run", "--help")[1]
    assert f'"{copy.name}"' in copy.schema()
    assert f"| `{copy.name}` |" in copy.table("report formats")


@added("cli")
def test_a_command(copy: Copy) -> None:
    copy.evaluate({"scenarios": [{"id": "S-1", "path": {"max_loops": 1}}]}, {"scenario": "S-1", **calls("a")})
    name = copy.name.replace("_", "-")
    assert copy.run(name) == (0, "S-1\n")
    assert "List the ids of a suite's scenarios." in copy.run("--help")[1]
    assert f"Usage: passmuster {name}" in copy.run(name, "--help")[1]


def test_every_kind_of_file_is_shown() -> None:
    folders = {str(Path(file).parent) for file in SHOWN}
    assert folders == {
        "checks/kinds",
        "checks/rules",
        "checks/layers/path",
        "scoring/metrics",
        "traces/formats",
        "reports/formats",
        "cli",
    }
