"""Logs of Inspect: evaluations with their samples, as one JSON document or as an `.eval` archive.

A sample is a trace: what its events record, without the model calls of scorers; without events, its messages. The
members of an archive may be compressed with zstd, which Python before 3.14 reads with the extra `zstd`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading, fault_of
from passmuster.traces._conversations import losing, malformed
from passmuster.traces._inspect_events import sample_turns
from passmuster.traces._message_parts import Lose, entries, text_of
from passmuster.traces._messages import turns_of
from passmuster.traces._model import Place, Trace
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record, explain
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._sources import Source
from passmuster.traces._turns import name_agents, query_of
from passmuster.traces._zip_members import is_zip, zip_members

DESCRIPTION = "Logs of Inspect AI, `.json` and `.eval`: a trace per sample and epoch."
SHAPE = '{"eval": {…}, "samples": […]}'
LACKS = ("handoffs", "cost")


def detect(record: Fields) -> float:
    """Sure of an evaluation with samples."""
    if "samples" in record and "eval" in record:
        return 1
    return 0.9 if all(key in record for key in ("epoch", "input", "target", "messages")) else 0


def detect_bytes(head: bytes) -> float:
    """Sure of an archive whose first member is one of Inspect's."""
    names = (b"_journal/", b"samples/", b"header.json", b"summaries.json")
    return 1 if is_zip(head) and any(name in head[:200] for name in names) else 0


def splittable(first: Fields) -> bool:
    """A log is one document."""
    return "samples" not in first


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per sample."""
    traces: list[Trace] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        samples = fields.get("samples") if "samples" in fields else [fields]
        if not isinstance(samples, list):
            raise BadRecord(record.offset, "is a log of Inspect without 'samples' (it was written without them)")
        for index, sample in enumerate(samples):
            if not isinstance(sample, Mapping) or not any(key in sample for key in ("messages", "events", "input")):
                raise BadRecord(record.offset, f"sample {index + 1} has no 'messages' and no 'events'")
            run = _sample(sample, record, losing(reading, record, "samples", index if len(samples) > 1 else -1))
            for turn in run.turns:
                turn.place = Place(record.offset, record.line, index)
            traces.append(run.trace(reading, "samples"))

    each_record(records, reading, add)
    return iter(traces)


def read_file(source: Source, reading: Reading) -> Iterator[Trace]:
    """One trace per sample of an archive."""
    for name, data in zip_members(source):
        if not name.startswith("samples/") or not name.endswith(".json"):
            continue
        record = Record(0, data)
        try:
            sample = msgspec.json.decode(data)
            if not isinstance(sample, Mapping):
                raise BadRecord(0, f"its member {name} is not an object")
            run = _sample(sample, record, losing(reading, record))
        except BadRecord as bad:
            reading.on_bad(BadRecord(0, f"{name}: {bad.message}"))
        except UNREADABLE as error:
            reading.on_bad(BadRecord(0, f"{name}: {explain(0, error, data).message}"))
        except MALFORMED as error:
            reading.on_bad(BadRecord(0, f"{name}: {malformed(record, error).message}"))
        else:
            trace = run.trace(reading)
            yield replace(trace, origin=replace(trace.origin, path="", step_places=None))


def _sample(sample: Mapping[str, Any], record: Record, lose: Lose) -> RunLog:
    sample = _with_attachments(sample)
    run = RunLog(record)
    epoch, name, own = sample.get("epoch"), sample.get("id"), sample.get("uuid")
    run.run = epoch if type(epoch) is int else None
    run.scenario = str(name) if isinstance(name, str | int) else None
    run.trace_id = own if isinstance(own, str) else f"{name}/{epoch}"
    run.started_at = sample.get("started_at") if isinstance(sample.get("started_at"), str) else None
    lasted = sample.get("total_time")
    if isinstance(lasted, int | float) and lasted >= 0:
        run.total_duration_ms = lasted * 1000.0
    run.error = fault_of(sample.get("error"))
    said = turns_of(entries(sample, "messages", lose), lambda _: lose)
    run.turns = sample_turns(sample, said, lose)
    name_agents(run.turns)
    asked = sample.get("input")
    run.query = asked if isinstance(asked, str) else query_of(turns_of(entries(sample, "input", lose), lambda _: lose))
    run.answer = _answer(sample.get("output"))
    return run


def _answer(output: Any) -> str | None:
    """What the sample ended with, which a solver may have set; None where it ended with a tool call."""
    if not isinstance(output, Mapping):
        return None
    choices = output.get("choices")
    message = (
        choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    )
    if isinstance(completion := output.get("completion"), str) and completion:
        return completion
    if not isinstance(message, Mapping) or message.get("tool_calls"):
        return None
    content = message.get("content")
    if isinstance(content, list):
        content = [part for part in content if not isinstance(part, Mapping) or part.get("type") == "text"]
    return text_of(content) or None


_LINK = "attachment://"


def _with_attachments(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sample with long texts, which the log keeps apart, back at their places."""
    attached = sample.get("attachments")
    if not isinstance(attached, Mapping) or not attached:
        return sample

    def restore(value: Any) -> Any:
        if isinstance(value, str):
            return attached.get(value[len(_LINK) :], value) if value.startswith(_LINK) else value
        if isinstance(value, list):
            return [restore(one) for one in value]
        return {key: restore(one) for key, one in value.items()} if isinstance(value, dict) else value

    return {key: value if key == "attachments" else restore(value) for key, value in sample.items()}
