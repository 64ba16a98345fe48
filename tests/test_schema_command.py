"""`passmuster schema`: a valid JSON Schema that agrees with what the program reads."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from tests.cli_runner import CliRunner

import passmuster
from passmuster import api
from passmuster.cli import command
from passmuster.suite import plain
from passmuster.suite._files import Documents
from passmuster.suite.text._yaml import read_yaml

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
SUITE = api.json_schema("suite")


@pytest.mark.parametrize("of", ["suite", "trace", "report"])
def test_it_prints_a_valid_schema(of: Any) -> None:
    done = CliRunner().invoke(command, ["schema", of])
    assert done.exit_code == 0
    printed = json.loads(done.output)
    assert printed == api.json_schema(of)
    jsonschema_rs.Draft202012Validator(printed)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_key_is_described() -> None:
    for name, schema in SUITE["properties"].items():
        assert schema["description"].endswith((".", "`")), name


def suites_on_pages() -> list[Any]:
    """Every block of a page that is a suite file, but for those that show mistakes."""
    found = []
    for page in PAGES:
        for title, text in re.findall(r"^```ya?ml (\S+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
            if title.endswith("passmuster.yaml") and not title.startswith("wrong/"):
                found.append(pytest.param(plain(read_yaml(text, title)), id=f"{page.name} {title}"))
    return found


def complaints(document: Any) -> list[str]:
    return [str(error) for error in jsonschema_rs.Draft202012Validator(SUITE).iter_errors(document)]


@pytest.mark.parametrize("document", suites_on_pages())
def test_suites_of_the_documentation_conform(document: Any) -> None:
    assert complaints(document) == []


@pytest.mark.parametrize("path", sorted((REPOSITORY / "examples").glob("*/passmuster.yaml")), ids=str)
def test_suites_of_the_examples_conform(path: Path) -> None:
    assert complaints(plain(Documents().read(path, path.name)[0])) == []


@pytest.mark.parametrize(
    "suite",
    [
        {"tets": []},
        {"tests": [{"id": "a"}]},
        {"tests": [{"id": "a", "metric": "tool_blocklist"}]},
        {"tests": [{"id": "a", "metric": "tool_blocklist", "blocklist": [], "tool": "x"}]},
        {"tests": [{"id": "a", "metric": "sequence_valid", "rules": [{"type": "before", "first": "x"}]}]},
        {"tests": [{"id": "a", "metric": "sequence_valid", "rules": [{"type": "befor", "first": "x", "then": "y"}]}]},
        {"tests": [{"id": "a", "metric": "my_own", "most": 3}]},
        {"output": {"format": ["jsn"]}},
        {"thresholds": {"blocks": {"pass_rate": 90}}},
    ],
    ids=str,
)
def test_mistakes_of_shape_are_refused(suite: Any) -> None:
    assert complaints(suite)


SHAPE = re.compile(
    r"unknown key|unknown rule type|: expected |is missing|is empty|states nothing|means nothing without"
)
"""Messages about the shape of a map or a value, rather than about what it refers to."""


def mutated(document: Any, chance: Random) -> Any:
    """The document with one mistake of shape somewhere in it: a misspelt, missing or added key, or another type."""
    document = copy.deepcopy(document)
    places: list[tuple[Any, Any]] = []

    def visit(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                visit(value[key])

    visit(document)
    holder, key = chance.choice(places)
    how = chance.choice(["misspell", "drop", "add", "retype"] if isinstance(holder, dict) else ["retype"])
    if how == "misspell":
        holder[f"{key}x"] = holder.pop(key)
    elif how == "drop":
        del holder[key]
    elif how == "add":
        holder["surprise"] = 1
    else:
        others: list[Any] = [7, "word", [], {}, True]
        holder[key] = chance.choice([other for other in others if type(other) is not type(holder[key])])
    return document


def test_nearly_all_mistakes_of_shape_are_refused_by_the_schema() -> None:
    """Seeded mutations of the documentation's suites: of those refused for their shape, at least 95 %."""
    chance = Random(10)
    suites = [param.values[0] for param in suites_on_pages()]
    refused = caught = 0
    for _ in range(600):
        document = mutated(chance.choice(suites), chance)
        try:
            passmuster.suite_from_dict(document, plugins=False)
        except passmuster.SuiteError as error:
            if any(SHAPE.search(problem.message) for problem in error.problems):
                refused += 1
                caught += bool(complaints(document))
    assert refused > 150
    assert caught / refused >= 0.95
