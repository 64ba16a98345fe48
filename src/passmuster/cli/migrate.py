"""`passmuster migrate`: other tools' files as passmuster suites."""

from __future__ import annotations

import sys

from passmuster import api, reports
from passmuster._problems import OutsideError
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_bytes, refusing, say


@cli_command("migrate")
@argument("files", metavar="FILE...", many=True)
@option("-o", "--output", metavar="DIR", help="The folder to write to; without it, the suite is printed.")
@option("--from", "origin", metavar="KIND", help="The kind of file, where it is not recognized.")
def command(files: tuple[str, ...], output: str | None, origin: str | None) -> None:
    """Write other tools' files as passmuster suites.

    Reads files of AgentCI, Assay, promptfoo and LangChain.

    Comments in the suite name the origin of each part. What could not be carried over is listed at its top and on
    standard error.

    Example:
      passmuster migrate agentci_spec.yaml -o evals
    """
    try:
        with refusing():
            found = api.migrate(files, output, origin)
            api.write_migrated(found)
    except OutsideError as error:
        say(f"error: {reports.one_line(str(error.problem))}")
        sys.exit(3)
    for one in found:
        if one.target is None:
            print_bytes(one.text.encode())
        _tell(one)


def _tell(one: api.MigratedFile) -> None:
    where = f" -> {one.target}" if one.target else ""
    say(f"{one.source} ({one.origin}){where}")
    for note in one.notes:
        say(f"  line {note.line}, {note.kind}: {reports.one_line(note.text)}")
    if one.asks_less:
        say("  This suite asks less than its origin; see the comments at its top.")
