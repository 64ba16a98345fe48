"""`passmuster formats`: the formats that traces are read in."""

from __future__ import annotations

import msgspec

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._command_line import cli_command
from passmuster.cli._printing import print_bytes, print_lines
from passmuster.cli._trace_text import format_lines

SCHEMA = "passmuster.formats/1"


@cli_command("formats")
@options.as_json
def command(as_json: bool) -> None:
    """List the formats that traces are read in.

    For each: how it is detected, what it carries and what it cannot.

    The format of a file is detected by its records; --format NAME of the other commands states it.

    Example:
      passmuster formats --json
    """
    found = api.describe_formats()
    if as_json:
        print_bytes(reports.encoded({"schema": SCHEMA, "formats": msgspec.to_builtins(found)}))
    else:
        print_lines(format_lines(found))
