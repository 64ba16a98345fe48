"""Which checks a suite can name with `metric:`: the built-in ones and the custom metrics it can reach."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingOf
from functools import cached_property

from msgspec import Struct

from passmuster.checks._spec import CheckSpec
from passmuster.checks.kinds import KINDS
from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import CheckKind, Mapping, Node, Reader, Scenario, fields_of, read_record


class BuiltInKind(Struct, frozen=True):
    """A check that comes with the program: one module in `checks/kinds`."""

    name: str

    @property
    def record(self) -> type[CheckSpec]:
        """The keys that it adds to a test."""
        return KINDS.declared(self.name, CheckSpec)  # type: ignore[type-abstract]

    def read(self, reader: Reader, node: Mapping, at: str) -> CheckSpec | None:
        """The test's own part; which keys a test may have is checked already."""
        return read_record(self.record, reader, node, at, also=node.entries)


class Kinds(MappingOf[str, CheckKind]):
    """The kinds of check by name. Installed metrics are looked for only when a suite names more than the built-in.

    Where a run allows no plugins, each that the suite lists is a problem.
    """

    def __init__(self, folder: str, plugins: list[tuple[str, Node]], reader: Reader, *, allowed: bool = True) -> None:
        self._folder, self._plugins, self._reader, self._allowed = folder, plugins, reader, allowed
        if plugins:
            _ = self._custom

    @cached_property
    def _custom(self) -> MappingOf[str, CheckKind]:
        if not self._allowed:
            for name, node in self._plugins:
                self._reader.problem(node, f"plugins: '{name}' is refused, because this run allows no plugins")
            return {}
        from passmuster.checks._custom import find_metrics  # late, for most suites use built-in checks alone

        found = find_metrics(self._folder, self._plugins, self._reader)
        for name in found.keys() & KINDS.names:
            if self._plugins:
                message = f"plugins: a metric cannot take the built-in name '{name}'"
                self._reader.problem(self._plugins[0][1], message)
        return found

    def __getitem__(self, name: str) -> CheckKind:
        return BuiltInKind(name) if name in KINDS else self._custom[name]

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS.names | self._custom.keys())

    def __len__(self) -> int:
        return len(KINDS.names | self._custom.keys())


def describe_check(name: str) -> str | None:
    """The description of a test's check, of a key of a layer, or of `expected_behaviors` and `must_not`."""
    if name in KINDS:
        return (KINDS.declared(name, CheckSpec).__doc__ or "").partition("\n")[0]  # type: ignore[type-abstract]
    for layer in LAYERS.values():
        if name in layer.keys:
            return layer.key(name).description
    return fields_of(Scenario)[name].key.description if name in ("expected_behaviors", "must_not") else None
