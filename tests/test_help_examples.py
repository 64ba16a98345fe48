"""The help text of every command has an example, and the example is one that the command takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from passmuster.cli._main import command as top


def every(group: click.Group, *before: str) -> Iterator[tuple[str, ...]]:
    yield before
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from every(found, *before, name)
        else:
            yield *before, name


@pytest.mark.parametrize("words", list(every(top)), ids=" ".join)
def test_every_help_text_has_an_example_that_works(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(top, [*words, "--help"], prog_name="passmuster", terminal_width=1000)
    assert shown.exit_code == 0
    example = re.search(r"\n  Examples?:\s+(?:eval \"\$\()?(passmuster [^\n)]+)", shown.output)
    assert example, shown.output
    given = shlex.split(example[1].partition(" > ")[0])
    assert given[1 : 1 + len(words)] == list(words)
    parse(top, given[1:])


def parse(command: click.Command, given: list[str]) -> None:
    """Read the arguments as the command does, and run nothing."""
    context = command.make_context("passmuster", list(given))
    if isinstance(command, click.Group):
        _, inner, rest = command.resolve_command(context, given)
        assert inner is not None
        parse(inner, rest)
