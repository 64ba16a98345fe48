"""The runs of an agent as traces, without a verdict."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from passmuster._problems import OutsideError, Problem, UsageError
from passmuster.api._import_traces import Imported, import_traces
from passmuster.api._live_session import LiveOptions, OnLive, live_session, ready
from passmuster.api._load_suite import load_suite
from passmuster.api._output_files import check_writable
from passmuster.api._show_traces import SourceOptions
from passmuster.engine import select
from passmuster.scoring import LiveNote


class RecordOptions(Struct, frozen=True, kw_only=True):
    """What is recorded, and how. What is left out is as on the command line."""

    live: LiveOptions = LiveOptions()
    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    root: str | None = None
    plugins: bool = True
    redact: bool = False


class Recorded(Struct, frozen=True):
    """What was written, and what to know about it."""

    written: Imported
    planned: int
    failed: int
    """Runs in which the agent, or something outside it, failed."""
    spent_usd: float | None
    notes: tuple[LiveNote, ...]
    out_of_budget: str | None


def record_runs(path: str | None, output: str, options: RecordOptions, *, on_live: OnLive | None = None) -> Recorded:
    """Run the agent of a suite, and write the traces to a file, or to one named after the suite in a folder.

    The file is written when the session has ended; until then the runs are where `run_live` keeps them. Raises
    `InputError` before anything is spent, and `OutsideError` where a part outside this program failed.
    """
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    file = Path(output)
    if file.suffix != ".jsonl":
        file = file / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', suite.name).strip('-.') or 'traces'}.jsonl"
    check_writable([file], inputs=suite.documents, make_folders=True, what="file")
    chosen = ready(select(suite, options.only, options.tags), options.live)
    with live_session(chosen, options.live, on_live) as session:
        live = session.live
        if not live.finished:
            raise UsageError(Problem("no run took place, so there is nothing to write", suite.file))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutsideError(Problem(f"cannot write this file: {error.strerror}", str(file))) from error
        written = import_traces(
            [str(session.runs.path)], str(file), SourceOptions(format="native"), redact=options.redact
        )
    return Recorded(written, live.planned, live.failed, live.spent_usd, live.notes, live.out_of_budget)
