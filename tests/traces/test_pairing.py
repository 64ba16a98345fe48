"""Results recorded apart from their calls: each call is counted once, whatever became of ids and order."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from passmuster.traces._model import AnyStep, Message, ToolCall, ToolResult
from passmuster.traces._pairing import pair_results

Word = str


def steps(words: Word) -> list[AnyStep]:
    """Steps from a short hand: `a1` calls tool a with id 1, `a=1` is its result, `=1` one that names no tool.

    `a` and `a=` have no id, `a1!` has its own result, `a1?` says `"result": null`, and `.` is a message. The
    result's value is its place.
    """
    found: list[AnyStep] = []
    for place, word in enumerate(words.split()):
        tool, sign, key = word.partition("=")
        if word == ".":
            found.append(Message("user"))
        elif sign:
            found.append(ToolResult(key or None, tool or None, Raw(str(place).encode())))
        else:
            own = {"!": b'"own"', "?": b"null"}.get(word[-1], b"")
            name = word.rstrip("!?")
            found.append(ToolCall(name[0], name[1:] or None, {}, Raw(own)))
    return found


def paired(words: Word) -> str:
    """The calls that remain, each with the place of its result: `a1` → `a1:3`, or `a1:-` where it has none."""
    calls = [step for _, step in pair_results(steps(words)) if isinstance(step, ToolCall)]
    return " ".join(f"{one.tool}{one.id or ''}:{'-' if one.result is None else one.result}" for one in calls)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ""),
        ("a1", "a1:-"),
        ("a1 a=1", "a1:1"),
        ("a1 =1", "a1:1"),
        ("a1!", "a1:own"),
        # Out of order.
        ("a1 b2 =2 =1", "a1:3 b2:2"),
        ("=1 a1", "a1:0"),
        ("a=1 a1", "a1:0"),
        # One id for several calls, as some agents number them anew in each turn.
        ("a1 =1 b1 =1", "a1:1 b1:3"),
        ("a1 b1 =1 =1", "a1:2 b1:3"),
        ("a1 =1 =1 b1", "a1:1 b1:2"),
        # A second result is dropped.
        ("a1 =1 =1", "a1:1"),
        ("a1 a=1 a=1", "a1:1"),
        ("a1! a=1", "a1:own"),
        # A recorder that writes "result": null in the call has not seen its result yet.
        ("a1? a=1", "a1:1"),
        ("a? a=", "a:1"),
        ("a1?", "a1:-"),
        # Without ids: the batch just made, oldest first; of its own tool, if it is named.
        ("a =", "a:1"),
        ("a b = =", "a:2 b:3"),
        ("a b b= a=", "a:3 b:2"),
        ("a a a= a=", "a:2 a:3"),
        ("a = b =", "a:1 b:3"),
        ("a . =", "a:2"),
        ("a . b a= b=", "a:3 b:4"),
        ("c a c= b b= a=", "c:2 a:5 b:4"),
        ("a . b = =", "a:4 b:3"),
        # Ids on one side only.
        ("a1 a=", "a1:1"),
        ("a1 b2 = =", "a1:2 b2:3"),
        ("a a=1", "a:1"),
        ("a b =2 =1", "a:2 b:3"),
        ("a b1 =1 =9", "a:3 b1:2"),
        # A result that names its tool and belongs to no call is a call: the tool did run.
        ("a=", "a:0"),
        ("a=1", "a1:0"),
        ("a=1 a=1", "a1:0"),
        ("a1 =1 b=2", "a1:1 b2:2"),
        ("a1 b=2", "a1:- b2:1"),
        ("b a=", "b:- a:1"),
        # One that names none tells nothing.
        ("=1", ""),
        ("a1 =2", "a1:-"),
        ("=", ""),
    ],
)
def test_pairing(words: Word, expected: str) -> None:
    assert paired(words) == expected


def test_an_id_is_the_same_as_a_number_and_as_a_string() -> None:
    ((_, made),) = pair_results([ToolCall("a", 7, {}), ToolResult("7", "a", error="no")])
    assert isinstance(made, ToolCall)
    assert made.failed


def test_what_a_result_brings_to_its_call() -> None:
    bare, timed = ToolCall("a", "1", {"x": 1}, group=3, parent="p"), ToolCall("a", "2", {}, duration_ms=5.0)
    results = [ToolResult("1", None, Raw(b"[1]"), "failed", 9.0), ToolResult("2", None, Raw(b"2"), None, 9.0)]
    (_, first), (_, second) = pair_results([bare, timed, *results])
    assert first == ToolCall("a", "1", {"x": 1}, Raw(b"[1]"), "failed", 9.0, 3, "p")
    assert second == ToolCall("a", "2", {}, Raw(b"2"), None, 5.0)


def test_the_other_steps_stay_where_they_were() -> None:
    assert [index for index, _ in pair_results(steps(". a1 . =1 b= ."))] == [0, 1, 2, 4, 5]


call_words = st.builds("".join, st.tuples(st.sampled_from("abc"), st.sampled_from(["", "1", "2", "3"])))


@st.composite
def recordings(draw: st.DrawFn) -> tuple[int, list[Word]]:
    """Calls, and for some of them a result somewhere behind, as truthful as the call itself or vaguer."""
    calls = draw(st.lists(call_words, min_size=1, max_size=8))
    words: list[Word] = []
    waiting: list[Word] = []
    for word in calls:
        words.append(word)
        tool, key = word[0], word[1:]
        for vague in draw(st.lists(st.booleans(), max_size=1)):
            waiting.append(f"{'' if vague else tool}={key}")
        while bool(waiting) and draw(st.booleans()):
            words.append(waiting.pop(draw(st.integers(0, len(waiting) - 1))))
        words += ["."] * draw(st.integers(0, 1))
    return len(calls), words + draw(st.permutations(waiting))


@given(recordings())
def test_every_call_is_counted_once_wherever_its_result_came_after_it(recording: tuple[int, list[Word]]) -> None:
    number, words = recording
    found = [step for _, step in pair_results(steps(" ".join(words))) if isinstance(step, ToolCall)]
    assert len(found) == number
    results = sum("=" in word for word in words)
    used = [step.result for step in found if step.result is not None]
    assert len(set(used)) == len(used) <= results


@given(
    st.lists(st.builds("".join, st.tuples(st.sampled_from(["a", "b", "a=", "b=", "="]), st.sampled_from(["", "1"]))))
)
def test_no_result_is_used_twice_and_none_invents_a_call(words: list[Word]) -> None:
    given_steps = steps(" ".join(words))
    found = pair_results(given_steps)
    assert [index for index, _ in found] == sorted({index for index, _ in found})
    calls = sum(isinstance(step, ToolCall) for step in given_steps)
    assert calls <= len(found) <= len(given_steps)
    used = [step.result for _, step in found if isinstance(step, ToolCall) and step.result is not None]
    assert len(used) == len(set(used))


@pytest.mark.parametrize("words", ["a =", "a a=", "a1 =1", "a1 a=", "a a=1", "a b b="])
def test_time_grows_with_the_number_of_steps(words: Word) -> None:
    """Calls first and their results behind them, which is the worst case for looking each one up."""

    def seconds(times: int) -> float:
        parts = [list(itertools.repeat(step, times)) for step in steps(words)]
        many = list(itertools.chain.from_iterable(parts))
        started = time.process_time()
        pair_results(many)
        return time.process_time() - started

    seconds(1_000)
    # Eight times the steps: 8 if all is well, 64 if each result looked at every call.
    assert min(seconds(40_000) for _ in range(2)) < 30 * max(0.01, min(seconds(5_000) for _ in range(3)))
