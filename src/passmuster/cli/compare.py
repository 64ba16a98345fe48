"""`passmuster compare`: what changed between two runs."""

from __future__ import annotations

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._divergence_text import divergence_lines
from passmuster.cli._printing import print_document, print_lines, refusing

SCHEMA = "passmuster.comparison/1"
TRACES_SCHEMA = "passmuster.trace-comparison/1"


@cli_command("compare")
@argument("before", metavar="A")
@argument("after", metavar="B")
@option("--suite", metavar="SUITE", help="Suite whose history has the runs (default: the nearest upwards).")
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
@options.root
@options.as_json
def command(
    before: str,
    after: str,
    suite: str | None,
    trace_format: str | None,
    accept_loss: bool,
    skip_bad_lines: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Show what changed from run A to run B.

    A and B are numbers of runs, as `passmuster history` lists them, paths of JSON reports, or traces: files, folders or
    globs, which are compared call by call.

    Exit codes: 0 they were compared, 2 the input is wrong.

    Examples:
      passmuster compare 12 13 --suite evals
      passmuster compare traces/before.jsonl traces/after.jsonl
    """
    with refusing():
        runs = _run(before), _run(after)
        if api.names_traces(runs):
            how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
            traces = api.compare_traces(before, after, how)
            if as_json:
                print_document(TRACES_SCHEMA, traces, changed=traces.changed)
            else:
                print_lines(map(reports.one_line, divergence_lines(traces, before, after)))
            return
        comparison = api.compare_runs(*runs, suite=suite, root=root)
        if as_json:
            print_document(SCHEMA, comparison, changed=comparison.changed)
        else:
            print_lines(reports.comparison_lines(comparison, *map(_name, runs)))


def _run(given: str) -> int | str:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else given


def _name(run: int | str) -> str:
    return f"run {run}" if isinstance(run, int) else run
