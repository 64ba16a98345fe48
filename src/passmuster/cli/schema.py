"""`passmuster schema`: the JSON Schema of a file that passmuster reads or writes."""

from __future__ import annotations

from typing import get_args

from passmuster import api
from passmuster.cli._command_line import argument, cli_command
from passmuster.cli._printing import print_bytes
from passmuster.reports import encoded


@cli_command("schema")
@argument("of", choices=get_args(api.SchemaOf), metavar="suite|trace|report")
def command(of: api.SchemaOf) -> None:
    """Print the JSON Schema of suites, traces or reports.

    Editors use it to complete and check what you write.

    Example:
      passmuster schema suite > passmuster.schema.json
    """
    print_bytes(encoded(api.json_schema(of)))
