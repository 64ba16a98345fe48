"""Several workers on one input: parts are handed out in order, tallies come back, and no part is ever lost.

A worker that dies is an error that names the part it had: a smaller total would look like a verdict. An
interrupt ends all of them at once. Of several bad parts the first in the input's order is told, so that the
message does not depend on who was faster.
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

from passmuster._problems import OutsideError, Problem, SuiteError, TraceError
from passmuster.checks import Golden
from passmuster.engine._messages import Counted, Finish, Judge, Refused, Setup, Tallied, receive_answer, send
from passmuster.engine._parts import Part
from passmuster.engine._run import Progress
from passmuster.scoring import Settings, Tally, merge
from passmuster.suite import Suite

__all__ = ["judge_parts"]


_START = "import sys; sys.path[:] = sys.argv[1:]; from passmuster.engine._worker import main; main()"


def _search_path() -> list[str]:
    """Where a worker imports from: never the current folder, where anybody's `msgspec.py` may lie.

    If this package itself was found in the current folder, the folder comes last, behind all that is installed.
    """
    here = os.getcwd()
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    kept = [entry for entry in sys.path if entry and os.path.realpath(entry) != os.path.realpath(here)]
    return kept if home in kept else [*kept, home]


class _Worker:
    """One process and the part it is at."""

    def __init__(self, search_path: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *search_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.orders = cast("BinaryIO", self.process.stdin)
        self.answers = cast("BinaryIO", self.process.stdout)
        self.number: int | None = None

    def order(self, message: Setup | Judge | Finish) -> None:
        with contextlib.suppress(BrokenPipeError):  # its death is told by the silence that follows
            send(self.orders, message)
        if isinstance(message, Judge):
            self.number = message.number


def judge_parts(
    suite: Suite,
    settings: Settings,
    golden: dict[str, Golden],
    parts: Sequence[Part],
    workers: int,
    plugins: bool,
    progress: Progress,
) -> Tally:
    """One tally of all parts, by so many processes."""
    setup = Setup(
        suite=str(suite.path),
        root=str(suite.root),
        documents=suite.documents,
        plugins=plugins,
        settings=settings,
        golden=golden,
    )
    with _crew(setup, min(workers, len(parts))) as crew:
        return _conduct(crew, parts, progress)


@contextlib.contextmanager
def _crew(setup: Setup, size: int) -> Iterator[list[_Worker]]:
    crew: list[_Worker] = []
    try:
        with _deaf_to_interrupts():
            path = _search_path()
            crew += [_Worker(path) for _ in range(size)]
        for worker in crew:
            worker.order(setup)
        yield crew
    finally:
        for worker in crew:
            worker.process.kill()
        for worker in crew:
            worker.process.wait()
            for pipe in (worker.orders, worker.answers):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Children started here ignore Ctrl-C; the parent hears it and ends them."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _conduct(crew: list[_Worker], parts: Sequence[Part], progress: Progress) -> Tally:
    waiting = iter(enumerate(parts))
    refused: list[Refused] = []
    tallies: list[Tally] = []
    busy = selectors.DefaultSelector()

    def next_order(worker: _Worker) -> None:
        worker.number = None
        following = None if refused else next(waiting, None)
        if following is not None:
            worker.order(Judge(*following))
        elif refused:
            busy.unregister(worker.answers)
        else:
            worker.order(Finish())

    for worker in crew:
        busy.register(worker.answers, selectors.EVENT_READ, worker)
        next_order(worker)
    while busy.get_map():
        for key, _ in busy.select():
            worker = key.data
            match receive_answer(worker.answers):
                case Counted(number):
                    progress(parts[number], parts[number].size)
                    next_order(worker)
                case Refused() as answer:
                    refused.append(answer)
                    next_order(worker)
                case Tallied(tally):
                    tallies.append(tally)
                    busy.unregister(worker.answers)
                case None:
                    raise OutsideError(Problem(_obituary(worker, parts)))
    if refused:
        first = min(refused, key=lambda answer: answer.number)
        raise (SuiteError if first.of_suite else TraceError)(first.problems)
    return merge(tallies)


def _obituary(worker: _Worker, parts: Sequence[Part]) -> str:
    code = worker.process.wait()
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    if code == -signal.SIGKILL:
        how = "was killed (signal 9; out of memory?)"
    had = f"while it judged {parts[worker.number]}" if worker.number is not None else "before or after its parts"
    return f"a worker process {how} {had}; no total can be trusted without it"
