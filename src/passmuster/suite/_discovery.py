"""Where the suite is, and which folder is the root of everything it may name."""

from __future__ import annotations

import os
from pathlib import Path

from passmuster._problems import Problem, SuiteError

FOREIGN_NAMES = ("mcp-eval.yaml", "agentci_spec.yaml", "ciagent_spec.yaml")
"""Files of other tools, which are read as what they look like; any other file has to be a passmuster suite."""
SUITE_NAMES = ("passmuster.yaml", "passmuster.yml", "passmuster.json", *FOREIGN_NAMES)


def find_suite(given: str | None, here: Path) -> Path:
    """The suite file: the one given, the one in the folder given, or the nearest one upwards from here."""
    if given is not None:
        path = here / given
        if not path.exists():
            raise SuiteError(Problem("there is no such suite file or folder", given))
        if not path.is_dir():
            return path
        found = _in(path)
        if found is None:
            raise SuiteError(Problem(f"holds no suite; looked for {', '.join(SUITE_NAMES)}", given))
        return found
    for folder in (here, *here.parents):
        found = _in(folder)
        if found is not None:
            return found
        if (folder / ".git").exists():
            break
    names = ", ".join(SUITE_NAMES)
    raise SuiteError(Problem(f"no suite found here or above; looked for {names}; `passmuster init` writes one"))


def _in(folder: Path) -> Path | None:
    return next((folder / name for name in SUITE_NAMES if (folder / name).is_file()), None)


def find_root(given: str | Path | None, suite: Path) -> Path:
    """The root: the one given, else the git top level, else the suite's folder."""
    if given is not None:
        root = Path(given).resolve()
        if not root.is_dir():
            raise SuiteError(Problem("the root is not a folder", str(given)))
        return root
    folder = suite.resolve().parent
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def display(path: Path, root: Path) -> str:
    """How reports name a file: relative to the root, with `/` on every system; in full where it lies outside."""
    absolute = Path(os.path.abspath(path))
    for candidate in (absolute, absolute.resolve()):
        if candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return absolute.as_posix()
