"""`passmuster diff-policy`: what a new policy would have blocked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from passmuster import api, reports
from passmuster._problems import plural
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command
from passmuster.cli._printing import print_document, print_lines, refusing
from passmuster.cli._progress import progress_bar

SCHEMA = "passmuster.policy-diff/1"


@cli_command("diff-policy")
@argument("old", metavar="OLD_SUITE")
@argument("new", metavar="NEW_SUITE")
@options.traces
@options.trace_format
@options.sample
@options.since
@options.until
@options.skip_bad_lines
@options.accept_loss
@options.root
@options.no_plugins
@options.workers
@options.executor
@options.ray_address
@options.today
@options.as_json
def command(old: str, new: str, as_json: bool, **given: Any) -> None:
    """Show what a new suite would block, and let through.

    Judges are not asked. Exit codes: 0 they were compared, 2 the input is wrong, 3 something outside failed.

    Example:
      passmuster diff-policy main/passmuster.yaml passmuster.yaml --traces traces/
    """
    with refusing():
        chosen = api.RunOptions(**options.values(given))
        with api.StandardInput() as stdin, progress_bar(as_json) as on_progress:
            found = api.diff_policy(old, new, chosen, stdin, on_progress=on_progress)
        if as_json:
            print_document(SCHEMA, found, changed=found.changed)
        else:
            print_lines(_lines(found))


def _lines(found: api.PolicyDiff) -> Iterator[str]:
    yield f"{reports.one_line(found.old)} → {reports.one_line(found.new)}: {plural(found.traces, 'trace')}"
    if found.bad_lines:
        yield f"Note: {plural(found.bad_lines, 'line')} could not be read"
    if found.undecided:
        yield f"Note: on {plural(found.undecided, 'trace')} a check could not be decided"
    if not found.changed:
        yield f"Nothing changed: {plural(found.blocked_by_both, 'trace')} blocked by both."
        return
    paths = reports.PathsFrom(found.root, os.getcwd())
    for title, calls, traces, rules in (
        ("Newly blocked", found.newly_blocked_calls, found.newly_blocked_traces, found.newly_blocked),
        ("Newly let through", found.newly_allowed_calls, found.newly_allowed_traces, found.newly_allowed),
    ):
        yield from reports.changed_rule_lines(title, calls, traces, rules, paths)
    yield ""
    yield f"{plural(found.blocked_by_both, 'trace')} blocked by both."
