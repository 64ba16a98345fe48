"""What the three ways to run an agent have in common: one attempt at a run, and what has to be ended with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from msgspec import Struct, field

from passmuster._problems import Problem
from passmuster.agents._answers import Turn
from passmuster.agents._config import CommandAgent, LiveAgent
from passmuster.agents._run import PlannedRun


class Endable(Protocol):
    """Something that runs, and can be ended from another thread."""

    def end(self, *, at_once: bool = False) -> None:
        """End it; nothing of it is left afterwards."""


_Running = TypeVar("_Running", bound=Endable)


class Active:
    """All that is running now, so that an interrupted session can end it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Endable, float] = {}
        self.cancelled = False

    @contextlib.contextmanager
    def watch(self, running: _Running, deadline: float = inf) -> Iterator[_Running]:
        """What is given ends with the context, at the deadline, or with the session."""
        with self._lock:
            self._running[running] = deadline
        try:
            if self.cancelled:
                running.end(at_once=True)
            yield running
        finally:
            with self._lock:
                self._running.pop(running, None)
            running.end(at_once=self.cancelled)

    def end_overdue(self) -> None:
        """End what has run past its deadline without noticing."""
        now = monotonic()
        with self._lock:
            overdue = [running for running, deadline in self._running.items() if deadline < now]
        for one in overdue:
            one.end(at_once=True)

    def end_all(self) -> None:
        """End everything, and whatever starts from now on."""
        self.cancelled = True
        with self._lock:
            running = list(self._running)
        for one in running:
            one.end(at_once=True)


class Attempt(Struct):
    """One attempt at a run. `turns` fills as the conversation goes on."""

    planned: PlannedRun
    id: str
    """Told to capture, and to the agent as its session."""
    environment: Callable[[], Mapping[str, str]]
    """What a process of this attempt gets."""
    headers: Mapping[str, str]
    deadline: float
    active: Active
    turns: list[Turn] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - monotonic())

    def values(self, query: str, turn: int = 1) -> dict[str, str]:
        """The fields of templates for one turn."""
        return {
            "query": query,
            "session": self.id,
            "scenario": self.planned.scenario,
            "run": str(self.planned.run),
            "turn": str(turn),
        }


class Runner(Protocol):
    """A way to run an agent."""

    def problems(self) -> Iterator[Problem]:
        """Why it cannot be run, found out before anything is spent."""

    def run(self, attempt: Attempt) -> None:
        """Hold the conversation. Raises `AgentFailure`, or `OutsideFailure` where another attempt may help."""


def program_problem(agent: LiveAgent, key: str, command: CommandAgent) -> Iterator[Problem]:
    """Why the program of a command cannot be started."""
    program = command.words[0].text
    if resolved_program(agent.folder, program) is None:
        where = f"in {agent.folder}" if _has_folder(program) else "in PATH"
        message = f"agent.{key}: there is no program '{program}' {where} that can be started"
        yield Problem(message, agent.file, agent.lines.get(key))


def resolved_program(folder: Path, program: str) -> str | None:
    """Where a program is: in the suite's folder if its name has a folder, else in PATH."""
    if _has_folder(program):
        return shutil.which(str(folder / program))
    return shutil.which(program)


def _has_folder(program: str) -> bool:
    return os.sep in program or "/" in program
