"""Input that is wrong: a real process ends with exit code 2, says where, and writes nothing.

A case is the files of a folder, the arguments given there, and how each message on standard error begins.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.test_error_index import is_listed

import passmuster

Files = dict[str, str | bytes]

SOURCE = Path(passmuster.__file__).parent.parent
SUITE = "tests: [{id: none, metric: tool_blocklist, blocklist: [bad_*]}]\n"
POLICY = "tests: [{id: args, metric: args_valid, policy: policy.yaml}]\n"
GOOD = '{"steps": [{"type": "tool_call", "tool": "look", "arguments": {}}]}\n'
CLOSING = "Nothing was evaluated: {} in the input."


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """The command in a process of its own, begun in this folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "passmuster", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    with start(folder, *arguments) as process:
        output, errors = process.communicate(stdin, timeout=60)
    return process.returncode, output.decode(), errors.decode()


def lay(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refused(folder: Path, *arguments: str, stdin: bytes = b"") -> list[str]:
    """The messages of a run that must be refused, without the word they all begin with."""
    before = contents(folder)
    code, output, errors = run(folder, *arguments, stdin=stdin)
    assert code == 2, (code, output, errors)
    assert output == ""
    assert "Traceback" not in errors
    assert contents(folder) == before
    *messages, closing = errors.splitlines()
    number = len(messages)
    assert closing == CLOSING.format("1 problem" if number == 1 else f"{number} problems")
    assert all(message.startswith("error: ") for message in messages), errors
    return [message.removeprefix("error: ") for message in messages]


def check(found: list[str], expected: list[str]) -> None:
    assert len(found) == len(expected), found
    for message, beginning in zip(found, expected, strict=True):
        assert message.startswith(beginning), message
        assert is_listed(message), f"not in docs/errors.md: {message}"


def alias_bomb(levels: int = 30) -> str:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, levels))
    return text + f"tests: *a{levels - 1}\n"


SUITES: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["passmuster.yaml:1:1: "]),
    "only a comment": ("# nothing\n", ["passmuster.yaml:1:1: "]),
    "does not parse": ("tests:\n  - id: [a\n  - b\n", ["passmuster.yaml:2:9: this `[` is not closed"]),
    "a tab": ("tests:\n\t- id: a\n", ["passmuster.yaml:2:1: "]),
    "not UTF-8": (b"tests:\n  - id: \xff\n", ["passmuster.yaml:2:9: the byte 0xff here is not UTF-8"]),
    "nests without end": ("[" * 100_000, ["passmuster.yaml:1:"]),
    "nests without end, in blocks": ("- " * 100_000, ["passmuster.yaml:1:"]),
    "aliases without end": (alias_bomb(), ["passmuster.yaml:"]),
    "an alias of itself": ("tests: &a [*a]\n", ["passmuster.yaml:1:"]),
    "a baseline": (
        '{"schema": "passmuster.baseline/1", "metrics": {}, "verdict": "pass"}\n',
        ["passmuster.yaml:1:12: this is 'passmuster.baseline/1', which passmuster wrote, where a suite is expected"],
    ),
    "unknown keys": (
        "test: []\ntests:\n  - id: a\n    metric: tool_blocklist\n    blocklst: [x]\n",
        [
            "passmuster.yaml:1:1: suite: unknown key 'test'; did you mean 'tests'?",
            "passmuster.yaml:3:5: ",
            "passmuster.yaml:5:5: tests.a (tool_blocklist): unknown key 'blocklst'; did you mean 'blocklist'?",
        ],
    ),
    "wrong types": ("tests: 5\nsuite: [a]\n", ["passmuster.yaml:1:8: ", "passmuster.yaml:2:8: "]),
    "a map where a list belongs": ("tests: {id: a}\n", ["passmuster.yaml:1:8: "]),
    "a list at the top": ("- tests\n", ["passmuster.yaml:1:1: "]),
    "a key twice": ("suite: a\nsuite: b\n" + SUITE, ["passmuster.yaml:2:1: "]),
    "an id twice": (
        "tests:\n" + "  - {id: a, metric: tool_blocklist, blocklist: [x]}\n" * 2,
        ["passmuster.yaml:3:10: "],
    ),
    "an unknown metric": ("tests: [{id: a, metric: args_vald}]\n", ["passmuster.yaml:1:25: "]),
    "a bad glob": (
        "tests: [{id: a, metric: tool_blocklist, blocklist: ['ok', '[ab', '']}]\n",
        ["passmuster.yaml:1:59: ", "passmuster.yaml:1:66: "],
    ),
    "a bad regex": (
        "tests:\n  - id: a\n    metric: sequence_valid\n    rules:\n"
        "      - {type: require, tool: {tool: x, args: {q: {$regex: '('}}}}\n",
        ["passmuster.yaml:5:60: "],
    ),
    "a bad regex to hide by": ("redact: {patterns: ['[']}\n" + SUITE, ["passmuster.yaml:1:21: "]),
    "asks nothing": ("suite: a\n", ["passmuster.yaml:1:1: the suite checks nothing"]),
}


@pytest.mark.parametrize(("text", "expected"), SUITES.values(), ids=SUITES.keys())
def test_a_suite_that_is_wrong(tmp_path: Path, text: str | bytes, expected: list[str]) -> None:
    lay(tmp_path, {"passmuster.yaml": text, "t.jsonl": GOOD})
    check(refused(tmp_path, "run", "--traces", "t.jsonl", "--report", "json=report.json"), expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "no suite found here or above; looked for passmuster.yaml"),
        (["nowhere.yaml"], "nowhere.yaml: there is no such suite file or folder"),
        (["folder"], "folder: holds no suite; looked for passmuster.yaml"),
    ],
)
def test_no_suite(tmp_path: Path, arguments: list[str], expected: str) -> None:
    lay(tmp_path, {"t.jsonl": GOOD, "folder/other.yaml": SUITE, ".git/config": ""})
    check(refused(tmp_path, "run", *arguments, "--traces", "t.jsonl", "--report", "json=report.json"), [expected])


POLICIES: dict[str, tuple[str | bytes | None, list[str]]] = {
    "missing": (None, ["passmuster.yaml:1:48: tests.args.policy: there is no file 'policy.yaml'"]),
    "empty": ("", ["policy.yaml:1:1: "]),
    "does not parse": ("tools: {a: [}\n", ["policy.yaml:1:13: "]),
    "an unknown key": (
        "tools:\n  a:\n    arguments:\n      n: {type: integer, maximun: 5}\n",
        ["policy.yaml:4:26: tools.a.arguments.n: unknown key 'maximun'; did you mean 'maximum'?"],
    ),
    "a bad pattern": ("tools: {a: {arguments: {s: {pattern: '('}}}}\n", ["policy.yaml:1:"]),
    "a bad glob": ("tools: {'[a': {arguments: {}}}\n", ["policy.yaml:1:9: "]),
    "two mistakes": (
        "tools:\n  a: {arguments: {n: {type: nmber}}}\n  b: {arguments: {n: {min: x}}}\n",
        ["policy.yaml:2:", "policy.yaml:3:"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), POLICIES.values(), ids=POLICIES.keys())
def test_a_policy_that_is_wrong(tmp_path: Path, text: str | bytes | None, expected: list[str]) -> None:
    lay(tmp_path, {"passmuster.yaml": POLICY, "t.jsonl": GOOD})
    if text is not None:
        lay(tmp_path, {"policy.yaml": text})
    check(refused(tmp_path, "run", "--traces", "t.jsonl", "--report", "json=report.json"), expected)


@pytest.mark.parametrize("way", ["../policy.yaml", "link.yaml", "linked/policy.yaml", "folder"])
def test_a_policy_must_lie_within_the_root(tmp_path: Path, way: str) -> None:
    house = tmp_path / "house"
    lay(
        tmp_path,
        {
            "policy.yaml": "tools: {look: {arguments: {}}}\n",
            "house/passmuster.yaml": POLICY.replace("policy.yaml", way),
        },
    )
    lay(house, {"t.jsonl": GOOD, "folder/x": ""})
    (house / "link.yaml").symlink_to(tmp_path / "policy.yaml")
    (house / "linked").symlink_to(tmp_path)
    (message,) = refused(house, "run", "--traces", "t.jsonl", "--report", "json=report.json")
    reason = "there is no file" if way == "folder" else f"'{way}' is outside the root"
    assert message.startswith(f"passmuster.yaml:1:48: tests.args.policy: {reason}"), message
    code, *_ = run(house, "run", "--traces", "t.jsonl", "--root", "..")
    assert code == (2 if way == "folder" else 0)


TRACES: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "t.jsonl: there is no such trace file or folder"),
    "empty": (b"", "t.jsonl: is empty: it holds no trace"),
    "blank": (b"\n \r\n", "t.jsonl: is empty: it holds no trace"),
    "cut off": (b'{"steps": [{"type": "tool_ca\n', "t.jsonl:2: is cut off: its JSON ends too early"),
    "cut off at the end of the file": (b'{"steps": [', "t.jsonl:2: is cut off: its JSON ends too early"),
    "not UTF-8": (b'{"steps": [], "query": "\xe4"}\n', "t.jsonl:2: is not UTF-8: invalid byte 0xe4"),
    "half a pair in UTF-8": (b'{"steps": [], "x": "\xed\xa0\xbd"}', "t.jsonl:2: is not UTF-8: invalid byte 0xed"),
    "not JSON": (b"steps: []\n", "t.jsonl:2: is not JSON: invalid character"),
    "another object": (b'{"spans": []}\n', "t.jsonl:2: is not a trace: it has neither 'steps' nor 'answer'"),
    "a wrong type": (b'{"steps": {}}\n', "t.jsonl:2: Expected `array | null`, got `object` - at `$.steps`"),
}
HIDDEN_PLACES = {
    "arguments": '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {"a": [@]}}]}',
    "result": '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {}, "result": [@]}]}',
    "a result of its own": '{"steps": [{"type": "tool_result", "tool": "t", "result": @}]}',
    "error": '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {}, "error": @}]}',
    "content": '{"steps": [{"type": "message", "role": "user", "content": @}]}',
    "metadata": '{"steps": [], "metadata": {"a": @}}',
    "an unknown field": '{"steps": [], "unheard": @}',
    "an unknown field of a step": '{"steps": [{"type": "llm_call", "unheard": {"a": @}}]}',
}
EVILS = {
    "NaN": (b"NaN", "is not JSON: invalid character"),
    "half a pair": (b'"\\ud83d"', "has half of a surrogate pair"),
    "half a pair as a key": (b'{"\\udc00": 1}', "has half of a surrogate pair"),
    "depth": (b"[" * 100_000 + b"]" * 100_000, "is nested too deeply to be read"),
    "a byte": (b'"\xff"', "is not UTF-8: invalid byte 0xff"),
}


@pytest.mark.parametrize(("data", "expected"), TRACES.values(), ids=TRACES.keys())
def test_traces_that_are_wrong(tmp_path: Path, data: bytes | None, expected: str) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE})
    if data is not None:
        first = GOOD.encode() if data.strip() else b""
        lay(tmp_path, {"t.jsonl": first + data})
    check(refused(tmp_path, "run", "--traces", "t.jsonl", "--report", "json=report.json"), [expected])


@pytest.mark.parametrize("evil", EVILS)
def test_no_place_in_a_trace_hides_what_is_not_json(tmp_path: Path, evil: str) -> None:
    """One suite and one file a place, in one process: every one of them is refused."""
    value, expected = EVILS[evil]
    for number, line in enumerate(HIDDEN_PLACES.values()):
        bad = line.encode().replace(b"@", value)
        lay(
            tmp_path,
            {f"{number}/passmuster.yaml": f"traces: [t.jsonl]\n{SUITE}", f"{number}/t.jsonl": GOOD.encode() + bad},
        )
    code, output, errors = run(tmp_path, "run", *map(str, range(len(HIDDEN_PLACES))))
    assert (code, output) == (2, "")
    found = [line for line in errors.splitlines() if line.startswith("error: ")]
    assert len(found) == len(HIDDEN_PLACES), errors
    for line in found:
        assert line.startswith(f"error: t.jsonl:2: {expected}"), line


FINE: dict[str, bytes] = {
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "no last newline": GOOD.rstrip().encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
    "integers of 400 digits": GOOD.replace('"arguments": {}', f'"arguments": {{"n": {"9" * 400}}}').encode(),
    "integers of 10,000 digits": GOOD.replace('"arguments": {}', f'"arguments": {{"n": {"9" * 10_000}}}').encode(),
    "a number beyond a double": GOOD.replace('"arguments": {}', '"arguments": {"n": -1e400}').encode(),
    "a line of 50 MB": GOOD.replace("{}", json.dumps({"text": "x" * 50_000_000})).encode(),
    "an emoji as escapes": GOOD.replace("{}", '{"text": "\\ud83d\\ude00"}').encode(),
}


@pytest.mark.parametrize("data", FINE.values(), ids=FINE.keys())
def test_what_is_unusual_and_fine(tmp_path: Path, data: bytes) -> None:
    inline = "tests: [{id: args, metric: args_valid, tool: look, constraints: {n: {type: number}}}]\n"
    lay(tmp_path, {"passmuster.yaml": inline, "t.json": data})
    code, output, errors = run(tmp_path, "run", "--traces", "t.json", "--report", "json=-", "--quiet", "--workers", "1")
    report = json.loads(output)
    assert report["traces"]["read"] == 1, errors
    assert code == (1 if b"9999" in data or b"1e400" in data else 0)  # a number no double can hold is a violation


def test_skipping_bad_lines_is_counted_and_told(tmp_path: Path) -> None:
    bad = ["{", '{"steps": [NaN]}', '{"steps": [], "x": "\\ud83d"}', "[" * 100_000]
    lay(tmp_path, {"passmuster.yaml": SUITE, "t.jsonl": GOOD + "\n".join(bad) + "\n" + GOOD})
    with (tmp_path / "t.jsonl").open("ab") as file:
        file.write(b"\xff\n")
    code, output, _ = run(tmp_path, "run", "--traces", "t.jsonl", "--skip-bad-lines", "--report", "json=-", "--quiet")
    report = json.loads(output)
    assert (code, report["verdict"], report["exit_code"]) == (0, "warn", 0)
    assert (report["traces"]["read"], report["traces"]["bad_lines"]) == (2, 5)
    (line,) = [line for line in report["gate"] if line["kind"] == "input"]
    assert (line["level"], line["message"]) == ("warning", "5 lines could not be read and were skipped")
    code, output, _ = run(tmp_path, "run", "--traces", "t.jsonl", "--skip-bad-lines", "--strict")
    assert code == 1
    assert "5 lines could not be read" in output


def test_nothing_but_bad_lines_is_no_trace_at_all(tmp_path: Path) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE, "t.jsonl": "{\n{}\n"})
    expected = "no trace found: all 2 lines of the input are bad, so there is nothing to evaluate"
    found = refused(tmp_path, "run", "--traces", "t.jsonl", "--skip-bad-lines", "--report", "json=report.json")
    assert found == [expected]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "passmuster.yaml: no traces: give --traces PATH"),
        (["--traces", "*.csv"], "*.csv: this glob matches no file"),
        (["--traces", "folder"], "folder: holds no trace file"),
        (["--traces", "-"], "<stdin>: is empty: it holds no trace"),
        (
            ["--traces", "t.jsonl", "--only", "nome"],
            "--only nome selects no test and no scenario; did you mean 'none'?",
        ),
        (["--traces", "t.jsonl", "--only", "x*"], "--only x* selects no test and no scenario"),
        (["--traces", "t.jsonl", "--only", "["], "--only ["),
        (["--traces", "t.jsonl", "--tag", "x"], "--tag x is on no test and no scenario"),
        (
            ["--traces", "t.jsonl", "--today", "nonsense"],
            "--today: expected a day such as 2026-01-31, found 'nonsense'",
        ),
        (["--traces", "t.jsonl", "--report", "bogus=x"], "there is no report format 'bogus'; there are console"),
        (["--traces", "t.jsonl", "--report", "json"], "--report: expected FORMAT=PATH"),
        (["--traces", "t.jsonl", "--report", "json="], "--report: expected FORMAT=PATH"),
        (["--traces", "t.jsonl", "--root", "nowhere"], "nowhere: the root is not a folder"),
        (["--traces", "t.jsonl", "--report", "json=folder"], "folder: cannot write this report: it is a folder"),
        (
            ["--traces", "t.jsonl", "--report", "json=no/r.json"],
            "no/r.json: cannot write this report: there is no folder",
        ),
        (["--traces", "t.jsonl", "--report", "json=t.jsonl/r"], "t.jsonl/r: cannot write this report: "),
        (["--traces", "t.jsonl", "--report", "json=/proc/nowhere/r"], "/proc/nowhere/r: cannot write this report: "),
        (["--traces", "fifo"], "fifo: is not a regular file, and traces are read more than once"),
        (["--traces", "/dev/null"], "/dev/null: is not a regular file, and traces are read more than once"),
        (["--traces", "/proc/self/mem"], "/proc/"),
    ],
    ids=lambda value: "=".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_cannot_be_meant(tmp_path: Path, arguments: list[str], expected: str) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE, "t.jsonl": GOOD, "folder/x.txt": ""})
    os.mkfifo(tmp_path / "fifo")
    own = ["--report", "json=report.json"] if "--report" not in arguments else []
    check(refused(tmp_path, "run", *arguments, *own), [expected])


def test_an_option_that_does_not_exist(tmp_path: Path) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE, "t.jsonl": GOOD})
    code, output, errors = run(tmp_path, "run", "--trace", "t.jsonl")
    assert (code, output) == (2, "")
    assert "--traces" in errors


def test_several_mistakes_are_told_together(tmp_path: Path) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE})
    check(
        refused(tmp_path, "run", "--traces", "a.jsonl", "--traces", "b/*.jsonl"),
        ["a.jsonl: there is no such trace file or folder", "b/*.jsonl: this glob matches no file"],
    )


@pytest.mark.parametrize("damage", [slice(0, -1), slice(0, 40), slice(1, None)], ids=["cut", "short", "start"])
def test_a_damaged_gzip_file(tmp_path: Path, damage: slice) -> None:
    packed = gzip.compress((GOOD * 500).encode())
    lay(tmp_path, {"passmuster.yaml": SUITE, "t.jsonl.gz": packed[damage]})
    found = refused(tmp_path, "run", "--traces", "t.jsonl.gz", "--skip-bad-lines", "--report", "json=report.json")
    check(found, ["t.jsonl.gz: the gzip file is damaged or cut off ("])


def test_a_closed_standard_input(tmp_path: Path) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE})
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m passmuster run --traces - <&-'],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: <stdin>: is closed\n")


@pytest.mark.parametrize("way", [["-"], ["big.jsonl", "--workers", "1"], ["big.jsonl", "--workers", "2"]])
def test_an_interrupt_ends_at_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: list[str]
) -> None:
    lay(tmp_path, {"passmuster.yaml": SUITE, "temporary/x": "", "big.jsonl": GOOD * 3_000_000})
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with start(tmp_path, "run", "--report", "json=report.json", "--traces", *way) as process:
        assert process.stdin is not None
        process.stdin.write(GOOD.encode() * 100)
        process.stdin.flush()
        time.sleep(1.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=20)
    assert time.monotonic() - sent < 5
    assert (process.returncode, output, errors) == (130, b"", b"Interrupted.\n")
    assert not (tmp_path / "report.json").exists()
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == ["x"]
