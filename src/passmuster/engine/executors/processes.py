"""Evaluates parts in several worker processes.

Parts are handed out in order. A worker that dies is an error that names the part it had: a smaller total would look
like a verdict. An interrupt ends all workers at once. Of several bad parts the first in the order of the input is
reported, so that the message does not depend on which worker was faster.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

from passmuster._problems import OutsideError, Problem, WorkerFailure
from passmuster.engine._execution import Execution
from passmuster.engine._judge_questions import open_judges
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine.executors._messages import (
    EvaluatePart,
    Finish,
    PartDone,
    PartRefused,
    Setup,
    WorkerBroke,
    WorkerTally,
    receive_answer,
    send,
    setup_of,
)
from passmuster.scoring import Tally, merge

_START = "import sys; sys.path[:] = sys.argv[1:]; from passmuster.engine.executors._worker import main; main()"


def execute(job: Job, parts: Sequence[Part], execution: Execution, progress: Progress) -> Tally:
    """One tally of all parts."""
    suite = job.suite
    if suite.may_ask:
        open_judges(suite, job.settings.judge).close()  # a damaged cache is reported here, before workers break on it
    with _started(setup_of(job), min(execution.workers, len(parts))) as pool:
        return _hand_out(pool, parts, progress)


class _Worker:
    """One process and the part it is at."""

    def __init__(self, search_path: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *search_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.orders = cast("BinaryIO", self.process.stdin)
        self.answers = cast("BinaryIO", self.process.stdout)
        self.number: int | None = None

    def order(self, message: Setup | EvaluatePart | Finish) -> None:
        with contextlib.suppress(BrokenPipeError):  # the missing answer shows that it died
            send(self.orders, message)
        if isinstance(message, EvaluatePart):
            self.number = message.number


def _search_path() -> list[str]:
    """Where a worker imports from: never the current folder, where anybody's `msgspec.py` may lie.

    If this package itself was found in the current folder, the folder comes last, behind all that is installed.
    """
    here = os.getcwd()
    home = os.path.abspath(os.path.join(__file__, "../../../.."))
    kept = [entry for entry in sys.path if entry and os.path.realpath(entry) != os.path.realpath(here)]
    return kept if home in kept else [*kept, home]


@contextlib.contextmanager
def _started(setup: Setup, size: int) -> Iterator[list[_Worker]]:
    pool: list[_Worker] = []
    try:
        with _interrupts_ignored():
            path = _search_path()
            pool += [_Worker(path) for _ in range(size)]
        for worker in pool:
            worker.order(setup)
        yield pool
    finally:
        for worker in pool:
            worker.process.kill()
        for worker in pool:
            worker.process.wait()
            for pipe in (worker.orders, worker.answers):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started here ignore Ctrl-C; the parent gets it and ends them."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _hand_out(pool: list[_Worker], parts: Sequence[Part], progress: Progress) -> Tally:
    waiting = iter(enumerate(parts))
    refused: list[PartRefused] = []
    tallies: list[Tally] = []
    busy = selectors.DefaultSelector()

    def next_order(worker: _Worker) -> None:
        worker.number = None
        following = None if refused else next(waiting, None)
        if following is not None:
            worker.order(EvaluatePart(*following))
        elif refused:
            busy.unregister(worker.answers)
        else:
            worker.order(Finish())

    for worker in pool:
        busy.register(worker.answers, selectors.EVENT_READ, worker)
        next_order(worker)
    while busy.get_map():
        for key, _ in busy.select():
            worker = key.data
            match receive_answer(worker.answers):
                case PartDone(number):
                    progress.evaluated(parts[number], parts[number].size)
                    next_order(worker)
                case PartRefused() as answer:
                    refused.append(answer)
                    next_order(worker)
                case WorkerTally(tally):
                    tallies.append(tally)
                    busy.unregister(worker.answers)
                case WorkerBroke(details):
                    raise WorkerFailure(details)
                case None:
                    raise OutsideError(Problem(_why_it_ended(worker, parts)))
    if refused:
        raise min(refused, key=lambda answer: answer.number).error()
    return merge(tallies)


def _why_it_ended(worker: _Worker, parts: Sequence[Part]) -> str:
    code = worker.process.wait()
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    if code == -signal.SIGKILL:
        how = "was killed (signal 9; out of memory?)"
    had = f"while it evaluated {parts[worker.number]}" if worker.number is not None else "before or after its parts"
    return f"a worker process {how} {had}; the totals would be incomplete without it"
