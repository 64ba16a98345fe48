"""Recorded runs: found and read for a comparison, and made from traces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns

import msgspec
from msgspec.structs import replace

from passmuster.engine.judging import weigh_judges
from passmuster.engine.run import Progress, conclude_run, count_sources, golden_in
from passmuster.problems import Problem, UsageError
from passmuster.scoring.baseline import SCHEMA, Baseline, baseline_of
from passmuster.scoring.report import Report
from passmuster.scoring.settings import Settings
from passmuster.scoring.suite_metrics import tried
from passmuster.scoring.tally import Tally
from passmuster.suite.discovery import display
from passmuster.suite.model import Suite
from passmuster.traces.sources import Source, find_sources

__all__ = ["MOST_BYTES", "baseline_path", "find_baseline", "read_baseline", "record"]

MOST_BYTES = 64 * 1024 * 1024
"""More than any baseline has that a person could review."""

_HEAD = 4096
_BEGINS = re.compile(rb'\s*\{\s*"schema"\s*:\s*"passmuster\.')
_AT_BYTE = re.compile(r" \(byte (\d+)\)$")


class _Head(msgspec.Struct):
    """As much of a document as says what it is."""

    schema: str | None = None


def find_baseline(suite: Suite, given: str | None, here: Path) -> Baseline | list[Source]:
    """What a run is compared with: a baseline file, or golden traces. `given` wins over what the suite names."""
    path = str(here / given) if given is not None else str(baseline_path(suite))
    name = given or display(Path(path), suite.root)
    if given is None and not Path(path).exists():
        hint = "make it with 'passmuster baseline save'"
        raise UsageError(_at_key(suite, f"there is no file or folder '{name}'; {hint}"))
    if not _is_document(path):
        return find_sources([given or path], here, suite.root)
    baseline = read_baseline(path, name)
    if (baseline.scenarios or suite.scenarios) and not any(one.id in baseline.scenarios for one in suite.scenarios):
        raise UsageError(Problem(f"no scenario of this baseline is in the suite {suite.file}", name))
    return baseline


def baseline_path(suite: Suite) -> Path:
    """Where the suite says that its baseline is. Raises `UsageError` if that lies outside the root."""
    file = suite.baseline.file if suite.baseline else None
    if file is None:
        raise UsageError(Problem("the suite names no 'baseline.file'", suite.file))
    try:
        path = (suite.folder / file).resolve()
        path.exists()
    except (OSError, ValueError) as error:
        raise UsageError(_at_key(suite, f"this cannot be the path of a file: {error}")) from None
    if not path.is_relative_to(suite.root):
        message = f"'{file}' lies outside the root ({suite.root}); move it inside or widen --root"
        raise UsageError(_at_key(suite, message))
    return path


def _at_key(suite: Suite, message: str) -> Problem:
    return Problem(f"baseline.file: {message}", suite.file, suite.baseline.line if suite.baseline else None)


def _is_document(path: str) -> bool:
    """Whether this is one of this program's own documents, not a trace; a damaged one is told by its beginning."""
    try:
        with open(path, "rb") as file:
            data = file.read(_HEAD)
            if _BEGINS.match(data.removeprefix(b"\xef\xbb\xbf")):
                return True
            if path.endswith((".jsonl", ".ndjson", ".gz")):
                return False
            data += file.read(MOST_BYTES)
        head = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Head)
    except (OSError, ValueError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False  # whoever reads it as traces will say what is wrong with it
    return head.schema is not None and head.schema.startswith("passmuster.")


def read_baseline(path: str | Path, name: str | None = None) -> Baseline:
    """The baseline in a file; `name` is what messages call it. Raises `UsageError` if it is none."""
    name = name or str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(Problem("there is no such baseline file", name)) from None
    except IsADirectoryError:
        raise UsageError(Problem("this is a folder; expected a baseline file", name)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(Problem(f"this baseline cannot be read: {reason}", name)) from None
    if len(data) > MOST_BYTES:
        raise UsageError(Problem(f"this is larger than any baseline ({MOST_BYTES // 2**20} MiB)", name))
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        schema = msgspec.json.decode(data, type=_Head).schema
        if schema != SCHEMA:
            found = "another document" if schema is None else f"the schema {schema[:100]!r}"
            raise UsageError(Problem(f"expected a baseline ({SCHEMA}), found {found}", name))
        return msgspec.json.decode(data, type=Baseline)
    except msgspec.ValidationError as error:
        hint = "save it again with 'passmuster baseline save'"
        raise UsageError(Problem(f"this baseline is damaged: {error}; {hint}", name)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(_malformed(data, str(error), name)) from None


def _malformed(data: bytes, reason: str, name: str) -> Problem:
    if not _BEGINS.match(data):
        return Problem(f"expected a baseline ({SCHEMA}), found another document", name)
    if (at := _AT_BYTE.search(reason)) is None:
        return Problem(f"this baseline is not JSON: {reason}", name)
    before = data[: int(at[1])]
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    return Problem(f"this baseline is not JSON: {_AT_BYTE.sub('', reason)}", name, line, column)


def record(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    day: str | None = None,
    workers: int = 1,
    plugins: bool = True,
    progress: Progress = lambda part, offset: None,
    asked: Callable[[int, int], None] | None = None,
) -> tuple[Baseline, Report]:
    """A run of the whole suite as a baseline, and its report.

    The runs are their own reference for path and cost, as they will be for whoever compares with them: the same traces
    judged by the baseline later come to the same.
    """
    started = perf_counter_ns()
    settings = weigh_judges(suite, settings)
    golden = golden_in(suite, sources, settings) if suite.scenarios else {}
    golden = {id_: replace(one, sequences=tuple(sorted(one.sequences))) for id_, one in golden.items()}
    tally = count_sources(
        suite, sources, settings, golden, workers=workers, plugins=plugins, progress=progress, asked=asked
    )
    report = conclude_run(suite, tally, settings, started)
    chosen = tried(suite, suite.scenarios, tally)
    version = _agent_version(suite, tally, settings)
    return baseline_of(suite, chosen, report, golden, agent_version=version, day=day), report


def _agent_version(suite: Suite, tally: Tally, settings: Settings) -> str | None:
    """The agent's version, where it is known and is one."""
    versions = list(tally.figures.versions) if tally.figures else []
    return settings.agent_version or suite.agent_version or (versions[0] if len(versions) == 1 else None)
