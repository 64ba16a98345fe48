"""The command line and the library, as their users meet them: real processes, pipes and terminals."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli._main import command as group
from passmuster.cli.run import command as run_command

SOURCE = Path(passmuster.__file__).parent.parent
EXAMPLE = Path(__file__).parent.parent / "examples" / "support-agent"
GOOD = str(EXAMPLE / "traces" / "good.jsonl")
BROKEN = str(EXAMPLE / "traces" / "broken.jsonl")
ESCAPE = "\x1b["

BLOCKING = "tests: [{id: none, metric: tool_blocklist, blocklist: [bad_*]}]\n"


def call(tool: str) -> str:
    return json.dumps({"type": "tool_call", "tool": tool, "arguments": {}}) + "\n"


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "LC_ALL")}
    return {**kept, "PYTHONPATH": str(SOURCE), "COLUMNS": "80", **changes}


def passmuster_(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: str | None = None,
    python: tuple[str, ...] = (),
    **env: str,
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, *python, "-m", "passmuster", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        env=environment(**env),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def invoke(*arguments: str | Path, cwd: Path | None = None, stdin: str | None = None) -> Ended:
    """The command in this process, where nothing about the process itself is at stake."""
    with contextlib.chdir(cwd or Path.cwd()):
        result = CliRunner().invoke(group, [str(argument) for argument in arguments], input=stdin)
    return Ended(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite and a trace that holds it."""
    (tmp_path / "passmuster.yaml").write_text(BLOCKING)
    (tmp_path / "good.jsonl").write_text(call("fine"))
    (tmp_path / "bad.jsonl").write_text(call("fine") + call("bad_one"))
    return tmp_path


# ── Verdicts and exit codes ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--traces", "good.jsonl"], 0, "PASS: 1 test held on 1 trace."),
        (["--traces", "bad.jsonl"], 1, "FAIL: 1 of 1 test failed on 1 of 1 trace"),
        (["--traces", "*.jsonl"], 1, "FAIL: 1 of 1 test failed on 1 of 2 traces"),
        (["--traces", "."], 1, "FAIL: 1 of 1 test failed on 1 of 2 traces"),
        (["--traces", "good.jsonl", "--traces", "./good.jsonl"], 0, "1 trace"),
        ([], 2, "passmuster.yaml: no traces: give --traces PATH, or list them under 'traces:' in the suite"),
        (["--traces", "none.jsonl"], 2, "none.jsonl: there is no such trace file or folder"),
        (["good.jsonl", "--traces", "bad.jsonl"], 2, "good.jsonl: this is a file of traces, where a suite is"),
        (["--traces", "none*"], 2, "none*: this glob matches no file"),
        (["nowhere", "--traces", "."], 2, "nowhere: there is no such suite file or folder"),
        (["--traces", ".", "--only", "nome"], 2, "--only nome selects no test and no scenario; did you mean 'none'?"),
        (["--traces", ".", "--tag", "x"], 2, "--tag x is on no test and no scenario"),
        (["--traces", ".", "--today", "soon"], 2, "--today: expected a day such as 2026-01-31, found 'soon'"),
        (["--traces", ".", "--report", "json"], 2, "--report: expected FORMAT=PATH, such as json=report.json"),
        (["--traces", ".", "--report", "jsn=x"], 2, "there is no report format 'jsn'"),
        (
            ["--traces", ".", "--report", "pdf=x"],
            2,
            "there is no report format 'pdf'; there are console, ",
        ),
        (["--traces", ".", "--report", "json=no/such/folder/x"], 2, "cannot write this report: there is no folder"),
        (
            ["--traces", ".", "--report", "json=-", "--report", "junit=-"],
            2,
            "only one report can go to standard output",
        ),
        (
            ["--traces", ".", "--report", "json=x", "--report", "junit=x"],
            2,
            "two reports would be written to this file",
        ),
        (["--traces", ".", "--root", "nowhere"], 2, "nowhere: the root is not a folder"),
        (["--traces", ".", "--bogus"], 2, "No such option"),
    ],
)
def test_a_run_gives_its_verdict_by_exit_code(suite: Path, arguments: list[str], code: int, says: str) -> None:
    ended = invoke("run", *arguments, cwd=suite)
    assert ended.returncode == code, ended.stderr
    assert says in (ended.stderr if code == 2 else ended.stdout)
    assert "Traceback" not in ended.stderr
    if code == 2:
        assert ended.stdout == ""
        assert not list(suite.glob("x"))


def test_a_warning_passes_and_strict_fails_it(suite: Path) -> None:
    (suite / "passmuster.yaml").write_text(BLOCKING.replace("none,", "none, severity: warn,"))
    assert invoke("run", "--traces", "bad.jsonl", cwd=suite).returncode == 0
    assert invoke("run", "--traces", "bad.jsonl", "--strict", cwd=suite).returncode == 1


def test_bad_lines_stop_a_run_unless_they_are_to_be_skipped(suite: Path) -> None:
    (suite / "mixed.jsonl").write_text('{"steps": []}\n{"steps": [\n')
    stopped = invoke("run", "--traces", "mixed.jsonl", cwd=suite)
    assert stopped.returncode == 2
    assert "mixed.jsonl:2: " in stopped.stderr
    skipped = invoke("run", "--traces", "mixed.jsonl", "--skip-bad-lines", cwd=suite)
    assert skipped.returncode == 0
    assert "1 line could not be read" in skipped.stdout


def test_no_plugins_refuses_a_suite_that_names_them(suite: Path) -> None:
    (suite / "cli_plugin.py").write_text("print('imported')\n")
    (suite / "passmuster.yaml").write_text(f"plugins: [cli_plugin]\n{BLOCKING}")
    ended = invoke("run", "--traces", "good.jsonl", "--no-plugins", cwd=suite)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "passmuster.yaml:1:11: plugins: 'cli_plugin' is refused" in ended.stderr


@pytest.mark.parametrize(
    ("folders", "code"),
    [(["good"], 0), (["good", "bad"], 1), (["bad", "good"], 1), (["good", "bad", "wrong"], 2), (["wrong", "good"], 2)],
)
def test_several_suites_give_several_verdicts_and_the_worst_exit_code(
    tmp_path: Path, folders: list[str], code: int
) -> None:
    for name, text in (("good", BLOCKING), ("bad", BLOCKING.replace("bad_", "fi")), ("wrong", "tets: []\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "passmuster.yaml").write_text(text)
    (tmp_path / "t.jsonl").write_text(call("fine"))
    ended = invoke("run", *folders, "--traces", "t.jsonl", cwd=tmp_path)
    assert ended.returncode == code
    for folder in folders:
        shown = {"good": "PASS: 1 test", "bad": "FAIL: 1 of 1 test", "wrong": "did you mean 'tests'?"}[folder]
        assert shown in ended.stdout + ended.stderr


def test_one_report_file_cannot_hold_several_suites(suite: Path) -> None:
    ended = invoke("run", ".", ".", "--traces", "good.jsonl", "--report", "json=x.json", cwd=suite)
    assert ended.returncode == 2
    assert ended.stderr.count("--report names one file but there are several suites") == 1


def test_a_suite_is_found_upwards_from_here(suite: Path) -> None:
    (suite / "a" / "b").mkdir(parents=True)
    assert invoke("run", "--traces", "../../good.jsonl", cwd=suite / "a" / "b").returncode == 0


@pytest.mark.parametrize("arguments", [["--only", "tool_arguments"], ["--only", "tool_*"], ["--tag", "identity"]])
def test_a_part_of_a_suite_gives_a_partial_run(arguments: list[str]) -> None:
    ended = invoke("run", EXAMPLE, *arguments, "--report", "json=-", "--quiet")
    report = json.loads(ended.stdout)
    assert (ended.returncode, report["partial"], report["exit_code"]) == (0, True, 0)
    assert len(report["tests"]) < 8
    assert "partial run" in invoke("run", EXAMPLE, *arguments).stdout
    assert json.loads(invoke("run", EXAMPLE, "--report", "json=-", "--quiet").stdout)["partial"] is False


# ── Where reports and traces go ─────────────────────────────────────────────────────────────────────────────


def test_traces_come_from_standard_input(suite: Path) -> None:
    ended = invoke("run", "--traces", "-", cwd=suite, stdin=call("fine") + call("bad_one"))
    assert ended.returncode == 1
    assert "<stdin>:2" in ended.stdout


def test_a_report_on_standard_output_sends_the_console_to_standard_error() -> None:
    parsers: list[tuple[str, Callable[[str], object]]] = [
        ("json", json.loads),
        ("sarif", json.loads),
        ("junit", lambda text: ElementTree.fromstring(text.encode())),
    ]
    for form, parse in parsers:
        ended = invoke("run", EXAMPLE, "--traces", BROKEN, "--report", f"{form}=-")
        assert parse(ended.stdout) is not None
        assert "FAIL: 5 of 8 tests failed" in ended.stderr


def test_the_console_report_may_be_asked_for_by_name(suite: Path) -> None:
    plain = invoke("run", "--traces", "bad.jsonl", cwd=suite).stdout
    for arguments in (["console=-"], ["console=-", "--quiet"]):
        named = invoke("run", "--traces", "bad.jsonl", "--report", *arguments, cwd=suite)
        assert (named.stdout, named.stderr) == (plain, "")
    invoke("run", "--traces", "bad.jsonl", "--report", "console=out.txt", "--quiet", cwd=suite)
    assert (suite / "out.txt").read_text(encoding="utf-8") == plain


def test_quiet_prints_nothing_but_errors(suite: Path) -> None:
    ended = invoke("run", "--traces", "bad.jsonl", "--quiet", cwd=suite)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")
    assert invoke("run", "--traces", "nowhere", "--quiet", cwd=suite).stderr


def test_output_in_the_suite_is_written_beside_it_and_replaced_by_report(suite: Path) -> None:
    (suite / "passmuster.yaml").write_text(
        f"{BLOCKING}output: {{format: [json, junit, sarif, console], dir: out/here}}\n"
    )
    elsewhere = suite / "elsewhere"
    elsewhere.mkdir()
    invoke("run", "..", "--traces", "../good.jsonl", cwd=elsewhere)
    written = sorted(path.name for path in (suite / "out" / "here").iterdir())
    assert written == ["junit.xml", "report.json", "report.sarif"]
    for path in (suite / "out" / "here").iterdir():
        path.unlink()
    invoke("run", "..", "--traces", "../good.jsonl", "--report", "json=own.json", cwd=elsewhere)
    assert not list((suite / "out" / "here").iterdir())
    assert (elsewhere / "own.json").exists()


def test_two_processes_that_write_the_same_report_leave_one_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    arguments = [sys.executable, "-m", "passmuster", "run", str(EXAMPLE), "--quiet", "--report", f"json={target}"]
    running = [
        subprocess.Popen([*arguments, "--traces", traces], env=environment()) for traces in (GOOD, BROKEN, GOOD, BROKEN)
    ]
    assert [process.wait(60) for process in running] == [0, 1, 0, 1]
    assert json.loads(target.read_bytes())["schema"] == "passmuster.report/1"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(("traces", "code"), [(GOOD, 0), (BROKEN, 1)])
@pytest.mark.parametrize("report", [[], ["--report", "json=-"]])
def test_a_reader_that_leaves_early_changes_no_verdict(traces: str, code: int, report: list[str]) -> None:
    arguments = [sys.executable, "-m", "passmuster", "run", str(EXAMPLE), "--traces", traces, *report]
    process = subprocess.Popen(arguments, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    process.stdout.close()  # before anything is printed
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == code
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


# ── Terminals, colours and encodings ────────────────────────────────────────────────────────────────────────


def in_terminal(*arguments: str, columns: int = 80, **env: str) -> str:
    """What the command prints on a terminal of so many columns."""
    pty, termios, fcntl = (pytest.importorskip(name) for name in ("pty", "termios", "fcntl"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, (24).to_bytes(2, "little") + columns.to_bytes(2, "little") + bytes(4))
    variables = {name: value for name, value in environment(TERM="xterm-256color", **env).items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "passmuster", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables
    )
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    process.wait(60)
    return printed.decode().replace("\r\n", "\n")


def test_a_terminal_of_80_columns_shows_colour_and_loses_no_text() -> None:
    plain = invoke("run", EXAMPLE, "--traces", BROKEN, "-vv").stdout
    shown = in_terminal("run", str(EXAMPLE), "--traces", BROKEN, "-vv")
    assert f"{ESCAPE}1;31m❌ FAIL: args_valid (tool_arguments)" in shown
    without_colour = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert without_colour.split() == plain.split()
    assert max(map(len, plain.splitlines())) > 80
    assert [line for line in without_colour.splitlines() if len(line) > 80 and len(line.split()) > 1] == []


def test_a_pipe_is_as_wide_as_columns_says() -> None:
    plain = passmuster_("run", EXAMPLE, "--traces", BROKEN, "-vv")
    narrow = passmuster_("run", EXAMPLE, "--traces", BROKEN, "-vv", COLUMNS="72")
    assert narrow.stdout.split() == plain.stdout.split()
    assert [line for line in narrow.stdout.splitlines() if len(line) > 72 and len(line.split()) > 1] == []


@pytest.mark.parametrize("value", ["1", "yes"])
def test_no_color_is_heeded_on_a_terminal(value: str) -> None:
    assert in_terminal("run", str(EXAMPLE), NO_COLOR=value) == invoke("run", EXAMPLE).stdout


def test_what_is_piped_has_no_escape_codes() -> None:
    ended = passmuster_("run", EXAMPLE, "--traces", BROKEN, TERM="xterm-256color")
    assert ESCAPE not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LANG": "C"},
    ],
)
def test_encodings_without_marks_work(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "passmuster.yaml").write_text(f"suite: Prüfung\n{BLOCKING}", encoding="utf-8")
    (tmp_path / "t.jsonl").write_text(call("bad_→"), encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(f"prüfung: 1\n{BLOCKING}", encoding="utf-8")
    arguments = [sys.executable, "-m", "passmuster", "run"]
    wrong = subprocess.run([*arguments, "wrong.yaml"], cwd=tmp_path, env=environment(**env), capture_output=True)
    assert (wrong.returncode, b"Traceback" in wrong.stderr) == (2, False)
    shown = subprocess.run(
        [*arguments, "--traces", "t.jsonl"], cwd=tmp_path, env=environment(**env), capture_output=True
    )
    assert (shown.returncode, shown.stderr) == (1, b"")
    assert b"FAIL: tool_blocklist (none)" in shown.stdout


# ── Starting, helping, warning ──────────────────────────────────────────────────────────────────────────────


def imported(*arguments: str) -> set[str]:
    ended = passmuster_(*arguments, python=("-X", "importtime"))
    return {line.rsplit("|", 1)[1].strip() for line in ended.stderr.splitlines() if "|" in line}


def test_the_version_is_told_without_importing_anything_heavy() -> None:
    assert passmuster_("--version").stdout == f"passmuster {passmuster.__version__}\n"
    assert passmuster_("-V").stdout == f"passmuster {passmuster.__version__}\n"
    heavy = {"click", "yaml", "msgspec", "rich", "regex", "jsonschema_rs", "rapidfuzz", "asyncio", "argparse"}
    assert not heavy & imported("--version")


def test_a_run_imports_no_more_than_its_suite_needs() -> None:
    large = {"rich", "regex", "rapidfuzz", "sqlite3", "multiprocessing", "asyncio", "numpy"}
    large |= {"argparse", "click", "inspect", "shutil", "threading"}
    assert not large & imported("run", str(EXAMPLE))


def test_without_arguments_the_command_helps_and_is_no_success() -> None:
    ended = passmuster_()
    assert ended.returncode == 2
    assert "Usage: passmuster" in ended.stdout + ended.stderr
    assert "run Evaluate an agent's traces by a suite" in " ".join((ended.stdout + ended.stderr).split())


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_option_and_says_what_it_does(flag: str) -> None:
    assert "Decide whether an AI agent may ship." in invoke(flag).stdout
    shown = invoke("run", flag).stdout
    for option in run_command.options:
        assert option.names[0] in shown
        assert option.help_text
    for code in ("0 the gate passed", "1 it failed", "3 it could not be decided"):
        assert code in " ".join(shown.split())
    assert shown.isascii()


def test_an_unknown_command_is_refused() -> None:
    ended = invoke("runn")
    assert ended.returncode == 2
    assert "No such command 'runn'" in ended.stderr
    assert {"run", "baseline", "history", "compare"} <= set(group.commands)


def test_nothing_warns(tmp_path: Path) -> None:
    (tmp_path / "quiet_plugin.py").write_text(
        "import passmuster as p\n\n\n@p.metric('m')\ndef m(trace, config):\n    return p.MetricResult(score=0.5)\n"
    )
    (tmp_path / "passmuster.yaml").write_text(
        "plugins: [quiet_plugin]\nredact: {patterns: ['[[a]x', 'b--']}\ntests:\n- {id: m, metric: m}\n"
        "- {id: r, metric: sequence_valid, rules: [{type: require, tool: {tool: '*', args: {a: {$regex: '[[b]'}}}}]}\n"
    )
    (tmp_path / "t.jsonl").write_text(json.dumps({"type": "tool_call", "tool": "t", "arguments": {"a": "["}}) + "\n")
    ended = passmuster_(
        *(
            "run",
            "--traces",
            "t.jsonl",
            "--report",
            "json=a.json",
            "--report",
            "junit=a.xml",
            "--report",
            "sarif=a.sarif",
        ),
        cwd=tmp_path,
        python=("-W", "error"),
    )
    assert (ended.returncode, ended.stderr) == (0, "")


# ── The library ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_library_gives_the_verdict_of_the_command() -> None:
    suite = passmuster.load_suite(EXAMPLE / "passmuster.yaml")
    for traces, verdict in ((GOOD, "pass"), (BROKEN, "fail")):
        report = passmuster.evaluate(suite, passmuster.read_traces(traces))
        assert report.verdict == verdict
        printed = json.loads(invoke("run", EXAMPLE, "--traces", traces, "--report", "json=-").stdout)
        assert [(test.id, test.status, test.violation_count) for test in report.tests] == [
            (test["id"], test["status"], test["violation_count"]) for test in printed["tests"]
        ]


def test_the_library_reads_a_folder_and_is_strict_on_request(suite: Path) -> None:
    loaded = passmuster.load_suite(str(suite))
    report = passmuster.evaluate(loaded, passmuster.read_traces(str(suite)))
    assert (report.verdict, report.exit_code, report.traces.read) == ("fail", 1, 2)
    (suite / "passmuster.yaml").write_text(BLOCKING.replace("none,", "none, severity: warn,"))
    lenient, traces = passmuster.load_suite(suite), list(passmuster.read_traces(suite / "bad.jsonl"))
    assert passmuster.evaluate(lenient, traces).verdict == "warn"
    assert passmuster.evaluate(lenient, traces, strict=True).verdict == "fail"


def test_nothing_to_judge_is_an_error_in_the_library_too(suite: Path) -> None:
    with pytest.raises(passmuster.TraceError, match="no trace found"):
        passmuster.evaluate(passmuster.load_suite(suite), [])


def test_the_library_hides_secrets_unless_asked_for_the_raw_report(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 12
    suite = {"tests": [{"id": "a", "metric": "args_valid", "tool": "pay", "constraints": {"note": {"maxLength": 3}}}]}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    trace = {"steps": [{"type": "tool_call", "tool": "pay", "arguments": {"note": f"use {secret}"}}]}
    (tmp_path / "t.jsonl").write_text(json.dumps(trace))
    loaded, traces = passmuster.load_suite(tmp_path), list(passmuster.read_traces(tmp_path / "t.jsonl"))
    assert secret not in repr(passmuster.evaluate(loaded, traces))
    assert secret in repr(passmuster.evaluate(loaded, traces, redact=False))


def test_all_that_is_exported_is_there() -> None:
    assert set(dir(passmuster)) >= set(passmuster.__all__)
    for name in passmuster.__all__:
        assert getattr(passmuster, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        passmuster.evalute  # type: ignore[attr-defined]  # noqa: B018
