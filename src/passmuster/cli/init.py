"""`passmuster init`: a first suite."""

from __future__ import annotations

import shlex

from passmuster import api, reports
from passmuster._problems import plural
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command
from passmuster.cli._printing import print_lines, refusing


@cli_command("init")
@argument("folder", metavar="[FOLDER]", default=".")
@options.traces
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
def command(
    folder: str, traces: tuple[str, ...], trace_format: str | None, accept_loss: bool, skip_bad_lines: bool
) -> None:
    """Write a first suite, from traces or as an example.

    FOLDER (default: the current one) gets passmuster.yaml and its policies.

    With --traces it is learned from traces of any format: tools and their arguments, the usual order, what runs take.
    It passes on these traces; what too few of them bear out only warns. Without, it is the example with its traces.

    Exit codes: 0 the suite was written, 2 the input is wrong or a file is in the way.

    Example:
      passmuster init --traces traces/
    """
    with refusing():
        how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
        made = api.init_suite(traces, how, folder=folder)
    lines = [f"wrote {name}" for name in made.files]
    if made.traces:
        found = [plural(made.tools, "tool"), plural(made.order_rules, "order rule"), plural(made.scenarios, "scenario")]
        lines.append(
            f"learned from {plural(made.traces, 'trace')}: {', '.join(found)}; verdict on them: {made.verdict}"
        )
        if made.only_warned:
            lines.append(
                f"too few traces to block, so they warn: {', '.join(made.only_warned)}; {made.files[0]} says why"
            )
    suite = [folder] if folder != "." else []
    again = shlex.join(["passmuster", "run", *suite, *(["--traces", "PATH"] if "-" in traces else [])])
    print_lines(map(reports.one_line, [*lines, f"Next: {again}"]))
