"""What is shared while a suite is read: its folder, the files it names, and the kinds of check it can use."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from passmuster._problems import SuiteError
from passmuster.suite._discovery import display
from passmuster.suite._files import Documents
from passmuster.suite._model import CheckKind, StatesEffects
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import Vocabulary
from passmuster.suite.text._nodes import Mapping, Node

FindKinds = Callable[[Path, list[tuple[str, Node]], Reader], MappingOf[str, CheckKind]]
"""Finds the kinds of check that a suite can use, given its folder and the plugins it lists."""

T = TypeVar("T")


class FilesOfSuite:
    """The files that a suite names, such as policies: within the root, each read once."""

    def __init__(self, folder: Path, root: Path, documents: Documents) -> None:
        self._folder, self._root, self._documents = folder, root, documents
        self._read: dict[Path, object] = {}

    @property
    def contents(self) -> list[object]:
        """What has been read so far."""
        return [content for content in self._read.values() if content is not None]

    def read(self, reader: Reader, node: Node, at: str, parse: Callable[[Reader, Node], T]) -> T | None:
        """What `parse` makes of the file that a node names; None, with a problem noted, where it cannot be read."""
        path = self._path(reader, node, at)
        if path is None:
            return None
        if path not in self._read:
            self._read[path] = self._parse(path, reader, parse)
        return self._read[path]  # type: ignore[return-value]  # one path is parsed in one way only

    def text(self, reader: Reader, node: Node, at: str) -> str | None:
        """The text in the file that a node names; None, with a problem noted, where it cannot be read."""
        path = self._path(reader, node, at)
        if path is None:
            return None
        try:
            return self._documents.text(path, display(path, self._root))[0]
        except SuiteError as error:
            reader.problems += error.problems
            return None

    def _path(self, reader: Reader, node: Node, at: str) -> Path | None:
        """The file that a node names; None, with a problem noted, where there is none that a suite may name."""
        name = reader.text(node, at)
        if not name:
            return None
        if why := self.why_refused(name):
            reader.problem(node, f"{at}: {why}")
            return None
        path = (self._folder / name).resolve()
        if str(path) not in self._documents.by_path and not path.is_file():
            reader.problem(node, f"{at}: there is no file '{name}' (looked for {display(path, self._root)})")
            return None
        return path

    def why_refused(self, name: str) -> str | None:
        """Why this cannot be the path of a file that a suite may name."""
        try:
            path = (self._folder / name).resolve()
            path.is_file()
        except (OSError, ValueError) as error:  # a name too long, or with a character no path can have
            return f"this cannot be the path of a file: {_reason(error)}"
        if not path.is_relative_to(self._root):
            return f"'{name}' is outside the root ({self._root}); move it inside or widen --root"
        return None

    def _parse(self, path: Path, reader: Reader, parse: Callable[[Reader, Node], T]) -> T | None:
        file = display(path, self._root)
        try:
            node, _ = self._documents.read(path, file)
        except SuiteError as error:
            reader.problems += error.problems
            return None
        return parse(Reader(file, reader.problems, remarks=reader.remarks), node)


class Context:
    """One suite being read."""

    def __init__(
        self, file: str, folder: Path, root: Path, find_kinds: FindKinds, vocabulary: Vocabulary, documents: Documents
    ) -> None:
        self._files = FilesOfSuite(folder, root, documents)
        self.reader, self.folder, self.root = (
            Reader(file, linked_files=self._files, vocabulary=vocabulary),
            folder,
            root,
        )
        self.plugins: list[tuple[str, Node]] = []
        self.defaults: Mapping | None = None
        self._find_kinds = find_kinds

    @cached_property
    def kinds(self) -> MappingOf[str, CheckKind]:
        """The kinds of check by the name that `metric:` gives them; asked for once `plugins:` is read."""
        return self._find_kinds(self.folder, self.plugins, self.reader)

    @property
    def effects_in_files(self) -> list[StatesEffects]:
        """The files read so far that say what tools do to the world."""
        return [content for content in self._files.contents if isinstance(content, StatesEffects)]


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
