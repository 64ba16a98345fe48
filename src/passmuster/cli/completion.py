"""`passmuster completion`: scripts that complete commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from passmuster.cli._printing import print_lines


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    \b
    Examples:
      eval "$(passmuster completion bash)"                          # in ~/.bashrc
      passmuster completion fish > ~/.config/fish/completions/passmuster.fish
    """
    from passmuster.cli._main import command as group

    complete = get_completion_class(shell)
    assert complete is not None
    print_lines([complete(group, {}, "passmuster", "_PASSMUSTER_COMPLETE").source()])
