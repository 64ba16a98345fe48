"""In GitHub Actions: the job summary, annotations, no command from a trace, and the steps of `action.yml`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli_runner import CliRunner
from tests.reports.report_factory import line, report, test_report, too_much

from passmuster.cli._main import command
from passmuster.reports import FORMATS, annotation_lines

REPOSITORY = Path(__file__).parent.parent
EXAMPLE = REPOSITORY / "examples" / "support-agent"
BROKEN = EXAMPLE / "traces" / "broken.jsonl"
HOSTILE = "::error file=x.py,line=1::pwned"
COMMAND = re.compile(r"\s*::")
OWN = re.compile(r"::error (file=[^,:]+,(line=\d+,)?)?title=passmuster%3A [^,:]+::")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The job summary of a job of GitHub Actions."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(REPOSITORY))
    return summary


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(command, ["run", "--no-history", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def commands(text: str) -> list[str]:
    return [found for found in text.splitlines() if COMMAND.match(found)]


# ── The summary and the annotations ─────────────────────────────────────────────────────────────────────────


def test_a_job_gets_a_summary_and_annotations_by_itself(job: Path) -> None:
    job.write_text("before\n", encoding="utf-8")
    code, printed, told = run(EXAMPLE, "--traces", BROKEN)
    assert code == 1
    assert commands(printed) == []
    assert len(commands(told)) == 6
    assert commands(told)[1] == (
        "::error file=examples/support-agent/passmuster.yaml,line=88,title=passmuster%3A no_privileged_tools::"
        "test no_privileged_tools on 1 of 6 traces: admin_reset_password: Blocked tool called; policy "
        "examples/support-agent/passmuster.yaml:88; examples/support-agent/traces/broken.jsonl:6. "
        "Take admin_reset_password out of the agent's tools, or 'admin_*' out of the blocklist."
    )
    summary = job.read_text(encoding="utf-8")
    assert summary.startswith("before\n<!-- passmuster:")
    assert "## ❌ Failed: `support-agent`" in summary


def test_elsewhere_nothing_is_added(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "")
    _, printed, told = run(EXAMPLE, "--traces", BROKEN)
    assert commands(printed + told) == []
    assert not job.exists()


def test_a_run_that_passed_has_a_summary_and_no_annotation(job: Path) -> None:
    code, _, told = run(EXAMPLE, "--quiet")
    assert (code, commands(told)) == (0, [])
    assert "## ✅ Passed: `support-agent`" in job.read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_written_changes_no_verdict(job: Path) -> None:
    job.mkdir()
    code, _, told = run(EXAMPLE, "--quiet")
    assert code == 0
    assert "note: the job summary was not written: Is a directory" in told


def test_mistakes_in_the_input_are_annotated(job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    tests = "".join(f"  - {{ id: t{n}, metric: arg_valid }}\n" for n in range(12))
    (tmp_path / "passmuster.yaml").write_text(f"suite: s\ntests:\n{tests}", encoding="utf-8")
    code, _, told = run(tmp_path, "--root", tmp_path, "--traces", BROKEN)
    assert (code, len(commands(told))) == (2, 10)
    assert commands(told)[0] == (
        "::error file=passmuster.yaml,line=3,title=passmuster%3A nothing was evaluated::"
        "passmuster.yaml:3:23: tests.t0: unknown metric 'arg_valid'; did you mean 'args_valid'?"
    )
    assert commands(told)[-1] == "::error title=passmuster::3 more problems are in the log of the job"
    assert job.read_text(encoding="utf-8").startswith("## ❌ Nothing was evaluated\n")


def test_missing_traces_are_annotated_without_a_file(job: Path) -> None:
    code, _, told = run(EXAMPLE, "--traces", HOSTILE)
    assert code == 2
    (found,) = commands(told)
    assert found.startswith("::error title=passmuster%3A nothing was evaluated::: :error file=x.py,line=1::pwned: ")


def test_several_suites_share_ten_annotations(job: Path) -> None:
    code, _, told = run(EXAMPLE, EXAMPLE, EXAMPLE, "--quiet", "--traces", BROKEN)
    assert code == 1
    assert len(commands(told)) == 10
    assert job.read_text(encoding="utf-8").count("## ❌ Failed") == 3


def test_of_many_reasons_the_worst_are_annotated_and_the_rest_counted() -> None:
    many = report(gate=[line("threshold", f"m{n}", message="low") for n in range(40)])
    lines = annotation_lines(many, "/srv/shop")
    assert len(lines) == 10
    assert lines[-1] == "::error title=passmuster::31 more reasons are in the job summary and in the reports"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("100 % a%0Ab", "100 %25 a%250Ab"),
        ("a\nb\r\nc", "a\\nb\\r\\nc"),
        (HOSTILE, ": :error file=x.py,line=1::pwned"),
        ("##[error]x", "# #[error]x"),
    ],
)
def test_what_could_end_a_command_is_escaped(text: str, escaped: str) -> None:
    made = report(gate=[line("threshold", text, message=text, file="a,b:c.yaml", line=2)], root="/srv/shop")
    (found,) = annotation_lines(made, "/srv/shop")
    head, _, message = found.removeprefix("::").partition("::")
    assert message == f"threshold {escaped}: {escaped} (a,b:c.yaml:2)"
    assert head.startswith("error file=a%2Cb%3Ac.yaml,line=2,title=passmuster%3A ")
    assert "," not in head.partition("title=")[2]


@pytest.mark.parametrize(
    ("root", "workspace", "file"),
    [
        ("/srv/shop", "/srv/shop", "file=policies/customer.yaml,line=12,"),
        ("/srv/shop", "/srv", "file=shop/policies/customer.yaml,line=12,"),
        ("/opt/elsewhere", "/srv", ""),
    ],
)
def test_files_are_named_as_the_repository_has_them(root: str, workspace: str, file: str) -> None:
    (found,) = annotation_lines(report(test_report(too_much()), root=root), workspace)
    assert found.startswith(f"::error {file}title=")


# ── No text of a trace is a command ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("columns", ["", "40", "80"])
@pytest.mark.parametrize("format_", FORMATS)
def test_no_report_lets_a_trace_command_the_job(
    format_: str, columns: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    words = f"{'word ' * 7}{HOSTILE} ##[error]x ##vso[task] {'w' * 37} ::add-mask::x x::error::y\n{HOSTILE}"
    (tmp_path / "passmuster.yaml").write_text(
        "tests: [{id: none, metric: tool_blocklist, blocklist: ['*']}]\n"
        "scenarios: [{id: A, correctness: {expected_in_answer: ok}}, {id: B, correctness: {expected_in_answer: ok}}]\n",
        encoding="utf-8",
    )
    traces = [
        {"trace_id": words, "scenario": id_, "answer": words, "error": error, "steps": [_call(words)]}
        for id_, error in (("A", None), ("B", words), (words, None))
    ]
    (tmp_path / "traces.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in traces), encoding="utf-8")
    code, printed, told = run(tmp_path, "--traces", tmp_path / "traces.jsonl", "--report", f"{format_}=-", "-vv")
    assert code == 1
    assert commands(printed) == []
    assert all(OWN.match(found) for found in commands(told))
    for text in (printed, told):
        assert "##[" not in text
        assert "##vso" not in text


def _call(text: str) -> dict[str, Any]:
    return {"type": "tool_call", "tool": text.replace("\n", " "), "arguments": {text: text}}


# ── The action ──────────────────────────────────────────────────────────────────────────────────────────────

ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


class GitHub(BaseHTTPRequestHandler):
    """GitHub's interface for comments."""

    comments: dict[int, str]
    refuses: set[str]

    def _answer(self, status: int, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _handle(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size))["body"] if size else ""
        if self.command in self.refuses or self.headers["Authorization"] != "Bearer t0ken":
            self._answer(403, {})
        elif self.command == "GET" and self.path.startswith("/repos/o/r/issues/7/comments?per_page=100&page=1"):
            self._answer(200, [{"id": key, "body": text} for key, text in self.comments.items()])
        elif self.command == "POST" and self.path == "/repos/o/r/issues/7/comments":
            self.comments[len(self.comments) + 1] = body
            self._answer(201, {})
        elif self.command == "PATCH" and (found := re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", self.path)):
            self.comments[int(found[1])] = body
            self._answer(200, {})
        else:
            self._answer(404, {})

    do_GET = do_POST = do_PATCH = _handle

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Job:
    """A job that uses the action: its steps as scripts, in order."""

    def __init__(self, folder: Path, address: str, server: type[GitHub]) -> None:
        self.folder, self.address, self.server = folder, address, server
        self.log = ""

    def run(self, **inputs: str) -> int:
        """Run the scripts as the runner does; the exit code of the last one."""
        given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        outputs: dict[str, str] = {}
        for name in ("Run", "Comment", "Gate"):
            code = self._step(STEPS[name], given, outputs)
            if code and name != "Comment":
                return code
        return 0

    def _step(self, step: dict[str, Any], inputs: dict[str, str], outputs: dict[str, str]) -> int:
        values = {
            **{f"inputs.{name}": value for name, value in inputs.items()},
            **{f"steps.run.outputs.{name}": value for name, value in outputs.items()},
            "github.event.pull_request.number": "7",
            "github.token": "t0ken",
        }

        def resolved(text: str) -> str:
            return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: resolved(values[found[1]]), text)

        output = self.folder / "output"
        output.write_text("", encoding="utf-8")
        script = self.folder / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(REPOSITORY),
            "GITHUB_API_URL": self.address,
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_WORKSPACE": str(self.folder),
            **{name: resolved(str(value)) for name, value in step.get("env", {}).items()},
        }
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.log += ended.stdout + ended.stderr
        outputs |= dict(row.split("=", 1) for row in output.read_text(encoding="utf-8").splitlines())
        return ended.returncode


@pytest.fixture
def action(tmp_path: Path) -> Iterator[Job]:
    handler = type("Handler", (GitHub,), {"comments": {}, "refuses": set()})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "passmuster.yaml").write_text(
        "tests: [{id: none, metric: tool_blocklist, blocklist: [refund]}]\n", encoding="utf-8"
    )
    for name, tool in (("good", "search"), ("bad", "refund"), ("a $(touch pwned) b", "search")):
        trace = {"trace_id": name, "steps": [{"type": "tool_call", "tool": tool}]}
        (folder / f"{name}.jsonl").write_text(f"{json.dumps(trace)}\n", encoding="utf-8")
    yield Job(folder, f"http://127.0.0.1:{server.server_port}", handler)
    server.shutdown()
    server.server_close()


def test_the_action_gates_and_keeps_one_comment_up_to_date(action: Job) -> None:
    assert action.run(suite=".", traces="good.jsonl\nbad.jsonl\n") == 1
    assert {path.name for path in (action.folder / "passmuster-report").iterdir()} == {
        *("report.json", "report.md", "junit.xml", "report.sarif")
    }
    assert list(action.server.comments) == [1]
    assert "## ❌ Failed" in action.server.comments[1]
    assert "::error file=passmuster.yaml,line=1" in action.log
    assert "## ❌ Failed" in (action.folder / "summary.md").read_text(encoding="utf-8")
    assert action.run(suite=".", traces="good.jsonl", args="--strict\n--only none") == 0
    assert list(action.server.comments) == [1]
    assert "## ✅ Passed" in action.server.comments[1]
    assert "(partial run)" in action.server.comments[1]
    assert action.run(suite="other", traces="good.jsonl") == 2
    assert len(action.server.comments) == 2
    assert "Nothing was evaluated" in action.server.comments[2]
    assert action.run(suite=".", traces="no-such.jsonl") == 2
    assert "Nothing was evaluated" in action.server.comments[1]


def test_the_action_runs_nothing_that_its_inputs_hold(action: Job) -> None:
    assert action.run(traces="a $(touch pwned) b.jsonl", args="--agent-version $(touch${IFS}pwned) ; touch pwned") == 2
    assert action.run(traces="a $(touch pwned) b.jsonl", args="--agent-version $(touch${IFS}pwned)") == 0
    assert not (action.folder / "pwned").exists()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_token_that_may_not_comment_changes_no_verdict(method: str, action: Job) -> None:
    action.server.refuses.add(method)
    assert action.run(traces="good.jsonl") == 0
    assert "No comment was made: GitHub answered 403" in action.log


def test_a_comment_of_somebody_else_is_left_alone(action: Job) -> None:
    assert action.run(traces="good.jsonl") == 0
    action.server.refuses.add("PATCH")
    assert action.run(traces="bad.jsonl") == 1
    assert [("Passed" in body, "Failed" in body) for body in action.server.comments.values()] == [
        (True, False),
        (False, True),
    ]


def test_every_script_of_the_action_is_valid_and_takes_no_input_as_text() -> None:
    for step in STEPS.values():
        if "run" in step:
            assert "${{" not in step["run"]
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)


def test_every_option_that_the_action_gives_exists() -> None:
    given = set(re.findall(r"(?<![\w-])--[a-z-]+", STEPS["Run"]["run"]))
    assert given <= {name for option in command.commands["run"].options for name in option.names}


def test_every_input_is_on_the_page() -> None:
    page = (REPOSITORY / "docs" / "github.md").read_text(encoding="utf-8")
    for name, one in ACTION["inputs"].items():
        default = f"`{one['default']}`" if one["default"] else ""
        row = f"| `{name}` | {default} | {one['description']} |".replace("|  |", "| |")
        assert row in page
