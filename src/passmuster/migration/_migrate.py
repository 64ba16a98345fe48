"""Which kind of file it is, and the file as a suite."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from passmuster._problems import Problem, SuiteError, UsageError, did_you_mean
from passmuster._registry import Registry
from passmuster.migration._draft import Draft, Migrated
from passmuster.suite import Mapping, Node

ORIGINS = Registry(f"{__package__}.origins")
"""The kinds of files that can be migrated, by name."""


def origin_of(document: Node) -> str | None:
    """The kind of file that a document is; None where it is none that is known, or a passmuster suite."""
    return next((name for name in ORIGINS if ORIGINS[name].recognize(document)), None)


def migrated(
    document: Node, path: Path, file: str, origin: str | None = None, *, spell_defaults: bool = False
) -> Migrated:
    """The document as a suite, read as this kind of file or as what it looks like.

    Raises `SuiteError` where it looks like no kind of file that is known.
    """
    if origin is not None and origin not in ORIGINS:
        known = ", ".join(ORIGINS)
        raise UsageError(Problem(f"--from: there is no '{origin}'; there are {known}{did_you_mean(origin, ORIGINS)}"))
    found = origin or origin_of(document)
    if found is None:
        raise SuiteError(
            Problem(
                f"this is no file that can be migrated; known are {', '.join(ORIGINS)}. "
                "Name one with --from if it was not recognized",
                file,
            )
        )
    if not isinstance(document, Mapping) and not ORIGINS[found].recognize(document):
        raise SuiteError(Problem(f"a file of the kind '{found}' has a map of keys and values", file, document.line))
    draft = Draft(path, spell_defaults=spell_defaults)
    suite = cast(Mapping, ORIGINS[found].translate(document, draft))
    return Migrated(found, suite, tuple(sorted(draft.notes, key=lambda note: note.line)))
