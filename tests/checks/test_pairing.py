"""Pairing finds the cheapest edits: a table of cases, then laws against a search through every pairing there is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.checks._json_values import MISSING
from passmuster.checks.layers.path import _alignment
from passmuster.checks.layers.path._edit_script import describe
from passmuster.checks.layers.path._pairing import (
    RIGHT_ARGUMENTS,
    Actual,
    Difference,
    Expected,
    Extra,
    Extras,
    Missing,
    Mode,
    Paired,
    Script,
    argument,
    expect,
    pair,
)
from passmuster.checks.matchers import _matchers as m

MODES: tuple[Mode, ...] = ("any_order", "in_order", "exact")
EXTRAS: tuple[Extras, ...] = ("allow", "forbid")


class Wish(NamedTuple):
    """An expected call in plain data; `...` stands for any value."""

    tool: str
    args: dict[str, Any] | None = None
    exact: bool = False
    optional: bool = False

    def compiled(self) -> Expected:
        args = self.args and {key: m.Present() if v is ... else m.Equal(v) for key, v in self.args.items()}
        return expect(self.tool, args, exact_args=self.exact, optional=self.optional)


def calls(*made: str | tuple[str, Any] | Sequence[Any]) -> list[Actual]:
    """Calls one after another; those in a list are made in parallel."""
    found: list[Actual] = []
    for position, group in enumerate(made):
        several: Sequence[Any] = group if isinstance(group, list) else [group]
        for one in several:
            tool, arguments = (one, {}) if isinstance(one, str) else one
            found.append(Actual(tool, arguments, position, len(found)))
    return found


def run(wishes: Sequence[Wish], actual: Sequence[Actual], mode: Mode = "any_order", extras: Extras = "allow") -> Script:
    return pair([wish.compiled() for wish in wishes], actual, mode, extras)


def kinds(script: Script) -> Counter[str]:
    """How many edits there are of each kind."""
    return Counter(
        f"{type(edit).__name__}{' different' if isinstance(edit, Paired) and edit.differences else ''}"
        for edit in script.edits
    )


A, B, C = Wish("a"), Wish("b"), Wish("c")


@pytest.mark.parametrize(
    ("wishes", "actual", "costs"),
    [
        # Costs: any order and in order with extras allowed; both with extras forbidden; exact.
        ([A, B], calls("a", "b"), (0, 0, 0, 0, 0)),
        ([A, B], calls("b", "a"), (0, 1, 0, 2, 2)),
        ([A, B], calls(["b", "a"]), (0, 0, 0, 0, 0)),
        ([A, B], calls("a", "c", "b"), (0, 0, 1, 1, 1)),
        ([A, B], calls("a"), (1, 1, 1, 1, 1)),
        ([A, A], calls("a"), (1, 1, 1, 1, 1)),
        ([A, B], [], (2, 2, 2, 2, 2)),
        ([], calls("a"), (0, 0, 1, 1, 1)),
        ([], [], (0, 0, 0, 0, 0)),
        ([A, B, C], calls("a", ["c", "b"]), (0, 0, 0, 0, 0)),
        ([A, B, C], calls(["c", "a"], "b"), (0, 1, 0, 2, 2)),
        ([Wish("a", {"x": 1, "y": 2})], calls(("a", {"x": 1, "y": 3})), (Fraction(1, 2),) * 5),
        ([Wish("a", {"x": 1, "y": 2})], calls(("a", {"z": 1})), (1, 1, 1, 1, 1)),
        ([Wish("a", {"x": 1})], calls(("b", {"x": 1})), (1, 1, 2, 2, 2)),
        ([Wish("*", {"x": 1})], calls(("b", {"x": 1})), (0, 0, 0, 0, 0)),
        ([Wish("get_?")], calls("get_a", "get_bb"), (0, 0, 1, 1, 1)),
    ],
)
def test_costs(wishes: list[Wish], actual: list[Actual], costs: tuple[Fraction | int, ...]) -> None:
    found = [run(wishes, actual, mode, extras).cost for extras in EXTRAS for mode in ("any_order", "in_order")]
    assert (*found, run(wishes, actual, "exact").cost) == costs
    assert run(wishes, actual, "exact", "forbid").cost == costs[-1]


@pytest.mark.parametrize(
    ("wish", "arguments", "cost", "differences"),
    [
        (Wish("a"), {"x": 1}, 0, {}),
        (Wish("a", None, exact=True), {"x": 1}, 0, {}),
        (Wish("a", {}, exact=True), {}, 0, {}),
        (Wish("a", {}, exact=True), {"x": 1, "y": 1}, 1, {"x": "unexpected", "y": "unexpected"}),
        (Wish("a", {"x": 1}, exact=True), {"x": 1}, 0, {}),
        (Wish("a", {"x": 1}, exact=True), {"x": 1, "y": 1}, Fraction(1, 2), {"y": "unexpected"}),
        (Wish("a", {"x": 1}, exact=True), {"x": 2, "y": 1}, 1, {"x": "different", "y": "unexpected"}),
        (Wish("a", {"x": 1, "y": ...}), {"x": 1.0}, Fraction(1, 2), {"y": "missing"}),
        (Wish("a", {"x.y": 1}, exact=True), {"x": {"y": 1, "z": 2}}, 0, {}),
        (Wish("a", {"x[1].y": 1}, exact=True), {"x": [0, {"y": 2}]}, 1, {"x[1].y": "different"}),
        (Wish("a", {"x.y": 1}, exact=True), {"x.y": 1, "x": 2}, Fraction(1, 2), {"x": "unexpected"}),
        (Wish("a", {"x.y": 1}), {"x": 3}, 1, {"x.y": "missing"}),
        (Wish("a", {"x": 1}), "text", 1, {"x": "missing"}),
        (Wish("a", {"x": 1}, exact=True), "text", 1, {"x": "missing", "": "unexpected"}),
        (Wish("a", {}, exact=True), "text", 1, {"": "unexpected"}),
        (Wish("a"), "text", 0, {}),
    ],
)
def test_arguments(wish: Wish, arguments: Any, cost: Fraction, differences: dict[str, str]) -> None:
    script = run([wish], calls(("a", arguments)), "exact")
    assert script.cost == cost
    assert script.edits == (Paired(0, 0, tuple(Difference(key, kind) for key, kind in differences.items())),)  # type: ignore[arg-type]


def test_arguments_that_are_no_map_have_no_argument() -> None:
    wanted = expect("a", {"x": m.Absent(), "y": m.Equal(1)})
    assert pair([wanted], calls(("a", [1]))) == Script(Fraction(1, 2), (Paired(0, 0, (Difference("y", "missing"),)),))


def test_an_argument_by_its_path() -> None:
    assert argument({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert argument({"a": {"b": [5, 6]}}, "a.b[1]") == 6
    assert argument({"a": None}, "a") is None
    assert argument({"a": 1}, "b") is MISSING
    assert argument("text", "b") is MISSING


def test_the_order_of_listing_changes_nothing() -> None:
    """A greedy pairing gives the call that only one wish can use to the other one."""
    actual = calls(("search", {"q": "b", "n": 1}), ("search", {"q": "a", "n": 1}))
    wishes = [Wish("search", {"n": 1}), Wish("search", {"q": "b", "n": 1})]
    assert run(wishes, actual, extras="forbid").cost == run(wishes[::-1], actual, extras="forbid").cost == 0


def test_extra_calls_are_not_free_unless_they_are_allowed() -> None:
    actual = calls("a", "a", "a", "delete")
    assert run([A], actual, extras="forbid") == Script(Fraction(3), (Paired(0, 0), Extra(1), Extra(2), Extra(3)))
    assert run([A], actual) == Script(Fraction(0), (Paired(0, 0),))


def test_calls_that_may_be_missing() -> None:
    """What LangChain calls `subset`, with arguments: nothing but what is listed."""
    listed = [Wish("a", {"x": 1}, optional=True), Wish("b", optional=True)]
    assert run(listed, [], extras="forbid") == Script(Fraction(0), ())
    assert run(listed, calls("b"), extras="forbid") == Script(Fraction(0), (Paired(1, 0),))
    assert run(listed, calls("b", "c"), extras="forbid") == Script(Fraction(1), (Paired(1, 0), Extra(1)))
    assert run(listed, calls(("a", {"x": 2})), extras="forbid").edits == (Paired(0, 0, _differs("x")),)
    assert run(listed, calls(("a", {"x": 2}))) == Script(Fraction(0), ())
    assert run([A, *listed], calls("a", "b"), "exact") == Script(Fraction(0), (Paired(0, 0), Paired(2, 1)))


def test_unknown_arguments_fit_nothing_that_is_listed() -> None:
    for wish in (Wish("a", {"x": 1}), Wish("a", {}, exact=True)):
        assert run([wish], calls(("a", None))).cost == 1
        assert run([wish], calls(("a", RIGHT_ARGUMENTS))).cost == 0
    assert run([A], calls(("a", None))).cost == 0
    absent = expect("a", {"x": m.Absent()})
    assert pair([absent], calls(("a", None))).cost == 1


def test_no_call_serves_two_wishes() -> None:
    assert run([A, A, A], calls("a")).edits == (Paired(0, 0), Missing(1), Missing(2))


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_list_of_calls_misses_everything(mode: Mode) -> None:
    assert run([A, B], [], mode) == Script(Fraction(2), (Missing(0), Missing(1)))


@pytest.mark.parametrize("mode", ["in_order", "any_order"])
def test_ties_go_to_the_earliest_call(mode: Mode) -> None:
    x, y = Wish("a", {"x": 1}), Wish("a", {"x": 2})
    assert run([x], calls(("a", {"x": 3}), ("a", {"x": 4})), mode).edits == (Paired(0, 0, _differs("x")),)
    assert run([x, y], calls(("a", {}), ("a", {"x": 2}), ("a", {"x": 2})), mode).edits == (
        Paired(0, 0, (Difference("x", "missing"),)),
        Paired(1, 1),
    )
    # A pair that differs in everything costs what a missing call does, and says more.
    assert run([x], calls(("a", {"x": 3})), mode).edits == (Paired(0, 0, _differs("x")),)


def _differs(*keys: str) -> tuple[Difference, ...]:
    return tuple(Difference(key, "different") for key in keys)


# Laws, on small cases in which ties abound.

values = st.integers(0, 1)
keys = st.sampled_from("xy")
wishes_st = st.lists(
    st.builds(
        Wish,
        st.sampled_from(["a", "a", "b", "*"]),
        st.none() | st.dictionaries(keys, values | st.just(...)),
        st.booleans(),
        st.just(False),
    ),
    max_size=4,
)
some_optional_st = st.builds(
    lambda wishes, which: [wish._replace(optional=one) for wish, one in zip(wishes, which, strict=False)],
    wishes_st,
    st.lists(st.booleans(), min_size=4, max_size=4),
)
call_st = st.tuples(st.sampled_from("ab"), st.dictionaries(st.sampled_from("xyz"), values))
calls_st = st.lists(call_st | st.lists(call_st, min_size=2, max_size=3), max_size=4).map(lambda made: calls(*made))
modes_st = st.sampled_from(MODES)
extras_st = st.sampled_from(EXTRAS)

Vector = tuple[int | None, ...]


def vectors(wishes: Sequence[Wish], actual: Sequence[Actual], ordered: bool) -> Iterator[Vector]:
    """Every pairing: the actual call of each wish, or None."""

    def go_on(vector: Vector) -> Iterator[Vector]:
        if len(vector) == len(wishes):
            yield vector
            return
        last = max((made for made in vector if made is not None), default=-1, key=lambda made: actual[made].position)
        floor = actual[last].position if ordered and last >= 0 else -1
        yield from go_on((*vector, None))
        for made, call in enumerate(actual):
            if made not in vector and call.position >= floor and wishes[len(vector)].tool in ("*", call.tool):
                yield from go_on((*vector, made))

    return go_on(())


def price(wish: Wish, arguments: Mapping[str, Any]) -> Fraction:
    """What a pair costs, worked out from the plain data."""
    if wish.args is None:
        return Fraction(0)
    compared = set(wish.args) | (set(arguments) if wish.exact else set())
    good = sum(
        key in arguments and (wish.args[key] is ... or wish.args[key] == arguments[key])
        for key in compared & set(wish.args)
    )
    return Fraction(len(compared) - good, len(compared) or 1)


Rank = tuple[Fraction, int, int, tuple[float, ...]]


def rank(wishes: Sequence[Wish], actual: Sequence[Actual], vector: Vector, extra_cost: int) -> Rank:
    """The cost, then what decides among equals: pairs, pairs that fit, positions."""
    prices = [price(wishes[row], actual[made].arguments) for row, made in enumerate(vector) if made is not None]
    missing = sum(made is None and not wish.optional for wish, made in zip(wishes, vector, strict=True))
    extra = len(actual) - len(prices)
    places = tuple(float("inf") if made is None else made for made in vector)
    return sum(prices, Fraction(missing + extra_cost * extra)), -len(prices), -prices.count(Fraction(0)), places


def vector_of(script: Script, wishes: Sequence[Wish]) -> Vector:
    paired = {edit.expected: edit.actual for edit in script.edits if isinstance(edit, Paired)}
    return tuple(paired.get(place) for place in range(len(wishes)))


@settings(deadline=None)  # a search through everything
@given(wishes_st | some_optional_st, calls_st.filter(lambda made: len(made) <= 5), modes_st, extras_st)
def test_no_pairing_is_better(wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras) -> None:
    extra_cost = int(mode == "exact" or extras == "forbid")
    script = run(wishes, actual, mode, extras)
    assert [one.expected for one in script.edits if isinstance(one, Missing)] == [
        place for place, made in enumerate(vector_of(script, wishes)) if made is None and not wishes[place].optional
    ]
    best = min(rank(wishes, actual, vector, extra_cost) for vector in vectors(wishes, actual, mode != "any_order"))
    assert script.cost == best[0]
    assert rank(wishes, actual, vector_of(script, wishes), extra_cost) == best


@settings(deadline=None)
@given(wishes_st | some_optional_st, calls_st.filter(lambda made: len(made) <= 5), modes_st, extras_st)
def test_large_groups_are_paired_as_cheaply(
    wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras
) -> None:
    exact = run(wishes, actual, mode, extras)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_alignment, "_MANY", 1)  # every group is a large one
        quick = run(wishes, actual, mode, extras)
    assert (quick.cost, kinds(quick)) == (exact.cost, kinds(exact))


@given(wishes_st, calls_st, modes_st, extras_st)
def test_a_script_accounts_for_every_call_once(
    wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras
) -> None:
    edits = run(wishes, actual, mode, extras).edits
    assert [edit.expected for edit in edits if not isinstance(edit, Extra)] == list(range(len(wishes)))
    made = [edit.actual for edit in edits if not isinstance(edit, Missing)]
    assert len(set(made)) == len(made)
    if mode == "exact" or extras == "forbid":
        assert sorted(made) == list(range(len(actual)))


@given(wishes_st, calls_st, modes_st, extras_st)
def test_a_script_replays_to_the_expected_calls(
    wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras
) -> None:
    wishes = [Wish("a" if wish.tool == "*" else wish.tool, wish.args, wish.exact) for wish in wishes]
    edited: list[tuple[str, Any]] = []
    for edit in run(wishes, actual, mode, extras).edits:
        match edit:
            case Missing(wanted):
                edited.append((wishes[wanted].tool, dict(wishes[wanted].args or {})))
            case Paired(wanted, made, differences):
                arguments = dict(actual[made].arguments)
                for difference in differences:
                    if difference.kind == "unexpected":
                        del arguments[difference.argument]
                    else:
                        arguments[difference.argument] = (wishes[wanted].args or {})[difference.argument]
                edited.append((actual[made].tool, arguments))
    assert run(wishes, calls(*edited), "exact") == Script(
        Fraction(0), tuple(Paired(place, place) for place in range(len(wishes)))
    )


@given(wishes_st, calls_st, extras_st, st.randoms())
def test_listing_order_changes_neither_cost_nor_kinds(
    wishes: list[Wish], actual: list[Actual], extras: Extras, shuffler: random.Random
) -> None:
    shuffled = shuffler.sample(wishes, len(wishes))
    one, other = run(wishes, actual, extras=extras), run(shuffled, actual, extras=extras)
    assert (one.cost, kinds(one)) == (other.cost, kinds(other))


@given(wishes_st, calls_st, modes_st)
def test_forbidding_extras_never_costs_less(wishes: list[Wish], actual: list[Actual], mode: Mode) -> None:
    assert run(wishes, actual, mode, "allow").cost <= run(wishes, actual, mode, "forbid").cost


@given(wishes_st, calls_st, extras_st)
def test_a_stricter_mode_never_costs_less(wishes: list[Wish], actual: list[Actual], extras: Extras) -> None:
    costs = [run(wishes, actual, mode, extras).cost for mode in MODES]
    assert costs == sorted(costs)


@given(wishes_st.filter(bool), calls_st, modes_st, extras_st, st.data())
def test_tightening_a_wish_never_costs_less(
    wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(wishes) - 1))
    tool, args, exact, _ = wishes[place]
    tighter = [Wish(tool, args, True), Wish("a" if tool == "*" else tool, args, exact)]
    tighter += [Wish(tool, {**(args or {}), key: 1}, exact) for key, value in (args or {}).items() if value is ...]
    before = run(wishes, actual, mode, extras).cost
    for wish in tighter:
        assert run([*wishes[:place], wish, *wishes[place + 1 :]], actual, mode, extras).cost >= before


@given(wishes_st, calls_st, modes_st, extras_st, keys, values)
def test_one_more_argument_or_call_never_adds_a_pass(
    wishes: list[Wish], actual: list[Actual], mode: Mode, extras: Extras, key: str, value: int
) -> None:
    if run(wishes, actual, mode, extras).cost and extras == "allow" and mode != "exact":
        assert run([*wishes, Wish("a")], actual, mode, extras).cost
        for place, (tool, args, exact, _) in enumerate(wishes):
            if not exact or args is None:  # where arguments are exact, to list one more is to allow it
                stricter = Wish(tool, {key: value, **(args or {})})
                assert run([*wishes[:place], stricter, *wishes[place + 1 :]], actual, mode, extras).cost


# Size.


@pytest.mark.parametrize("mode", MODES)
def test_many_expected_calls_of_one_tool(mode: Mode) -> None:
    wishes = [Wish("a", {"id": n, "kind": "order"}) for n in range(500)]
    made = [(tool, {"id": n if n % 20 else -n - 1, "kind": "order"}) for n, tool in enumerate(["a"] * 500)]
    script = run(wishes, calls(*made), mode, "forbid")
    assert script.cost == Fraction(25, 2)
    assert vector_of(script, wishes) == tuple(range(500))


@pytest.mark.parametrize("mode", MODES)
def test_a_large_group_of_parallel_calls(mode: Mode) -> None:
    """Took more than a minute before ties in large groups were settled at once."""
    wishes = [Wish("begin"), *(Wish("a", {"id": n, "kind": 1}) for n in range(300)), Wish("end")]
    group = [("a", {"id": n if n % 2 else -n - 1, "kind": 1}) for n in reversed(range(300))]
    for before, after in ((["begin"], ["end"]), ([], [])):
        script = run(wishes, calls(*before, group, *after), mode, "forbid")
        assert script.cost == 75 + (0 if before else 2)


@pytest.mark.parametrize("mode", ["any_order", "in_order"])
def test_a_long_trace(mode: Mode) -> None:
    wishes = [Wish("a", {"id": 1000 * n + 7}) for n in range(10)] + [Wish("a", {"id": "none"})]
    script = run(wishes, calls(*(("a", {"id": n}) for n in range(10_000))), mode)
    assert script.cost == 1
    assert vector_of(script, wishes)[:10] == tuple(1000 * n + 7 for n in range(10))


# Words.


def test_a_script_in_words() -> None:
    wanted = [
        expect("refund", {"amount": m.Compare("$lte", 30), "currency": m.Equal("EUR")}, exact_args=True),
        expect("notify_*", {"to": m.Regex("@example")}),
    ]
    actual = calls("look", ("refund", {"amount": 50, "note": "hello"}), ("delete", {"id": "c1", "password": "hunter2"}))
    assert describe(pair(wanted, actual, extras="forbid"), wanted, actual) == [
        'different: refund, call 2: amount = 50, expected ≤ 30; currency is missing, expected "EUR"; '
        'note = "hello" is not expected',
        "missing: notify_*(to: a text with /@example/), expected call 2",
        "extra: look(), call 1",
        'extra: delete(id = "c1", password = (hidden)), call 3',
    ]


def test_nothing_to_edit_is_nothing_to_say() -> None:
    wanted, actual = [A.compiled()], calls("a", "b")
    assert describe(pair(wanted, actual), wanted, actual) == []


def test_long_values_are_cut_between_words() -> None:
    token = "sk-" + "x" * 200
    actual = calls(("say", {"text": "word " * 100, "raw": token, "deep": {"api_key": "k", "n": [1]}}))
    (line,) = describe(pair([], actual, extras="forbid"), [], actual)
    assert "sk-" not in line
    assert "word… (502 characters)" in line
    assert 'deep = {"api_key": "(hidden)", "n": [1]}' in line
    assert len(line) < 400


def test_values_can_be_shown_another_way() -> None:
    actual = calls(("pay", {"card": "4111"}))
    lines = describe(pair([], actual, extras="forbid"), [], actual, show=lambda tool, key, _: f"<{tool}.{key}>")
    assert lines == ["extra: pay(card = <pay.card>), call 1"]


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        (m.Equal({"a": [1, None]}), '{"a": [1, null]}'),
        (m.Keys({"a": m.Equal(1), "token": m.Equal("x")}), "{a: 1, token: (hidden)}"),
        (m.Items((m.Equal(1), m.Present())), "[1, anything]"),
        (m.Unordered((m.Equal(1), m.Equal(2))), "[1, 2] in any order"),
        (m.AllOf((m.Compare("$gt", 1), m.Compare("$lt", 2.5))), "> 1 and < 2.5"),
        (m.OneOf((m.Equal("a"), m.Glob("b*"))), '"a" or a text like b*'),
        (m.Not(m.Equal(1)), "anything but 1"),
        (m.Optional(m.Equal(1)), "1 or nothing"),
        (m.Contains(m.Equal("a")), 'something that contains "a"'),
        (m.Approx(1234567, 0.5), "1234567 ± 0.5"),
        (m.Compare("$gte", 30), "≥ 30"),
        (m.TypeIs(("string", "null")), "of type string or null"),
        (m.Absent(), "nothing"),
        (m.Ignore(), "anything or nothing"),
    ],
)
def test_matchers_in_words(matcher: m.Matcher, words: str) -> None:
    assert matcher.in_words() == words
