"""What the readers of a suite share while it is read: its place, its policies, and the kinds of check it can name."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from functools import cached_property
from pathlib import Path

from passmuster._problems import SuiteError
from passmuster.suite._discovery import display
from passmuster.suite._files import Shelf
from passmuster.suite._model import CheckKind
from passmuster.suite._policy import Policy, read_policy
from passmuster.suite._reading import Reader
from passmuster.suite.text._nodes import Mapping, Node

__all__ = ["Context", "FindKinds"]

FindKinds = Callable[[Path, list[tuple[str, Node]], Reader], MappingOf[str, CheckKind]]
"""Tells the kinds of check a suite can name, given its folder and the plugins it lists."""


class Context:
    """One suite being read; a `CheckContext` for the checks it meets."""

    def __init__(self, reader: Reader, folder: Path, root: Path, find_kinds: FindKinds, shelf: Shelf) -> None:
        self.reader, self.folder, self.root, self._shelf = reader, folder, root, shelf
        self.plugins: list[tuple[str, Node]] = []
        self.defaults: Mapping | None = None
        self._find_kinds = find_kinds
        self._policies: dict[Path, Policy | None] = {}

    @cached_property
    def kinds(self) -> MappingOf[str, CheckKind]:
        """The kinds of check by the name that `metric:` gives them; asked for once `plugins:` is read."""
        return self._find_kinds(self.folder, self.plugins, self.reader)

    def policy(self, node: Node, at: str) -> Policy | None:
        """The policy file that a node names, read once a suite."""
        name = self.reader.text(node, f"{at}.policy")
        if not name:
            return None
        try:
            path = (self.folder / name).resolve()
            exists = path.is_file()
        except (OSError, ValueError) as error:  # a name too long, or with a character no path can have
            self.reader.problem(node, f"{at}.policy: this cannot be the path of a file: {_reason(error)}")
            return None
        if not path.is_relative_to(self.root):
            message = f"{at}.policy: '{name}' lies outside the root ({self.root}); move it inside or widen --root"
            self.reader.problem(node, message)
            return None
        if not exists:
            self.reader.problem(node, f"{at}.policy: there is no file '{name}' (looked for {display(path, self.root)})")
            return None
        if path not in self._policies:
            self._policies[path] = self._read_policy(path)
        return self._policies[path]

    @property
    def policies(self) -> list[Policy]:
        """The policies read so far."""
        return [policy for policy in self._policies.values() if policy is not None]

    def _read_policy(self, path: Path) -> Policy | None:
        file = display(path, self.root)
        try:
            node, _ = self._shelf.read(path, file)
        except SuiteError as error:
            self.reader.problems += error.problems
            return None
        return read_policy(Reader(file, self.reader.problems), node)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
