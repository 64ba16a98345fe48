"""Finding and reading what a run is compared with: a baseline file, or golden traces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from passmuster._documents import BOM, DocumentKind, read_document, schema_of
from passmuster._problems import Problem, UsageError
from passmuster.scoring import BASELINE_SCHEMA, Baseline
from passmuster.suite import Suite, display
from passmuster.traces import Source, find_sources

BASELINE = DocumentKind("baseline", BASELINE_SCHEMA, 64 * 1024 * 1024, "save it again with 'passmuster baseline save'")
"""Larger than any baseline that a person could review."""

_HEAD = 4096
_BEGINS = re.compile(rb'\s*\{\s*"schema"\s*:\s*"passmuster\.')


def find_baseline(
    suite: Suite, given: str | None, here: Path, format: str | None = None
) -> Baseline | Sequence[Source]:
    """What a run is compared with. `given` replaces what the suite names."""
    path = str(here / given) if given is not None else str(baseline_path(suite))
    name = given or display(Path(path), suite.root)
    if given is None and not Path(path).exists():
        hint = "create it with 'passmuster baseline save'"
        raise UsageError(_at_key(suite, f"there is no file or folder '{name}'; {hint}"))
    if not _is_document(path):
        return find_sources([given or path], here, suite.root, format)
    return baseline_for(suite, path, name)


def baseline_for(suite: Suite, path: str, name: str) -> Baseline:
    """The baseline in a file, refused where it has no scenario in common with the suite."""
    baseline = read_baseline(path, name)
    if (baseline.scenarios or suite.scenarios) and not any(one.id in baseline.scenarios for one in suite.scenarios):
        raise UsageError(Problem(f"no scenario of this baseline is in the suite {suite.file}", name))
    return baseline


def baseline_path(suite: Suite) -> Path:
    """Where the suite says that its baseline is. Raises `UsageError` if that is outside the root."""
    file = suite.baseline.file if suite.baseline else None
    if file is None:
        raise UsageError(Problem("the suite names no 'baseline.file'", suite.file))
    try:
        path = (suite.folder / file).resolve()
        path.exists()
    except (OSError, ValueError) as error:
        raise UsageError(_at_key(suite, f"this cannot be the path of a file: {error}")) from None
    if not path.is_relative_to(suite.root):
        message = f"'{file}' is outside the root ({suite.root}); move it inside or widen --root"
        raise UsageError(_at_key(suite, message))
    return path


def _at_key(suite: Suite, message: str) -> Problem:
    return Problem(f"baseline.file: {message}", suite.file, suite.baseline.line if suite.baseline else None)


def _is_document(path: str) -> bool:
    """Whether this is one of this program's own documents, not a trace; a damaged one is told by its beginning."""
    try:
        with open(path, "rb") as file:
            data = file.read(_HEAD)
            if _BEGINS.match(data.removeprefix(BOM)):
                return True
            if path.endswith((".jsonl", ".ndjson", ".gz")):
                return False
            data += file.read(BASELINE.most_bytes)
        schema = schema_of(data.removeprefix(BOM))
    except (OSError, ValueError, RecursionError):
        return False  # whoever reads it as traces will say what is wrong with it
    return schema is not None and schema.startswith("passmuster.")


def read_baseline(path: str | Path, name: str | None = None) -> Baseline:
    """The baseline in a file; `name` is what messages call it. Raises `UsageError` if it is none."""
    return read_document(path, BASELINE, Baseline, name)
