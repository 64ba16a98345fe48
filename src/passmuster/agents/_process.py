"""A program with limits: on its time, on what it prints, and on what it leaves behind.

It runs in a session of its own, so that whatever it starts can be ended with it. A process that leaves the session too
is found by a variable of its environment (`end_leftovers`), on Linux.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic

MARK = "PASSMUSTER_LIVE"
"""The variable by which the processes of a live run are recognized."""

_MOST_OUTPUT = 64 << 20
_TAIL = 16_384
_BLOCK = 65_536
_AT_ONCE = 4_096
"""Bytes that fit in a pipe on every system, so that writing them does not block."""
_LOOK = 0.25
"""Seconds between two looks at whether a process has ended while another one holds its output open."""
_LAST = 1.0
"""Seconds to wait for the last output of a process that has ended."""
_GRACE = 2.0
"""Seconds between asking a process to end and ending it."""


class TimedOut(Exception):
    """The time of a process is over."""


class TooMuchOutput(Exception):
    """A process printed more than is kept."""


class ChildProcess:
    """A process with pipes. All of its group ends with `end`."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Start it. Raises `OSError` or `ValueError` where that is not possible."""
        self._process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._printed: SimpleQueue[bytes | None] = SimpleQueue()
        self._rest = b""
        self._over = False
        self._too_much = False
        self._tail = b""
        self._sent = 0
        self._writer: threading.Thread | None = None
        self._watchers = [threading.Thread(target=watch, daemon=True) for watch in (self._read, self._read_errors)]
        for watcher in self._watchers:
            watcher.start()

    def send(self, data: bytes, *, last: bool = False) -> None:
        """Write to its standard input, which a process may ignore; `last` closes it."""
        self._sent += len(data)
        if self._sent > _AT_ONCE:
            self._writer = threading.Thread(target=self._write, args=(data, last, self._writer), daemon=True)
            self._writer.start()
        else:
            self._write(data, last)

    def _write(self, data: bytes, last: bool, before: threading.Thread | None = None) -> None:
        if before is not None:
            before.join()
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it ended, or does not read
            self._process.stdin.write(data)
            self._process.stdin.flush()
        if last:
            with suppress(OSError, ValueError):
                self._process.stdin.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        size = 0
        with suppress(OSError), self._process.stdout as pipe:
            while data := os.read(pipe.fileno(), _BLOCK):
                size += len(data)
                if size > _MOST_OUTPUT:
                    self._too_much = True
                    break
                self._printed.put(data)
        self._printed.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with suppress(OSError), self._process.stderr as pipe:
            while data := os.read(pipe.fileno(), _BLOCK):
                self._tail = (self._tail + data)[-_TAIL:]

    def _next(self, deadline: float) -> bytes | None:
        """What it printed next; None at the end."""
        if self._over:
            return None
        while True:
            left = deadline - monotonic()
            if left <= 0:
                raise TimedOut
            try:
                data = self._printed.get(timeout=min(left, _LOOK))
            except Empty:
                if self._process.poll() is None:
                    continue
                try:  # what it printed last may be on its way
                    data = self._printed.get(timeout=_LAST)
                except Empty:
                    data = None  # another process holds its output open
            if data is None:
                self._over = True
                if self._too_much:
                    raise TooMuchOutput
            return data

    def line(self, deadline: float) -> bytes | None:
        """The next line that it prints; None where there is none. Raises `TimedOut` or `TooMuchOutput`."""
        pieces = [self._rest]
        while b"\n" not in pieces[-1]:
            data = self._next(deadline)
            if data is None:
                self._rest = b""
                return b"".join(pieces) or None
            pieces.append(data)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        return line

    def output(self, deadline: float) -> bytes:
        """All that it prints. Raises `TimedOut` or `TooMuchOutput`."""
        pieces = [self._rest]
        while (data := self._next(deadline)) is not None:
            pieces.append(data)
        self._rest = b""
        return b"".join(pieces)

    def wait(self, deadline: float) -> int:
        """Its exit code. Raises `TimedOut`."""
        try:
            return self._process.wait(max(0.0, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            raise TimedOut from None

    def end(self, *, at_once: bool = False) -> None:
        """End it and all of its group. One that still runs is asked to first, unless `at_once`."""
        if self._process.poll() is None and not at_once:
            self._signal(signal.SIGTERM)
            with suppress(TimedOut):
                self.wait(monotonic() + _GRACE)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        self._process.wait()
        for watcher in self._watchers:
            watcher.join(_LOOK)
        if self._writer is not None:
            self._writer.join(_LOOK)
            if self._writer.is_alive():  # a process that is still to be found holds the pipe; closing it would wait
                return
        with suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            else:
                self._process.kill()

    @property
    def errors(self) -> str:
        """The end of what it wrote to standard error; all of it, if it has ended."""
        if self._process.poll() is not None:
            self._watchers[1].join(_LOOK)
        return self._tail.decode(errors="replace")


def how_it_ended(code: int, errors: str) -> str:
    """The end of a process in words, with the last line of what it complained about."""
    if code < 0:
        try:
            how = f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            how = f"was ended by signal {-code}"
    else:
        how = f"ended with exit code {code}"
    last = errors.strip().rpartition("\n")[2].strip()
    return f"{how}: {last[:500]}" if last else how


def end_leftovers(session: str) -> int:
    """End the processes that agents of a session left behind, wherever they went; how many there were."""
    mark = f"{MARK}={session}".encode()
    ended = 0
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                with suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        os.kill(int(entry.name), signal.SIGKILL)
                        ended += 1
    return ended
