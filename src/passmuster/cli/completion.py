"""`passmuster completion`: scripts that complete commands and options in a shell."""

from __future__ import annotations

from passmuster.cli._command_line import argument, cli_command
from passmuster.cli._completing import SCRIPTS
from passmuster.cli._printing import print_text


@cli_command("completion")
@argument("shell", choices=tuple(SCRIPTS))
def command(shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    Examples:
      eval "$(passmuster completion bash)"                          # in ~/.bashrc
      passmuster completion fish > ~/.config/fish/completions/passmuster.fish
    """
    print_text(SCRIPTS[shell] + "\n")
