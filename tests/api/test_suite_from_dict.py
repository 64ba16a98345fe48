"""A suite built in Python has the same meaning and the same mistakes as one in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import passmuster

BLOCKED = {"tests": [{"id": "none", "metric": "tool_blocklist", "blocklist": ["drop_*"]}]}
TRACE = passmuster.Trace(steps=(passmuster.ToolCall(tool="drop_table"),))


def test_it_gives_the_report_of_the_same_suite_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "passmuster.json"
    path.write_text(json.dumps(BLOCKED, indent=2))
    built, loaded = passmuster.suite_from_dict(BLOCKED, folder=tmp_path), passmuster.load_suite(path)
    of_built, of_loaded = (passmuster.evaluate(suite, [TRACE]) for suite in (built, loaded))
    assert (built.name, built.sha256, built.root) == (loaded.name, loaded.sha256, loaded.root)
    assert of_built.verdict == of_loaded.verdict == "fail"
    assert of_built.tests[0].violations[0].policy_line == of_loaded.tests[0].violations[0].policy_line == 7


def test_what_it_names_is_relative_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("tools: {pay: {arguments: {amount: {max: 5}}}}\n")
    document = {"tests": [{"id": "args", "metric": "args_valid", "policy": "policy.yaml"}]}
    assert passmuster.suite_from_dict(document, folder=tmp_path).tests
    (tmp_path / "policy.yaml").write_text("tools: {pay: {arguments: {amount: {maxi: 5}}}}\n")
    with pytest.raises(passmuster.SuiteError, match=r"^policy.yaml:1:\d+: .*unknown key 'maxi'"):
        passmuster.suite_from_dict(document, folder=tmp_path)


@pytest.mark.parametrize(
    ("document", "messages"),
    [
        ({}, ["the suite checks nothing: it has no tests, and no scenario states an expectation"]),
        ({"testz": []}, ["testz: unknown key 'testz'; did you mean 'tests'?"]),
        ({"tests": [{"id": "a", "metrik": "x"}]}, ["tests[0]: 'metric' is missing"]),
        (
            {"tests": [*BLOCKED["tests"], {"id": "b", "metric": "tool_blocklst"}], "strictt": 1},
            ["tests[1].metric: ", "strictt: unknown key"],
        ),
        (
            {**BLOCKED, "scenarios": [{"id": "S", "cost": {"max_cost_usd": "much"}}]},
            ["scenarios[0].cost.max_cost_usd:"],
        ),
        ({"tests": float("nan")}, ["a suite can only contain JSON values:"]),
        ({"tests": {Path()}}, ["a suite can only contain JSON values:"]),
    ],
    ids=str,
)
def test_mistakes_are_at_their_place_in_the_dictionary(document: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(passmuster.SuiteError) as caught:
        passmuster.suite_from_dict(document)
    assert len(caught.value.problems) == len(messages), caught.value
    for problem, message in zip(caught.value.problems, messages, strict=True):
        assert str(problem).startswith(message)
        assert (problem.file, problem.line, problem.column) == (None, None, None)
