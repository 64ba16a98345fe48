"""One report, whoever counted: any split of the input, any number of processes, in any order."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passmuster.engine._execution import ONE_PROCESS
from passmuster.engine._load_suite import load_suite
from passmuster.engine._parts import Part, _quota, available_cpus, cut, worker_count
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine._run import evaluate_sources
from passmuster.engine.executors._messages import EvaluatePart, send, setup_of
from passmuster.engine.executors.inline import execute
from passmuster.reports.formats.json import write
from passmuster.scoring._report import Report
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import merge
from passmuster.scoring._verdict import conclude
from passmuster.suite._model import Suite
from passmuster.traces._locate import lines_of
from passmuster.traces._sources import Source

SETTINGS = Settings(today=datetime.date(2026, 1, 1))
SUITE = {
    "suite": "split",
    "scenarios": [{"id": "S-1", "tags": ["x"]}, {"id": "S-2"}],
    "tests": [
        {"id": "args", "metric": "args_valid", "tool": "pay", "constraints": {"amount": {"max": 5}}},
        {
            "id": "order",
            "metric": "sequence_valid",
            "rules": [{"type": "before", "first": "ask", "then": "pay"}, {"type": "require", "tool": "ask"}],
        },
        {"id": "tagged", "metric": "tool_blocklist", "tags": ["x"], "blocklist": ["drop_*"]},
    ],
}


def suite_in(folder: Path, suite: dict[str, Any] = SUITE) -> Suite:
    path = folder / "passmuster.json"
    path.write_text(json.dumps(suite))
    return load_suite(path, root=folder)


def text(report: Report) -> bytes:
    """The report as it is written, durations aside."""
    value = json.loads(write(report))

    def timeless(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: timeless(inner) for key, inner in part.items() if not key.startswith("duration")}
        return [timeless(inner) for inner in part] if isinstance(part, list) else part

    return json.dumps(timeless(value)).encode()


CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.just("tool_call"),
            "tool": st.sampled_from(["ask", "pay", "drop_table", "other"]),
            "arguments": st.fixed_dictionaries({"amount": st.integers(0, 9), "note": st.text(max_size=30)}),
        }
    ),
    max_size=4,
)
TRACES = st.lists(
    st.fixed_dictionaries({"scenario": st.sampled_from(["S-1", "S-2", "nobody", None]), "steps": CALLS}),
    min_size=1,
    max_size=12,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TRACES, st.integers(1, 400), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans(), st.booleans(), st.randoms())
def test_no_split_changes_the_report(
    tmp_path: Path, traces: list[Any], part_bytes: int, ending: str, last: bool, ascii_only: bool, chance: Any
) -> None:
    """Ranges shorter than a line, lines cut anywhere, tallies merged in any order."""
    suite = suite_in(tmp_path)
    lines = [json.dumps(trace, ensure_ascii=ascii_only) for trace in traces]
    path = tmp_path / "t.jsonl"
    path.write_bytes((ending.join(lines) + (ending if last else "")).encode())
    source = Source(str(path), "t.jsonl")
    whole = evaluate_sources(suite, [source], SETTINGS)
    parts = cut([source], 2, part_bytes)
    assert len(parts) > 1 or path.stat().st_size <= part_bytes
    tallies = [execute(Job(suite, SETTINGS), [part], ONE_PROCESS, Progress()) for part in parts]
    chance.shuffle(tallies)
    together = merge(tallies)
    report = conclude(suite, together, SETTINGS, lines_of(together.spots(), together.part_lines()))
    assert text(report) == text(whole)
    for test in report.tests:
        for violation in test.violations:
            assert violation.trace_line is not None


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite and files large enough to be cut, every seventh trace broken."""
    folder = tmp_path_factory.mktemp("corpus")
    suite_in(folder, {**SUITE, "scenarios": [], "tests": SUITE["tests"][:2]})
    for name, number in (("a.jsonl", 900), ("b.jsonl", 1100)):
        with (folder / name).open("w") as file:
            for place in range(number):
                steps = [
                    {
                        "type": "tool_call",
                        "tool": tool,
                        "arguments": {"amount": 9 if place % 7 == 0 else 1, "pad": "x" * 5000},
                    }
                    for tool in ("ask", "pay")
                ]
                file.write(json.dumps({"trace_id": f"{name}-{place}", "steps": steps}) + "\n")
    return folder


def run(folder: Path, *options: str) -> tuple[int, dict[str, Any] | None, str]:
    report = folder / f"report-{os.getpid()}.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "passmuster", "run", str(folder / "passmuster.json"), "--root", str(folder)]
    done = subprocess.run(
        [*command, "--quiet", "--report", f"json={report}", *options], capture_output=True, text=True, timeout=120
    )
    value = json.loads(report.read_text()) if report.exists() else None
    return done.returncode, value, done.stderr


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if not key.startswith("duration")}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def test_any_number_of_processes_gives_the_same_report(corpus: Path) -> None:
    both = ["--traces", str(corpus / "a.jsonl"), "--traces", str(corpus / "b.jsonl")]
    swapped = ["--traces", str(corpus / "b.jsonl"), "--traces", str(corpus / "a.jsonl")]
    code, alone, _ = run(corpus, *both, "--workers", "1")
    assert code == 1
    assert alone is not None
    assert alone["traces"]["read"] == 2000
    assert alone["tests"][0]["violation_count"] == 129 + 158
    assert alone["tests"][0]["violations"][1]["trace_line"] == 8
    for options in ([*both, "--workers", "2"], [*swapped, "--workers", "3"], [*both, "--workers", "auto"]):
        code, several, errors = run(corpus, *options)
        assert (code, errors) == (1, "")
        assert timeless(several) == timeless(alone)


def test_the_first_bad_line_is_told_whoever_met_it(corpus: Path, tmp_path: Path) -> None:
    """Two bad lines far apart: the message is that of a single process."""
    lines = (corpus / "b.jsonl").read_bytes().splitlines(keepends=True)
    lines[200] = b'{"steps": [\n'
    lines[1000] = b"nonsense\n"
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines))
    (tmp_path / "passmuster.json").write_bytes((corpus / "passmuster.json").read_bytes())
    told = [run(tmp_path, "--traces", str(tmp_path / "b.jsonl"), "--workers", n) for n in ("1", "2", "4")]
    assert [(code, value) for code, value, _ in told] == [(2, None)] * 3
    assert {errors for _, _, errors in told} == {told[0][2]}
    assert "b.jsonl:201: is cut off" in told[0][2]
    skipped = [run(tmp_path, "--traces", str(tmp_path / "b.jsonl"), "--skip-bad-lines", "--workers", n) for n in "12"]
    assert skipped[0][1] is not None
    assert skipped[0][1]["traces"]["bad_lines"] == 2
    assert timeless(skipped[0][1]) == timeless(skipped[1][1])


SLOW = """
import time
import passmuster

@passmuster.metric("slow")
def slow(trace, config):
    time.sleep(0.05)
    return passmuster.MetricResult()
"""


@pytest.fixture
def slow_run(corpus: Path, tmp_path: Path) -> Any:
    """A run of two workers that would take a minute, in a session of its own."""
    (tmp_path / "slow_metric.py").write_text(SLOW)
    suite = {"suite": "slow", "plugins": ["slow_metric"], "tests": [{"id": "slow", "metric": "slow"}]}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    command = [sys.executable, "-m", "passmuster", "run", str(tmp_path), "--traces", str(corpus / "*.jsonl")]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--quiet", "--report", f"json={tmp_path / 'report.json'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process, tmp_path
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def wait_for_children(process: subprocess.Popen[str]) -> list[int]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = children(process.pid)
        if len(found) == 2:
            time.sleep(1.0)  # so that both are at work
            return found
        time.sleep(0.05)
    raise AssertionError("the workers did not start")


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in ("__pycache__",))


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_worker_is_an_error_that_names_its_part(slow_run: Any) -> None:
    process, folder = slow_run
    first, second = wait_for_children(process)
    os.kill(first, signal.SIGKILL)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 3
    assert "a worker process was killed (signal 9; out of memory?) while it evaluated" in errors
    assert ".jsonl" in errors
    assert not Path(f"/proc/{second}").exists()
    assert left_behind(folder) == ["passmuster.json", "slow_metric.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("tell", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["Ctrl-C, as a terminal sends it", "an interrupt to the parent alone", "a request to end"],
)
def test_an_interrupt_ends_all_of_them_at_once(
    slow_run: Any, tell: Callable[[int, int], None], number: signal.Signals
) -> None:
    process, folder = slow_run
    workers = wait_for_children(process)
    started = time.monotonic()
    tell(process.pid, number)
    _, errors = process.communicate(timeout=20)
    assert time.monotonic() - started < 5
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert left_behind(folder) == ["passmuster.json", "slow_metric.py"]


def test_what_a_plugin_prints_does_not_disturb_the_workers(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import passmuster\n@passmuster.metric('loud')\ndef loud(trace, config):\n"
        "    print('hello')\n    return passmuster.MetricResult(score=0.1)\n"
    )
    suite = {"suite": "loud", "plugins": ["loud"], "tests": [{"id": "loud", "metric": "loud"}]}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    code, value, errors = run(tmp_path, "--traces", str(corpus / "a.jsonl"), "--workers", "2")
    assert (code, errors.count("hello")) == (0, 900)
    assert value is not None
    loud = value["metrics"]["loud"]
    assert (loud["value"], loud["n"]) == (0.1, 900)
    assert loud["ci95"][0] < 0.1 < loud["ci95"][1]


ODD = """
import subprocess, sys
import passmuster

@passmuster.metric("odd")
def odd(trace, config):
    print("said")
    read = subprocess.run([sys.executable, "-c", "print(len(input()))"], capture_output=True, text=True)
    return passmuster.MetricResult(stats={"half \\ud83d": 1, "read": len(read.stdout)}, violations=["half \\ud83d"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="closes a stream in a shell")
def test_neither_streams_nor_text_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    """A plugin that prints, whose child reads, and which says what UTF-8 cannot; with standard error closed."""
    (tmp_path / "odd.py").write_text(ODD)
    tests = [{"id": "odd", "metric": "odd", "severity": "warn"}]
    (tmp_path / "passmuster.json").write_text(json.dumps({"suite": "odd", "plugins": ["odd"], "tests": tests}))
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"steps": []}) + "\n")
    told = []
    for workers in "12":
        options = f"--no-history --traces '*.jsonl' --workers {workers} --report json=r.json"
        line = f"{sys.executable} -m passmuster run {options} 2>&- < /dev/null"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        report = json.loads((tmp_path / "r.json").read_bytes())
        told.append((done.returncode, timeless(report["tests"])))
    assert told[0][0] == 0
    assert told[0] == told[1]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes there")
def test_a_file_name_that_is_no_text_is_read_by_any_number_of_workers(tmp_path: Path) -> None:
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    folder = os.fsencode(tmp_path / "traces")
    os.mkdir(folder)
    for name in (b"a\xff.jsonl", b"b.jsonl"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b'{"scenario": "S-1", "steps": [{"type": "tool_call", "tool": "pay"}]}\n')
    told = [run(tmp_path, "--traces", str(tmp_path / "traces"), "--workers", workers) for workers in "12"]
    assert told[0][0] == 1
    assert timeless(told[0][1]) == timeless(told[1][1])


@pytest.mark.skipif(sys.platform != "linux", reason="sends signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_request_to_end_leaves_no_copy_of_standard_input(tmp_path: Path, number: int, workers: str) -> None:
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "passmuster", "run", str(tmp_path), "--traces", "-", "--workers", workers],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert process.stdin is not None
    process.stdin.write(b'{"steps": []}\n' * 100_000)
    process.stdin.flush()
    deadline = time.monotonic() + 20
    while not list((tmp_path / "tmp").iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, b"Interrupted.\n")
    assert not list((tmp_path / "tmp").iterdir())


def test_a_policy_that_changes_during_the_run_changes_nothing(tmp_path: Path) -> None:
    """Workers judge by the words that the parent read."""
    (tmp_path / "policy.json").write_text(json.dumps({"tools": {"pay": {"arguments": {"amount": {"max": 5}}}}}))
    suite = suite_in(tmp_path, {"tests": [{"id": "a", "metric": "args_valid", "policy": "policy.json"}]})
    (tmp_path / "policy.json").write_text("nonsense")
    again = load_suite(suite.path, root=tmp_path, documents=suite.documents)
    assert again.tests == suite.tests


def test_small_input_is_judged_by_one_process(tmp_path: Path) -> None:
    small, large = tmp_path / "s.jsonl", tmp_path / "l.jsonl"
    small.write_bytes(b"{}\n")
    with large.open("wb") as file:
        file.truncate(33_000_000)
    assert worker_count(None, [Source(str(small), "s")]) == 1
    assert worker_count(None, [Source(str(large), "l")]) == available_cpus()
    assert worker_count(7, [Source(str(small), "s")]) == 7


@pytest.mark.parametrize(
    ("files", "cpus"),
    [
        ({"cpu.max": "200000 100000\n"}, 2.0),
        ({"cpu.max": "50000 100000\n"}, 0.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "nonsense"}, None),
        ({}, None),
    ],
)
def test_a_containers_quota_is_heeded(tmp_path: Path, files: dict[str, str], cpus: float | None) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert _quota(tmp_path) == cpus


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("events.jsonl", b'{"type": "tool_call", "tool": "a"}\n' * 50),
        ("document.json", b'[{"steps": []},\n{"steps": []}]' + b" " * 500),
    ],
)
def test_what_cannot_be_cut_by_bytes_is_one_part(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    source = Source(str(path), name)
    assert cut([source], 4, part_bytes=100) == [Part(source)]


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "100000"])
def test_a_number_of_workers_that_cannot_be_is_refused(value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "passmuster", "run", "--workers", value], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "expected auto or a number from 1 to 1024" in done.stderr


def test_a_worker_whose_parent_is_gone_ends_without_a_word(corpus: Path) -> None:
    suite = load_suite(corpus)
    source = Source(str(corpus / "a.jsonl"), "a.jsonl")
    setup = setup_of(Job(suite, SETTINGS))
    worker = subprocess.Popen(
        [sys.executable, "-c", "from passmuster.engine.executors._worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    worker.stdout.close()
    send(cast("BinaryIO", worker.stdin), setup)
    send(cast("BinaryIO", worker.stdin), EvaluatePart(0, cut([source], 1)[0]))
    worker.stdin.close()
    assert worker.wait(60) == 1
    assert worker.stderr.read() == b""
    worker.stderr.close()


PROBE = "import sys, passmuster.engine.executors._worker; print(*{name.partition('.')[0] for name in sys.modules})"


def test_workers_import_nothing_from_the_current_folder(corpus: Path, tmp_path: Path) -> None:
    """A hostile module for every name that a worker imports, and for some that are imported only where installed."""
    loaded = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout.split()
    names = {*loaded, "sitecustomize", "usercustomize", "regex", "rich", "openai", "anthropic", "difflib", "traceback"}
    hostile = f"open({str(tmp_path / 'EXECUTED')!r}, 'a').write(__name__)"
    for name in names - {"__main__", "passmuster"}:
        (tmp_path / f"{name}.py").write_text(hostile)
    (tmp_path / "passmuster").mkdir()
    (tmp_path / "passmuster" / "__init__.py").write_text(hostile)
    script = Path(sys.executable).with_name("passmuster")
    files = ["--traces", str(corpus / "a.jsonl"), "--traces", str(corpus / "b.jsonl")]
    options = ["run", str(corpus), "--root", str(corpus), "--no-history", "--quiet", "--no-plugins", *files]
    for workers in ("1", "2"):
        done = subprocess.run([script, *options, "--workers", workers], cwd=tmp_path, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (1, b"")
        assert not (tmp_path / "EXECUTED").exists()
