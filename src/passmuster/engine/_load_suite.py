"""A suite file loaded with everything its keys can name: the kinds of check, built-in and custom."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from passmuster._problems import Problem
from passmuster.checks import VOCABULARY, Kinds
from passmuster.scoring import gate_vocabulary
from passmuster.suite import FOREIGN_NAMES, TEXT, CheckKind, Choice, Late, Node, Reader, Suite, Value, Vocabulary
from passmuster.suite import load_suite as load

_AGENT_VALUES = {
    "agent_python": "`module:function`",
    "agent_command": "a list: a program and its arguments",
    "agent_http": "an address, or a map",
    "agent_capture": "a source, a list of sources, or a map",
}


def load_suite(
    path: str | Path,
    *,
    root: str | Path | None = None,
    plugins: bool = True,
    documents: Mapping[str, bytes] | None = None,
    report_formats: Collection[str] = (),
) -> Suite:
    """The suite in a file, or in a folder that holds one. Raises `SuiteError` with every mistake at once.

    `documents` are files already read, by path; what is among them is not read again. `report_formats` are the reports
    that the suite can name; any, where none are given.
    """

    def find_kinds(folder: Path, names: list[tuple[str, Node]], reader: Reader) -> Mapping[str, CheckKind]:
        return Kinds(str(folder), names, reader, allowed=plugins)

    return load(Path(path), find_kinds, vocabulary(report_formats), root, documents, _adapt)


def _adapt(node: Node, path: Path, file: str) -> tuple[Node, list[Problem], list[Problem]]:
    """The files of other tools that can be run as they stand, as suites."""
    if path.name not in FOREIGN_NAMES:
        return node, [], []
    from passmuster.migration import adapted  # late, for most suites are our own

    return adapted(node, path, file)


def vocabulary(report_formats: Collection[str] = ()) -> Vocabulary:
    """Value types by name; without `report_formats`, any name of a report is accepted."""
    return {
        **gate_vocabulary(),
        **VOCABULARY,
        "judge_config": Late("a map", _judge_config),
        **{name: Late(words, partial(_agent_value, name)) for name, words in _AGENT_VALUES.items()},
        "report_format": Choice(*report_formats) if report_formats else TEXT,
    }


def _judge_config() -> Value[Any]:
    from passmuster.judges import JUDGE_CONFIG  # late, for most suites ask no judge

    return JUDGE_CONFIG


def _agent_value(name: str) -> Value[Any]:
    from passmuster.agents import AGENT_VALUES  # late, for most suites are about recorded traces

    return AGENT_VALUES[name]
