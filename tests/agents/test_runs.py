"""Agents that are Python functions and programs: what they give back becomes traces, and every failure does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agents.live import ONE, run, script, traces, write_suite

from passmuster._problems import InputError
from passmuster.agents import _process

TURNS = {
    "id": "T",
    "turns": [
        {"user": "One", "correctness": {"expected_in_answer": "one"}},
        {"user": "Two", "correctness": {"expected_in_answer": "two"}},
    ],
}


def write_agent(folder: Path, code: str, **agent: Any) -> None:
    (folder / "agent.py").write_text(code)
    write_suite(folder, {"python": "agent:answer", **agent})


def error_of(folder: Path) -> dict[str, Any]:
    (trace,) = traces(folder)
    error: dict[str, Any] = trace["error"]
    return error


# ── Python ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("returned", "calls"),
    [
        ("'hello'", None),
        ("{'answer': 'hello'}", None),
        ("{'answer': 'hello', 'steps': []}", []),
        ("{'answer': 'hello', 'steps': [{'type': 'tool_call', 'tool': 'look'}]}", ["look"]),
        ("[{'role': 'user', 'content': query}, {'role': 'assistant', 'content': 'hello'}]", []),
        (
            "{'messages': [{'role': 'assistant', 'tool_calls': [{'id': '1', 'type': 'function', 'function': {'name':"
            " 'look', 'arguments': '{}'}}]}, {'role': 'tool', 'tool_call_id': '1', 'content': 'x'},"
            " {'role': 'assistant', 'content': 'hello'}]}",
            ["look"],
        ),
        ("passmuster.Trace(answer='hello', steps=(passmuster.ToolCall('look'),))", ["look"]),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_what_a_function_returns(tmp_path: Path, returned: str, calls: list[str] | None, kind: str) -> None:
    late = "import passmuster" if "passmuster" in returned else ""
    write_agent(tmp_path, f"{late}\n{kind} answer(query):\n    print('not the answer')\n    return {returned}\n")
    report = run(tmp_path)
    assert report.scenarios[0].status == "pass", report.gate
    (trace,) = traces(tmp_path)
    assert trace["query"] == "Hello"
    assert trace["run"] == 1
    assert trace.get("calls_unknown", False) == (calls is None)
    assert [step["tool"] for step in trace["steps"] if step["type"] == "tool_call"] == (calls or [])
    assert trace["total_duration_ms"] >= 0


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise ValueError('no money')", "ValueError: no money (agent.py:2)"),
        ("raise SystemExit(0)", "SystemExit: 0 (agent.py:2)"),
        ("import os; os._exit(0)", "gave no answer: its process ended with exit code 0"),
        ("import os; os.kill(os.getpid(), 9)", "gave no answer: its process was ended by SIGKILL"),
        ("return None", "returned None, expected text, messages, a dict or a Trace"),
        ("return {'reply': 'hello'}", "gave back what is no trace"),
        ("return object()", "cannot be written as JSON"),
        ("return [{'answer': 'a'}, {'answer': 'b'}]", "gave back 2 traces, expected one"),
    ],
)
def test_a_function_that_fails(tmp_path: Path, code: str, expected: str) -> None:
    write_agent(tmp_path, f"def answer(query):\n    {code}\n")
    assert run(tmp_path).exit_code == 1
    assert expected in error_of(tmp_path)["message"]
    assert error_of(tmp_path)["kind"] == "agent"


def test_a_function_gets_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "def answer(messages):\n"
        "    said = [one['content'] for one in messages]\n"
        "    return [*messages, {'role': 'assistant', 'content': ' '.join(said).lower()}]\n"
    )
    write_suite(tmp_path, {"python": "agent:answer"}, [TURNS])
    assert run(tmp_path).scenarios[0].status == "pass"
    said = [(step["role"], step["content"]) for step in traces(tmp_path)[0]["steps"] if step["type"] == "message"]
    assert said == [("user", "One"), ("assistant", "one"), ("user", "Two"), ("assistant", "one one two")]


# ── Commands ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_query_is_on_standard_input_or_an_argument(tmp_path: Path) -> None:
    for code, extra in (("print(input().lower())", []), ("import sys; print(sys.argv[1].lower())", ["{query}"])):
        write_suite(tmp_path, {"command": [*script(tmp_path, code), *extra]})
        assert run(tmp_path).scenarios[0].status == "pass"
    command = script(tmp_path, "import os; print(os.environ['PASSMUSTER_QUERY'].lower())")
    write_suite(tmp_path, {"command": command})
    assert run(tmp_path).scenarios[0].status == "pass"


def test_what_a_program_prints(tmp_path: Path) -> None:
    """JSON of a known format is a trace; any other JSON is the answer, as it stands."""
    code = """print('{"answer": "hello", "steps": [{"type": "tool_call", "tool": "look"}]}')"""
    write_suite(tmp_path, {"command": script(tmp_path, code)})
    assert run(tmp_path).exit_code == 0
    assert traces(tmp_path)[0]["steps"][0]["tool"] == "look"
    write_suite(tmp_path, {"command": script(tmp_path, """print('{"label": "hello"}')""")})
    assert run(tmp_path).exit_code == 0
    assert traces(tmp_path)[0]["answer"] == '{"label": "hello"}'


def test_a_program_holds_a_conversation(tmp_path: Path) -> None:
    code = """
        import json, sys
        for line in sys.stdin:
            turn = json.loads(line)
            print(json.dumps(turn["query"].lower() + "\\n" + str(len(turn["messages"]))), flush=True)
    """
    write_suite(tmp_path, {"command": script(tmp_path, code)}, [TURNS])
    assert run(tmp_path).exit_code == 0
    assert [step["content"] for step in traces(tmp_path)[0]["steps"]] == ["One", "one\n1", "Two", "two\n3"]


def test_a_program_that_answers_without_listening(tmp_path: Path) -> None:
    """What it does not read fills the pipe, and must not keep the run from ending."""
    code = "import sys, time; [print('one two', flush=True) for _ in range(3)]; time.sleep(300)"
    turns = {"id": "T", "turns": [{"user": "x" * 200_000, "correctness": {"expected_in_answer": "one"}}] * 3}
    write_suite(tmp_path, {"command": script(tmp_path, code), "timeout": 5}, [turns])
    assert run(tmp_path).exit_code == 1
    assert error_of(tmp_path)["message"] == "took longer than 5 s"


def test_a_turn_that_fails_fails_the_scenario_and_keeps_the_others(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.readline(); print('one', flush=True); sys.stdin.readline(); sys.exit(4)"
    write_suite(tmp_path, {"command": script(tmp_path, code)}, [TURNS])
    assert run(tmp_path).exit_code == 1
    (trace,) = traces(tmp_path)
    assert [step["content"] for step in trace["steps"]] == ["One", "one"]
    assert trace["error"]["message"] == "gave no answer to turn 2: it ended with exit code 4"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit('no money')", "ended with exit code 1: no money"),
        ("", "printed nothing"),
        ("print()", "printed nothing"),
        ("import sys; sys.stdout.buffer.write(b'hello \\xff')", "printed what is not UTF-8: byte 0xff at offset 6"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
    ],
)
def test_a_program_that_fails(tmp_path: Path, code: str, expected: str) -> None:
    write_suite(tmp_path, {"command": script(tmp_path, code)})
    assert run(tmp_path).exit_code == 1
    assert error_of(tmp_path) == {"message": expected, "kind": "agent"}


def test_ten_thousand_lines_of_complaints(tmp_path: Path) -> None:
    code = "import sys; print('line\\n' * 10_000, file=sys.stderr); print('hello')"
    write_suite(tmp_path, {"command": script(tmp_path, code)})
    assert run(tmp_path).exit_code == 0


def test_a_program_that_prints_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "_MOST_OUTPUT", 1 << 20)
    write_suite(tmp_path, {"command": script(tmp_path, "while True: print('x' * 10_000)")})
    assert run(tmp_path).exit_code == 1
    assert error_of(tmp_path)["message"] == "printed more than 64 MB"


# ── Nothing is left behind ──────────────────────────────────────────────────────────────────────────────────


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def assert_ended(file: Path) -> None:
    pids = [int(line) for line in file.read_text().split()]
    assert pids
    until = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [pid for pid in pids if is_running(pid)]


SLEEPER = "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)']"
"""Starts a process that outlives the agent; it has the agent's pipes."""


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import time; time.sleep(300)", "took longer than 3 s"),
        ("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(300)", "took longer than 3 s"),
        ("import os, time\nif not os.fork(): time.sleep(300)\nprint('hello')", None),
        (f"{SLEEPER}); print(child.pid, file=open('pids', 'a')); print('hello')", None),
        (f"{SLEEPER}, start_new_session=True); print(child.pid, file=open('pids', 'a')); print('hello')", None),
        (
            f"{SLEEPER}, start_new_session=True, stdin=-3, stdout=-3, stderr=-3);"
            " print(child.pid, file=open('pids', 'a')); print('hello')",
            None,
        ),
    ],
    ids=["hangs", "ignores SIGTERM", "forks", "starts another", "in a new session", "as a daemon"],
)
def test_no_process_is_left_behind(tmp_path: Path, code: str, error: str | None) -> None:
    command = script(tmp_path, f"import os; print(os.getpid(), file=open('pids', 'a', 1))\n{code}\n")
    write_suite(tmp_path, {"command": command, "timeout": 60 if error is None else 3})
    started = time.monotonic()
    report = run(tmp_path)
    assert time.monotonic() - started < 30
    assert report.exit_code == (1 if error else 0)
    assert error is None or error in error_of(tmp_path)["message"]
    assert_ended(tmp_path / "pids")


def test_a_long_query_that_nobody_reads(tmp_path: Path) -> None:
    """More than a pipe holds, and a process that keeps the pipe open after the agent has answered."""
    sleeper = f"{SLEEPER}, start_new_session=True); print(child.pid, file=open('pids', 'a')); print('hello')"
    for code in ("print('hello')", sleeper, "import sys; print(len(sys.stdin.read()), 'hello')"):
        write_suite(tmp_path, {"command": script(tmp_path, code)}, [{**ONE, "query": "x" * 1_000_000}])
        assert run(tmp_path).exit_code == 0
    assert traces(tmp_path)[0]["answer"] == "1000001 hello"
    assert_ended(tmp_path / "pids")


def test_a_function_that_hangs(tmp_path: Path) -> None:
    code = (
        "import os, time\ndef answer(query):\n    print(os.getpid(), file=open('pids', 'a', 1))\n    time.sleep(300)\n"
    )
    write_agent(tmp_path, code, timeout=3)
    assert run(tmp_path).exit_code == 1
    assert error_of(tmp_path)["message"] == "took longer than 3 s"
    assert_ended(tmp_path / "pids")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_session_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    """The first runs finish; the last one waits for a file, so that the session is interrupted in it."""
    code = """
        import os, time
        print(os.getpid(), file=open('pids', 'a', 1))
        print(os.environ['PASSMUSTER_SCENARIO'], file=open('started', 'a', 1))
        while len(open('started').read().split()) == 3 and not os.path.exists('go'):
            time.sleep(0.05)
        print('hello')
    """
    three = [{**ONE, "id": id_} for id_ in "ABC"]
    write_suite(tmp_path, {"command": script(tmp_path, code), "concurrency": 1}, three)
    command = [sys.executable, "-m", "passmuster", "run", "--live", str(tmp_path)]
    session = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until = time.monotonic() + 60
    started = tmp_path / "started"
    while not started.exists() or len(started.read_text().split()) < 3:
        assert time.monotonic() < until
        time.sleep(0.05)
    first, second, third = started.read_text().split()
    session.send_signal(number)
    output, _ = session.communicate(timeout=60)
    assert session.returncode == (-9 if number == signal.SIGKILL else 130), output
    if number != signal.SIGKILL:
        assert_ended(tmp_path / "pids")
        assert "2 of 3 runs are finished" in output
    assert [trace["scenario"] for trace in traces(tmp_path)] == [first, second]

    with (tmp_path / ".passmuster/live/passmuster.json/runs.jsonl").open("ab") as file:
        file.write(b'{"scenario": "%s", "run": 1, "steps": [' % third.encode())  # as a killed process may leave it
    (tmp_path / "go").touch()
    assert run(tmp_path, resume=True).exit_code == 0
    assert started.read_text().split() == [first, second, third, third]
    assert_ended(tmp_path / "pids")


# ── Around a run ────────────────────────────────────────────────────────────────────────────────────────────


def test_setup_and_teardown_surround_each_run(tmp_path: Path) -> None:
    note = "import os, sys; print(sys.argv[1], os.environ['PASSMUSTER_RUN'], file=open('log', 'a'))"
    beside = script(tmp_path, note, "note.py")
    command = script(tmp_path, "print('hello', file=open('log', 'a')); print('hello')")
    agent = {"command": command, "setup": [*beside, "before"], "teardown": [*beside, "after"], "concurrency": 1}
    write_suite(tmp_path, agent, [{**ONE, "repeat": 2}])
    assert run(tmp_path).exit_code == 0
    lines = (tmp_path / "log").read_text().splitlines()
    runs = [lines[:3], lines[3:]]
    assert sorted(runs) == [[f"before {n}", "hello", f"after {n}"] for n in (1, 2)]


def test_what_fails_outside_the_agent_is_tried_again(tmp_path: Path) -> None:
    setup = script(
        tmp_path, "import os, sys; os.path.exists('ready') or (open('ready', 'w'), sys.exit('busy'))", "s.py"
    )
    teardown = script(tmp_path, "import sys; sys.exit(3)", "t.py")
    agent = {"command": script(tmp_path, "print('hello')"), "setup": setup, "teardown": teardown}
    write_suite(tmp_path, agent)
    report = run(tmp_path)
    assert (report.exit_code, report.verdict) == (0, "warn")
    said = [line.message for line in report.gate if line.kind == "input"]
    assert "ended with exit code 1: busy; tried again" in said[1]
    assert "agent.teardown" in said[0]
    assert "agent.teardown" in said[2]


def test_what_keeps_failing_outside_the_agent_leaves_the_gate_undecided(tmp_path: Path) -> None:
    setup = script(tmp_path, "import sys; sys.exit('busy')", "s.py")
    write_suite(tmp_path, {"command": script(tmp_path, "print('hello')"), "setup": setup, "retries": 1})
    report = run(tmp_path)
    assert report.exit_code == 3
    assert error_of(tmp_path)["kind"] == "infra"
    assert sum(line.kind == "input" and "tried again" in line.message for line in report.gate) == 1


def test_runs_take_place_at_the_same_time(tmp_path: Path) -> None:
    """Each run waits for the others, so that one at a time would never end."""
    code = """
        import os, time
        open('run-' + os.environ['PASSMUSTER_RUN'], 'w')
        while sum(name.startswith('run-') for name in os.listdir('.')) < 4:
            time.sleep(0.02)
        print('hello')
    """
    write_suite(tmp_path, {"command": script(tmp_path, code), "timeout": 60}, [{**ONE, "repeat": 4}])
    assert run(tmp_path).exit_code == 0


# ── Before anything is spent ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({"python": "nothing:answer"}, "agent.python: cannot import 'nothing:answer': ModuleNotFoundError"),
        ({"python": "agent:nothing"}, "agent has no 'nothing'"),
        ({"python": "agent:text"}, "agent:text is str, expected a function"),
        ({"python": "broken:answer"}, "ZeroDivisionError: division by zero (broken.py:1)"),
        ({"command": ["no-such-program"]}, "agent.command: there is no program 'no-such-program' in PATH"),
        ({"command": ["./agent.py"]}, "agent.command: there is no program './agent.py' in"),
        ({"command": ["true"], "setup": ["./reset"]}, "agent.setup: there is no program './reset'"),
        ({"http": "http://127.0.0.1:1/"}, "agent.http.url: nobody answers at 'http://127.0.0.1:1/'"),
        (
            {"http": {"url": "http://localhost:1/", "headers": {"A": "{env.NO_SUCH_VARIABLE}"}}},
            "agent.http: '{env.NO_SUCH_VARIABLE}': the environment has no variable NO_SUCH_VARIABLE",
        ),
        ({"name": "x"}, "the suite does not say how to run its agent"),
    ],
)
def test_an_agent_that_cannot_be_started(tmp_path: Path, agent: dict[str, Any], expected: str) -> None:
    (tmp_path / "agent.py").write_text("text = 'x'\ndef answer(query): return 'hello'\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    write_suite(tmp_path, agent)
    with pytest.raises(InputError) as raised:
        run(tmp_path)
    assert expected in str(raised.value)
    assert "passmuster.json:1" in str(raised.value)
    assert not (tmp_path / ".passmuster").exists()


def test_scenarios_that_cannot_be_run(tmp_path: Path) -> None:
    agent = {"command": ["echo", "{query}"]}
    silent = {"id": "S", "correctness": {"expected_in_answer": "x"}}
    write_suite(tmp_path, agent, [silent, TURNS, {**ONE, "query": "a\0b"}])
    with pytest.raises(InputError) as raised:
        run(tmp_path)
    assert len(raised.value.problems) == 3
    write_suite(tmp_path, agent, [ONE], tests=[{"id": "t", "metric": "tool_blocklist", "blocklist": ["x"]}])
    with pytest.raises(InputError, match="no scenario to run"):
        run(tmp_path, only=("t",))


def test_the_environment_of_the_agent_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "hello")
    write_suite(tmp_path, {"command": script(tmp_path, "import os; print(os.getcwd(), os.environ['GREETING'])")})
    assert run(tmp_path).exit_code == 0
    assert traces(tmp_path)[0]["answer"] == f"{os.path.realpath(tmp_path)} hello"
