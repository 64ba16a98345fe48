"""The help text of every command has an example, and the example is one that the command takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from tests.cli_runner import CliRunner

from passmuster.cli._command_line import Command, Group
from passmuster.cli._main import command as top


def every(group: Group, *before: str) -> Iterator[tuple[str, ...]]:
    yield before
    for name, found in group.commands.items():
        if isinstance(found, Group):
            yield from every(found, *before, name)
        else:
            yield *before, name


@pytest.mark.parametrize("words", list(every(top)), ids=" ".join)
def test_every_help_text_has_an_example_that_works(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(top, [*words, "--help"])
    assert shown.exit_code == 0
    example = re.search(r"\n  Examples?:\s+(?:eval \"\$\()?(passmuster [^\n)]+)", shown.output)
    assert example, shown.output
    given = shlex.split(example[1].partition(" > ")[0])
    assert given[1 : 1 + len(words)] == list(words)
    parse(top, given[1:])


def parse(command: Command | Group, given: list[str]) -> None:
    """Read the arguments as the command does, and run nothing."""
    if isinstance(command, Group):
        name, rest = command.parse(given, "passmuster")
        parse(command.commands[name], rest)
    else:
        command.parse(given, "passmuster")
