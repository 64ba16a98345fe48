"""A suite whose checks are all known: the built-in kinds, and the custom ones it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from passmuster.checks import args, blocklist, custom, sequence
from passmuster.suite.load import load_suite as load
from passmuster.suite.model import CheckKind, Suite
from passmuster.suite.nodes import Node
from passmuster.suite.reading import Reader

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
        kinds: dict[str, CheckKind] = {kind.name: kind for kind in BUILT_IN}
        if not plugins:
            for name, node in names:
                reader.problem(node, f"plugins: '{name}' is refused, for this run allows no plugins")
            return kinds
        for name, metric in custom.find_metrics(str(folder), names, reader).items():
            if name in kinds:
                at = next((node for _, node in names), None)
                if at is not None:
                    reader.problem(at, f"plugins: a metric cannot take the built-in name '{name}'")
                continue
            kinds[name] = metric
        return kinds

    return load(Path(path), find_kinds, root, documents)
