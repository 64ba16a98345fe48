"""The command and its subcommands: the public modules of this package, each imported when it is called."""

from __future__ import annotations

import sys
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

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except OSError as error:
            sys.exit(_unprinted(error))

    def invoke(self, ctx: click.Context) -> Any:
        from passmuster.cli._printing import say  # late, as the commands are

        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            say(" ".join(["Interrupted.", *getattr(interrupt, "__notes__", ())]))
            ctx.exit(130)
        except OutsideError as error:
            say(f"error: {error.problem}")
            ctx.exit(3)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, OSError) and _is_from_click(error):
                ctx.exit(_unprinted(error))
            from passmuster.cli._unexpected import tell_unexpected  # late, for it should never be needed

            ctx.exit(tell_unexpected(error))


def _is_from_click(error: OSError) -> bool:
    """Whether the error came up while click printed a help text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == "click.utils"


def _unprinted(error: OSError) -> int:
    """The exit code where a help text could not be printed; the reader of a pipe may close it early."""
    from passmuster.cli._printing import open_pipe, say  # late, as the commands are

    try:
        with open_pipe(sys.stdout):
            raise error
    except OutsideError as outside:
        say(f"error: {outside.problem}")
        return 3
    return 0


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def command() -> None:
    """Decide whether an AI agent may ship.

    \b
    Example:
      passmuster run evals --traces traces/
    """
