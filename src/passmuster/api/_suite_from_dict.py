"""A suite built in Python: the same keys and the same mistakes as in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passmuster import engine
from passmuster._problems import Problem, SuiteError
from passmuster.reports import FORMATS
from passmuster.suite import Suite

_NAME = "<suite>.json"


def suite_from_dict(
    document: Mapping[str, Any], *, folder: str | Path = ".", root: str | Path | None = None, plugins: bool = True
) -> Suite:
    """The suite that a dictionary describes, with the keys of a suite file.

    What it names (policies, traces, a baseline) is relative to `folder`. Raises `SuiteError` with every mistake at
    once, each at its place in the dictionary: `tests[0].metric`. Lines in reports are those of
    `json.dumps(document, indent=2)`.
    """
    path = Path(folder).resolve() / _NAME
    try:
        content = json.dumps(dict(document), indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SuiteError(Problem(f"a suite can only contain JSON values: {error}")) from error
    try:
        documents = {str(path): content.encode()}
        return engine.load_suite(path, root=root, plugins=plugins, documents=documents, report_formats=FORMATS)
    except SuiteError as error:
        places = _places(json.loads(content), "")
        raise SuiteError([_placed(problem, places) for problem in error.problems]) from None


def _places(value: Any, at: str) -> list[str]:
    """The place in the dictionary of each line of its JSON."""
    if isinstance(value, dict):
        inner = [_places(item, f"{at}.{key}" if at else key) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [_places(item, f"{at}[{index}]") for index, item in enumerate(value)]
    else:
        return [at]
    return [at, *(place for places in inner for place in places), at] if inner else [at]


def _placed(problem: Problem, places: list[str]) -> Problem:
    """The problem at its place in the dictionary; one in another file stays where it is."""
    if problem.file is None or not problem.file.endswith(_NAME):
        return problem
    place = places[problem.line - 1] if problem.line else ""
    top = re.match(r"\w*", place)
    message = re.sub(rf"^(?:suite|{top[0]}[^\s:]*): ", "", problem.message) if place and top else problem.message
    return Problem(f"{place}: {message}" if place else message)
