"""Runs of LangSmith: a list or lines of runs, an answer of its API, or a batch as its client sends it.

The runs of one trace may stand in any order. Of a run that was sent twice, when it began and when it ended, the parts
are put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading, located_error
from passmuster.traces._model import Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces.spans._gathering import Gathering
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._plain_spans import moment
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import opened

DESCRIPTION = "Runs of LangSmith: lists, lines, answers of its API, and batches as its client sends them."
SHAPE = '{"run_type": "llm", "inputs": {…}, "outputs": {…}}'
LACKS = ("handoffs",)

_LISTS = ("runs", "traces", "post", "patch", "data")
_MAYBE_TEXT = ("inputs", "outputs", "extra")
"""What bulk exports write as text."""
_DEEPEST = 100


def detect(record: Fields) -> float:
    """Sure of a `run_type`, in the record or in its list of runs."""
    if "run_type" in record and ("inputs" in record or "outputs" in record or "trace_id" in record):
        return 1
    return 0.99 if any(b'"run_type"' in bytes(record.get(name, b"")) for name in _LISTS) else 0


def splittable(first: Fields) -> bool:
    """The runs of a trace have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per trace of LangSmith."""
    runs: dict[str, dict[str, Any]] = {}
    places: dict[str, tuple[int, int]] = {}
    for record in records:
        try:
            lines = Lines(record)
            for run in _runs(msgspec.json.decode(record.data), record):
                key = str(run.get("id") or f"@{len(runs)}")
                known = runs.setdefault(key, {})
                places.setdefault(key, lines.of(key))
                known |= {
                    name: value for name, value in run.items() if value not in (None, {}, []) or name not in known
                }
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
    gathering = Gathering(reading)
    roots = {key: _root(key, runs) for key in runs}
    for key, run in runs.items():
        gathering.add(_span(key, run, str(run.get("trace_id") or roots[key]), *places[key]))
    yield from gathering.traces()


def _runs(value: Any, record: Record, parent: str | None = None, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The runs in a record, with those inside them."""
    if isinstance(value, dict) and "run_type" not in value:
        listed = [run for name in _LISTS if isinstance(value.get(name), list) for run in value[name]]
        if not listed:
            raise BadRecord(record.offset, "is no run of LangSmith: it has no 'run_type'")
        for run in listed:
            yield from _runs(run, record, parent, depth + 1)
        return
    if not isinstance(value, dict) or depth > _DEEPEST:
        raise BadRecord(record.offset, "is no run of LangSmith")
    inner = value.get("child_runs") or []
    if not isinstance(inner, list):
        raise BadRecord(record.offset, "has a run of LangSmith whose 'child_runs' are not a list")
    for name, other in value.items():
        if name not in ("child_runs", *_MAYBE_TEXT) and isinstance(other, list) and any(_is_run(one) for one in other):
            raise BadRecord(
                record.offset, f"has runs of LangSmith in '{name[:60]}', which is not read: 'child_runs' is"
            )
    if parent is not None:
        value = {"parent_run_id": parent, **value}
    yield {name: opened(one) if name in _MAYBE_TEXT else one for name, one in value.items() if name != "child_runs"}
    for run in inner:
        yield from _runs(run, record, str(value.get("id")), depth + 1)


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "run_type" in value


def _root(key: str, runs: dict[str, dict[str, Any]]) -> str:
    seen: set[str] = set()
    while key not in seen and (above := str(runs.get(key, {}).get("parent_run_id") or "")) and above in runs:
        seen.add(key)
        key = above
    return key


def _span(key: str, run: dict[str, Any], trace_id: str, offset: int, line: int) -> Span:
    return Span(
        trace_id,
        key,
        str(run.get("parent_run_id") or ""),
        str(run.get("name") or ""),
        moment(run.get("start_time")),
        moment(run.get("end_time")),
        {"langsmith": run},
        [],
        bool(run.get("error")),
        str(run.get("error") or ""),
        "",
        offset,
        line,
    )
