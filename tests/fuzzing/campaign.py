"""A fuzz campaign: `python -m tests.fuzzing.campaign --inputs 500000 --seed 1 --findings FOLDER`.

Every input has a seed of its own (`SEED-TARGET-NUMBER`), so that `--only TARGET --first NUMBER --inputs 1` repeats it.
Anything but a result or a located refusal is a finding, and so is an input that takes longer than ten seconds.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import NoReturn

from tests.fuzzing.targets import TARGETS, Bench

LONGEST = 10
"""Seconds of CPU time for one input: a busy machine is no hang."""
MOST_MEMORY = 4 << 30
_ROUNDS = 100


class Hang(Exception):
    """An input took too long."""


def _too_long(number: int, frame: object) -> NoReturn:
    raise Hang(f"longer than {LONGEST} seconds of CPU time")


def run_one(bench: Bench, name: str, seed: str) -> str:
    """The outcome of one input; raises what the program should not have raised."""
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return TARGETS[name][0](bench, Random(seed))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def campaign(inputs: int, seed: int, folder: Path, names: list[str], first: int, corpus: Path | None) -> int:
    """Run the inputs, write findings to the folder, and give their number."""
    signal.signal(signal.SIGPROF, _too_long)
    shares = {name: TARGETS[name][1] for name in names}
    counts = {name: max(1, inputs * share // sum(shares.values())) for name, share in shares.items()}
    findings = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as temporary:
        bench = Bench(Path(temporary))
        if corpus is not None:
            bench.extra = [file.read_bytes() for file in sorted(corpus.rglob("*")) if _is_small(file)]
        tallies = {name: _Figures() for name in counts}
        for round_ in range(_ROUNDS):  # all targets in turn, so that an early end has tried each of them
            for name, count in counts.items():
                numbers = range(first + count * round_ // _ROUNDS, first + count * (round_ + 1) // _ROUNDS)
                findings += _run_some(bench, name, seed, numbers, folder, tallies[name])
            if round_ % 10 == 9:
                print(f"after round {round_ + 1} of {_ROUNDS}:", flush=True)
                for name, figures in tallies.items():
                    print(f"  {name}: {figures}", flush=True)
    return findings


class _Figures:
    """What came of the inputs of one target."""

    def __init__(self) -> None:
        self.outcomes, self.seconds, self.slowest = Counter[str](), 0.0, 0.0

    def __str__(self) -> str:
        number = sum(self.outcomes.values())
        return f"{number} inputs, {self.seconds:.0f} s, slowest {self.slowest:.2f} s, {dict(self.outcomes)}"


def _run_some(bench: Bench, name: str, seed: int, numbers: range, folder: Path, figures: _Figures) -> int:
    """Run inputs of one target, and give the number of findings."""
    before = figures.outcomes["finding"]
    for number in numbers:
        begun = time.process_time()
        try:
            figures.outcomes[run_one(bench, name, f"{seed}-{name}-{number}")] += 1
        except Exception:
            figures.outcomes["finding"] += 1
            file = folder / f"{name}-{seed}-{number}.txt"
            file.write_text(traceback.format_exc(), errors="backslashreplace")
        taken = time.process_time() - begun
        figures.seconds += taken
        figures.slowest = max(figures.slowest, taken)
    return figures.outcomes["finding"] - before


def _is_small(file: Path) -> bool:
    return file.is_file() and file.suffix in (".json", ".jsonl", ".ndjson") and file.stat().st_size < 60_000


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(TARGETS))
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument("--corpus", type=Path, help="a folder with more traces to start from")
    given = parser.parse_args()
    folder = given.findings.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    corpus = given.corpus and given.corpus.absolute()
    found = campaign(given.inputs, given.seed, folder, given.only or list(TARGETS), given.first, corpus)
    print(f"{found} findings" + (f" in {folder}" if found else ""))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
