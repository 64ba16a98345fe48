"""`passmuster promote`: a trace of production becomes a regression scenario."""

from __future__ import annotations

from passmuster import api, reports
from passmuster._problems import plural
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_lines, print_text, refusing


@cli_command("promote")
@argument("source", many=True, metavar="SOURCE...")
@option("--suite", metavar="SUITE", help="Suite to add it to (default: the nearest upwards).")
@option("--trace", "trace_id", metavar="ID", help="The trace, by its id or number (#3), if there are several.")
@option("--id", "id_", metavar="ID", help="Id of the scenario (default: that of the trace, else REG-001, …).")
@option("--dry-run", is_flag=True, help="Print the scenario and write nothing.")
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
@options.root
@options.no_plugins
def command(
    source: tuple[str, ...],
    suite: str | None,
    trace_id: str | None,
    id_: str | None,
    dry_run: bool,
    trace_format: str | None,
    accept_loss: bool,
    skip_bad_lines: bool,
    root: str | None,
    no_plugins: bool,
) -> None:
    """Add a trace to a suite as a regression scenario.

    The scenario states its query and the calls it made.

    The trace passes the scenario. Comments and formatting of the suite stay.

    Exit codes: 0 it was added, 2 the input is wrong, or several traces could be meant.

    Example:
      passmuster promote traces/monday.jsonl --trace t-17 --suite evals
    """
    with refusing():
        how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
        made = api.promote(
            source, how, suite=suite, trace_id=trace_id, id_=id_, dry_run=dry_run, root=root, plugins=not no_plugins
        )
    if dry_run:
        print_text("".join(f"{line}\n" for line in made.text.splitlines()))
        return
    lines = [f"{made.suite_file}: added scenario {made.id} with {plural(made.calls, 'call')}"]
    if made.has_traces:
        lines.append("Until the traces that the suite names include a run of it, it is missing.")
    print_lines(map(reports.one_line, lines))
