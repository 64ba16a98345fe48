"""Which tests meet which traces, and what `--only` and `--tag` leave of a suite."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import judge, rules, trace, write

import passmuster
from passmuster._problems import TraceError
from passmuster.engine import _plan as planning
from passmuster.engine._select import select
from passmuster.scoring import _tally as tallying

SUITE: dict[str, Any] = {
    "scenarios": [
        {"id": "S-1", "query": "one", "tags": ["orders"]},
        {"id": "S-2", "query": "two", "tags": ["orders", "vip"]},
    ],
    "tests": [
        {"id": "all", "metric": "tool_blocklist", "blocklist": ["z"]},
        {"id": "first", "metric": "tool_blocklist", "blocklist": ["z"], "scenarios": ["S-1"]},
        {"id": "orders", "metric": "tool_blocklist", "blocklist": ["z"], "tags": ["orders"]},
        {"id": "vip", "metric": "tool_blocklist", "blocklist": ["z"], "tags": ["vip", "press"]},
        {"id": "both", "metric": "tool_blocklist", "blocklist": ["z"], "tags": ["vip"], "scenarios": ["S-*"]},
    ],
}


@pytest.fixture
def suite(tmp_path: Path) -> passmuster.Suite:
    return passmuster.load_suite(write(tmp_path, SUITE)[0])


def evaluated(suite: passmuster.Suite, folder: Path, **fields: Any) -> passmuster.Report:
    _, source = write(folder, SUITE, [trace("a", **fields)])
    return passmuster.evaluate(suite, passmuster.read_traces(source))


@pytest.mark.parametrize(
    ("fields", "met"),
    [
        ({}, ["all"]),
        ({"scenario": "S-1"}, ["all", "first", "orders"]),
        ({"scenario": "S-2"}, ["all", "orders", "vip", "both"]),
        ({"query": "two"}, ["all", "orders", "vip", "both"]),
        ({"tags": ["press"]}, ["all", "vip"]),
        ({"scenario": "S-1", "tags": ["vip"]}, ["all", "first", "orders", "vip", "both"]),
        ({"scenario": "S-9", "query": "one"}, ["all"]),
    ],
    ids=str,
)
def test_a_test_meets_the_traces_that_its_scenarios_and_tags_name(
    suite: passmuster.Suite, tmp_path: Path, fields: dict[str, Any], met: list[str]
) -> None:
    """Tags are those of the scenario and of the trace; where both are written, both have to fit."""
    report = evaluated(suite, tmp_path, **fields)
    assert [test.id for test in report.tests if test.traces] == met


@pytest.mark.parametrize(
    ("only", "tags", "tests", "scenarios"),
    [
        ((), (), ["all", "first", "orders", "vip", "both"], ["S-1", "S-2"]),
        (("all",), (), ["all"], []),
        (("S-*", "vip"), (), ["vip"], ["S-1", "S-2"]),
        ((), ("vip",), ["vip", "both"], ["S-2"]),
        ((), ("vip", "orders"), ["orders", "vip", "both"], ["S-1", "S-2"]),
        (("S-*",), ("vip",), [], ["S-2"]),
    ],
)
def test_only_and_tag_choose_tests_and_scenarios(
    suite: passmuster.Suite, only: tuple[str, ...], tags: tuple[str, ...], tests: list[str], scenarios: list[str]
) -> None:
    chosen = select(suite, only, tags)
    assert [test.id for test in chosen.tests] == tests
    assert [scenario.id for scenario in chosen.scenarios if scenario.selected] == scenarios


@pytest.mark.parametrize(
    ("only", "tags", "says"),
    [
        (("frist",), (), "--only frist selects no test and no scenario; did you mean 'first'?"),
        (("all", "x*"), (), "--only x* selects no test and no scenario"),
        ((), ("vips",), "--tag vips is on no test and no scenario; did you mean 'vip'?"),
        (("all",), ("vip",), "--only and --tag together select nothing"),
    ],
)
def test_what_selects_nothing_is_refused(
    suite: passmuster.Suite, only: tuple[str, ...], tags: tuple[str, ...], says: str
) -> None:
    with pytest.raises(passmuster.UsageError) as caught:
        select(suite, only, tags)
    assert says in str(caught.value)


def test_the_library_judges_traces_at_hand(suite: passmuster.Suite, tmp_path: Path) -> None:
    report = evaluated(suite, tmp_path, scenario="S-1")
    assert report.verdict == "fail"  # S-2 never ran
    assert report.exit_code == 1
    with pytest.raises(passmuster.TraceError, match="nothing to evaluate"):
        passmuster.evaluate(suite, [])


BLOCKLIST = {"id": "b", "metric": "tool_blocklist", "blocklist": ["z"]}


def test_a_figure_that_is_no_number_is_refused_whoever_asks_about_it() -> None:
    odd = {"steps": [{"type": "llm_call", "tokens_in": "many"}, {"type": "tool_call", "tool": "z"}]}
    for more in ({}, {"scenarios": [{"id": "S-1"}]}):
        with pytest.raises(TraceError, match=r"traces\.jsonl:1: Expected `int \| null`, got `str`"):
            judge({"tests": [BLOCKLIST], **more}, [odd])


def test_the_time_of_a_test_is_that_of_all_traces_though_not_all_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks, read = count(step=1_000_000), []

    def clock() -> int:
        read.append(tick := next(ticks))
        return tick

    monkeypatch.setattr(planning, "perf_counter_ns", clock)
    for traces, timed in ((3, 3), (64, 64), (64 + 160, 64 + 10)):
        read.clear()
        report = judge({"tests": [BLOCKLIST, {**BLOCKLIST, "id": "c"}]}, [trace("a")] * traces)
        assert [test.duration_ms for test in report.tests] == [traces, traces]
        assert len(read) == 3 * timed  # before the first test and after each


@pytest.mark.parametrize("remembered", [1, 3, 1_000])
def test_passes_that_traces_share_are_counted_however_few_are_remembered(
    monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    """Traces that exercise the same rules share their outcome."""
    monkeypatch.setattr(planning, "_REMEMBERED", remembered)
    monkeypatch.setattr(tallying, "_REPEATED", remembered)
    order = rules(*({"type": "before", "first": "first", "then": then} for then in "abc"))["tests"][0]
    used = ("a", "b", "a b", "c", "a c", "b c", "a b c")
    traces = [trace(f"first {names}") for names in used] * 5 + [trace("first a z")] * 2
    ordered, blocked = judge({"tests": [order, BLOCKLIST]}, traces).tests
    assert [rule.exercised_on for rule in ordered.rules] == [22, 20, 20]
    assert (ordered.traces, ordered.failed_traces) == (37, 0)
    assert (blocked.traces, blocked.failed_traces) == (37, 2)
