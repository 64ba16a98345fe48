"""The command and its subcommands: the public modules of this package, each imported when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from passmuster._problems import OutsideError
from passmuster._registry import Registry
from passmuster._version import __version__
from passmuster.cli._command_line import HELP, VERSION, Asked, Command, CommandLineError, Group

_MODULES = Registry("passmuster.cli")


class _Commands(Mapping[str, Command | Group]):
    """A command is a module with a `command`; a hyphen in its name is an underscore in the file's."""

    def __getitem__(self, name: str) -> Command | Group:
        return cast("Command | Group", _MODULES[name.replace("-", "_")].command)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.replace("-", "_") in _MODULES

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", "-") for name in _MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


command = Group(
    "passmuster",
    """Decide whether an AI agent may ship.

    Example:
      passmuster run evals --traces traces/
    """,
    _Commands(),
    (VERSION, HELP),
)


def main() -> int:
    """Run what the words of this process ask for, and give the exit code."""
    asking_shell = os.environ.get("_PASSMUSTER_COMPLETE")
    if asking_shell:
        from passmuster.cli._completing import completion_lines  # late, as the commands are
        from passmuster.cli._printing import print_text

        print_text("".join(f"{line}\n" for line in completion_lines(command, asking_shell)))
        return 0
    return run(command, sys.argv[1:])


def run(called: Command | Group, words: Sequence[str]) -> int:
    """Run a command, and give its exit code."""
    from passmuster.cli._printing import say  # late, as the commands are

    try:
        try:
            called.run(list(words), "passmuster")
        except Asked as asked:
            _answer(asked)
    except CommandLineError as error:
        from passmuster.cli._help_text import mistake_lines  # late, for most words are right

        say("\n".join(mistake_lines(error)))
        return 2
    except KeyboardInterrupt as interrupt:
        say(" ".join(["Interrupted.", *getattr(interrupt, "__notes__", ())]))
        return 130
    except OutsideError as error:
        say(f"error: {error.problem}")
        return 3
    except Exception as error:
        from passmuster.cli._unexpected import tell_unexpected  # late, for it should never be needed

        return tell_unexpected(error)
    return 0


def _answer(asked: Asked) -> None:
    """Print the version or the help text."""
    from passmuster.cli._help_text import help_lines  # late, for few runs need them
    from passmuster.cli._printing import print_lines

    if asked.option is VERSION:
        print_lines([f"passmuster {__version__}"])
    else:
        print_lines(help_lines(asked.command, asked.path))
