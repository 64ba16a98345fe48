"""`bench.simulation` on a few small suites: that it measures what it says."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from bench import simulation
from bench.simulation import Sizes, alarms, chances, coverage, main, power

TINY = (Sizes(10, 12, 20),)


@pytest.mark.parametrize("correlation", [0.1, 0.5, 1.0])
def test_chances_are_as_far_apart_as_said(correlation: float) -> None:
    drawn = chances(np.random.default_rng(1), 0.7, correlation, (200, 100))
    assert drawn.mean() == pytest.approx(0.7, abs=0.02)
    assert drawn.var() == pytest.approx(correlation * 0.7 * 0.3, abs=0.01)


def test_coverage_of_every_kind() -> None:
    cells = list(coverage(TINY, rates=(0.3, 0.8)))
    assert len({(cell.repeats, cell.correlation) for cell in cells}) == len(cells) == 1 + 3 * 5
    assert all(0.7 <= cell.worst <= cell.mean <= 1 for cell in cells)
    assert cells == list(coverage(TINY, rates=(0.3, 0.8)))


def test_alarms_on_no_change_and_on_a_large_one() -> None:
    assert all(line.rate <= 0.15 for line in alarms(TINY, rates=(0.8,)))
    assert [line.what for line in power(TINY, drops=(0.9,))] == ["90 points"] * 3
    assert all(line.rate > 0.8 for line in power(TINY, drops=(0.9,)))


def test_the_tables_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["simulation", "--quick"])
    monkeypatch.setattr(simulation, "QUICK", TINY)
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out
    assert "| scenarios | runs each | correlation | mean | lowest | at | held |" in printed
    assert "| 10 | 1 | – | " in printed
    assert "| 10 | 3 | pass rate, two categories | " in printed
    assert "How often a drop from 90% is noticed" in printed
