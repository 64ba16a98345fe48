"""Which checks a suite can name with `metric:`: the built-in ones and the custom metrics it can reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import cast

from passmuster.checks.kinds import KINDS
from passmuster.suite import CheckKind, Node, Reader

__all__ = ["Kinds", "built_in_kinds"]


def built_in_kinds(plugins: list[tuple[str, Node]], reader: Reader) -> Mapping[str, CheckKind]:
    """The built-in kinds alone, where a run allows no plugins; each that the suite lists is a problem."""
    for name, node in plugins:
        reader.problem(node, f"plugins: '{name}' is refused, for this run allows no plugins")
    return cast("Mapping[str, CheckKind]", KINDS)


class Kinds(Mapping[str, CheckKind]):
    """The kinds of check by name. Installed metrics are looked for only when a suite names more than the built-in."""

    def __init__(self, folder: str, plugins: list[tuple[str, Node]], reader: Reader) -> None:
        self._folder, self._plugins, self._reader = folder, plugins, reader
        if plugins:
            _ = self._custom

    @cached_property
    def _custom(self) -> dict[str, CheckKind]:
        from passmuster.checks._custom import find_metrics  # late, for most suites use built-in checks alone

        found = find_metrics(self._folder, self._plugins, self._reader)
        for name in found.keys() & KINDS.names:
            if self._plugins:
                message = f"plugins: a metric cannot take the built-in name '{name}'"
                self._reader.problem(self._plugins[0][1], message)
        return found

    def __getitem__(self, name: str) -> CheckKind:
        return cast("CheckKind", KINDS[name]) if name in KINDS else self._custom[name]

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS.names | self._custom.keys())

    def __len__(self) -> int:
        return len(KINDS.names | self._custom.keys())
