"""`passmuster show`: what trace files hold."""

from __future__ import annotations

import shutil

import msgspec

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_bytes, print_document, print_lines, refusing
from passmuster.cli._trace_text import overview_lines, trace_lines

SCHEMA = "passmuster.traces/1"


@cli_command("show")
@argument("source", many=True, metavar="SOURCE...")
@option("--trace", "trace_id", metavar="ID", help="Show this trace, by its id or number (#3).")
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
@options.as_json
def command(
    source: tuple[str, ...],
    trace_id: str | None,
    trace_format: str | None,
    accept_loss: bool,
    skip_bad_lines: bool,
    as_json: bool,
) -> None:
    """Show what is in trace files.

    Lists runs, tools, models, errors and tokens; with --trace, one run as a timeline.

    SOURCE is a file, a folder or a glob of any trace format; - is standard input.
    Exit codes: 0 it was shown, 2 the input is wrong.

    Example:
      passmuster show traces/monday.jsonl --trace t-17
    """
    with refusing():
        how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
        if trace_id is None:
            shown = api.show_traces(source, how)
            if as_json:
                print_document(SCHEMA, shown)
            else:
                print_lines(overview_lines(shown.overview, shown.files, shown.bad_lines, shown.losses, _width()))
            return
        found = api.show_trace(source, trace_id, how)
        if as_json:
            print_bytes(reports.encoded({"schema": SCHEMA, "traces": msgspec.to_builtins(found)}))
        else:
            for one in found:
                print_lines(trace_lines(one.record, one.file, one.line, _width()))


def _width() -> int:
    """The columns of the terminal; 0 where the output goes elsewhere."""
    return shutil.get_terminal_size((0, 0)).columns
