"""Lines and documents on standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from passmuster.problems import InputError
from passmuster.reports.encodable import encodable
from passmuster.reports.json_report import encoded
from passmuster.reports.text import one_line

__all__ = ["print_document", "print_lines", "refuse"]


def print_lines(lines: Iterable[str]) -> None:
    """Print text in what standard output can show."""
    _print(encodable("".join(f"{line}\n" for line in lines), sys.stdout).encode(sys.stdout.encoding or "utf-8"))


def print_document(document: Any) -> None:
    """Print a value as JSON."""
    _print(encoded(document))


def refuse(error: InputError) -> None:
    """Tell what is wrong and end with exit code 2."""
    for problem in error.problems:
        click.echo(f"error: {one_line(str(problem))}", err=True)
    sys.exit(2)


def _print(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # A reader that leaves early is none of our business; the interpreter's own last flush has to go somewhere.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
