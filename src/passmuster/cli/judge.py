"""`passmuster judge`: how good the judges of a suite are."""

from __future__ import annotations

import sys
from typing import Any

from passmuster import api, reports
from passmuster.cli import _options as options
from passmuster.cli._command_line import cli_group, option, whole_number
from passmuster.cli._printing import print_document, print_lines, refusing, say
from passmuster.cli._progress import progress_bar


@cli_group("judge")
def command() -> None:
    """Measure how good the judges of a suite are.

    Example:
      passmuster judge audit evals --labels labels.jsonl
    """


@command.subcommand("audit")
@options.suite
@option("--labels", required=True, metavar="FILE", help="Labels by people: JSON lines, or a JSON or YAML list.")
@option("--traces", multiple=True, metavar="PATH", help="File, folder or glob (default: those of the suite).")
@options.trace_format
@options.accept_loss
@option(
    "--repeats",
    convert=whole_number(1, 100),
    default=3,
    metavar="N",
    help="Times to ask each question, up to 100 (default: 3).",
)
@option("--canaries", is_flag=True, off_name="--no-canaries", help="Also try to sway the judges (default: no).")
@option(
    "--judge",
    choices=("live", "cached"),
    default="live",
    help="Ask (default), or use cached verdicts.",
)
@option("-o", "--output", metavar="FILE", help="Where to save the calibration.")
@option(
    "--valid-days",
    convert=whole_number(1, 3650),
    default=90,
    metavar="N",
    help="Days it is valid, up to 3650 (default: 90).",
)
@option("--today", metavar="DATE", help="Day of the audit (default: today, UTC).")
@options.root
@options.no_plugins
@options.as_json
def audit_command(suite: str | None, as_json: bool, **given: Any) -> None:
    """Compare judges with people, with checks, and with themselves.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the judges are usable, 1 they are not, 2 the input is wrong, 3 they could not be asked.

    Example:
      passmuster judge audit evals --labels labels.jsonl
    """
    with refusing():
        chosen = api.AuditOptions(**options.values(given))
        with progress_bar(as_json) as on_progress:
            found = api.audit_judges(suite, chosen, on_progress=on_progress)
        if as_json:
            print_document(found.calibration.schema, found.calibration)
        else:
            print_lines(reports.audit_lines(found.calibration, found.traces, found.rounds, found.saved))
    if found.silence is not None:
        say(f"error: {reports.one_line(found.silence)}; nothing was saved")
        sys.exit(3)
    sys.exit(0 if found.calibration.audit.usable else 1)
