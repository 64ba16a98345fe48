"""Printing: lines and documents on standard output, mistakes in the input on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

import msgspec
from msgspec import Struct

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError, Problem, plural


def print_lines(lines: Iterable[str]) -> None:
    """Print text for people, broken between words to the width of the terminal."""
    print_text("".join(f"{line}\n" for line in reports.fitted(lines, _output())))


def print_text(text: str) -> None:
    """Print text as it is, in the characters that standard output can show."""
    stream = _output()
    print_bytes(reports.encodable(text, stream).encode(stream.encoding or "utf-8"))


def print_document(schema: str, document: Struct, **more: object) -> None:
    """Print a value as JSON that names its schema; the root is a folder of this machine, and not shown."""
    fields = msgspec.to_builtins(document)
    fields.pop("root", None)
    print_bytes(reports.encoded({"schema": schema, **more, **fields}))


def print_bytes(data: bytes) -> None:
    """Print encoded text."""
    stream = _output()
    with open_pipe(stream):
        stream.buffer.write(data)
        stream.buffer.flush()


def _output() -> TextIO:
    if sys.stdout is None:
        raise OutsideError(Problem("there is no standard output to print to"))
    return sys.stdout


def say(text: str) -> None:
    """Print to standard error, without secrets. A failure to print changes no exit code."""
    if sys.stderr is None:
        return
    with contextlib.suppress(OutsideError, ValueError), open_pipe(sys.stderr):
        safe = api.without_tokens(text)
        # In a log one message is one line, whatever COLUMNS states.
        lines = reports.fitted(safe.splitlines(), sys.stderr) if sys.stderr.isatty() else (safe,)
        print("\n".join(lines), file=sys.stderr, flush=True)


@contextlib.contextmanager
def open_pipe(stream: TextIO) -> Iterator[None]:
    """Let the reader of a pipe close it early (`| head -1`). Any other failure is an `OutsideError`."""
    try:
        yield
    except OSError as error:
        # The interpreter flushes the stream once more when it ends; that has to go somewhere.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutsideError(Problem(f"cannot print: {error.strerror or error}")) from error


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Print what is wrong with the input, and end with exit code 2."""
    try:
        yield
    except InputError as error:
        _tell(error.problems)
        sys.exit(2)


def complain(error: InputError) -> None:
    """Print what is wrong with the input of a run, and that nothing was evaluated."""
    _tell(error.problems)
    say(f"Nothing was evaluated: {plural(len(error.problems), 'problem')} in the input.")


def _tell(problems: Iterable[Problem]) -> None:
    for problem in problems:
        say(f"error: {reports.one_line(str(problem))}")
