"""Reads nodes into plain values and collects every problem with its place.

A `Reader` belongs to one file. Each method returns a usable value or, after noting a problem, a harmless default, so
that one load reports everything that is wrong with a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Protocol, TypeVar

from passmuster._problems import Problem, did_you_mean
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._regexes import why_bad_regex
from passmuster.suite.grammar._values import Vocabulary
from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar, Sequence, kind_of

T = TypeVar("T")


class LinkedFiles(Protocol):
    """The files that a suite names, each read once."""

    def read(self, reader: Reader, node: Node, at: str, parse: Callable[[Reader, Node], T]) -> T | None:
        """What `parse` makes of the file that a node names; None, with a problem noted, where it cannot be read."""

    def text(self, reader: Reader, node: Node, at: str) -> str | None:
        """The text in the file that a node names; None, with a problem noted, where it cannot be read."""

    def why_refused(self, name: str) -> str | None:
        """Why this cannot be the path of a file that a suite may name."""


class Reader:
    """Reads the nodes of one file and notes what is wrong with them."""

    def __init__(
        self,
        file: str,
        problems: list[Problem] | None = None,
        linked_files: LinkedFiles | None = None,
        vocabulary: Vocabulary | None = None,
        remarks: list[Problem] | None = None,
    ) -> None:
        self.file = file
        self.problems: list[Problem] = [] if problems is None else problems
        self.remarks: list[Problem] = [] if remarks is None else remarks
        self.linked_files = linked_files
        self.vocabulary: Vocabulary = vocabulary or {}

    def problem(self, at: Node | Entry, message: str) -> None:
        """Note a mistake at this place."""
        self.problems.append(Problem(message, self.file, at.line, at.column))

    def remark(self, at: Node | Entry, message: str) -> None:
        """Note something that is no mistake, and that nothing is checked by."""
        self.remarks.append(Problem(message, self.file, at.line, at.column))

    def expected(self, what: str, node: Node, at: str) -> None:
        """Note that something else was found than `what`."""
        shown = f" ({node.text!r})" if isinstance(node, Scalar) and node.value is not None else ""
        self.problem(node, f"{at}: expected {what}, found {kind_of(node)}{shown}")

    def mapping(self, node: Node, at: str, known: Collection[str] = ()) -> Mapping:
        """The node as a map whose keys are all among `known`, where some are given."""
        if not isinstance(node, Mapping):
            self.expected("a map", node, at)
            return Mapping({}, node.line, node.column)
        for entry in node:
            if not known or entry.key in known or entry.key.startswith("x-"):
                continue
            hint = did_you_mean(entry.key, known)
            self.problem(entry, f"{at}: unknown key '{entry.key}'{hint or '; known: ' + ', '.join(known)}")
        return node

    def items(self, node: Node, at: str) -> list[Node]:
        """The node as a list."""
        if not isinstance(node, Sequence):
            self.expected("a list", node, at)
            return []
        return node.items

    def one_or_more(self, node: Node) -> list[Node]:
        """The items of a list, or the node itself as a list of one."""
        return node.items if isinstance(node, Sequence) else [node]

    def text(self, node: Node, at: str, *, empty: bool = False) -> str:
        """The node as a string. Numbers are taken as they were written (`version: 2.10`)."""
        if not isinstance(node, Scalar) or node.value is None or isinstance(node.value, bool):
            self.expected("a string", node, at)
            return ""
        if node.undefined_alias:
            self.problem(node, f"{at}: no anchor is named '{node.text[1:]}'; quote the value if the * is meant as such")
        text = node.value if isinstance(node.value, str) else node.text
        if not text.strip() and not empty:
            self.problem(node, f"{at}: is empty")
        return text

    def optional_text(self, map_: Mapping, key: str, at: str, *, empty: bool = False) -> str | None:
        """The string under a key that may be missing."""
        node = map_.get(key)
        return None if node is None else self.text(node, f"{at}.{key}", empty=empty)

    def boolean(self, node: Node, at: str) -> bool:
        """The node as true or false."""
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        self.expected("true or false", node, at)
        return False

    def number(self, node: Node, at: str) -> float | int:
        """The node as a finite number."""
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
            self.expected("a number", node, at)
            return 0
        return value

    def choice(self, node: Node, at: str, among: Iterable[str]) -> str:
        """The node as one of these words."""
        words = list(among)
        value = node.value if isinstance(node, Scalar) else None
        if value not in words:
            hint = did_you_mean(str(value), words)
            self.expected(f"one of {', '.join(words)}", node, at)
            if hint and self.problems:
                last = self.problems[-1]
                self.problems[-1] = Problem(last.message + hint, last.file, last.line, last.column)
            return words[0]
        return str(value)

    def linked(self, node: Node, at: str, parse: Callable[[Reader, Node], T]) -> T | None:
        """What `parse` makes of the file that a node names, relative to the suite; None with a problem noted."""
        if self.linked_files is None:
            self.problem(node, f"{at}: a file cannot be named here")
            return None
        return self.linked_files.read(self, node, at, parse)

    def linked_text(self, node: Node, at: str) -> str | None:
        """The text in the file that a node names, relative to the suite; None with a problem noted."""
        if self.linked_files is None:
            self.problem(node, f"{at}: a file cannot be named here")
            return None
        return self.linked_files.text(self, node, at)

    def pattern(self, node: Node, at: str) -> str:
        """The node as a tool pattern. `*_dangerous`, written unquoted, is the pattern it plainly is."""
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            self.expected("a tool name or pattern", node, at)
            return "*"
        bad = globs.why_bad_glob(node.value) or globs.why_no_tool(node.value)
        if bad:
            self.problem(node, f"{at}: {bad}")
            return "*"
        return node.value

    def regex(self, node: Node, at: str) -> str:
        """The node as a regular expression that can be run with a time limit."""
        text = self.text(node, at)
        bad = why_bad_regex(text)
        if bad:
            self.problem(node, f"{at}: {bad}")
            return ""
        return text
