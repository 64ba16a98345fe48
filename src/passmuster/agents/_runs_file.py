"""The file that finished runs are added to as they finish, so that nothing that ends a session loses one.

A folder per suite has `runs.jsonl`, one trace of the native form per line, and `plan.json`, which says what the runs
are of. Each line is written in one go; half a line, which a full disk or a killed process may leave, is cut off when
the session goes on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from passmuster._atomic_write import replace_file
from passmuster._problems import OutsideError, Problem, UsageError
from passmuster.agents._process import end_leftovers
from passmuster.agents._run import FinishedRun, PlannedRun
from passmuster.traces import Trace, native_line, read_traces

_SCHEMA = "passmuster.live/1"

Places = dict[str, tuple[int, int]]
"""Runs by name, and where in a file they are: offset and length."""


class LivePlan(Struct, frozen=True, kw_only=True):
    """What the runs of a file are of."""

    schema: str = _SCHEMA
    suite: str
    sha256: str
    """Of the suite and all files that it names."""
    session: str
    """The name of the processes that run."""
    seed: int | None = None
    """Of the order of the runs."""


class RunsFile:
    """The finished runs of a session, kept open for more."""

    def __init__(self, folder: Path, plan: LivePlan, done: Places, descriptor: int) -> None:
        self.plan = plan
        self.path = folder / "runs.jsonl"
        self.done = done
        """The runs that are in the file."""
        self._descriptor = descriptor
        self._end = os.lseek(descriptor, 0, os.SEEK_END)

    def add(self, run: FinishedRun) -> None:
        """Append a run. Raises `OutsideError` where that is not possible; the file is as it was then."""
        line = native_line(run.trace) + b"\n"
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            message = f"{len(self.done)} finished runs are kept; go on with --resume"
            raise _unwritable(error, self.path, message) from error
        self.done[run.planned.name] = (self._end, len(line))
        self._end += len(line)

    def lines(self, plan: Sequence[PlannedRun]) -> Iterator[bytes]:
        """The lines of the file in the order of the plan."""
        return _lines(self.path, [self.done[one.name] for one in plan if one.name in self.done])

    def sort(self, plan: Sequence[PlannedRun]) -> None:
        """Put the lines in the order of the plan, so that it does not show which run was faster. Nothing is added
        afterwards."""
        try:
            replace_file(self.path, self.lines(plan))
        except OSError as error:
            raise _unwritable(error, self.path) from error

    def traces(self) -> Iterator[Trace]:
        """The runs."""
        return read_traces(self.path, format="native") if self.done else iter(())


@contextlib.contextmanager
def runs_file(folder: Path, plan: LivePlan, *, resume: bool) -> Iterator[RunsFile]:
    """The file of a new session, or with `resume` of one that was interrupted. One session at a time has it.

    Processes that a killed session left behind are ended. Raises `UsageError` where the suite is another one now, or
    somebody else is running it, and `OutsideError` where the folder cannot be written to.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(folder / "lock", "wb"))
            _lock(lock.fileno(), folder)
            earlier = _earlier_plan(folder / "plan.json")
            if earlier is not None:
                end_leftovers(earlier.session)
            done: Places = {}
            if resume:
                plan = _same(earlier, plan, folder)
                done = _cut_to_whole_runs(folder / "runs.jsonl")
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.replace(folder / "runs.jsonl", folder / "previous.jsonl")
                replace_file(folder / "plan.json", msgspec.json.format(msgspec.json.encode(plan)) + b"\n")
            descriptor = os.open(folder / "runs.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            stack.callback(os.close, descriptor)
        except OSError as error:
            raise _unwritable(error, folder) from error
        yield RunsFile(folder, plan, done, descriptor)


def _unwritable(error: OSError, path: Path, more: str = "") -> OutsideError:
    why = f"cannot write the runs: {error.strerror or error}"
    return OutsideError(Problem(f"{why}; {more}" if more else why, str(path)))


def _lock(descriptor: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on every system
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(Problem("this suite is being run right now, by another process", str(folder))) from None


def _earlier_plan(path: Path) -> LivePlan | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=LivePlan)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeError):
        return None


def _same(earlier: LivePlan | None, plan: LivePlan, folder: Path) -> LivePlan:
    """The plan of the session that goes on."""
    if earlier is None:
        raise UsageError(Problem("--resume: there is no live run of this suite to go on with", str(folder)))
    if earlier.schema != plan.schema or earlier.sha256 != plan.sha256:
        message = "--resume: the suite has changed since, so that its runs do not go together; run it without --resume"
        raise UsageError(Problem(message, plan.suite))
    return earlier


def _cut_to_whole_runs(path: Path) -> Places:
    """The finished runs of a file, by name; what is half a line, or failed outside the agent, is removed from it."""
    kept: Places = {}
    end = 0
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n") and (name := _name_of(line)):
                kept[name] = (end, len(line))
            end += len(line)
    if sum(length for _, length in kept.values()) == end:
        return kept
    replace_file(path, _lines(path, kept.values()))
    places: Places = {}
    end = 0
    for name, (_, length) in kept.items():
        places[name] = (end, length)
        end += length
    return places


def _name_of(line: bytes) -> str | None:
    """The name of a run that need not be repeated."""
    try:
        run = msgspec.json.decode(line, type=_Kept)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return None if run.error and run.error.kind == "infra" else f"{run.scenario}/{run.run}"


def _lines(path: Path, places: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    with open(path, "rb") as file:
        for offset, length in places:
            file.seek(offset)
            yield file.read(length)


class _Error(Struct):
    kind: str


class _Kept(Struct):
    """What has to be known of a run that is in the file."""

    scenario: str
    run: int
    error: _Error | None = None
