"""Loading a suite, or finding out where it is."""

from __future__ import annotations

from pathlib import Path

from passmuster import engine
from passmuster.reports import FORMATS
from passmuster.suite import Suite, find_root, find_suite


def load_suite(
    path: str | Path | None = None,
    *,
    root: str | Path | None = None,
    plugins: bool = True,
    start: str | Path | None = None,
) -> Suite:
    """The suite in a file, in a folder that holds one, or, without `path`, the nearest upwards from the current folder.

    Raises `SuiteError` with every mistake at once. `root` is the folder that policies and reports have to lie in (the
    git top level by default); without `plugins` a suite that names some is refused. `start` stands for the current
    folder.
    """
    found = find_suite(None if path is None else str(path), Path.cwd() if start is None else Path(start))
    return engine.load_suite(found, root=root, plugins=plugins, report_formats=FORMATS)


def root_of(path: str | None, root: str | None) -> tuple[Path, Path]:
    """A suite's file and its root, without reading it."""
    found = find_suite(path, Path.cwd())
    return found, find_root(root, found)
