"""Mistakes in the input, and failures outside this program.

A `Problem` is one mistake at one place; an `InputError` carries all that were found in one go and
ends a run with exit code 2: nothing was evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One mistake: where it is, what was found, what was expected."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class InputError(Exception):
    """The input cannot be evaluated; `problems` says why, each with its place."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class SuiteError(InputError):
    """A suite or policy file is wrong."""


class TraceError(InputError):
    """A trace file is wrong, missing or empty."""


class UsageError(InputError):
    """The command line, or a call into the library, asks for something that cannot be."""


class OutsideError(Exception):
    """A part outside this program failed, so the gate could not be decided: exit code 3."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


class WorkerFailure(Exception):
    """A worker process failed in a way that nobody foresaw; `details` is its traceback."""

    def __init__(self, details: str) -> None:
        self.details = details
        super().__init__(f"a worker process failed: {details.strip().rpartition(chr(10))[2]}")


def did_you_mean(found: str, known: Iterable[str]) -> str:
    """A trailing hint naming the nearest known word, or nothing."""
    import difflib  # late, for most runs have no mistake

    words = list(known)
    swapped = [word for word in words if sorted(word) == sorted(found)]  # which difflib rates low
    nearest = difflib.get_close_matches(found, words, n=1, cutoff=0.6) or swapped
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


def plural(count: int, noun: str) -> str:
    """`1 trace`, `12 traces`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
