"""Sessions: what they may cost, going on with one, and what they leave on disk."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.agents.live import ONE, run, runs_path, script, traces, write_suite
from tests.cli_runner import CliRunner

from passmuster._problems import InputError, OutsideError
from passmuster.cli._main import command

COSTS = """
    import json, os
    print(os.environ["PASSMUSTER_SCENARIO"], file=open("started", "a"))
    cost = float(open("cost").read()) if os.path.exists("cost") else None
    print(json.dumps({"answer": "hello", "steps": [], "total_cost_usd": cost}))
"""
FOUR = [{**ONE, "id": id_} for id_ in "ABCD"]


def started(folder: Path) -> list[str]:
    return (folder / "started").read_text().split()


def write_costly(folder: Path, cost: float | None, **agent: Any) -> None:
    if cost is not None:
        (folder / "cost").write_text(str(cost))
    threshold = {"thresholds": {"blocking": {"pass_rate": 100}}}
    write_suite(folder, {"command": script(folder, COSTS), "concurrency": 1, **agent}, FOUR, **threshold)


# ── What it may cost ────────────────────────────────────────────────────────────────────────────────────────


def test_the_money_is_not_enough(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.4)
    report = run(tmp_path, max_cost_usd=0.5)
    assert len(started(tmp_path)) == 2
    assert (report.exit_code, report.partial) == (3, True)
    assert {one.id for one in report.scenarios} == set(started(tmp_path))
    (line,) = [line for line in report.gate if line.kind == "error"]
    assert line.message == "2 runs of 4 did not take place: $0.8 of --max-cost-usd 0.5 are spent"
    assert report.live is not None
    assert (report.live.planned, report.live.finished, report.live.spent_usd) == (4, 2, 0.8)
    assert run(tmp_path, resume=True).exit_code == 0
    assert sorted(started(tmp_path)) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("most", [2, 10])
def test_enough_money(tmp_path: Path, most: float) -> None:
    """All of it may be spent."""
    write_costly(tmp_path, 0.5, concurrency=4)
    assert run(tmp_path, max_cost_usd=most).exit_code == 0


def test_a_run_that_does_not_tell_its_cost(tmp_path: Path) -> None:
    write_costly(tmp_path, None)
    report = run(tmp_path, max_cost_usd=1)
    assert report.exit_code == 3
    (id_,) = started(tmp_path)
    (line,) = [line for line in report.gate if line.kind == "error"]
    assert f"run {id_}/1 does not tell what it cost" in line.message


def test_what_runs_cost_by_a_price_list(tmp_path: Path) -> None:
    step = {"type": "llm_call", "model": "gpt-4o", "tokens_in": 100_000, "tokens_out": 1_000}
    code = f"import json; print(json.dumps({ {'answer': 'hello', 'steps': [step]} }))"
    write_suite(tmp_path, {"command": script(tmp_path, code), "concurrency": 1}, FOUR, prices="genai-prices")
    report = run(tmp_path, max_cost_usd=0.3)
    assert report.exit_code == 3
    assert report.live is not None
    assert (report.live.finished, report.live.spent_usd) == (2, 0.52)


def test_a_failure_wins_over_missing_money(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.4)
    suite = json.loads((tmp_path / "passmuster.json").read_text())
    for scenario in suite["scenarios"]:
        scenario["correctness"] = {"expected_in_answer": "bye"}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    assert run(tmp_path, max_cost_usd=0.5).exit_code == 1


# ── Going on ────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_what_is_missing_is_run(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.1)
    assert run(tmp_path).exit_code == 0
    lines = runs_path(tmp_path).read_bytes().splitlines(keepends=True)
    infra = json.loads(lines[1]) | {"error": {"kind": "infra", "message": "lost"}}
    half = lines[3][:40]
    runs_path(tmp_path).write_bytes(lines[0] + json.dumps(infra).encode() + b"\n" + lines[2] + half)
    (tmp_path / "started").unlink()
    assert run(tmp_path, resume=True).exit_code == 0
    assert sorted(started(tmp_path)) == ["B", "D"]
    assert [trace["scenario"] for trace in traces(tmp_path)] == ["A", "B", "C", "D"]
    (tmp_path / "started").unlink()
    assert run(tmp_path, resume=True).exit_code == 0
    assert not (tmp_path / "started").exists()


def test_a_changed_suite_does_not_go_on(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.1)
    with pytest.raises(InputError, match="there is no live run of this suite to go on with"):
        run(tmp_path, resume=True)
    run(tmp_path)
    path = tmp_path / "passmuster.json"
    path.write_text(path.read_text().replace('"Hello"', '"Hello!"'))
    with pytest.raises(InputError, match="the suite has changed since"):
        run(tmp_path, resume=True)


def test_the_runs_before_are_kept(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.1)
    run(tmp_path)
    before = runs_path(tmp_path).read_bytes()
    run(tmp_path)
    assert runs_path(tmp_path).with_name("previous.jsonl").read_bytes() == before


def test_a_warning_of_an_earlier_session_is_not_lost(tmp_path: Path) -> None:
    setup = script(tmp_path, "import os, sys; os.path.exists('r') or (open('r', 'w'), sys.exit('busy'))", "s.py")
    write_costly(tmp_path, 0.4, setup=setup)
    assert run(tmp_path, max_cost_usd=0.3).exit_code == 3
    report = run(tmp_path, resume=True)
    assert (report.exit_code, report.verdict) == (0, "warn")
    assert any("busy; tried again" in line.message for line in report.gate)


def test_two_sessions_at_once(tmp_path: Path) -> None:
    code = "import subprocess, sys\nprint(subprocess.run(sys.argv[1:], capture_output=True, text=True).stderr)"
    inner = [sys.executable, "-m", "passmuster", "run", "--live", str(tmp_path)]
    write_suite(tmp_path, {"command": [*script(tmp_path, code), *inner]})
    run(tmp_path)
    assert "this suite is being run right now, by another process" in traces(tmp_path)[0]["answer"]


def test_a_full_disk_loses_no_finished_run(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    write_costly(tmp_path, 0.1)
    run(tmp_path)
    size = 2 * len(runs_path(tmp_path).read_bytes().splitlines(keepends=True)[0]) + 100
    limited = (
        f"import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
        f"sys.argv = ['passmuster', 'run', '--live', {str(tmp_path)!r}]; from passmuster.__main__ import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3, ended.stderr
    assert "cannot write the runs: File too large; 2 finished runs are kept; go on with --resume" in ended.stderr
    kept = {trace["scenario"] for trace in traces(tmp_path)}
    assert len(kept) == 2
    (tmp_path / "started").unlink()
    assert run(tmp_path, resume=True).exit_code == 0
    assert kept | set(started(tmp_path)) == set("ABCD")


def test_a_link_that_leads_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "here").mkdir()
    write_suite(tmp_path / "here", {"command": ["echo", "hello"]})
    os.symlink(tmp_path / "away", tmp_path / "here" / ".passmuster")
    with pytest.raises(InputError, match="a link leads out of the root"):
        run(tmp_path / "here")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    write_suite(tmp_path, {"command": ["echo", "hello"]})
    (tmp_path / ".passmuster").write_text("a file")
    with pytest.raises(OutsideError, match="cannot write the runs"):
        run(tmp_path)


# ── Commands ────────────────────────────────────────────────────────────────────────────────────────────────


def invoke(*words: str | Path) -> Any:
    return CliRunner().invoke(command, [str(word) for word in words])


def test_record(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.1)
    done = invoke("record", tmp_path, "-o", tmp_path / "new" / "traces")
    assert done.exit_code == 0, done.output
    assert "They cost $0.4." in done.output
    written = tmp_path / "new" / "traces" / "live.jsonl"
    assert written.read_bytes() == runs_path(tmp_path).read_bytes()
    judged = invoke("run", tmp_path, "--traces", written, "--no-history")
    assert judged.exit_code == 0


def test_record_keeps_what_the_money_was_enough_for(tmp_path: Path) -> None:
    write_costly(tmp_path, 0.4)
    done = invoke("record", tmp_path, "-o", tmp_path / "some.jsonl", "--max-cost-usd", "0.3", "--only", "[AB]")
    assert done.exit_code == 3
    assert "1 runs did not take place" in done.output
    assert (tmp_path / "some.jsonl").read_bytes().count(b"\n") == 1


def test_record_hides_secrets_if_asked(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "A1b2" * 20
    write_suite(tmp_path, {"command": script(tmp_path, f"print('hello {key}')")})
    assert "may hold secrets" in invoke("record", tmp_path, "-o", tmp_path / "a.jsonl").output
    invoke("record", tmp_path, "-o", tmp_path / "b.jsonl", "--redact")
    assert key in (tmp_path / "a.jsonl").read_text()
    assert key not in (tmp_path / "b.jsonl").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--resume"], "--resume means nothing without --live"),
        (["--max-cost-usd", "1"], "--max-cost-usd means nothing without --live"),
        (["--live", "--traces", "."], "--live makes its own traces"),
        (["--live", "--max-cost-usd", "0"], "--max-cost-usd: expected more than 0, found 0"),
        (["--live", "--max-cost-usd", "nan"], "--max-cost-usd: expected more than 0, found nan"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, words: list[str], expected: str) -> None:
    write_suite(tmp_path, {"command": ["echo", "hello"]})
    done = invoke("run", tmp_path, *words)
    assert done.exit_code == 2
    assert expected in done.output


def test_the_bar_shows_runs_failures_and_cost(tmp_path: Path) -> None:
    """On a terminal; the run that answers something else has failed, though the agent has not."""
    import pty

    write_costly(tmp_path, 0.5)
    suite = json.loads((tmp_path / "passmuster.json").read_text())
    suite["scenarios"][0]["correctness"] = {"expected_in_answer": "bye"}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    leader, follower = pty.openpty()
    words = [sys.executable, "-m", "passmuster", "run", "--live", "--stop-early", "off", str(tmp_path)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=follower, env=environment) as session:
        os.close(follower)
        shown = b""
        while True:
            try:
                data = os.read(leader, 65_536)
            except OSError:  # the other end is closed
                break
            shown += data
        os.close(leader)
    assert session.returncode == 1
    assert b"4/4" in shown
    assert b"1 failed, $2.00" in shown


def test_no_port_is_left_open(tmp_path: Path) -> None:
    code = "import os; print('hello', os.environ['OTEL_EXPORTER_OTLP_ENDPOINT'])"
    write_suite(tmp_path, {"command": script(tmp_path, code)})
    assert run(tmp_path).exit_code == 0
    port = urlsplit(traces(tmp_path)[0]["answer"].split()[1]).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
