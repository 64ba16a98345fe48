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

from passmuster._problems import TraceError
from passmuster.traces import total_cost_usd, total_duration_ms, total_llm_calls, total_tokens
from passmuster.traces._locate import lines_of, spot_of_call, spot_of_trace
from passmuster.traces._model import Fault, LlmCall, Message, Trace
from passmuster.traces._reading import BadLines, is_splittable, read_source
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
        (None, None),
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


def test_arguments_that_are_no_text_may_have_a_number_that_no_double_can_hold(tmp_path: Path) -> None:
    data = lines({"messages": [user(), calling(asked("look", {"a": 7.5})), came("{}", "c1")]}).replace(b"7.5", b"1e400")
    (trace,) = read(write(tmp_path / "t.jsonl", data))
    (made,) = trace.tool_calls
    assert (made.arguments, made.result) == ({"a": float("inf")}, {})


def test_a_function_without_arguments_and_a_tool_that_takes_text(tmp_path: Path) -> None:
    custom = {"id": "c2", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
    first, second = one(tmp_path, calling({"id": "c1", "function": {"name": "now"}}, custom)).tool_calls
    assert (first.tool, first.arguments) == ("now", None)
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


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"content": "Hello"}, "required field `role`"),
        ({"role": 7}, "Expected `str`, got `int`"),
        ("Hello", "Expected `object`, got `str`"),
        (calling(NAMELESS), "required field `name`"),
        (spoken(None, tool_calls=[7]), "Expected `object`, got `int`"),
        (spoken(None, tool_calls={"name": "look"}), "Expected `array | null`, got `object`"),
    ],
)
def test_a_bad_message_is_refused_where_it_stands(tmp_path: Path, bad: Any, reason: str) -> None:
    said = [user(), bad, spoken("Bye")]
    in_lines = "\n".join(map(json.dumps, said)).encode()
    in_list = b'{"task_id": 1, "messages": [\n' + in_lines.replace(b"\n", b",\n") + b"]}"
    told = refusal(write(tmp_path / "t.json", in_list))
    assert told.startswith(f"t.json:{3 if isinstance(bad, dict) else 1}: ")
    assert reason in told
    assert refusal(write(tmp_path / "t.jsonl", in_lines)).startswith("t.jsonl:2: ")
    assert read_past(tmp_path / "t.json") == ([], 1)
    (left,), count = read_past(tmp_path / "t.jsonl")
    assert (left.answer, count) == ("Bye", 1)


def test_a_call_without_a_function(tmp_path: Path) -> None:
    said = [user(), calling({"id": "c1", "name": "look"}), spoken("Bye")]
    assert "required field `function`" in refusal(write(tmp_path / "t.jsonl", lines({"messages": said})))


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


@pytest.mark.parametrize("extra", [{}, {"answer": "Booked."}, {"vendor": "x"}])
def test_records_of_other_formats_among_conversations(tmp_path: Path, extra: Json) -> None:
    conversation = {"messages": [user(), calling(asked("look")), came("{}", "c1")], **extra}
    native = {"steps": [{"type": "tool_call", "tool": "book"}]}
    found = read(write(tmp_path / "t.jsonl", lines(conversation, native, conversation)))
    assert [tools(one) for one in found] == [["look"], ["look"], ["book"]]


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


HELLO = {"role": "user", "content": "hi"}
DONE = {"role": "assistant", "content": "done"}
ASKED = [{"id": "c", "type": "function", "function": {"name": "delete_db", "arguments": "{}"}}]
UNREAD: list[tuple[dict[str, Any], str]] = [
    ({"messages": [HELLO, {**DONE, "toolCalls": ASKED}]}, "message 2 holds a call of 'delete_db' in 'toolCalls'"),
    ({"messages": [HELLO, {**DONE, "extra": {"calls": ASKED}}]}, "message 2 holds a call of 'delete_db'"),
    ({"messages": [HELLO, {**DONE, "content": [{"type": "text", "text": "x"}, {"type": "x_call"}]}]}, "in 'x_call'"),
    ({"messages": [HELLO, DONE], "tool_calls": ASKED}, "the record holds a call of 'delete_db' in 'tool_calls'"),
    ({"messages": [HELLO], "choices": [{"message": {"role": "assistant", "tool_calls": ASKED}}]}, "holds a call"),
    ({"messages": [HELLO], "traj": [HELLO, DONE]}, "has two lists of messages, 'messages' and 'traj'"),
    ({"messages": [HELLO, {"role": "assistant", "content": {"answer": "x"}}]}, "message 2 has content without a text"),
    ({"messages": [HELLO, {"role": "assistant", "content": [[1]]}]}, "message 2 has content without a text"),
    ({"messages": [HELLO, {"role": "narrator", "content": "x"}]}, "message 2 has the role 'narrator'"),
]


@pytest.mark.parametrize(("record", "reason"), UNREAD)
def test_what_would_not_be_read_is_refused(tmp_path: Path, record: dict[str, Any], reason: str) -> None:
    source = Source(str(write(tmp_path / "t.json", record)), "t.json", "openai_messages")
    with pytest.raises(TraceError) as caught:
        list(read_source(source, BadLines(source, skip=False)))
    assert reason in str(caught.value)
    accepting = BadLines(source, skip=False, accept_loss=True)
    assert len(list(read_source(source, accepting))) == 1
    assert [reason in loss.found for loss in accepting.losses] == [True]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"role": "assistant", "content": {"text": "x"}}, "x"),
        ({"role": "assistant", "content": ["x", "y"]}, "xy"),
        ({"role": "assistant", "content": [{"type": "text", "text": {"value": "x"}}]}, "x"),
        ({"role": "model", "content": "x"}, "x"),
        ({"role": "ai", "content": "x"}, "x"),
        ({"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, ""),
    ],
)
def test_the_answer_in_other_shapes(tmp_path: Path, message: dict[str, Any], answer: str) -> None:
    (found,) = read(write(tmp_path / "t.json", {"messages": [HELLO, DONE, message]}))
    assert found.answer == answer


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (True, Fault("error: True")),
        (["late"], Fault("error: ['late']")),
        (5, Fault("error: 5")),
        ({"message": "late"}, Fault("late")),
        ({"kind": "infra", "message": "no network"}, Fault("no network", "infra")),
        (False, None),
        (0, None),
        ("", None),
    ],
)
def test_whatever_a_record_states_as_its_error_counts(tmp_path: Path, error: Any, fault: Fault | None) -> None:
    (found,) = read(write(tmp_path / "t.json", {"messages": [HELLO, DONE], "error": error}))
    assert found.error == fault


def test_what_a_record_says_of_its_run(tmp_path: Path) -> None:
    stated = {"error": "crashed", "total_tokens": 7, "total_cost_usd": 0.5, "behaviors": ["b"]}
    (found,) = read(write(tmp_path / "t.json", {"messages": [HELLO, DONE], **stated}))
    assert (found.error, found.total_tokens, found.total_cost_usd, found.behaviors) == (Fault("crashed"), 7, 0.5, ["b"])
    assert "total_tokens" in refusal(write(tmp_path / "u.json", {"messages": [HELLO, DONE], "total_tokens": -1}))
