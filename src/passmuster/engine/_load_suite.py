"""A suite file loaded with everything its keys can name: the kinds of check, built-in and custom."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from passmuster.checks import Kinds
from passmuster.engine._vocabulary import vocabulary
from passmuster.suite import CheckKind, Node, Reader, Suite
from passmuster.suite import load_suite as load


def load_suite(
    path: str | Path,
    *,
    root: str | Path | None = None,
    plugins: bool = True,
    documents: Mapping[str, bytes] | None = None,
    report_formats: Collection[str] = (),
) -> Suite:
    """The suite in a file, or in a folder that holds one. Raises `SuiteError` with every mistake at once.

    `documents` are files already read, by path; what is among them is not read again. `report_formats` are the reports
    that the suite can name; any, where none are given.
    """

    def find_kinds(folder: Path, names: list[tuple[str, Node]], reader: Reader) -> Mapping[str, CheckKind]:
        return Kinds(str(folder), names, reader, allowed=plugins)

    return load(Path(path), find_kinds, vocabulary(report_formats), root, documents)
