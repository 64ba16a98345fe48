"""What is said outside of reports: messages, and failures that nobody foresaw. Secrets are hidden in all of it."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

from passmuster._atomic_write import replace_file
from passmuster._problems import WorkerFailure
from passmuster._version import __version__
from passmuster.redaction import Redactor, shaped_spans


def without_tokens(text: str) -> str:
    """A message with tokens, PEM blocks and passwords in addresses hidden: what is known by its shape alone.

    Words behind `token:` stay, since messages about a key of that name say them.
    """
    spans = shaped_spans(text)
    for start, stop in sorted(spans, reverse=True):
        text = f"{text[:start]}[hidden]{text[stop:]}"
    return text


def describe_failure(error: Exception) -> str:
    """The failure in one sentence."""
    return Redactor().text(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def save_crash_report(error: Exception) -> Path:
    """Write the traceback to a file in the temporary folder. Raises `OSError` if that fails."""
    details = error.details if isinstance(error, WorkerFailure) else "".join(traceback.format_exception(error))
    about = (
        f"passmuster {__version__}, Python {platform.python_version()} on {platform.platform()}\n"
        f"arguments: {sys.argv[1:]}\n\n"
    )
    path = Path(tempfile.gettempdir()) / f"passmuster-error-{os.urandom(4).hex()}.txt"
    replace_file(path, Redactor().hide(about + details).encode("utf-8", "backslashreplace"))
    return path
