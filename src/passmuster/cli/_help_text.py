"""The help text of a command, and what to print where its words are wrong."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from shutil import get_terminal_size

from passmuster.cli._command_line import Command, CommandLineError, Group, Option

_WIDEST_NAME = 30
"""Explanations of options with longer names begin on the next line."""


def help_lines(command: Command | Group, path: str) -> Iterator[str]:
    """Usage, description, options and commands."""
    width = max(50, min(get_terminal_size().columns, 80) - 2)
    yield _usage(command, path)
    for paragraph in inspect.cleandoc(command.text).split("\n\n"):
        yield ""
        if "\n  " in paragraph:  # with indented lines: an example
            yield from textwrap.indent(paragraph, "  ").splitlines()
        else:
            yield from textwrap.wrap(paragraph, width, initial_indent="  ", subsequent_indent="  ")
    yield from _table("Options", [(_names(option), _meaning(option)) for option in command.options], width)
    if isinstance(command, Group):
        listed = [(name, command.commands[name].summary) for name in sorted(command.commands)]
        yield from _table("Commands", listed, width)


def mistake_lines(error: CommandLineError) -> Iterator[str]:
    """What is wrong with the words of a command line; the help text where there were none."""
    if not str(error):
        yield from help_lines(error.command, error.path)
        return
    yield _usage(error.command, error.path)
    yield f"Try '{error.path} --help' for help."
    yield ""
    yield f"Error: {error}"


def _usage(command: Command | Group, path: str) -> str:
    return f"Usage: {path} {command.usage}"


def _names(option: Option) -> str:
    names = ", ".join(option.names)
    if option.off_name:
        return f"{names} / {option.off_name}"
    return f"{names} {option.metavar}" if option.takes_value else names


def _meaning(option: Option) -> str:
    return f"{option.help_text}  [required]" if option.required else option.help_text


def _table(title: str, rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    column = min(max(len(name) for name, _ in rows), _WIDEST_NAME) + 2
    for name, text in rows:
        lines = textwrap.wrap(text, width - column - 2)
        if len(name) > _WIDEST_NAME:
            yield f"  {name}"
        else:
            yield f"  {name:{column}}{lines.pop(0)}"
        for line in lines:
            yield f"  {'':{column}}{line}"
