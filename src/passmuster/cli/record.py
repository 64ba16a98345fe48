"""`passmuster record`: run the agent of a suite, and write what it does as traces."""

from __future__ import annotations

import sys
from typing import Any

from passmuster import api
from passmuster.cli import _options as options
from passmuster.cli._command_line import cli_command, option
from passmuster.cli._printing import print_lines, refusing, say
from passmuster.cli._progress import live_bar
from passmuster.cli._trace_text import import_lines
from passmuster.reports import one_line


@cli_command("record")
@options.suite
@option("-o", "--output", required=True, metavar="PATH", help="A .jsonl file, or a folder for it.")
@option("--only", multiple=True, metavar="ID|GLOB", help="Only these scenarios.")
@option("--tag", "tags", multiple=True, metavar="TAG", help="Only scenarios with this tag.")
@options.resume
@options.max_cost_usd
@option("--redact", is_flag=True, help="Hide secrets in the traces.")
@options.root
@options.no_plugins
def command(suite: str | None, output: str, no_plugins: bool, **given: Any) -> None:
    """Run the agent of a suite and write its traces.

    It runs as often as the scenarios say.

    Exit codes: 0 all runs are written, 2 the input is wrong, 3 not all runs took place.

    Example:
      passmuster record -o traces/
    """
    live = api.LiveOptions(resume=given.pop("resume"), max_cost_usd=given.pop("max_cost_usd"))
    with refusing():
        how = api.RecordOptions(live=live, plugins=not no_plugins, **given)
        with live_bar() as on_live:
            recorded = api.record_runs(suite, output, how, on_live=on_live)
        print_lines(_lines(recorded))
    if recorded.out_of_budget:
        say(f"error: {recorded.planned - recorded.written.traces} runs did not take place: {recorded.out_of_budget}")
        sys.exit(3)


def _lines(recorded: api.Recorded) -> list[str]:
    notes = [f"{'warning' if note.warns else 'note'}: {note.id}: {one_line(note.message)}" for note in recorded.notes]
    spent = "" if recorded.spent_usd is None else f" They cost ${recorded.spent_usd:.4g}."
    failed = f"{recorded.failed} of {recorded.written.traces} runs failed.{spent}"
    return [*notes, *import_lines(recorded.written), *([failed] if recorded.failed or spent else [])]
