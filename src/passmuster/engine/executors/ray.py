"""Evaluates parts as tasks of a Ray cluster, one that is there or one that is started on this machine.

One task per part, as many at a time as keep the cluster busy. Tallies stay on the nodes and are merged there as a tree;
this process gets the last one only. Ray runs a part again whose worker or node was lost. A task's result is a value, so
that nothing is counted twice.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from passmuster._problems import OutsideError, Problem, UsageError, WorkerFailure
from passmuster._version import __version__
from passmuster.checks import plugin_files
from passmuster.engine._encoding import decoded, encoded
from passmuster.engine._execution import Execution, PartFiles
from passmuster.engine._parts import Part, available_cpus
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine.executors._messages import PartRefused, WorkerBroke, setup_of
from passmuster.engine.executors._ray_tasks import Task, evaluate_part, merge_tallies, results, tallies
from passmuster.scoring import Tally

_ATTEMPTS = 3
_TOGETHER = 16
"""Tallies that one task merges."""
_AHEAD = 2
"""Tasks per CPU that are handed to the cluster before others are finished."""
_ANSWER_S = 10.0
_ENDING_S = 5.0
_SETTINGS = b"\x04"
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0" + _SETTINGS + b"\0\0\0\0\0"
"""How HTTP/2 begins, which Ray speaks. The server's first frame is of the kind settings, too."""


def execute(job: Job, parts: Sequence[Part], execution: Execution, progress: Progress) -> Tally:
    """One tally of all parts."""
    with _connected(job, execution) as ray:
        return _Run(ray, job, parts, execution.workers, progress).tally()


class _Run:
    """One run on a cluster: the tasks that are under way, and the tallies that wait to be merged."""

    def __init__(self, ray: Any, job: Job, parts: Sequence[Part], workers: int, progress: Progress) -> None:
        self._ray, self._parts, self._workers, self._progress = ray, parts, workers, progress
        # Without a checkpoint of their own, retries of a part cost as much as the part: three attempts in all.
        self._evaluate = ray.remote(num_cpus=1, num_returns=2, max_retries=_ATTEMPTS - 1)(evaluate_part)
        self._merge = ray.remote(num_cpus=1, max_retries=-1)(merge_tallies)
        self._task = ray.put(encoded(Task(__version__, setup_of(replace(job, files=_absolute(job.files))))))
        self._under_way: dict[Any, tuple[int, Any]] = {}
        self._waiting: list[list[Any]] = [[]]
        """References to tallies, by how often they were merged."""
        self._refused: list[PartRefused] = []

    def tally(self) -> Tally:
        """Hand out all parts, and merge what they come to."""
        following = iter(enumerate(self._parts))
        try:
            while True:
                while len(self._under_way) < self._most() and not self._refused:
                    number, part = next(following, (None, None))
                    if number is None:
                        break
                    status, counted = self._evaluate.remote(self._task, number, encoded(part))
                    self._under_way[status] = number, counted
                if not self._under_way:
                    break
                finished, _ = self._ray.wait(list(self._under_way), num_returns=1)
                for status in finished:
                    self._finish(status)
        except BaseException:
            self._cancel()
            raise
        if self._refused:
            raise min(self._refused, key=lambda answer: answer.number).error()
        return self._total()

    def _cancel(self) -> None:
        """End the tasks that are under way, and wait for it: they may be writing files."""
        with contextlib.suppress(Exception):
            for status in self._under_way:
                self._ray.cancel(status, force=True)
            self._ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=_ENDING_S)

    def _most(self) -> int:
        """How many tasks may be under way; nodes come and go."""
        if self._workers:
            return self._workers
        return max(1, int(self._ray.cluster_resources().get("CPU", 1))) * _AHEAD

    def _finish(self, status: Any) -> None:
        number, counted = self._under_way.pop(status)
        try:
            answer = decoded(self._ray.get(status), results)
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().partition("\n")[0][:300]
            message = f"failed {_ATTEMPTS} times on the Ray cluster: {type(error).__name__}: {reason}"
            raise OutsideError(Problem(message, str(self._parts[number]))) from error
        match answer:
            case PartRefused():
                self._refused.append(answer)
            case WorkerBroke(details):
                raise WorkerFailure(details)
            case _:
                self._add(counted)
                self._progress.evaluated(self._parts[number], self._parts[number].size)

    def _add(self, counted: Any, height: int = 0) -> None:
        if height == len(self._waiting):
            self._waiting.append([])
        self._waiting[height].append(counted)
        if len(self._waiting[height]) == _TOGETHER:
            together, self._waiting[height] = self._waiting[height], []
            self._add(self._merge.remote(*together), height + 1)

    def _total(self) -> Tally:
        left = [counted for waiting in self._waiting for counted in waiting]
        try:
            return decoded(self._ray.get(self._merge.remote(*left)), tallies)
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().partition("\n")[0][:300]
            raise OutsideError(Problem(f"what the Ray cluster counted was lost: {reason}")) from error


def _absolute(files: PartFiles) -> PartFiles:
    """The same folders for workers, whose current folder is another one."""
    checkpoint, violations = (path and os.path.abspath(path) for path in (files.checkpoint, files.violations))
    return replace(files, checkpoint=checkpoint, violations=violations)


@contextlib.contextmanager
def _connected(job: Job, execution: Execution) -> Iterator[Any]:
    """Ray, connected to the cluster; what this run started is ended with it."""
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
    except ImportError as error:
        message = "--executor ray needs another package: pip install 'passmuster[ray]'"
        raise UsageError(Problem(message)) from error
    if ray.is_initialized():  # by the program that this library is a part of
        yield ray
        return
    address = execution.ray_address
    if address is not None:
        _check_address(address)
    with tempfile.TemporaryDirectory(prefix="passmuster-plugins-") as folder:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        options |= {"runtime_env": {"working_dir": folder}} if _stage_plugins(job, Path(folder)) else {}
        if address is None:
            options |= {"num_cpus": execution.workers or available_cpus(), "include_dashboard": False}
        try:
            with _own_signals():
                ray.init(address=address or "local", **options)  # without it, any cluster that is found is used
        except (Exception, SystemExit) as error:  # which Ray raises for a cluster of another version, among others
            ray.shutdown()  # it may be connected all the same
            reason = " ".join(str(error).split())[:400] or type(error).__name__
            message = f"cannot use the Ray cluster at {address}: " if address else "cannot start Ray on this machine: "
            raise OutsideError(Problem(message + reason)) from error
        try:
            yield ray
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """A time after which signals are handled as before it: Ray's own handlers abort the process with a stack trace."""
    names = [number for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number is not None]
    handlers = {number: signal.getsignal(number) for number in names}
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # not the main thread, where Ray sets none either
            for number, handler in handlers.items():
                if handler is not None:
                    signal.signal(number, handler)


def _check_address(address: str) -> None:
    """Raise `OutsideError` where no cluster listens: Ray itself would try for minutes, deaf to Ctrl-C."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if address == "auto" or not host or not port.isdecimal():
        if address not in ("auto", "local"):
            raise UsageError(Problem(f"--ray-address: expected HOST:PORT, ray://HOST:PORT or auto, found '{address}'"))
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_S) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutsideError(Problem(f"no Ray cluster answers at {address}: {reason}")) from error
    if answer[3:4] != _SETTINGS:
        message = f"what answers at {address} is not a Ray cluster: give the address that `ray start --head` prints"
        raise OutsideError(Problem(message))


def _stage_plugins(job: Job, folder: Path) -> bool:
    """Copy the modules that the suites have in their folders, so that nodes can import them; whether there are any."""
    found = False
    for suite in (job.suite, job.before):
        for file in plugin_files(str(suite.folder)) if suite is not None and job.plugins else ():
            target = folder / os.path.relpath(file, suite.folder) if suite is not None else folder
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            found = True
    return found
