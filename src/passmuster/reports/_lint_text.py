"""What is wrong with a suite, for people and for code scanning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from passmuster._problems import plural
from passmuster._version import __version__
from passmuster.reports._findings import Finding
from passmuster.reports._text import one_line
from passmuster.reports.formats.sarif import write_lints


class Lint(Protocol):
    """One thing that is wrong with a suite."""

    @property
    def lint(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int | None: ...


def lint_lines(file: str, lints: Iterable[Lint]) -> Iterator[str]:
    """Each on its line, then how many there are."""
    counts = {"error": 0, "warning": 0}
    for one in lints:
        counts[one.level] += 1
        place = one.file if one.line is None else f"{one.file}:{one.line}"
        yield one_line(f"{place}: {one.level}: {one.message} [{one.lint}]")
    found = [plural(count, level) for level, count in counts.items() if count]
    yield one_line(f"{file}: {' and '.join(found) if found else 'no errors or warnings'}")


def lint_sarif(lints: Iterable[Lint], rules: Mapping[str, str], *, suite: str, root: str, exit_code: int) -> bytes:
    """The same as SARIF."""
    found = [
        Finding(f"suite/{one.lint}", one.level, text, (suite, one.lint, text), one.file, one.line)
        for one in lints
        if (text := one_line(one.message))
    ]
    return write_lints(found, rules, suite=suite, root=root, version=__version__, exit_code=exit_code)
