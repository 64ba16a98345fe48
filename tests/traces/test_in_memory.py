"""Traces from what a program has: files that are open, records, messages, objects of SDKs."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.traces.building import Json, call, lines, tools, trace, write
from tests.traces.test_message_formats import ANTHROPIC, FORMS, check

import passmuster
from passmuster.traces._model import Trace

NATIVE = trace(call("look"), trace_id="t")


@pytest.mark.parametrize(("name", "messages", "flags_errors"), FORMS)
def test_messages(name: str, messages: list[Json], flags_errors: bool) -> None:
    for given in (messages, tuple(messages), {"messages": messages}, [messages], iter(messages)):
        (found,) = passmuster.read_traces(given)
        check(found, flags_errors)


@pytest.mark.parametrize(
    "given",
    [
        NATIVE,
        [NATIVE],
        io.BytesIO(lines(NATIVE)),
        io.StringIO(lines(NATIVE).decode()),
        io.BytesIO(gzip.compress(lines(NATIVE))),
        io.BytesIO(json.dumps([NATIVE], indent=1).encode()),
    ],
)
def test_records_and_open_files(given: Any) -> None:
    (found,) = passmuster.read_traces(given)
    assert (found.trace_id, tools(found)) == ("t", ["look"])


def test_an_open_file_has_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines(NATIVE) + b"{")
    with open(path, "rb") as file, pytest.raises(passmuster.TraceError, match=r"t\.jsonl:2: is cut off"):
        list(passmuster.read_traces(file))


class _Said(BaseModel):
    role: str
    content: str


@dataclasses.dataclass
class _Spoken:
    role: str
    content: str


class _Printed:
    def to_json(self) -> str:
        return json.dumps({"role": "assistant", "content": "Bye."}, indent=4)


@pytest.mark.parametrize("last", [_Said(role="assistant", content="Bye."), _Spoken("assistant", "Bye."), _Printed()])
def test_objects_of_sdks(last: Any) -> None:
    (found,) = passmuster.read_traces([{"role": "user", "content": "Hi."}, last])
    assert (found.query, found.answer) == ("Hi.", "Bye.")


def test_conversations_are_traces_each() -> None:
    assert len(list(passmuster.read_traces([ANTHROPIC, ANTHROPIC]))) == 2


def test_traces_are_given_back() -> None:
    given = Trace(trace_id="x")
    assert list(passmuster.read_traces([given])) == [given]


@pytest.mark.parametrize("given", [7, None, b"{}", [7], [None], ["a.jsonl"], [{"a": object()}], object()])
def test_what_cannot_hold_a_trace(given: Any) -> None:
    with pytest.raises(TypeError, match="expected a path, an open file, a record"):
        passmuster.read_traces(given)


def test_evaluate_takes_messages_and_records() -> None:
    suite = passmuster.suite_from_dict({"tests": [{"id": "t", "metric": "tool_blocklist", "blocklist": ["weather"]}]})
    report = passmuster.evaluate(suite, [ANTHROPIC, NATIVE, Trace()])
    assert (report.verdict, report.traces.read) == ("fail", 3)
    for wrong in (7, "a.jsonl", [7], {"messages": ANTHROPIC}):
        with pytest.raises(TypeError, match="expected"):
            passmuster.evaluate(suite, wrong)  # type: ignore[arg-type]
