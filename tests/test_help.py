"""`passmuster help` and `passmuster completion`: every word is explained, every command completed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli_runner import CliRunner, Result

from passmuster import api
from passmuster.checks import KINDS, RULES
from passmuster.cli._main import command
from passmuster.scoring import declared_metrics

WORDS = sorted({topic.name for topic in api.topics()})


def told(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(command, ["help", *arguments])


def test_every_word_is_explained() -> None:
    for word in WORDS:
        ended = told(word)
        assert ended.exit_code == 0
        assert word in ended.output
        assert all(len(line) <= 120 for line in ended.output.splitlines())


def test_all_that_is_declared_is_a_word() -> None:
    assert {*KINDS, *RULES, *declared_metrics()} <= set(WORDS)


def test_every_key_that_a_suite_can_have_is_a_word() -> None:
    found: set[str] = set()

    def look(node: object) -> None:
        if isinstance(node, dict):
            found.update(node["properties"] if isinstance(node.get("properties"), dict) else ())
            for value in node.values():
                look(value)
        elif isinstance(node, list):
            for value in node:
                look(value)

    look(api.json_schema("suite"))
    assert len(found) > 200
    assert found <= set(WORDS)


def test_the_list_has_every_word() -> None:
    listed = told().output.replace(",", " ").split()
    assert not [word for word in WORDS if word not in listed]


def test_a_word_with_several_meanings_has_all_of_them() -> None:
    assert told("description").output.count("description (key of") > 3


def test_an_unknown_word_names_the_nearest() -> None:
    ended = told("max_lops")
    assert ended.exit_code == 2
    assert "did you mean 'max_loops'?" in ended.stderr


def test_a_command_is_explained_by_its_own_help() -> None:
    assert told("run").output == CliRunner(env={"COLUMNS": "80"}).invoke(command, ["run", "--help"]).output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script(shell: str) -> None:
    script = CliRunner().invoke(command, ["completion", shell]).output
    assert "_PASSMUSTER_COMPLETE" in script


def test_commands_are_completed() -> None:
    asked = {"_PASSMUSTER_COMPLETE": "bash_complete", "COMP_WORDS": "passmuster comp", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['passmuster']; from passmuster.__main__ import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["plain,compare", "plain,completion"]


def test_no_summary_of_a_command_is_cut() -> None:
    listed = CliRunner(env={"COLUMNS": "80"}).invoke(command, ["--help"]).output.split("Commands:\n")[1]
    assert not [line for line in listed.splitlines() if line.endswith("...")]
