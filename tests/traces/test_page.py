"""`docs/traces.md` and `docs/trace.schema.json` say what the reader does."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import test_docs
from tests.traces.building import Json, read, read_past, refusal, write

from passmuster._problems import TraceError
from passmuster.traces import trace_schema
from passmuster.traces._model import Handoff, LlmCall, Message, ToolCall, ToolResult
from passmuster.traces._native_form import TraceFields

PAGE = "docs/traces.md"
SCHEMA = trace_schema()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)
STEPS = {"tool_call": ToolCall, "tool_result": ToolResult, "llm_call": LlmCall, "handoff": Handoff, "message": Message}
EXAMPLES = {block.title: block.text for block in test_docs.blocks(PAGE) if block.language in ("json", "jsonl")}


def written_names(struct: Any) -> set[str]:
    return set(struct.__struct_encode_fields__)


# ── The page ────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_page_shows_is_what_happens(tmp_path: Path) -> None:
    test_docs.test_what_a_page_shows_is_what_happens(PAGE, tmp_path)


@pytest.mark.parametrize(
    ("name", "traces", "bad"),
    [
        ("run.json", 1, 0),
        ("events.jsonl", 1, 0),
        ("several.jsonl", 2, 0),
        ("chat.json", 1, 0),
        ("shop.json", 1, 0),
        ("damaged.jsonl", 1, 2),
    ],
)
def test_every_example_is_read(tmp_path: Path, name: str, traces: int, bad: int) -> None:
    found, bad_found = read_past(write(tmp_path / name, EXAMPLES[name].encode()))
    assert (len(found), bad_found) == (traces, bad)


def test_no_example_is_left_out() -> None:
    assert set(EXAMPLES) == {"run.json", "events.jsonl", "several.jsonl", "chat.json", "shop.json", "damaged.jsonl"}


def test_the_tables_list_every_field() -> None:
    fields = written_names(TraceFields) | {"metadata"}
    assert set(test_docs.words(PAGE, "## The native form")) == fields
    assert fields | {"type"} == set(SCHEMA["properties"])
    section = test_docs.text_of(PAGE).split("\n### Steps\n", 1)[1]
    for kind, struct in STEPS.items():
        (row,) = [row for row in section.splitlines() if row.startswith(f"| `{kind}` |")]
        listed = {part.split("`")[1] for part in row.split("|")[2].split(",")}
        assert listed == written_names(struct) == set(SCHEMA["$defs"][kind]["properties"]) - {"type"}


def test_the_example_uses_every_field() -> None:
    assert set(json.loads(EXAMPLES["run.json"])) == written_names(TraceFields) | {"metadata"}


# ── The schema ──────────────────────────────────────────────────────────────────────────────────────────────


def is_read(record: Any) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "t.jsonl", json.dumps(record).encode() + b"\n")
        try:
            return len(read(path)) == 1
        except TraceError:
            return False


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(SCHEMA)


def test_the_published_schema_is_that_of_the_reader() -> None:
    """After a change, `passmuster schema trace > docs/trace.schema.json` writes it again."""
    assert json.loads(test_docs.text_of("docs/trace.schema.json")) == SCHEMA


def test_everything_in_the_schema_is_described() -> None:
    for definition in (SCHEMA, *(SCHEMA["$defs"][kind] for kind in STEPS)):
        for name, value in definition["properties"].items():
            assert name == "type" or value["description"].endswith((".", "…")), name


@pytest.mark.parametrize("name", ["run.json", "shop.json"])
def test_the_schema_accepts_the_examples(name: str) -> None:
    record = json.loads(EXAMPLES[name])
    for one in record if isinstance(record, list) else [record]:
        VALIDATOR.validate(one)


words = st.sampled_from(["", "a", "ü", "tool_call", "infra", "steps", '{"a": 1}'])
names = words.filter(lambda word: word != "tool_call")  # which would tell of a call
tool_names = words.filter(bool)
whole = st.integers(-3, 2**40)
fraction = st.floats(-2, 1e300, allow_nan=False).filter(lambda number: not number.is_integer())
scalars = st.none() | st.booleans() | whole | fraction | words
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2), max_leaves=4
)
key = st.none() | words | whole
count = st.none() | st.integers(0, 10**12)
amount = count | fraction.map(abs)
STEP = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("tool_call"), "tool": tool_names},
        optional={
            "id": key,
            "arguments": anything,
            "result": anything,
            "error": anything,
            "duration_ms": amount,
            "group": key,
            "parent": key,
            "kwargs": st.none(),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result")},
        optional={"id": key, "tool": tool_names, "result": anything, "error": anything, "duration_ms": amount},
    ),
    st.fixed_dictionaries(
        {"type": st.just("llm_call")},
        optional={"model": words, "tokens_in": count, "tokens_out": count, "cost_usd": amount, "duration_ms": amount},
    ),
    st.fixed_dictionaries({"type": st.just("handoff"), "to": words}, optional={"from": words}),
    st.fixed_dictionaries({"type": st.just("message"), "role": words}, optional={"content": anything}),
)
TRACE: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "steps": st.lists(STEP, max_size=3),
        "answer": st.none() | words,
        "trace_id": key,
        "scenario": key,
        "query": st.none() | words,
        "run": st.none() | whole,
        "agent": words | st.fixed_dictionaries({}, optional={"name": words, "version": words | whole | fraction}),
        "total_tokens": count,
        "total_llm_calls": count,
        "total_duration_ms": amount,
        "total_cost_usd": amount,
        "behaviors": st.none() | st.lists(words, max_size=2) | st.dictionaries(words, st.booleans(), max_size=2),
        "tags": st.none() | st.lists(words, max_size=2),
        "error": st.none()
        | words
        | st.fixed_dictionaries({}, optional={"message": words, "kind": st.sampled_from(["agent", "infra"])}),
        "metadata": anything,
        "unheard": anything,
    },
)


def inner_places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where something inside a document can be put in the place of something else."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for name, inner in items for place in [(*at, name), *inner_places(inner, (*at, name))]]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A trace with a value or two that became another, or went missing."""
    record = copy.deepcopy(draw(TRACE))
    for _ in range(draw(st.integers(0, 2))):
        places = inner_places(record)
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        inside: Any = record
        for name in way:
            inside = inside[name]
        if draw(st.booleans()) and isinstance(inside, dict):
            del inside[last]
        else:
            inside[last] = draw(anything)
    return record


@settings(max_examples=400)
@given(mutated())
def test_what_the_schema_accepts_is_read_and_nothing_else(record: Any) -> None:
    assert VALIDATOR.is_valid(record) == is_read(record)


@pytest.mark.parametrize(
    ("record", "valid"),
    [
        ({"steps": []}, True),
        ({"answer": ""}, True),
        ({"steps": None, "answer": "x"}, True),
        ({"steps": None}, False),
        ({"answer": None}, False),
        ({}, False),
        ([], False),
        ({"steps": [{"type": "tool_call", "tool": "t", "args": {}}]}, False),
        ({"steps": [{"type": "tool_call", "tool": "t", "arguments": None, "args": {}}]}, False),
        ({"steps": [{"type": "tool_call", "tool": "t", "arguments": {}, "args": {}}]}, True),
        ({"steps": [{"type": "tool_result", "args": {}}]}, True),
        ({"steps": [{"type": ["tool_call"]}]}, False),
        ({"steps": [[]]}, False),
        ({"answer": "", "error": {"message": None}}, False),
        ({"answer": "", "total_tokens": -1}, False),
        ({"answer": "", "trace_id": 2**70}, True),
    ],
)
def test_schema_and_reader_agree(record: Any, valid: bool) -> None:
    assert (VALIDATOR.is_valid(record), is_read(record)) == (valid, valid)


def test_where_they_differ(tmp_path: Path) -> None:
    """What the page tells about: a schema does not see how a number is written, nor an event's own form."""
    assert VALIDATOR.is_valid({"answer": "", "total_tokens": 5.0})
    assert "got `float`" in refusal(write(tmp_path / "float.jsonl", b'{"answer": "", "total_tokens": 5.0}'))
    assert "out of range" in refusal(write(tmp_path / "large.jsonl", b'{"answer": "", "total_cost_usd": 1e400}'))
    hidden = {"answer": "", "tool_calls": [{}]}
    odd = {"steps": [{"type": "tool_call", "tool": "t "}]}
    beside = {"steps": [{"type": "tool_call", "tool": "t", "arguments": {}, "args": {"a": 1}}]}
    for record in (hidden, odd, beside):
        assert (VALIDATOR.is_valid(record), is_read(record)) == (True, False)
    assert not VALIDATOR.is_valid({"type": "trace", "answer": ""})
    assert is_read({"type": "trace", "answer": ""})
