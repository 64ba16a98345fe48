"""The command and its subcommands; each is imported when it is called."""

from __future__ import annotations

import contextlib
import signal
from importlib import import_module
from typing import Any, cast

import click

from passmuster._problems import OutsideError
from passmuster._version import __version__

__all__ = ["command"]

_COMMANDS = {
    "run": "Judge an agent's traces by a suite.",
    "baseline": "Record a run, and compare, aim or tighten by it.",
    "judge": "Find out how good the judges of a suite are.",
    "history": "Show the runs of a suite that were kept.",
    "compare": "Show what changed from one run to another.",
}


class _Lazy(click.Group):
    """A group whose commands are modules of this room, named as they are."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return cast("click.Command", import_module(f"passmuster.cli.{cmd_name}").command)

    def invoke(self, ctx: click.Context) -> Any:
        from passmuster.cli._printing import say  # late, as the commands are

        _hear_requests_to_end()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("Interrupted.")
            ctx.exit(130)
        except OutsideError as error:
            say(f"error: {error.problem}")
            ctx.exit(3)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _hear_requests_to_end() -> None:
    """Have them end a run as Ctrl-C does, with its workers and temporary files; one that is ignored stays so."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with contextlib.suppress(ValueError):  # not in the main thread
                signal.signal(number, signal.default_int_handler)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def command() -> None:
    """Decide whether an AI agent may ship."""
