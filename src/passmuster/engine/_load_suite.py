"""A suite whose checks are all known: the built-in kinds, and the custom ones it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from passmuster.checks import args, blocklist, sequence
from passmuster.suite import CheckKind, Node, Reader, Suite
from passmuster.suite import load_suite as load

__all__ = ["BUILT_IN", "load_suite"]

BUILT_IN: tuple[CheckKind, ...] = (args, sequence, blocklist)


def load_suite(
    path: str | Path,
    *,
    root: str | Path | None = None,
    plugins: bool = True,
    documents: Mapping[str, bytes] | None = None,
) -> Suite:
    """The suite in a file, or in a folder that holds one. Raises `SuiteError` with every mistake at once.

    `documents` are files already read, by path; what is among them is not read again.
    """

    def find_kinds(folder: Path, names: list[tuple[str, Node]], reader: Reader) -> Mapping[str, CheckKind]:
        if plugins:
            return _Kinds(str(folder), names, reader)
        for name, node in names:
            reader.problem(node, f"plugins: '{name}' is refused, for this run allows no plugins")
        return _built_in()

    suite = load(Path(path), find_kinds, root, documents)
    if suite.judging is not None:
        from passmuster.engine._judging import judge_config  # late, for most suites ask no judge

        judge_config(suite)
    return suite


def _built_in() -> dict[str, CheckKind]:
    return {kind.name: kind for kind in BUILT_IN}


class _Kinds(Mapping[str, CheckKind]):
    """The kinds of check by name. Installed metrics are looked for only when a suite names more than the built-in."""

    def __init__(self, folder: str, plugins: list[tuple[str, Node]], reader: Reader) -> None:
        self._folder, self._plugins, self._reader = folder, plugins, reader
        self._built_in = _built_in()
        if plugins:
            _ = self._all

    @cached_property
    def _all(self) -> dict[str, CheckKind]:
        from passmuster.checks import custom

        found = custom.find_metrics(self._folder, self._plugins, self._reader)
        for name in found.keys() & self._built_in.keys():
            if self._plugins:
                message = f"plugins: a metric cannot take the built-in name '{name}'"
                self._reader.problem(self._plugins[0][1], message)
        return {**found, **self._built_in}

    def __getitem__(self, name: str) -> CheckKind:
        return self._built_in.get(name) or self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)
