"""Runs that are ended at random moments: `python -m tests.fuzzing.kills --kills 300 --seed 1`.

Whatever the moment, each file that a run writes is whole: the new one, the old one, or none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import IO

from tests.fuzzing import seeds

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
REPORTS = ("json=r.json", "junit=r.xml", "sarif=r.sarif", "html=r.html")
RUN = ("run", "--traces", "t.jsonl", *(word for report in REPORTS for word in ("--report", report)), "--quiet")
SAVE = ("baseline", "save", "--traces", "t.jsonl", "-o", "b.json")
TWO = (*RUN, "--workers", "2", "--traces", "u.jsonl")
COMMANDS = (RUN, SAVE, TWO)


def lay(folder: Path) -> None:
    """A suite and its traces, enough for a second of work."""
    document = {**seeds.SUITE, "tests": seeds.SUITE["tests"][1:]}
    (folder / "passmuster.json").write_text(json.dumps(document))
    records = [{**seeds.NATIVE, "scenario": f"S-{1 + number % 2}", "trace_id": str(number)} for number in range(400)]
    for name in ("t.jsonl", "u.jsonl"):
        (folder / name).write_bytes(seeds.lines(records))


def start(folder: Path, arguments: tuple[str, ...], errors: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    """The command in a process of its own; what it says goes to `errors`."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "passmuster", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors)


def broken_files(folder: Path) -> list[str]:
    """Files that are there and not whole."""
    checks: dict[str, Callable[[bytes], object]] = {
        "r.json": lambda data: json.loads(data)["exit_code"],
        "r.sarif": lambda data: json.loads(data)["runs"],
        "b.json": lambda data: json.loads(data)["schema"],
        "r.xml": ElementTree.fromstring,
        "r.html": lambda data: data.rindex(b"</html>"),
    }
    found = []
    for name, check in checks.items():
        path = folder / name
        if path.exists():
            try:
                check(path.read_bytes())
            except Exception as error:
                found.append(f"{name}: {error!r}")
    history = folder / ".passmuster" / "history.db"
    if history.exists() and history.stat().st_size:
        with contextlib.closing(sqlite3.connect(history)) as connection:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                found.append("history.db: damaged")
    ignore = folder / ".passmuster" / ".gitignore"
    if ignore.exists() and ignore.read_bytes() != b"*\n":
        found.append(".gitignore: cut off")
    return found


def kill_once(folder: Path, arguments: tuple[str, ...], number: int, delay: float) -> tuple[int, str, list[str]]:
    """The exit code of a run that gets a signal after a while, what it said, and files that are not whole."""
    said = folder / "errors.txt"
    with open(said, "wb") as errors, start(folder, arguments, errors) as process:
        time.sleep(delay)
        process.send_signal(number)
        process.wait(timeout=300)
    return process.returncode, said.read_text(errors="replace"), broken_files(folder)


def main() -> None:
    """Kill many runs, and say how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, endings, broken = Random(given.seed), Counter[tuple[str, int]](), []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lay(folder)
        for _ in range(given.kills):
            number = rng.choice(SIGNALS)
            code, errors, found = kill_once(folder, rng.choice(COMMANDS), number, rng.uniform(0.02, 2.5))
            endings[(number.name, code)] += 1
            broken += found + (["traceback"] if "Traceback" in errors else [])
            if rng.random() < 0.1:
                for path in folder.glob("r.*"):
                    path.unlink()
    print(f"{given.kills} kills, endings {dict(endings)}, not whole: {broken or 'none'}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
