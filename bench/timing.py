"""Timing side by side: the things compared take turns, and each keeps its best, for machines are noisy."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import perf_counter, process_time

__all__ = ["best_of", "children_cpu", "cpu_seconds", "least_cpu", "peak_memory", "resources", "timed", "together"]


def timed(run: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Seconds that one call takes."""
    started = clock()
    run()
    return clock() - started


def best_of(rounds: int, *runs: Callable[[], object], clock: Callable[[], float] = perf_counter) -> list[float]:
    """The best time of each, measured in turns."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for place, run in enumerate(runs):
            best[place] = min(best[place], timed(run, clock))
    return best


def least_cpu(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """The least CPU time of each, measured in turns: of work in this process alone, whoever else uses the machine."""
    return best_of(rounds, *runs, clock=process_time)


def children_cpu() -> float:
    """A clock that counts the CPU time of the processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def together(commands: Sequence[Sequence[str]]) -> None:
    """Run commands side by side, each to a clean end."""
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for command in commands]
    for process in running:
        _, errors = process.communicate()
        if process.returncode not in (0, 1):
            sys.exit(f"{' '.join(process.args)} failed:\n{errors.decode()}")  # type: ignore[arg-type]


def resources(command: Sequence[str]) -> resource.struct_rusage:
    """What a command and the processes that it waited for used; the memory is that of the largest of them."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return usage


def peak_memory(command: Sequence[str]) -> int:
    """Kilobytes at the most held by one process of a command."""
    return resources(command).ru_maxrss


def cpu_seconds(command: Sequence[str]) -> float:
    """CPU time of a command and the processes that it waited for, whoever else uses the machine."""
    usage = resources(command)
    return usage.ru_utime + usage.ru_stime
