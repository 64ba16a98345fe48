"""The command and its subcommands: the public modules of this package, each imported when it is called."""

from __future__ import annotations

import contextlib
import signal
from typing import Any, cast

import click

from passmuster._problems import OutsideError
from passmuster._registry import Registry
from passmuster._version import __version__

_COMMANDS = Registry("passmuster.cli")


class _Commands(click.Group):
    """A command is a module with a `command`; a hyphen in its name is an underscore in the file's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name.replace("_", "-") for name in _COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.replace("-", "_")
        return cast("click.Command", _COMMANDS[name].command) if name in _COMMANDS else None

    def invoke(self, ctx: click.Context) -> Any:
        from passmuster.cli._printing import say  # late, as the commands are

        _interrupt_on_termination()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("Interrupted.")
            ctx.exit(130)
        except OutsideError as error:
            say(f"error: {error.problem}")
            ctx.exit(3)


def _interrupt_on_termination() -> None:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does, with its workers and temporary files; ignored ones stay so."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with contextlib.suppress(ValueError):  # not in the main thread
                signal.signal(number, signal.default_int_handler)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def command() -> None:
    """Decide whether an AI agent may ship."""
