"""Sweeps: samples, times and groups of traces, the same however the traces are split."""

from __future__ import annotations

import datetime
import json
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.engine.test_workers import text

from passmuster import api, reports
from passmuster._problems import InputError
from passmuster.engine._execution import ONE_PROCESS
from passmuster.engine._load_suite import load_suite
from passmuster.engine._parts import cut
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine._run import conclude_run
from passmuster.engine._trace_filter import trace_filter
from passmuster.engine.executors.inline import execute
from passmuster.scoring import _group_tally
from passmuster.scoring._durations import Durations
from passmuster.scoring._group_report import sampled_rate
from passmuster.scoring._left_out import LeftOut
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import merge
from passmuster.traces import Trace
from passmuster.traces._sources import Source

TODAY = datetime.date(2026, 4, 1)
SUITE: dict[str, Any] = {
    "suite": "sweep",
    "tests": [{"id": "no_refunds", "metric": "tool_blocklist", "blocklist": ["refund"]}],
    "scenarios": [{"id": "S-1", "path": {"forbidden_tools": ["refund"]}}, {"id": "S-2"}],
}


def trace(number: int, tool: str = "look", **more: Any) -> dict[str, Any]:
    steps = [{"type": "tool_call", "tool": tool}]
    return {"trace_id": f"t-{number}", "started_at": f"2026-03-{number % 9 + 1:02d}T10:00:00Z", "steps": steps, **more}


def write(folder: Path, traces: list[dict[str, Any]], suite: dict[str, Any] = SUITE) -> api.RunOptions:
    (folder / "passmuster.json").write_text(json.dumps(suite))
    (folder / "traces.jsonl").write_text("".join(json.dumps(one) + "\n" for one in traces))
    return api.RunOptions(traces=(str(folder / "traces.jsonl"),), root=str(folder), today=TODAY)


def run(folder: Path, options: api.RunOptions, **changes: Any) -> api.Report:
    with api.StandardInput() as stdin:
        return api.run(str(folder), replace(options, **changes), stdin).report


def problems(folder: Path, options: api.RunOptions, **changes: Any) -> str:
    with pytest.raises(InputError) as raised:
        run(folder, options, **changes)
    return str(raised.value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["look", "refund"]), st.integers(0, 30), st.booleans()), min_size=1),
    st.integers(40, 400),
    st.sampled_from([None, 0.3, 1.0]),
    st.randoms(),
)
def test_no_split_changes_groups_or_samples(
    tmp_path: Path, drawn: list[tuple[str, int, bool]], part_bytes: int, sample: float | None, chance: Any
) -> None:
    traces = [
        trace(
            n,
            tool,
            metadata={"region": region % 11},
            total_duration_ms=n * 7 % 13,
            **({"scenario": "S-1"} if known else {}),
        )
        for n, (tool, region, known) in enumerate(drawn)
    ]
    write(tmp_path, traces)
    suite = load_suite(tmp_path, root=tmp_path)
    asked = Settings(today=TODAY, sample=sample, group_by=("day", "metadata.region"))
    job = Job(suite, asked)
    sources = [Source(str(tmp_path / "traces.jsonl"), "traces.jsonl")]

    def report(order: list[Any]) -> bytes | str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_group_tally, "GROUPS", 7)
            tally = merge([execute(job, [part], ONE_PROCESS, Progress()) for part in order])
            try:
                return text(conclude_run(suite, tally, asked, 0))
            except InputError as error:
                return str(error)

    parts = cut(sources, 1, part_bytes)
    shuffled = chance.sample(parts, len(parts))
    assert report(shuffled) == report(cut(sources, 1))


def test_a_sample_is_stable_nested_and_partial(tmp_path: Path) -> None:
    options = write(tmp_path, [trace(n, "refund", scenario="S-1") for n in range(300)])

    def drawn(share: str) -> set[str | None]:
        return {one.trace_id for one in run(tmp_path, options, sample=share).tests[0].violations}

    assert drawn("10%") == drawn("0.1") < drawn("40%") < drawn("100%")
    report = run(tmp_path, options, sample="10%")
    assert report.partial
    assert report.traces.read == 300
    assert report.traces.evaluated == len(drawn("10%"))
    assert [one.id for one in report.scenarios] == ["S-1"]  # S-2 was not asked to run
    assert report.sample is not None
    assert report.sample.traces == 300


def test_a_trace_is_drawn_by_its_id_alone(tmp_path: Path) -> None:
    traces = [trace(n, "refund") for n in range(100)]
    first = run(tmp_path, write(tmp_path, traces), sample="30%").tests[0].violations
    changed = [{**one, "query": "other words"} for one in traces]
    second = run(tmp_path, write(tmp_path, changed), sample="30%").tests[0].violations
    assert [one.trace_id for one in first] == [one.trace_id for one in second]


def test_a_trace_without_an_id_is_drawn_by_its_content(tmp_path: Path) -> None:
    traces = [{"query": f"q{n}", "steps": [{"type": "tool_call", "tool": "look"}]} for n in range(200)]
    first = run(tmp_path, write(tmp_path, traces), sample="20%").traces
    assert 0 < first.evaluated < 200
    assert run(tmp_path, write(tmp_path, traces[::-1]), sample="20%").traces == first


@pytest.mark.parametrize(("rate", "population", "share"), [(0.1, 400, 0.25), (0.02, 3_000, 0.1), (0.5, 150, 0.6)])
def test_intervals_of_a_sample_cover(rate: float, population: int, share: float) -> None:
    chance = random.Random(f"{rate} {share}")
    failing = round(rate * population)
    covered = 0
    for _ in range(2_000):
        sampled = sum(chance.random() < share for _ in range(population))
        failed = sum(one < failing for one in chance.sample(range(population), sampled))
        low, high = sampled_rate(failed, sampled, sampled, population).ci95 or (1, 0)
        covered += low <= failing / population <= high
    assert 0.93 <= covered / 2_000 <= 0.99


def test_intervals_cover_with_traces_drawn_by_their_ids() -> None:
    """The draw itself, on ids that differ in a number only."""
    wanted = trace_filter(Settings(today=TODAY, sample=0.2))
    assert wanted is not None
    covered = drawn = 0
    for population in range(400):
        traces = [Trace(steps=(), trace_id=f"run-{population}-{number}") for number in range(500)]
        sample = [number for number, one in enumerate(traces) if wanted(one, LeftOut())]
        failed = sum(number % 10 == 3 for number in sample)
        low, high = sampled_rate(failed, len(sample), len(sample), 500).ci95 or (1, 0)
        covered += low <= 0.1 <= high
        drawn += len(sample)
    assert abs(drawn / (400 * 500) - 0.2) < 0.005  # 5 standard errors
    assert 0.92 <= covered / 400 <= 0.99


def test_a_sample_of_everything_leaves_nothing_open() -> None:
    assert sampled_rate(3, 10, 10, 10).ci95 == (0.3, 0.3)


def test_since_and_until_select_by_time(tmp_path: Path) -> None:
    options = write(tmp_path, [*(trace(n) for n in range(9)), {"trace_id": "x", "steps": []}])
    report = run(tmp_path, options, since="2026-03-02", until="2026-03-04")
    assert (report.partial, report.traces.read, report.traces.evaluated) == (True, 10, 3)
    line = next(line for line in report.gate if line.id == "untimed")
    assert line.message.startswith("1 trace does not state when it began")
    assert run(tmp_path, options, until="2026-03-04T10:00:00Z").traces.evaluated == 3
    assert run(tmp_path, options, since="2026-03-09T12:00:00+02:00").traces.evaluated == 1


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (1_772_359_200, "2026-03-01"),
        (1_772_359_200_000, "2026-03-01"),
        (1_772_359_200_000_000, "2026-03-01"),
        (1_772_359_200_000_000_000, "2026-03-01"),
        ("2026-03-01T23:30:00-02:00", "2026-03-02"),
        ("2026-03-01T10:00:00", "2026-03-01"),
        ("yesterday", None),
        (-5, None),
        (1e300, None),
    ],
)
def test_days_are_those_of_utc(tmp_path: Path, moment: Any, day: str | None) -> None:
    options = write(tmp_path, [{"steps": [], "started_at": moment}, trace(8)])
    days = [group.by["day"] for group in run(tmp_path, options, group_by=("day",)).groups]
    assert days == ([day, "2026-03-09"] if day else ["2026-03-09", None])


def test_groups_cross_and_count(tmp_path: Path) -> None:
    traces = [
        trace(n, "refund" if n % 4 == 0 else "look", agent={"name": "a", "version": f"{n % 2}.0"}, scenario="S-1")
        for n in range(40)
    ]
    report = run(tmp_path, write(tmp_path, traces), group_by=("agent.version", "scenario"))
    assert [group.by for group in report.groups] == [
        {"agent.version": "0.0", "scenario": "S-1"},
        {"agent.version": "1.0", "scenario": "S-1"},
    ]
    first = report.groups[0]
    assert (first.traces, first.failed_traces, first.tests["no_refunds"].violation_count) == (20, 10, 10)
    assert first.metrics["violation_rate"].value == first.metrics["pass_rate"].value == 0.5
    assert first.metrics["violation_rate"].ci95 is not None
    assert not report.partial


def test_more_groups_than_are_told_apart_are_counted_as_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_group_tally, "GROUPS", 3)
    options = write(tmp_path, [trace(n, metadata={"user": f"u{n % 5}"}) for n in range(50)])
    report = run(tmp_path, options, group_by=("metadata.user",))
    assert [(group.by["metadata.user"], group.traces, group.folded) for group in report.groups] == [
        *((f"u{n}", 10, None) for n in range(3)),
        ("other", 20, True),
    ]
    assert any(line.id == "groups" and "20 traces" in line.message for line in report.gate)


def test_values_of_groups_are_cut_and_redacted(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2" * 12
    values: list[Any] = [secret, "x" * 100_000, {"a": [1]}, True, None, 7]
    options = write(tmp_path, [trace(n, metadata={"k": {"deep": value}}) for n, value in enumerate(values)])
    report = run(tmp_path, options, group_by=("metadata.k.deep",))
    shown = [group.by["metadata.k.deep"] for group in report.groups]
    assert secret not in str(report)
    assert None in shown
    assert {'{"a": [1]}', "true", "7"} < set(shown)
    assert max(len(value or "") for value in shown) < 300


def test_every_report_has_groups_and_estimates(tmp_path: Path) -> None:
    options = write(tmp_path, [trace(n, "refund", agent="bot-7") for n in range(60)])
    formats = tuple(name for name in reports.FORMATS if name != "gitlab")  # a list of places in files
    wanted = tuple(api.Destination(name, str(tmp_path / f"report.{name}")) for name in formats)
    with api.StandardInput() as stdin:
        asked = replace(options, reports=wanted, sample="50%", group_by=("agent.name",))
        rendered = {one.format: one.data for one in api.run(str(tmp_path), asked, stdin).rendered}
    assert set(rendered) == set(formats)
    assert [name for name, data in rendered.items() if b"bot-7" not in data] == []
    assert b"Groups by agent.name" in rendered["console"]
    assert b"Estimates from a sample of 50%" in rendered["console"]
    assert "bot-7" in (ElementTree.fromstring(rendered["junit"]).findtext("testsuite/system-out") or "")
    assert json.loads(rendered["sarif"])["runs"][0]["properties"]["groups"][0]["by"] == {"agent.name": "bot-7"}
    document = json.loads(rendered["json"])
    assert document["groups"][0]["by"] == {"agent.name": "bot-7"}
    assert document["sample"]["traces"] == 60
    assert b'"agent.name":"bot-7"' in rendered["html"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"group_by": ("dya",)}, "did you mean 'day'?"),
        ({"group_by": ("metadata.",)}, "expected day, agent.version, agent.name, scenario or metadata.KEY"),
        ({"group_by": ("day", "day")}, "given twice"),
        ({"group_by": ("metadata.region",)}, "--group-by metadata.region: no trace has it"),
        ({"sample": "0%"}, "above 0%"),
        ({"sample": "5"}, "write 5%"),
        ({"sample": "lots"}, "such as 1%"),
        ({"since": "March"}, "--since: expected a day or a time"),
        ({"since": "2026-03-05", "until": "2026-03-04"}, "is not before"),
        ({"until": "2025-01-01"}, "began from 2026-03-01T10:00:00Z to 2026-03-03T10:00:00Z"),
        ({"sample": "0.0000001%"}, "the sample holds none of 3 traces"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    assert told in problems(tmp_path, write(tmp_path, [trace(n) for n in range(3)]), **changes)


def test_no_time_at_all_is_refused(tmp_path: Path) -> None:
    options = write(tmp_path, [{"steps": []}])
    assert "none of 1 trace states when it began" in problems(tmp_path, options, since="2026-01-01")


@given(st.lists(st.floats(0, 1e12) | st.just(0.0) | st.floats(1e-300, 1e-290), min_size=1), st.integers(0, 20))
def test_durations_are_the_same_for_any_split(values: list[float], limit: int) -> None:
    whole, left, right = Durations(limit), Durations(limit), Durations(limit)
    for place, value in enumerate(values):
        whole.add(value)
        (left if place % 3 else right).add(value)
    left.merge(right)
    assert list(left.ordered()) == list(whole.ordered())
    assert len(left.ordered()) == len(values)
    for exact, found in zip(sorted(values), whole.ordered(), strict=True):
        assert found == exact if len(values) <= limit else abs(found - exact) <= exact * 0.004
