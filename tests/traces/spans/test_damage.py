"""Damaged spans: whatever an attribute holds, a file is read or refused, and never crashes the reader."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.building import source_of, write
from tests.traces.spans.recording import Json, otlp, value
from tests.traces.spans.test_dialects import DIALECTS
from tests.traces.spans.test_exports import AGENTS, JAEGER, NESTED, PRINTED

from passmuster._problems import TraceError
from passmuster.traces._reading import BadLines, read_source

ODD = st.sampled_from(
    [
        *("", "x", "[", "{}", "[]", "[{}]", "[[]]", "null", '"x"', '{"a":', "{'a': 1}", "(1,", "1e400"),
        *(True, 0, -1, 1.5, 9**25, ["x"], [], {}, {"a": ["b"]}),
        *('[{"role": 5, "parts": {}}]', '[{"role": "assistant", "content": [{"type": "tool_use"}]}]'),
        *('[{"role": "assistant", "tool_calls": [null, {"function": 5}]}]', '{"messages": [[], 5, {"lc": 1}]}'),
        *('{"choices": [{"message": null}]}', '{"content": {"parts": [{"function_call": {"name": 5}}]}}'),
        *('[{"type": "function_call"}, {"type": "function_call_output", "output": [1]}]', "[" * 3000),
    ]
)


def read_anyhow(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = source_of(write(Path(folder) / "spans.json", json.dumps(document).encode()))
        try:
            for trace in read_source(source, BadLines(source, skip=False, accept_loss=True)):
                assert all(call.tool for call in trace.tool_calls)
        except TraceError:
            pass


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_odd_attributes(name: str, data: st.DataObject) -> None:
    spans: list[Json] = copy.deepcopy(DIALECTS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        pairs = data.draw(st.sampled_from(spans))["attributes"]
        if pairs:
            pair = data.draw(st.sampled_from(pairs))
            plain = data.draw(ODD)
            pair["value"] = {"doubleValue": plain} if isinstance(plain, int) and plain > 2**60 else value(plain)
    read_anyhow(otlp(*spans))


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every place in a document where a value stands."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    found: list[tuple[Any, Any]] = []
    for key in keys:
        found += [(node, key), *places(node[key])]
    return found


@pytest.mark.parametrize(
    "document", [JAEGER, NESTED, PRINTED, {"data": AGENTS}], ids=["jaeger", "nested", "list", "agents"]
)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_odd_documents(document: Any, data: st.DataObject) -> None:
    damaged = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        known = places(damaged)
        if known:
            holder, key = data.draw(st.sampled_from(known))
            holder[key] = data.draw(ODD | st.none())
    read_anyhow(damaged)
