"""Human labels of traces: the file that a judge is audited with.

JSON lines, or a list in JSON or YAML, of `{trace_id | scenario, run, check, label: pass|fail}`.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError
from passmuster.suite import Documents, Node, Reader

KEYS = ("trace_id", "scenario", "run", "check", "label", "note")
_LINES = (".jsonl", ".ndjson")


class Label(Struct, frozen=True, kw_only=True):
    """What a person says about one check on one trace."""

    trace_id: str | None
    scenario: str | None
    run: int | None
    check: str | None
    passes: bool
    line: int

    @property
    def name(self) -> str:
        """How messages call the trace."""
        if self.trace_id is not None:
            return f"trace '{self.trace_id}'"
        return f"scenario '{self.scenario}'" + (f", run {self.run}" if self.run is not None else "")


def read_labels(path: Path, file: str) -> list[Label]:
    """The labels in a file, or a `SuiteError` with every mistake in it."""
    try:
        document = _document(path, file)
    except SuiteError as error:
        raise SuiteError([_moved(problem, path) for problem in error.problems]) from None
    reader = Reader(file)
    labels = reader.each(document, "labels", lambda node, at: _label(reader, node, at))
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


def _label(reader: Reader, node: Node, at: str) -> Label:
    map_ = reader.mapping(node, at, KEYS)
    word, run = map_.get("label"), map_.get("run")
    if map_.entries:
        reader.required(map_, "label", at)
        if ("trace_id" in map_) == ("scenario" in map_):
            reader.problem(map_, f"{at}: expected a 'trace_id' or a 'scenario', and one of them only")
        if run is not None and "scenario" not in map_:
            reader.problem(map_.entries["run"], f"{at}: 'run' means nothing without 'scenario'")
    reader.optional_text(map_, "note", at, empty=True)
    return Label(
        trace_id=reader.optional_text(map_, "trace_id", at),
        scenario=reader.optional_text(map_, "scenario", at),
        run=None if run is None else reader.whole(run, f"{at}.run"),
        check=reader.optional_text(map_, "check", at),
        passes=word is not None and reader.choice(word, f"{at}.label", ("pass", "fail")) == "pass",
        line=node.line,
    )
