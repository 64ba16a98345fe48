"""The last handler: an error that nobody foresaw becomes a short message, and its traceback a file."""

from __future__ import annotations

from passmuster import api, reports
from passmuster.cli._printing import say


def tell_unexpected(error: Exception) -> int:
    """Print what happened and where its details are, and give the exit code: what could not be decided is no pass."""
    try:
        say(f"error: unexpected failure of passmuster itself: {reports.one_line(api.describe_failure(error))}")
        path = api.save_crash_report(error)
        say(f"Details: {path}. Please report it with this file; secrets in it are hidden.")
    except Exception as problem:  # no disk, no memory: the first error is what counts
        say(f"Its details could not be saved: {type(problem).__name__}: {reports.one_line(str(problem))}")
    return 3
