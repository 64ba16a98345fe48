"""Messages between the parent process and its workers: length-prefixed JSON over pipes."""

from __future__ import annotations

from typing import BinaryIO

import msgspec
from msgspec import Struct

from passmuster._problems import InputError, OutsideError, Problem, SuiteError, TraceError
from passmuster.checks import Golden
from passmuster.engine._encoding import decoded, encoded
from passmuster.engine._execution import PartFiles
from passmuster.engine._load_suite import load_suite
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._select import select
from passmuster.scoring import Settings, Tally
from passmuster.suite import Suite


class SuiteFiles(Struct, frozen=True):
    """A suite and its policies as the parent read them, so that both evaluate the same suite."""

    suite: str
    root: str
    documents: dict[str, bytes]

    def load(self, plugins: bool) -> Suite:
        """The suite."""
        return load_suite(self.suite, root=self.root, plugins=plugins, documents=self.documents)


class Setup(Struct, frozen=True, tag=True):
    """The first order: the suite to compile."""

    suite: SuiteFiles
    plugins: bool
    settings: Settings
    golden: dict[str, Golden]
    files: PartFiles = PartFiles()
    before: SuiteFiles | None = None

    def job(self) -> Job:
        """What the parent has been asked."""
        before = self.before.load(self.plugins) if self.before else None
        suite = select(self.suite.load(self.plugins), self.settings.only, self.settings.tags)
        return Job(suite, self.settings, self.golden, self.plugins, self.files, before)


def setup_of(job: Job) -> Setup:
    """The order that makes a worker ready for a job."""
    return Setup(
        suite=_files_of(job.suite),
        plugins=job.plugins,
        settings=job.settings,
        golden=dict(job.golden),
        files=job.files,
        before=_files_of(job.before) if job.before else None,
    )


def _files_of(suite: Suite) -> SuiteFiles:
    return SuiteFiles(str(suite.path), str(suite.root), suite.documents)


class EvaluatePart(Struct, frozen=True, tag=True):
    """Evaluate a part."""

    number: int
    part: Part


class Finish(Struct, frozen=True, tag=True):
    """There are no more parts: hand over the tally."""


class PartDone(Struct, frozen=True, tag=True):
    """A part is evaluated and counted."""

    number: int


class PartRefused(Struct, frozen=True, tag=True):
    """A part has a record that cannot be evaluated, or cannot be read for a reason outside of it."""

    number: int
    problems: list[Problem]
    of_suite: bool = False
    outside: bool = False

    def error(self) -> InputError | OutsideError:
        """The same as an error."""
        if self.outside:
            return OutsideError(self.problems[0])
        return SuiteError(self.problems) if self.of_suite else TraceError(self.problems)


def refusal(number: int, error: InputError | OutsideError) -> PartRefused:
    """What a worker answers where evaluating a part raises."""
    if isinstance(error, OutsideError):
        return PartRefused(number, [error.problem], outside=True)
    return PartRefused(number, error.problems, isinstance(error, SuiteError))


class WorkerTally(Struct, frozen=True, tag=True):
    """Everything a worker counted."""

    tally: Tally


class WorkerBroke(Struct, frozen=True, tag=True):
    """A worker failed in a way that nobody foresaw, and ends."""

    details: str


Order = Setup | EvaluatePart | Finish
Answer = PartDone | PartRefused | WorkerTally | WorkerBroke

_orders: msgspec.json.Decoder[Order] = msgspec.json.Decoder(Order)
_answers: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


def send(pipe: BinaryIO, message: Order | Answer) -> None:
    """Write one message."""
    data = encoded(message)
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _read(pipe: BinaryIO) -> bytes | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "big")
    data = pipe.read(size)
    return data if len(data) == size else None


def receive_order(pipe: BinaryIO) -> Order | None:
    """The parent's next order; None when the parent is gone."""
    data = _read(pipe)
    return None if data is None else decoded(data, _orders)


def receive_answer(pipe: BinaryIO) -> Answer | None:
    """A worker's next answer; None when the worker is gone."""
    data = _read(pipe)
    return None if data is None else decoded(data, _answers)
