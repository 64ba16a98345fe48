"""`passmuster history`: the stored runs of a suite, and the course of its metrics."""

from __future__ import annotations

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._command_line import cli_command, option, whole_number
from passmuster.cli._printing import print_document, print_lines, refusing

SCHEMA = "passmuster.history/1"


@cli_command("history")
@options.suite
@option("--metric", "metrics", multiple=True, metavar="NAME", help="Only these metrics.")
@option("--last", convert=whole_number(1), default=20, metavar="N", help="Number of runs to show (default: 20).")
@options.root
@options.as_json
def command(suite: str | None, metrics: tuple[str, ...], last: int, root: str | None, as_json: bool) -> None:
    """Show the stored runs of a suite.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the history was shown, 2 the input is wrong.

    Example:
      passmuster history evals --metric pass_rate --last 10
    """
    with refusing():
        history = api.read_history(suite, last=last, metrics=metrics, root=root)
        if as_json:
            print_document(SCHEMA, history)
        else:
            print_lines(reports.history_lines(history, metrics))
