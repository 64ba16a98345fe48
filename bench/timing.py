"""Timing side by side: the things compared take turns, and each keeps its best, for machines are noisy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter

__all__ = ["best_of", "peak_memory", "timed", "together"]


def timed(run: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = perf_counter()
    run()
    return perf_counter() - started


def best_of(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """The best time of each, measured in turns."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for place, run in enumerate(runs):
            best[place] = min(best[place], timed(run))
    return best


def together(commands: Sequence[Sequence[str]]) -> None:
    """Run commands side by side, each to a clean end."""
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for command in commands]
    for process in running:
        _, errors = process.communicate()
        if process.returncode not in (0, 1):
            sys.exit(f"{' '.join(process.args)} failed:\n{errors.decode()}")  # type: ignore[arg-type]


def peak_memory(command: Sequence[str]) -> int:
    """Kilobytes at the most held by a command, its children not counted."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_maxrss
