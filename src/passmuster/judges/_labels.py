"""Human labels of traces: the file that a judge is audited with.

JSON lines, or a list in JSON or YAML, of `{trace_id | scenario, run, check, label: pass|fail}`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError
from passmuster.suite import (
    PROSE,
    TEXT,
    WHOLE,
    Choice,
    Documents,
    Key,
    ListOf,
    Mapping,
    Mistake,
    Node,
    Reader,
    Record,
    RecordOf,
)

_LINES = (".jsonl", ".ndjson")


class Label(Record, frozen=True, kw_only=True):
    """What a person says about one check on one trace."""

    trace_id: Annotated[str | None, TEXT, Key("The trace.")] = None
    scenario: Annotated[str | None, TEXT, Key("Or the scenario, with `run` where it has several traces.")] = None
    run: Annotated[int | None, WHOLE, Key("Which run of the scenario.", needs="scenario")] = None
    check: Annotated[str | None, TEXT, Key("The check, where the trace has several that ask a judge.")] = None
    label: Annotated[Literal["pass", "fail"], Choice("pass", "fail"), Key("What the check should come to.")]
    note: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None
    line: int

    mistakes_about = ("trace_id", "scenario")

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        if (self.trace_id is None) == (self.scenario is None):
            yield map_, "expected a 'trace_id' or a 'scenario', and one of them only"

    @property
    def passes(self) -> bool:
        """Whether the check should pass."""
        return self.label == "pass"

    @property
    def name(self) -> str:
        """How messages call the trace."""
        if self.trace_id is not None:
            return f"trace '{self.trace_id}'"
        return f"scenario '{self.scenario}'" + (f", run {self.run}" if self.run is not None else "")


def read_labels(path: Path, file: str) -> tuple[Label, ...]:
    """The labels in a file, or a `SuiteError` with every mistake in it."""
    try:
        document = _document(path, file)
    except SuiteError as error:
        raise SuiteError([_moved(problem, path) for problem in error.problems]) from None
    reader = Reader(file)
    labels = ListOf(RecordOf(Label)).read(reader, document, "labels")
    if not labels and not reader.problems:
        reader.problem(document, "there is no label in this file")
    if reader.problems:
        raise SuiteError([_moved(problem, path) for problem in reader.problems])
    return labels


def _document(path: Path, file: str) -> Node:
    if path.suffix.lower() not in _LINES:
        return Documents().read(path, file)[0]
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError:
        return Documents().read(path, file)[0]  # which knows how to complain
    # Read as the list that the lines are, so that every place is where it is in the file.
    filled = [number for number, line in enumerate(lines) if line.strip()]
    for number in filled[:-1]:
        lines[number] = lines[number].rstrip() + b","
    documents = Documents({str(path.with_suffix(".json")): b"[" + b"\n".join(lines) + b"]"})
    return documents.read(path.with_suffix(".json"), file)[0]


def _moved(problem: Problem, path: Path) -> Problem:
    """The place of a problem, without the bracket added before the first line."""
    if path.suffix.lower() in _LINES and problem.line == 1 and problem.column:
        return replace(problem, column=max(1, problem.column - 1))
    return problem
