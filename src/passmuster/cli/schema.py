"""`passmuster schema`: the JSON Schema of a file that passmuster reads or writes."""

from __future__ import annotations

from typing import get_args

import click

from passmuster import api
from passmuster.cli._printing import print_bytes
from passmuster.reports import encoded


@click.command("schema")
@click.argument("of", type=click.Choice(get_args(api.SchemaOf)), metavar="suite|trace|report")
def command(of: api.SchemaOf) -> None:
    """Print the JSON Schema of suites, traces or reports.

    Editors use it to complete and check what you write.

    \b
    Example:
      passmuster schema suite > passmuster.schema.json
    """
    print_bytes(encoded(api.json_schema(of)))
