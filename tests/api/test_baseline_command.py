"""`passmuster baseline` and `run --baseline`, as their users meet them."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.baseline_runs import BROKEN, DAY, FAIL, PASS, source_of, suite_of, trace, traces_of
from tests.cli_runner import CliRunner

import passmuster
from passmuster.api._baseline_files import BASELINE
from passmuster.api._thresholds import tightening
from passmuster.cli._main import command as group
from passmuster.engine._load_suite import load_suite
from passmuster.engine._run import evaluate_sources, record
from passmuster.history._reading import read_history
from passmuster.scoring._report import Report
from passmuster.scoring._settings import Settings
from passmuster.suite._editing import Edited

SUITE = """\
suite: shop
thresholds:   # what we ask
  blocking:
    pass_rate: "≥ 40%"          # to be raised
    accuracy: 50
    latency_p95: '< 5s'
  warning: {weighted_pass_rate: 0.3, mean_cost_usd: $0.5,   total_tokens: 5000}
pass_criteria: {overall: 25%, by_category: {orders: {min: 20, description: low}}}
scenarios:
  - {id: A, category: orders, correctness: {expected_in_answer: "yes"}}
  - {id: B, category: orders, correctness: {expected_in_answer: "yes"}}
  - {id: C, correctness: {expected_in_answer: "yes"}}
  - {id: D, correctness: {expected_in_answer: "yes"}}
"""
FIGURES: dict[str, Any] = {"total_cost_usd": 0.01, "total_duration_ms": 120, "total_tokens": 100}


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def passmuster_(*words: str | Path, cwd: Path) -> Ended:
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(group, [str(word) for word in words])
    return Ended(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a suite, a run of which three of four scenarios pass, and one of which none does."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "passmuster.yaml").write_text(SUITE, encoding="utf-8")
    source_of(tmp_path, traces_of({"A": FAIL, "B": PASS, "C": PASS, "D": PASS}, **FIGURES), "good.jsonl")
    source_of(tmp_path, traces_of(dict.fromkeys("ABCD", FAIL), **FIGURES), "bad.jsonl")
    return tmp_path


@pytest.fixture
def saved(shop: Path) -> Path:
    """The same, with the first run recorded."""
    ended = passmuster_("baseline", "save", "--traces", "good.jsonl", "-o", "b.json", cwd=shop)
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout == "b.json: 4 scenarios and 0 tests of 4 traces\n"
    return shop


# ── save and run ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_saved_run_is_compared_with(saved: Path) -> None:
    run = ("run", "--no-history", "--baseline", "b.json", "--traces")
    assert passmuster_(*run, "good.jsonl", cwd=saved).code == 0
    worse = passmuster_(*run, "bad.jsonl", "--report", "json=r.json", cwd=saved)
    assert worse.code == 1
    for id_ in "BCD":
        assert f"baseline {id_}: passed in the baseline and now fails: " in worse.stdout
    assert "baseline A" not in worse.stdout
    report = json.loads((saved / "r.json").read_bytes())
    assert report["provenance"]["options"]["baseline"] == "b.json"
    (line,) = [line for line in report["gate"] if line["kind"] == "baseline" and line["id"] == "pass_rate"]
    assert line["values"] == {
        "before": 0.75,
        "after": 0.0,
        "drop": 0.75,
        "p_value": 0.125,
        "adjusted_p_value": 0.125,
        "pairs": 4,
        "max_drop": 0.0,
        "level": 0.05,
    }


def test_saving_twice_gives_the_same_bytes_and_a_day_only_if_given(saved: Path) -> None:
    first = (saved / "b.json").read_bytes()
    passmuster_("baseline", "save", "--traces", "good.jsonl", "-o", "b.json", "--workers", "2", cwd=saved)
    assert (saved / "b.json").read_bytes() == first
    assert "day" not in json.loads(first)
    passmuster_("baseline", "save", "--traces", "good.jsonl", "-o", "d.json", "--today", "2026-01-31", cwd=saved)
    assert json.loads((saved / "d.json").read_bytes())["day"] == "2026-01-31"


def test_one_of_a_kind_is_told_as_one_and_the_version_is_that_of_its_trace(shop: Path) -> None:
    suite = "scenarios: [{id: A, correctness: {expected_in_answer: 'yes'}}]\n"
    (shop / "passmuster.yaml").write_text(suite, encoding="utf-8")
    trace = {"scenario": "A", "answer": "yes", "agent": {"name": "clerk", "version": "2.1.0"}}
    (shop / "one.jsonl").write_text(json.dumps(trace) + "\n")
    ended = passmuster_("baseline", "save", "--traces", "one.jsonl", "-o", "one.json", cwd=shop)
    assert ended.stdout == "one.json: 1 scenario and 0 tests of 1 trace\n"
    assert json.loads((shop / "one.json").read_bytes())["agent_version"] == "2.1.0"
    assert passmuster_("run", "--quiet", "--traces", "one.jsonl", cwd=shop).code == 0
    (run,) = read_history(shop, "passmuster.yaml", 9).runs
    assert run.agent_version == "2.1.0"


def test_a_failing_run_is_saved_and_said_to_fail(shop: Path) -> None:
    ended = passmuster_("baseline", "save", "--traces", "bad.jsonl", "-o", "b.json", cwd=shop)
    assert (ended.code, ended.stderr) == (0, "note: this run fails the gate; it is recorded anyway\n")
    assert json.loads((shop / "b.json").read_bytes())["verdict"] == "fail"


def test_a_run_that_could_not_be_decided_is_not_saved(shop: Path) -> None:
    (shop / "passmuster.yaml").write_text(SUITE.split("thresholds")[0] + "scenarios" + SUITE.split("scenarios")[1])
    source_of(shop, traces_of(dict.fromkeys("ABCD", BROKEN)), "broken.jsonl")
    ended = passmuster_("baseline", "save", "--traces", "broken.jsonl", "-o", "b.json", cwd=shop)
    assert ended.code == 3
    assert ended.stderr.endswith("No baseline was written.\n")
    assert not (shop / "b.json").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--traces", "good.jsonl"], "no output file: give -o FILE, or state 'baseline.file' in the suite"),
        (["-o", "b.json"], "no traces: give --traces PATH"),
        (["--traces", "none.jsonl", "-o", "b.json"], "none.jsonl: there is no such trace file or folder"),
        (["--traces", "good.jsonl", "-o", "no/b.json"], "no/b.json: cannot write this baseline: there is no folder"),
        (["--traces", "good.jsonl", "-o", "b.json", "--today", "soon"], "--today: expected a day"),
        (["none", "--traces", "good.jsonl", "-o", "b.json"], "none: there is no such suite file or folder"),
    ],
)
def test_what_save_refuses(words: list[str], told: str, shop: Path) -> None:
    ended = passmuster_("baseline", "save", *words, cwd=shop)
    assert ended.code == 2
    assert told in ended.stderr
    assert not (shop / "b.json").exists()


def test_the_suite_can_name_its_baseline(shop: Path) -> None:
    (shop / "passmuster.yaml").write_text(SUITE + "baseline: {file: kept/b.json, metrics: [pass_rate]}\n")
    run = ("run", "--no-history", "--traces", "bad.jsonl")
    missing = passmuster_(*run, cwd=shop)
    assert missing.code == 2
    assert (
        "passmuster.yaml:14: baseline.file: there is no file or folder 'kept/b.json'; "
        "create it with 'passmuster baseline save'" in missing.stderr
    )
    (shop / "kept").mkdir()
    assert passmuster_("baseline", "save", "--traces", "good.jsonl", cwd=shop).code == 0
    assert passmuster_("baseline", "save", "--traces", "bad.jsonl", "-o", "other.json", cwd=shop).code == 0
    assert "pass_rate 75% → 0% over 4 scenarios" in passmuster_(*run, cwd=shop).stdout
    assert "pass_rate 0% → 0% over 4 scenarios" in passmuster_(*run, "-vv", "--baseline", "other.json", cwd=shop).stdout
    (shop / "kept" / "b.json").unlink()
    (shop / "kept" / "golden.jsonl").write_bytes((shop / "good.jsonl").read_bytes())
    (shop / "passmuster.yaml").write_text(SUITE + "baseline: {file: kept}\n")
    assert "baseline pass_rate" not in passmuster_(*run, cwd=shop).stdout


def test_a_baseline_outside_the_root_is_refused(shop: Path) -> None:
    (shop / "passmuster.yaml").write_text(SUITE + "baseline: {file: ../b.json}\n")
    ended = passmuster_("run", "--no-history", "--traces", "bad.jsonl", cwd=shop)
    assert ended.code == 2
    assert "baseline.file: '../b.json' is outside the root" in ended.stderr


def broken_files() -> list[tuple[bytes, str]]:
    good = {"schema": "passmuster.baseline/1", "suite": "s", "suite_sha256": "", "version": "", "verdict": "pass"}
    parts: dict[str, Any] = {"metrics": {}, "tests": {}, "scenarios": {}}
    other = {"Z": {"status": "pass", "passed": {"passed": 1, "counted": 1}}}
    wrong = {"A": {"status": "pass", "passed": {"passed": 5, "counted": 1}}}
    return [
        (
            b'{"schema": "passmuster.baseline/1", "suite":',
            "b.json: expected a baseline (passmuster.baseline/1), and this is not JSON: ",
        ),
        (json.dumps({**good, **parts, "schema": "passmuster.baseline/2"}).encode(), "found the schema 'passmuster.ba"),
        (json.dumps({"schema": "passmuster.report/1"}).encode(), "expected a baseline (passmuster.baseline/1), found"),
        (json.dumps(good).encode(), "this baseline is damaged: Object missing required field `metrics`"),
        (json.dumps({**good, **parts, "scenarios": wrong}).encode(), "5 passed and 0 broken are more than 1 runs"),
        (json.dumps({**parts, **good, "scenarios": other}).encode(), "no scenario of this baseline is in the suite"),
        (json.dumps({**good, **parts}).encode(), "no scenario of this baseline is in the suite passmuster.yaml"),
        (json.dumps({**good, "a": "x" * BASELINE.most_bytes}).encode(), "this is larger than any baseline (64 MiB)"),
        (b'{"schema": "passmuster.baseline/1",\n "suite": "\xff"}', "and this is not JSON: "),
        (
            b'{"schema": "passmuster.baseline/1",\n "suite": x}',
            "b.json:2:11: expected a baseline (passmuster.baseline/1), and this is not ",
        ),
        (b"", "b.json: "),
        (b"[" * 100_000, "b.json:1: "),
    ]


@pytest.mark.parametrize(("data", "told"), broken_files(), ids=[told for _, told in broken_files()])
def test_a_file_that_is_no_baseline_of_the_suite_is_refused(data: bytes, told: str, shop: Path) -> None:
    (shop / "b.json").write_bytes(data)
    ended = passmuster_("run", "--no-history", "--traces", "good.jsonl", "--baseline", "b.json", cwd=shop)
    assert ended.code == 2
    assert told in ended.stderr


def test_sorted_keys_do_not_hide_a_baseline(saved: Path) -> None:
    document = json.loads((saved / "b.json").read_bytes())
    (saved / "b.json").write_text("\ufeff" + json.dumps(document, sort_keys=True), encoding="utf-8")
    ended = passmuster_("run", "--no-history", "--traces", "bad.jsonl", "--baseline", "b.json", cwd=saved)
    assert "pass_rate 75% → 0% over 4 scenarios" in ended.stdout


# ── show and suggest ────────────────────────────────────────────────────────────────────────────────────────


def test_show_fits_into_80_columns(shop: Path) -> None:
    long = "scenario-" + "x" * 90
    suite = suite_of(
        [long, "B"],
        required_scenarios=["B"],
        tests=[{"id": "t" * 90, "metric": "tool_blocklist", "blocklist": ["pay"]}],
    )
    (shop / "passmuster.yaml").write_text(json.dumps(suite), encoding="utf-8")
    source_of(shop, traces_of({long: PASS, "B": [PASS, FAIL]}, **FIGURES))
    passmuster_("baseline", "save", "--traces", "t.jsonl", "-o", "b.json", cwd=shop)
    ended = passmuster_("baseline", "show", "b.json", cwd=shop)
    assert ended.code == 0
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())
    assert "Scenarios: 1 of 2 passed" in ended.stdout
    assert re.search(r"^  B +fail  1 of 2 runs  120 ms  0\.01 USD  required$", ended.stdout, re.MULTILINE)
    assert passmuster_("baseline", "show", "none.json", cwd=shop).code == 2


def test_what_is_suggested_can_be_pasted_and_asks_for_more_than_was_reached(saved: Path) -> None:
    ended = passmuster_("baseline", "suggest", "--baseline", "b.json", cwd=saved)
    assert (
        ended.stdout
        == """\
# 1% better than what b.json reached: a target that this run does not meet.
thresholds:
  blocking:
    pass_rate: ">= 76%"  # reached 75%
    accuracy: ">= 76%"  # reached 75%
    latency_p95: "<= 118.8 ms"  # reached 120 ms
  warning:
    weighted_pass_rate: ">= 76%"  # reached 75%
    mean_cost_usd: "<= 0.0099 USD"  # reached 0.01 USD
    total_tokens: "<= 396 tokens"  # reached 400 tokens
"""
    )
    rest = "pass_criteria" + SUITE.split("pass_criteria")[1]
    (saved / "passmuster.yaml").write_text(ended.stdout + rest)
    run = passmuster_("run", "--no-history", "--traces", "good.jsonl", cwd=saved)
    assert run.code == 1
    assert "pass_rate is 75%, required >= 76%" in run.stdout


def test_without_thresholds_every_rate_is_suggested_up_to_all_of_it(saved: Path) -> None:
    scenarios = "scenarios" + SUITE.split("scenarios")[1]
    (saved / "passmuster.yaml").write_text(scenarios)
    ended = passmuster_("baseline", "suggest", "--baseline", "b.json", "--margin", "40%", cwd=saved)
    assert yaml.safe_load(ended.stdout) == {
        "thresholds": {
            "blocking": dict.fromkeys(["accuracy", "normalized_latency", "pass_rate", "weighted_pass_rate"], ">= 100%")
            | {"normalized_latency": "<= 0%"}
        }
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["suggest", "--baseline", "b.json", "--margin", "5"], "'5' may mean a percentage or a fraction"),
        (["suggest", "--baseline", "b.json", "--margin", "much"], "expected a share such as 1% or 0.01"),
        (["ratchet", "--baseline", "b.json", "--slack", "1"], "'1' may mean a percentage or a fraction"),
        (["suggest", "--baseline", "b.json", "--margin", "100%"], "expected less than 100%"),
        (["ratchet", "--baseline", "none.json"], "none.json: there is no such baseline file"),
        (["ratchet"], "no baseline: give --baseline FILE, or state 'baseline.file' in the suite"),
        (["suggest", "--baseline", "good.jsonl"], "expected a baseline (passmuster.baseline/1), and this is not JSON"),
        (["show", "."], ".: this is a folder; expected a baseline file"),
    ],
)
def test_what_the_other_commands_refuse(words: list[str], told: str, saved: Path) -> None:
    ended = passmuster_("baseline", *words, cwd=saved)
    assert ended.code == 2
    assert told in re.sub(r"\s+", " ", ended.stderr)


# ── ratchet ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_ratchet_changes_the_numbers_and_nothing_else(saved: Path) -> None:
    ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved)
    assert (ended.code, ended.stderr) == (0, "")
    assert (saved / "passmuster.yaml").read_text(encoding="utf-8") == (
        SUITE.replace('"≥ 40%"', '"≥ 75%"')
        .replace("accuracy: 50", "accuracy: 75")
        .replace("'< 5s'", "'< 0.120001s'")
        .replace("weighted_pass_rate: 0.3", "weighted_pass_rate: 0.75")
        .replace("$0.5", "$0.01")
        .replace("total_tokens: 5000", "total_tokens: 400")
        .replace("overall: 25%", "overall: 75%")
        .replace("min: 20", "min: 50")
    )
    assert "passmuster.yaml:4: thresholds.blocking.pass_rate >= 40% → >= 75% (reached 75%)" in ended.stdout
    assert passmuster_("run", "--no-history", "--traces", "good.jsonl", cwd=saved).code == 0
    assert passmuster_("run", "--no-history", "--traces", "bad.jsonl", cwd=saved).code == 1
    again = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved)
    assert again.stdout == "No bound was tightened.\n"


def test_a_dry_run_prints_the_change_and_writes_nothing(saved: Path) -> None:
    ended = passmuster_(
        "baseline", "ratchet", "--baseline", "b.json", "--to", "value", "--dry-run", "--slack", "5%", cwd=saved
    )
    assert '-    pass_rate: "≥ 40%"          # to be raised\n' in ended.stdout
    assert '+    pass_rate: "≥ 70%"          # to be raised\n' in ended.stdout
    assert "+    latency_p95: '< 0.126s'\n" in ended.stdout
    assert ended.stdout.endswith("Nothing was written (--dry-run).\n")
    assert (saved / "passmuster.yaml").read_text(encoding="utf-8") == SUITE


SCENARIOS = SUITE[SUITE.index("scenarios") :]
CASES: list[tuple[str, str | None, str]] = [
    # (thresholds, thresholds afterwards or None if unchanged, what is said)
    ("{blocking: {pass_rate: 80}}", None, "No bound was tightened."),
    ("{blocking: {pass_rate: 75}}", None, "No bound was tightened."),
    ("{blocking: {pass_rate: '> 50%'}}", "{blocking: {pass_rate: '> 74.99%'}}", "> 50% → > 74.99%"),
    ("{blocking: {pass_rate: '= 50%'}}", None, "not changed: thresholds.blocking.pass_rate: '=' asks for one value"),
    ("{blocking: {pass_rate: '<= 90%'}}", None, "bounds pass_rate from its good side"),
    ('{blocking: {pass_rate: "\\u2265 50%"}}', '{blocking: {pass_rate: "\\u2265 75%"}}', ">= 50% → >= 75%"),
    ("{blocking: {pass_rate: !!str 50%}}", "{blocking: {pass_rate: !!str 75%}}", ">= 75%"),
    ("{blocking: {pass_rate: &x 50, accuracy: *x}}", None, "its number is shared through an alias; write it out"),
    ("{blocking: {pass_rate: &x 50}}", "{blocking: {pass_rate: &x 75}}", ">= 75%"),
    ("{blocking: &b {pass_rate: 50}, warning: *b}", None, "its number is shared through an alias"),
    (
        "{warning: {normalized_latency: 90, latency_p95: 200}}",
        "{warning: {normalized_latency: 60, latency_p95: 200}}",
        "it is the budget of normalized_latency",
    ),
    ("{blocking: {pass_rate: 0x32}}", None, "cannot be changed in place as it is spelled: 0x32"),
    (
        "{blocking: {pass_rate: {min: 0.1, confidence: 95%}}}",
        "{blocking: {pass_rate: {min: 0.3006, confidence: 95%}}}",
        "≥ ",
    ),
    ("{blocking: {pass_rate: {min: 10, confidence: 99%}}}", None, "no interval at 99% is recorded of it"),
    (
        "{blocking: {token_efficiency: 0.001}}",
        "{blocking: {token_efficiency: 0.0075}}",
        "token_efficiency >= 1 per 1,000 tokens → >= 7.5 per 1,000 tokens (reached 7.5 per 1,000 tokens)",
    ),
    ("{risk: {high: {accuracy: .5}}}", "{risk: {high: {accuracy: 0.75}}}", "thresholds.risk.high.accuracy"),
    ("{progressive: {accuracy: {'1.0': 10}}}", None, "thresholds.progressive.accuracy: its stages follow the agent's"),
    ("{blocking: {behavior_coverage: 50}}", None, "thresholds.blocking.behavior_coverage: the baseline has no value"),
    ("{blocking: {latency_p95: 5e3}}", "{blocking: {latency_p95: 120}}", "<= 120 ms"),
]


@pytest.mark.parametrize(("before", "after", "said"), CASES, ids=[before for before, _, _ in CASES])
def test_how_bounds_are_raised(before: str, after: str | None, said: str, saved: Path) -> None:
    path = saved / "passmuster.yaml"
    for ending in ("\n", "\r\n"):
        text = f"\ufeff# ≥ thresholds ≥\nthresholds: {before}   # 50\n{SCENARIOS}".replace("\n", ending)
        path.write_bytes(text.encode())
        ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved)
        assert ended.code == 0, ended.stderr
        assert said.strip("≥ ") in ended.stdout
        assert path.read_bytes().decode() == (text.replace(before, after) if after else text)


def test_composite_is_left_alone_and_a_json_suite_stays_json(saved: Path) -> None:
    suite = suite_of("ABCD", composite={"pass": "pass_rate >= 0.5"})
    suite["thresholds"] = {"blocking": {"pass_rate": "\u2265 50%", "accuracy": 50, "latency_p95": {"max": "5s"}}}
    (saved / "passmuster.yaml").unlink()
    text = json.dumps(suite, indent=1)
    assert "\\u2265" in text
    (saved / "passmuster.json").write_text(text)
    ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved)
    assert "not changed: composite: a formula is not a bound" in ended.stdout
    expected = text.replace("2265 50%", "2265 75%").replace('"accuracy": 50', '"accuracy": 75').replace("5s", "0.12s")
    assert (saved / "passmuster.json").read_text() == expected


def test_what_was_counted_in_another_way_is_left_alone(saved: Path) -> None:
    text = SUITE.replace("id: B, ", "id: B, weight: 3, ")
    (saved / "passmuster.yaml").write_text(text, encoding="utf-8")
    ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", "--dry-run", cwd=saved)
    for name in ("thresholds.warning.weighted_pass_rate", "pass_criteria.overall"):
        assert f"not changed: {name}: the baseline was saved with other weights or categories" in ended.stdout
    assert '+    pass_rate: "≥ 75%"' in ended.stdout


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (
            lambda text: text.replace("total_tokens: 5000", "total_tokens: 6000"),
            "would have changed something else here",
        ),
        (lambda text: text.replace("  - {id: D", "  # - {id: D"), "would have changed something else here"),
        (
            lambda text: text.replace("accuracy", "acuracy"),
            "the suite could no longer be read, so nothing was written",
        ),
    ],
)
def test_a_file_that_would_say_anything_else_is_not_written(
    spoil: Callable[[str], str], told: str, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passmuster.api._thresholds.edit_bounds", lambda text, is_json, edits: Edited(spoil(text), {}))
    monkeypatch.setattr("passmuster.api._thresholds.tightened", lambda *arguments: iter(()))
    ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved)
    assert ended.code == 2
    assert told in ended.stderr
    assert (saved / "passmuster.yaml").read_text(encoding="utf-8") == SUITE


@pytest.mark.parametrize("words", [["suggest"], ["ratchet", "--dry-run"]])
def test_other_scenarios_than_the_baselines_are_noted(saved: Path, words: list[str]) -> None:
    (saved / "passmuster.yaml").write_text(SUITE.replace("id: D", "id: E"))
    ended = passmuster_("baseline", *words, "--baseline", "b.json", cwd=saved)
    assert ended.code == 0
    assert ended.stderr == (
        "note: b.json was saved with other scenarios (1 are new and 1 are gone); save it again to use these\n"
    )


@pytest.mark.parametrize("words", [["suggest"], ["ratchet", "--dry-run"]])
def test_a_baseline_of_none_of_the_scenarios_is_refused(saved: Path, words: list[str]) -> None:
    document = json.loads((saved / "b.json").read_bytes())
    scenarios = {f"other-{id_}": one for id_, one in document["scenarios"].items()}
    (saved / "b.json").write_text(json.dumps({**document, "scenarios": scenarios}))
    ended = passmuster_("baseline", *words, "--baseline", "b.json", cwd=saved)
    assert (ended.code, ended.stdout) == (2, "")
    assert "b.json: no scenario of this baseline is in the suite passmuster.yaml" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_a_suite_stays_a_link(saved: Path) -> None:
    real = saved / "real.yaml"
    (saved / "passmuster.yaml").rename(real)
    (saved / "passmuster.yaml").symlink_to(real)
    assert passmuster_("baseline", "ratchet", "--baseline", "b.json", "--to", "value", cwd=saved).code == 0
    assert (saved / "passmuster.yaml").is_symlink()
    assert '"≥ 75%"' in real.read_text(encoding="utf-8")


# ── Laws ────────────────────────────────────────────────────────────────────────────────────────────────────

RATES = ["pass_rate", "weighted_pass_rate", "accuracy", "safety_rate", "behavior_coverage"]
LIMITS = {
    "latency_p50": ["5s", "'< 5000ms'", "900", "<= 30 s", "{max: 2000, confidence: 90%}"],
    "latency_p95": ["'< 5s'", "900.5"],
    "mean_cost_usd": ["$4", "'< 3 USD'", "2.5", "{max: $9, confidence: 95%}"],
    "total_tokens": ["9000", "'< 8000 tokens'"],
    "normalized_latency": ["99", "'< 99%'", "0.999"],
}


@st.composite
def rate_bounds(draw: st.DrawFn) -> str:
    number = draw(st.integers(2, 100))  # a bare 1 would be all of it
    form = draw(
        st.sampled_from(
            [
                "{n}%",
                "{n}",
                '"≥ {n}%"',
                "'>= {f}'",
                '"> {n}%"',
                "{f}",
                "{{min: {n}%}}",
                "{{min: '{n}%', confidence: 90%}}",
            ]
        )
    )
    text = form.format(n=number, f=number / 100)
    full = number == 100 and (">" in form or "confidence" in form)
    return "50%" if full else text


@st.composite
def suites(draw: st.DrawFn) -> str:
    lines = ["# a suite, at 40 %", "suite: law", "latency_budget_ms: 3000  # ms", "thresholds:"]
    for section in draw(st.lists(st.sampled_from(["blocking", "warning"]), min_size=1, unique=True)):
        lines.append(f"  {section}:")
        rates = draw(st.dictionaries(st.sampled_from(RATES), rate_bounds(), min_size=1))
        lines += [f"    {name}:   {bound}  # why {name}" for name, bound in rates.items()]
        for name in draw(st.lists(st.sampled_from(sorted(LIMITS)), unique=True)):
            bound = draw(st.sampled_from(LIMITS[name]))
            lines.append(f"    {name}: {bound!r}" if bound.startswith("<") else f"    {name}: {bound}")
    if draw(st.booleans()):
        lines.append(
            f"pass_criteria: {{overall: {draw(rate_bounds())},  by_category: {{adversarial: {draw(rate_bounds())}}}}}"
        )
    lines.append("scenarios:")
    for id_ in "ABCDE":
        weight, category = draw(st.sampled_from([1, 0, 2.5])), draw(st.sampled_from(["adversarial", "plain"]))
        policy = draw(st.sampled_from(["all", "any", "majority", "60%"]))
        behaviors = draw(st.sampled_from(["", ", expected_behaviors: [{tool_called: look}, {tool_called: pay}]"]))
        head = f"  - {{id: {id_}, weight: {weight}, category: {category}, repeat_policy: {policy}"
        lines.append(f'{head}, correctness: {{expected_in_answer: "yes"}}{behaviors}}}')
    return "\n".join(lines) + "\n"


RUNS = st.lists(
    st.builds(
        trace,
        st.sampled_from("ABCDE"),
        st.sampled_from([PASS, PASS, PASS, FAIL, BROKEN]),
        tools=st.sampled_from([["look", "pay"], ["look"], []]),
        total_cost_usd=st.floats(0, 5, allow_subnormal=False),
        total_duration_ms=st.floats(0, 6000, allow_subnormal=False),
        total_tokens=st.integers(1, 999),
    ),
    min_size=1,
    max_size=14,
)


def gate_of(report: Report) -> list[tuple[str, str, str, str]]:
    return [
        (line.kind, line.id, line.level, line.status)
        for line in report.gate
        if line.kind in ("threshold", "criteria", "scenario")
    ]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(suites(), RUNS, st.sampled_from([0.0, 0.0, 0.05]))
def test_after_a_ratchet_the_baselines_own_traces_pass(
    tmp_path: Path, text: str, traces: list[dict[str, Any]], slack: float
) -> None:
    path = tmp_path / "passmuster.yaml"
    path.write_text(text, encoding="utf-8")
    suite = load_suite(path, root=tmp_path)
    source, asked = source_of(tmp_path, traces), Settings(today=DAY)
    baseline, _ = record(suite, [source], asked)
    before = evaluate_sources(suite, [source], asked, baseline=baseline)
    turned = tightening(suite, baseline, slack, "value")

    path.write_bytes(turned.after)
    raised = load_suite(path, root=tmp_path)
    after = evaluate_sources(raised, [source], asked, baseline=baseline)
    assert after.exit_code == before.exit_code
    assert gate_of(after) == gate_of(before)

    # Only numbers change, and only those of bounds: comments, order, quoting and everything else stay.
    numbers = re.compile(r"\d+(?:\.\d+)?")
    assert numbers.sub("#", turned.after.decode()) == numbers.sub("#", text)
    changed = [
        one for one, other in zip(text.split("\n"), turned.after.decode().split("\n"), strict=True) if one != other
    ]
    assert len(changed) <= len(turned.raised)
    tokens = [[type(token) for token in yaml.scan(one)] for one in (text, turned.after.decode())]
    assert tokens[0] == tokens[1]

    # None is lowered, and a second turn finds nothing to raise.
    for old, new in zip(bounds_of(suite), bounds_of(raised), strict=True):
        assert (new.value >= old.value) if old.operator in (">", ">=") else (new.value <= old.value)
        assert (new.operator, new.metric, new.confidence) == (old.operator, old.metric, old.confidence)
    again = tightening(raised, baseline, slack, "value")
    assert (again.after, again.raised) == (turned.after, [])


def bounds_of(suite: passmuster.Suite) -> list[Any]:
    thresholds, criteria = suite.thresholds, suite.criteria
    overall = [criteria.overall] if criteria.overall else []
    return [*thresholds.blocking, *thresholds.warning, *overall, *criteria.by_category.values()]


def test_what_was_not_judged_is_recorded_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text("scenarios:\n  - {id: A, correctness: {llm_judge: Is kind.}}\n")
    (tmp_path / "t.jsonl").write_text('{"scenario": "A", "answer": "hello"}\n')
    save = ["baseline", "save", str(tmp_path), "--traces", str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "b.json")]
    done = CliRunner().invoke(group, [*save, "--judge", "off"])
    assert done.exit_code == 0
    assert "note: judges were off" in done.stderr
    assert "note: recorded as undecided: A" in done.stderr


def test_by_default_bounds_are_tightened_to_what_a_fresh_run_reaches(tmp_path: Path) -> None:
    suite = {
        "scenarios": [{"id": f"S-{n}", "correctness": {"expected_in_answer": "yes"}} for n in range(40)],
        "thresholds": {"blocking": {"pass_rate": "50%", "latency_p95": 5000}},
    }
    (tmp_path / "passmuster.json").write_text(json.dumps(suite), encoding="utf-8")
    answers = [{"scenario": f"S-{n}", "answer": "no" if n < 4 else "yes", "total_duration_ms": n} for n in range(40)]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in answers), encoding="utf-8")
    passmuster_("baseline", "save", "--traces", "t.jsonl", "-o", "b.json", cwd=tmp_path)
    ended = passmuster_("baseline", "ratchet", "--baseline", "b.json", cwd=tmp_path)
    assert "thresholds.blocking.pass_rate >= 50% → >= 72.97% (reached 90%)" in ended.stdout
    assert "too few runs are recorded to predict a fresh one; --to value takes the recorded value" in ended.stdout
    assert passmuster_("run", "--no-history", "--traces", "t.jsonl", cwd=tmp_path).code == 0
