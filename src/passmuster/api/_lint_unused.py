"""Policies that no test uses, and behaviors that no scenario does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from passmuster._problems import SuiteError
from passmuster.api._lint_finding import LintFinding
from passmuster.suite import Documents, Mapping, Suite, display

_MOST_FILES = 200
_ENDINGS = (".yaml", ".yml", ".json")


def unused_findings(suite: Suite) -> Iterator[LintFinding]:
    """All findings about what nobody uses."""
    used: set[str] = set()
    for one in suite.scenarios:
        used.update(behavior.name for behavior in (*one.expected_behaviors, *one.must_not))
        for turn in one.turns:
            used.update(behavior.name for behavior in (*turn.expected_behaviors, *turn.must_not))
    for name, behavior in suite.behaviors.items():
        if name not in used:
            message = f"the behavior '{name}' is used by no scenario"
            yield LintFinding("unused", "warning", message, suite.file, behavior.line)
    for path in _unused_policies(suite):
        message = f"no test of {suite.file} uses this policy"
        yield LintFinding("unused", "warning", message, display(path, suite.root), 1)


def _unused_policies(suite: Suite) -> Iterator[Path]:
    """Policy files that no suite of the folder names, in the folders where policies are kept."""
    used = {Path(path) for path in suite.documents}
    folders = {suite.folder / "policies", *(path.parent for path in used if path.parent != suite.folder)}
    below = sorted(folder for folder in folders if folder.is_dir() and folder.is_relative_to(suite.folder))
    candidates = [path for folder in below for path in _files(folder) if path.resolve() not in used]
    others = [path for path in _files(suite.folder) if path not in used] if candidates else []
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in others]
    for path in candidates:
        if _is_policy(path, suite) and not any(path.name in text for text in texts):
            yield path


def _files(folder: Path) -> list[Path]:
    files = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in _ENDINGS and path.is_file())
    return list(islice(files, _MOST_FILES))


def _is_policy(path: Path, suite: Suite) -> bool:
    """Whether a file looks like a policy: a map with tools and without what a suite has."""
    try:
        node, _ = Documents().read(path, display(path, suite.root))
    except SuiteError:
        return False
    return isinstance(node, Mapping) and "tools" in node and not ("tests" in node or "scenarios" in node)
