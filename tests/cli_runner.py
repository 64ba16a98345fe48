"""Commands in this process, with what they print and their exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from unittest import mock

from passmuster.cli._command_line import Command, Group
from passmuster.cli._main import run


class Result(NamedTuple):
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str
    output: str
    """Both streams, in the order of printing."""


class _Copied(io.BytesIO):
    """A stream whose bytes are also written to another one."""

    def __init__(self, both: io.BytesIO) -> None:
        super().__init__()
        self._both = both

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._both.write(data)
        return super().write(data)


class CliRunner:
    """Runs commands, with changes to the environment."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = dict(env or {})

    def invoke(self, command: Command | Group, words: Sequence[str], input: str | bytes | None = None) -> Result:
        """Run a command of which nothing about the process itself is tested."""
        both = io.BytesIO()
        out, err = _Copied(both), _Copied(both)
        given = input.encode() if isinstance(input, str) else input or b""
        with mock.patch.dict(os.environ, self._env), _streams(given, out, err):
            try:
                code: object = run(command, words)
            except SystemExit as end:
                code = end.code or 0
        assert isinstance(code, int)
        stdout, stderr, output = (stream.getvalue().decode().replace("\r\n", "\n") for stream in (out, err, both))
        return Result(code, stdout, stderr, output)


@contextlib.contextmanager
def _streams(given: bytes, out: io.BytesIO, err: io.BytesIO) -> Iterator[None]:
    stdin, stdout, stderr = (
        io.TextIOWrapper(stream, encoding="utf-8", errors=errors, write_through=True)
        for stream, errors in ((io.BytesIO(given), "strict"), (out, "strict"), (err, "backslashreplace"))
    )
    before = sys.stdin
    sys.stdin = stdin
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            yield
    finally:
        sys.stdin = before
        for stream in (stdin, stdout, stderr):
            stream.detach()  # so that closing it does not close what holds the text
