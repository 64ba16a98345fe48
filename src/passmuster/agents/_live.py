"""All planned runs of an agent, several at a time.

One thread decides: it starts runs, takes in what they came to, writes that down and asks whether to go on. The others
only run. Whatever ends this early, a signal included, ends every process first, and loses no run that was finished.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from time import monotonic

from msgspec import Struct

from passmuster._problems import InputError
from passmuster.agents._attempts import Attempts
from passmuster.agents._budget import Budget
from passmuster.agents._config import CommandAgent, HttpAgent, LiveAgent
from passmuster.agents._process import end_leftovers
from passmuster.agents._run import FinishedRun, PlannedRun, StopRule
from passmuster.agents._runner import Active, Runner, program_problem
from passmuster.agents.capture import CaptureServer

_LOOK = 0.5
"""Seconds between two looks at whether something runs past its deadline."""
_PATIENCE = 10.0
"""Seconds to wait for threads whose processes and connections have been ended."""


class LiveEnd(Struct, frozen=True):
    """How the runs of a session ended."""

    needless: dict[str, str]
    """The runs that a rule left out, by name, and why."""
    out_of_budget: str | None = None
    """Why it stopped before all runs took place."""


def _runner_of(agent: LiveAgent) -> Runner:
    """The runner of an agent."""
    way = agent.way
    if isinstance(way, CommandAgent):
        from passmuster.agents._command_runner import CommandRunner

        return CommandRunner(agent, way)
    if isinstance(way, HttpAgent):
        from passmuster.agents._http_runner import HttpRunner

        return HttpRunner(agent, way)
    from passmuster.agents._python_runner import PythonRunner

    return PythonRunner(agent, way)


def check_agent(agent: LiveAgent) -> None:
    """Raise `InputError` with everything that keeps the agent from being run."""
    problems = list(_runner_of(agent).problems())
    for key, command in (("setup", agent.setup), ("teardown", agent.teardown)):
        if command is not None:
            problems += program_problem(agent, key, command)
    if problems:
        raise InputError(problems)


def run_agent(
    agent: LiveAgent,
    plan: Sequence[PlannedRun],
    capture: CaptureServer,
    on_finished: Callable[[FinishedRun], None],
    *,
    session: str,
    budget: Budget,
    stop: StopRule | None = None,
) -> LiveEnd:
    """Run what is planned, in this order, and give every run that finished to `on_finished`, in this thread.

    `session` names the processes, so that none is left behind. `stop` leaves out runs that are not needed.
    """
    active = Active()
    attempts = Attempts(agent, _runner_of(agent), capture, active, session)
    return _Session(attempts, agent.concurrency, active, session, budget, stop, on_finished).run(plan)


class _Session:
    def __init__(
        self,
        attempts: Attempts,
        concurrency: int,
        active: Active,
        session: str,
        budget: Budget,
        stop: StopRule | None,
        on_finished: Callable[[FinishedRun], None],
    ) -> None:
        self._attempts, self._active, self._session = attempts, active, session
        self._budget, self._stop, self._on_finished = budget, stop, on_finished
        self._concurrency = concurrency
        self._waiting: SimpleQueue[PlannedRun | None] = SimpleQueue()
        self._finished: SimpleQueue[FinishedRun | BaseException] = SimpleQueue()
        self._running = 0

    def run(self, plan: Sequence[PlannedRun]) -> LiveEnd:
        size = min(self._concurrency, len(plan))
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]
        for thread in threads:
            thread.start()
        needless: dict[str, str] = {}
        try:
            return self._decide(plan, size, needless)
        except BaseException:
            self._give_up()
            raise
        finally:
            for _ in threads:
                self._waiting.put(None)
            until = monotonic() + _PATIENCE
            for thread in threads:
                thread.join(max(0.0, until - monotonic()))
            end_leftovers(self._session)

    def _decide(self, plan: Sequence[PlannedRun], size: int, needless: dict[str, str]) -> LiveEnd:
        exhausted: str | None = None
        todo = deque(plan)
        while todo or self._running:
            while todo and self._running < size:
                planned = todo[0]
                if why := self._stop.needless(planned) if self._stop else None:
                    needless[planned.name] = why
                elif exhausted := self._budget.exhausted(self._running):
                    break
                else:
                    self._running += 1
                    self._waiting.put(planned)
                todo.popleft()
            if not self._running:
                break
            self._take_in(self._next())
        return LiveEnd(needless, exhausted)

    def _next(self) -> FinishedRun | BaseException:
        while True:
            try:
                return self._finished.get(timeout=_LOOK)
            except Empty:
                self._active.end_overdue()

    def _take_in(self, run: FinishedRun | BaseException) -> None:
        self._running -= 1
        if isinstance(run, BaseException):
            raise run
        self._budget.add(run)
        self._on_finished(run)
        if self._stop:
            self._stop.finished(run)

    def _work(self) -> None:
        while (planned := self._waiting.get()) is not None:
            try:
                run = self._attempts.finish(planned)
            except BaseException as error:
                self._finished.put(error)
                continue
            if not self._active.cancelled:  # else it was ended, and is not the agent's doing
                self._finished.put(run)

    def _give_up(self) -> None:
        """End everything, and take in what had finished before."""
        self._active.end_all()
        while True:
            try:
                run = self._finished.get_nowait()
            except Empty:
                return
            if isinstance(run, FinishedRun):
                self._on_finished(run)
