"""Losses are counted alike however the traces were split, and each kind has its gate line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from passmuster.scoring._losses import LossTally
from passmuster.traces import Loss, Spot

LOSSES = st.lists(
    st.builds(Loss, st.builds(Spot, st.sampled_from("ab"), st.integers(0, 9)), st.sampled_from("xyz"), st.booleans()),
    max_size=12,
)


def tally(*parts: list[Loss]) -> LossTally:
    counted = LossTally()
    for part in parts:
        one = LossTally()
        one.add(part)
        counted.merge(one)
    return counted


@given(LOSSES, LOSSES, LOSSES)
def test_the_order_of_the_parts_makes_no_difference(a: list[Loss], b: list[Loss], c: list[Loss]) -> None:
    assert tally(a, b, c) == tally(c, a, b) == tally([*b, *a, *c])


def test_a_line_for_each_kind() -> None:
    first, again = Spot("a.jsonl", 40), Spot("a.jsonl", 90)
    counted = tally([Loss(again, "a part", True), Loss(first, "a part", True), Loss(first, "an image", False)])
    lines = list(counted.lines({first: 3, again: 5}))
    assert [(line.kind, line.id, line.level, line.status, line.message) for line in lines] == [
        ("input", "a.jsonl:3", "warning", "fail", "not read: a part (and 1 more like it)"),
        ("input", "a.jsonl:3", "warning", "pass", "not read: an image"),
    ]


def test_more_kinds_than_are_kept() -> None:
    counted = tally([Loss(Spot("a.jsonl", number), f"part {number}", True) for number in range(1_200)])
    lines = list(counted.lines({}))
    assert len(lines) == 1_001
    assert (lines[0].id, lines[-1].message) == ("a.jsonl", "not read: 200 more places in the trace files")
