"""`passmuster import`: traces of any format in the native form."""

from __future__ import annotations

from passmuster import api
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_document, print_lines, refusing
from passmuster.cli._trace_text import import_lines

SCHEMA = "passmuster.import/1"


@cli_command("import")
@argument("source", many=True, metavar="SOURCE...")
@option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Where to write the traces, one per line; FILE.parquet: one per row.",
)
@option("--redact", is_flag=True, help="Hide secrets in the traces.")
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
@options.as_json
def command(
    source: tuple[str, ...],
    output: str,
    redact: bool,
    trace_format: str | None,
    accept_loss: bool,
    skip_bad_lines: bool,
    as_json: bool,
) -> None:
    """Write traces of any format in the native form.

    Reports what was lost and what checks will lack.

    SOURCE is a file, a folder or a glob; - is standard input.
    Exit codes: 0 the traces were written, 2 the input is wrong, 3 they could not be written.

    Example:
      passmuster import export.json -o traces/monday.jsonl
    """
    with refusing():
        how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
        imported = api.import_traces(source, output, how, redact=redact)
        if as_json:
            print_document(SCHEMA, imported)
        else:
            print_lines(import_lines(imported))
