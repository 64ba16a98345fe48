"""`bench.promises` with few trials: that it measures what it says."""

from __future__ import annotations

import pytest
from bench.promises import PARTS, Row, measured


@pytest.mark.parametrize("name", ["scores and rates", "latency", "skewed means", "weights", "audits", "ratchet"])
def test_a_part_holds_and_comes_out_alike_again(name: str) -> None:
    rows = list(measured(40, [name]))
    assert rows
    assert all(row.held for row in rows), [row for row in rows if not row.held]
    assert name != "weights" or rows == list(measured(40, [name]))


def test_every_part_has_a_name() -> None:
    assert len(PARTS) == len(set(PARTS.values()))


@pytest.mark.parametrize(("found", "held"), [(0.92, True), (0.905, True), (0.88, False), (0.97, True), (0.99, False)])
def test_a_row_is_held_within_two_standard_errors(found: float, held: bool) -> None:
    assert Row("w", found, 0.92, 0.97, 1_000).held is held
