"""Chat messages: what a conversation becomes, however it is written down, and what is refused with its line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.building import Json, lines, read, read_past, refusal, tools, write

from passmuster.traces import total_cost_usd, total_duration_ms, total_llm_calls, total_tokens
from passmuster.traces._locate import lines_of, spot_of_call, spot_of_trace
from passmuster.traces._model import LlmCall, Message, Trace
from passmuster.traces._reading import is_splittable
from passmuster.traces._sources import Source


def user(content: Any = "Hello") -> Json:
    return {"role": "user", "content": content}


def spoken(content: Any, **fields: Any) -> Json:
    """Something the assistant said."""
    return {"role": "assistant", "content": content, **fields}


def asked(tool: str = "look", arguments: Any = "{}", id: Any = "c1") -> Json:
    """A tool call inside a message."""
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def calling(*calls: Json, content: Any = None) -> Json:
    return spoken(content, tool_calls=list(calls))


def came(content: Any, id: Any = "c1", **fields: Any) -> Json:
    """The message with a tool's result."""
    return {"role": "tool", "tool_call_id": id, "content": content, **fields}


def legacy(tool: str, arguments: str = "{}") -> Json:
    return spoken(None, function_call={"name": tool, "arguments": arguments})


TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "developer", "content": "Be brief."},
    user("Who is cust_1?"),
    calling(asked("get_customer", '{"id": "cust_1"}')),
    came('{"name": "Ada"}', name="get_customer"),
    spoken("That is Ada."),
]


def one(tmp_path: Path, *said: Json, **fields: Any) -> Trace:
    (found,) = read(write(tmp_path / "t.json", {**fields, "messages": list(said)}))
    return found


# ── The ways to write a conversation down ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.jsonl", lines({"messages": TALK})),
        ("t.jsonl", lines({"traj": TALK})),
        ("t.jsonl", lines({"messages": None, "traj": TALK})),
        ("t.json", json.dumps({"messages": TALK}, indent=1).encode()),
        ("t.json", json.dumps([{"traj": TALK}], indent=1).encode()),
        ("t.jsonl", lines(*TALK)),
        ("t.json", json.dumps(TALK).encode()),
        ("t.json", json.dumps(TALK, indent=2).encode()),
        ("t.jsonl.gz", lines(*TALK)),
        ("t.jsonl", lines({"messages": TALK, "answer": "what it should have said", "model": "m", "usage": {"x": [1]}})),
        ("t.jsonl", lines(*({**said, "audio": None, "annotations": [], "x": {"y": 1}} for said in TALK))),
    ],
)
def test_every_way_to_write_it_is_the_same_trace(tmp_path: Path, name: str, data: bytes) -> None:
    (found,) = read(write(tmp_path / name, data))
    assert (found.query, found.answer) == ("Who is cust_1?", "That is Ada.")
    (made,) = found.tool_calls
    assert (made.tool, made.id, made.arguments, made.result) == (
        "get_customer",
        "c1",
        {"id": "cust_1"},
        {"name": "Ada"},
    )
    assert (made.group, made.failed) == (None, False)
    assert [step.role for step in found.steps if isinstance(step, Message)] == [
        *("system", "developer", "user", "assistant")
    ]


def test_several_conversations_are_several_traces(tmp_path: Path) -> None:
    records = [{"messages": TALK, "task_id": number} for number in range(3)]
    for path in (write(tmp_path / "t.jsonl", lines(*records)), write(tmp_path / "t.json", list(records), indent=1)):
        assert [found.scenario for found in read(path)] == ["0", "1", "2"]
    assert is_splittable(Source(str(tmp_path / "t.jsonl"), "t.jsonl"))
    assert not is_splittable(Source(str(write(tmp_path / "m.jsonl", lines(*TALK))), "m.jsonl"))


@pytest.mark.parametrize(
    "record",
    [
        {"steps": [], "messages": TALK[:2]},
        {"answer": "It is 4.", "messages": []},
        {"answer": "It is 4.", "messages": ["hello"]},
        {"answer": "It is 4.", "messages": 7},
    ],
)
def test_the_native_form_may_have_a_field_of_that_name(tmp_path: Path, record: Json) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(record)))
    assert (found.answer, found.steps) == (record.get("answer"), ())


# ── What the record says of itself ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "field", "expected"),
    [
        ({"scenario": "S", "task_id": 4}, "scenario", "S"),
        ({"scenario": None, "task_id": 4}, "scenario", "4"),
        ({"task_id": 0}, "scenario", "0"),
        ({}, "scenario", None),
        ({"trace_id": "t", "id": "i"}, "trace_id", "t"),
        ({"id": 7}, "trace_id", "7"),
        ({"id": {"$oid": "7"}}, "trace_id", None),
        ({"run": 2, "trial": 3}, "run", 2),
        ({"trial": 0}, "run", 0),
        ({"run": "nightly", "trial": 3}, "run", 3),
        ({"trial": True}, "run", None),
        ({"tags": ["a", "b"]}, "tags", ("a", "b")),
        ({"tags": None}, "tags", ()),
    ],
)
def test_fields_of_the_record(tmp_path: Path, written: Json, field: str, expected: Any) -> None:
    assert getattr(one(tmp_path, *TALK, **written), field) == expected


# ── Calls ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"a": 1, "b": [true, null]}', {"a": 1, "b": [True, None]}),
        ({"a": 1}, {"a": 1}),
        ("{}", {}),
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ('{"a": 1', '{"a": 1'),
        ("{'a': 1}", "{'a': 1}"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[1]", "[1]"),
        ("7", "7"),
        ('"{}"', '"{}"'),
        ('{"a": 1e400}', {"a": float("inf")}),
        ('{"a": "日本"}', {"a": "日本"}),
    ],
)
def test_arguments(tmp_path: Path, written: Any, expected: Any) -> None:
    (made,) = one(tmp_path, user(), calling(asked("look", written))).tool_calls
    assert made.arguments == expected


def test_a_function_without_arguments_and_a_tool_that_takes_text(tmp_path: Path) -> None:
    custom = {"id": "c2", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
    first, second = one(tmp_path, calling({"id": "c1", "function": {"name": "now"}}, custom)).tool_calls
    assert (first.tool, first.arguments) == ("now", {})
    assert (second.tool, second.arguments, second.id) == ("run_sql", "select 1", "c2")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"ok": true}', {"ok": True}),
        (' \n[1, {"a": 2}]\n', [1, {"a": 2}]),
        ("Error: no such order", "Error: no such order"),
        ("299.0", "299.0"),
        ("true", "true"),
        ("{not json}", "{not json}"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1e400, "b": NaN}', '{"a": 1e400, "b": NaN}'),
        ('{"a": 1e400}', {"a": float("inf")}),
        ('{"a": "\\ud83d"}', '{"a": "\\ud83d"}'),
        ("[" * 5000, "[" * 5000),
        ("", ""),
        (None, None),
        ({"ok": True}, {"ok": True}),
        ([{"type": "text", "text": '{"ok":'}, {"type": "text", "text": " true}"}], {"ok": True}),
        ([{"type": "text", "text": "fine"}], "fine"),
        ([{"type": "image_url", "image_url": {"url": "x"}}], [{"type": "image_url", "image_url": {"url": "x"}}]),
    ],
)
def test_results(tmp_path: Path, content: Any, expected: Any) -> None:
    (made,) = one(tmp_path, calling(asked()), came(content)).tool_calls
    assert (made.result, made.failed) == (expected, False)


Seen = list[tuple[str, Any, bool]]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # Each call with its result, and whether it was made in parallel with another.
        ([calling(asked("a")), came("1"), calling(asked("b")), came("2")], [("a", "1", False), ("b", "2", False)]),
        (
            [calling(asked("a", id="x"), asked("b", id="y")), came("2", "y"), came("1", "x")],
            [("a", "1", True), ("b", "2", True)],
        ),
        ([calling(asked("a"), asked("b")), came("1"), came("2")], [("a", "1", True), ("b", "2", True)]),
        (
            [calling(asked("a", id=None), asked("b", id=None)), came("1", None), came("2", None)],
            [("a", "1", True), ("b", "2", True)],
        ),
        ([calling(asked("a", id=7)), came("1", "7")], [("a", "1", False)]),
        ([calling(asked("a"))], [("a", None, False)]),
        (
            [calling(asked("a", id="x"), asked("b", id="y")), came("2", "y"), spoken("Well.")],
            [("a", None, True), ("b", "2", True)],
        ),
        (
            [legacy("a"), {"role": "function", "name": "a", "content": "1"}, legacy("b")],
            [("a", "1", False), ("b", None, False)],
        ),
        ([{**legacy("a"), "tool_calls": None}], [("a", None, False)]),
        ([{**legacy("a"), "tool_calls": [asked("b")]}], [("b", None, True), ("a", None, True)]),
        ([spoken("Hi", tool_calls=[], function_call=None)], []),
        # The tool ran, though nobody recorded that it was asked to.
        ([user(), came("1", "zz", name="a")], [("a", "1", False)]),
        ([user(), came("1", "zz")], []),
    ],
)
def test_calls_and_their_results(tmp_path: Path, said: list[Json], expected: Seen) -> None:
    calls = one(tmp_path, *said).tool_calls
    assert [(made.tool, made.result, made.group is not None) for made in calls] == expected


def test_each_message_is_a_group_of_its_own(tmp_path: Path) -> None:
    found = one(tmp_path, calling(asked("a"), asked("b")), calling(asked("c"), asked("d")))
    first, second, third, fourth = (made.group for made in found.tool_calls)
    assert first == second != third == fourth


# ── Words ───────────────────────────────────────────────────────────────────────────────────────────────────

PARTS = [{"type": "text", "text": "That is "}, {"type": "image_url"}, {"type": "text", "text": "Ada."}]


@pytest.mark.parametrize(
    ("said", "query", "answer"),
    [
        ([user("a"), spoken("b"), user("c"), spoken("d")], "a", "d"),
        ([user("a"), spoken("b"), user("bye")], "a", "b"),
        ([user(PARTS), spoken(PARTS)], "That is Ada.", "That is Ada."),
        ([user("a"), spoken(None)], "a", None),
        ([user("a"), spoken("")], "a", ""),
        ([user("a"), spoken("b"), calling(asked()), came("1")], "a", "b"),
        ([user("a"), spoken("b"), calling(asked(), content=""), came("1")], "a", "b"),
        ([user("a"), spoken("b"), user("c"), calling(asked("hang_up"), content="Done."), came("1")], "a", "Done."),
        ([user("a"), spoken("b"), user("c"), spoken(None, refusal="I will not.")], "a", "I will not."),
        ([user("a"), spoken("b", refusal=None)], "a", "b"),
        ([spoken("b")], None, "b"),
        ([{"role": "system", "content": "s"}], None, None),
        ([], None, None),
    ],
)
def test_query_and_answer(tmp_path: Path, said: list[Json], query: str | None, answer: str | None) -> None:
    found = one(tmp_path, *said)
    assert (found.query, found.answer) == (query, answer)


def test_an_assistant_message_is_a_model_call_of_unknown_cost(tmp_path: Path) -> None:
    found = one(tmp_path, *TALK)
    assert [step for step in found.steps if isinstance(step, LlmCall)] == [LlmCall(), LlmCall()]
    assert total_llm_calls(found) == 2
    assert (total_tokens(found), total_cost_usd(found), total_duration_ms(found)) == (None, None, None)


# ── Lines ───────────────────────────────────────────────────────────────────────────────────────────────────


def places(path: Path) -> list[tuple[int, list[int]]]:
    """For each trace of a file its line, and those of its calls."""
    spots = [(spot_of_trace(one), [spot_of_call(one, n) for n in range(len(one.tool_calls))]) for one in read(path)]
    numbers = lines_of([spot for first, rest in spots for spot in (first, *rest)])
    return [(numbers[first], [numbers[spot] for spot in rest]) for first, rest in spots]


PRETTY = """[
  {
    "info": {"messages": [{}, {}], "traj": [{}]},
    "KEY": [
      {"role": "user", "content": "\\"KEY\\": [{"},
      {
        "role": "assistant",
        "tool_calls": [
          {"function": {"name": "a"}},
          {"function": {"name": "b"}}
        ]
      },
      {"role": "tool", "content": "1"},
      {"role": "assistant", "tool_calls": [{"function": {"name": "c"}}]}
    ]
  },
  {"KEY": [
    {"role": "assistant", "tool_calls": [{"function": {"name": "d"}}]}]}
]"""
SHORT = [user(), calling(asked("a"), asked("b")), came("1"), calling(asked("c"))]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("t.json", PRETTY.replace("KEY", "messages").encode(), [(2, [6, 6, 14]), (17, [18])]),
        ("t.json", PRETTY.replace("KEY", "traj").encode(), [(2, [6, 6, 14]), (17, [18])]),
        ("t.jsonl", lines({"messages": SHORT}, {"traj": SHORT}), [(1, [1, 1, 1]), (2, [2, 2, 2])]),
        ("t.jsonl", b"\n" + lines(*SHORT), [(2, [3, 3, 5])]),
        ("t.json", b"[\n" + lines(*SHORT, newline=",\n", last="]"), [(2, [3, 3, 5])]),
        ("t.jsonl", lines(user(), came("1", "zz", name="a")), [(1, [2])]),
    ],
)
def test_lines(tmp_path: Path, name: str, data: bytes, expected: list[tuple[int, list[int]]]) -> None:
    assert places(write(tmp_path / name, data)) == expected


# ── What is refused ─────────────────────────────────────────────────────────────────────────────────────────

NAMELESS: Json = {"id": "c1", "type": "function", "function": {"arguments": "{}"}}
USED = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"content": "Hello"}, "required field `role`"),
        ({"role": 7}, "Expected `str`, got `int`"),
        ("Hello", "Expected `object`, got `str`"),
        (calling(NAMELESS), "required field `name`"),
        (calling({"id": "c1", "name": "look"}), "required field `function`"),
        (spoken(None, tool_calls=[7]), "Expected `object`, got `int`"),
        (spoken(None, tool_calls={"name": "look"}), "Expected `array | null`, got `object`"),
        (spoken([USED]), "has a 'tool_use' in its content"),
        (user([{"type": "tool_result", "tool_use_id": "c1"}]), "has a 'tool_result' in its content"),
    ],
)
def test_a_bad_message_is_refused_where_it_stands(tmp_path: Path, bad: Any, reason: str) -> None:
    said = [user(), bad, spoken("Bye")]
    in_lines = "\n".join(map(json.dumps, said)).encode()
    in_list = b'{"task_id": 1, "messages": [\n' + in_lines.replace(b"\n", b",\n") + b"]}"
    for name, data, line in (("t.jsonl", in_lines, 2), ("t.json", in_list, 3 if isinstance(bad, dict) else 1)):
        told = refusal(write(tmp_path / name, data))
        assert told.startswith(f"{name}:{line}: ")
        assert reason in told
    assert read_past(tmp_path / "t.json") == ([], 1)
    (left,), count = read_past(tmp_path / "t.jsonl")
    assert (left.answer, count) == ("Bye", 1)


def test_a_message_without_a_role_is_told_which_roles_there_are(tmp_path: Path) -> None:
    told = refusal(write(tmp_path / "t.jsonl", lines({"messages": [user(), {"content": "x"}]})))
    assert told == (
        "t.jsonl:1: Object missing required field `role` - at `$.messages[1]` "
        "(who speaks: system, developer, user, assistant or tool)"
    )


def test_a_record_without_messages_among_conversations(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines({"messages": TALK}, {"messages": None}, {"task_id": 1}))
    assert refusal(path) == "t.jsonl:2: is not a conversation: it has no 'messages'"
    found, bad = read_past(path)
    assert (len(found), bad) == (1, 2)


# ── Every conversation ──────────────────────────────────────────────────────────────────────────────────────

names = st.sampled_from(["look", "book", "cancel"])
ids = st.sampled_from([None, "c1", "c2", 3])
contents = st.none() | st.text(max_size=5) | st.just(PARTS)
asking = st.builds(asked, names, st.sampled_from(["{}", '{"a": 1}', "{", "", None]), ids)
message = st.one_of(
    st.builds(user, contents),
    st.builds(lambda calls, content: calling(*calls, content=content), st.lists(asking, max_size=3), contents),
    st.builds(came, contents, ids),
    st.builds(legacy, names),
)


@given(st.lists(message, max_size=12), st.booleans())
def test_each_call_is_there_once_in_its_order(said: list[Json], as_record: bool) -> None:
    expected = []
    for one in said:
        expected += [each["function"]["name"] for each in one.get("tool_calls", ())]
        expected += [one["function_call"]["name"]] if "function_call" in one else []
    with tempfile.TemporaryDirectory() as folder:
        data: Any = {"messages": said} if as_record or not said else said
        (found,) = read(write(Path(folder, "t.json"), data, indent=1))
    assert tools(found) == expected
    assert sum(isinstance(step, LlmCall) for step in found.steps) == sum(one["role"] == "assistant" for one in said)
    recorded = [bytes(made.result_json) for made in found.tool_calls if made.result_json]
    assert len(recorded) <= sum(one["role"] == "tool" for one in said)
