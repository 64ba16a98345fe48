"""Two policies on the same traces: what only one of them blocks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli_runner import CliRunner

from passmuster import api
from passmuster._problems import InputError
from passmuster.cli._main import command
from passmuster.engine import _parts
from passmuster.scoring import _policy_changes

OLD = {
    "tests": [
        {"id": "block", "metric": "tool_blocklist", "blocklist": ["refund", "drop_*"]},
        {"id": "soft", "metric": "tool_blocklist", "blocklist": ["look"], "severity": "warn"},
    ]
}
NEW = {
    "tests": [
        {"id": "block", "metric": "tool_blocklist", "blocklist": ["drop_*"]},
        {"id": "args", "metric": "args_valid", "tool": "refund", "constraints": {"amount": {"max": 5}}},
        {"id": "order", "metric": "sequence_valid", "rules": [{"type": "require", "tool": "look"}]},
    ]
}
CALLS = st.lists(st.tuples(st.sampled_from(["look", "refund", "drop_a", "other"]), st.integers(0, 9)), max_size=4)


def diff(folder: Path, traces: list[Any], old: Any = OLD, new: Any = NEW, **options: Any) -> api.PolicyDiff:
    for name, suite in (("old", old), ("new", new)):
        (folder / f"{name}.json").write_text(json.dumps(suite))
    lines = (
        {"trace_id": f"t{n}", "steps": [{"type": "tool_call", "tool": t, "arguments": {"amount": a}} for t, a in calls]}
        for n, calls in enumerate(traces)
    )
    (folder / "traces.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    chosen = api.RunOptions(traces=(str(folder / "traces.jsonl"),), root=str(folder), **options)
    with api.StandardInput() as stdin:
        return api.diff_policy(str(folder / "old.json"), str(folder / "new.json"), chosen, stdin)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CALLS, min_size=1, max_size=12))
def test_it_tells_what_only_one_policy_blocks(tmp_path: Path, traces: list[list[tuple[str, int]]]) -> None:
    """Compared with the two policies written down by hand."""

    def before(calls: list[tuple[str, int]]) -> set[int]:
        return {place for place, (tool, _) in enumerate(calls, 1) if tool in ("refund", "drop_a")}

    def after(calls: list[tuple[str, int]]) -> set[int]:
        bad = {n for n, (tool, amount) in enumerate(calls, 1) if tool == "drop_a" or (tool == "refund" and amount > 5)}
        return bad if any(tool == "look" for tool, _ in calls) else bad | {0}

    found = diff(tmp_path, traces)
    assert found.newly_blocked_traces == sum(not before(one) and bool(after(one)) for one in traces)
    assert found.newly_allowed_traces == sum(bool(before(one)) and not after(one) for one in traces)
    assert found.blocked_by_both == sum(bool(before(one)) and bool(after(one)) for one in traces)
    assert found.newly_blocked_calls == sum(len(after(one) - before(one)) for one in traces)
    assert found.newly_allowed_calls == sum(len(before(one) - after(one)) for one in traces)
    assert found.traces == len(traces)


def test_rules_tools_and_examples_are_named(tmp_path: Path) -> None:
    found = diff(tmp_path, [[("look", 1), ("refund", 3)], [("look", 1)], [("other", 1)], [("look", 1), ("refund", 9)]])
    blocked, allowed = found.newly_blocked, found.newly_allowed
    assert [(one.test, one.rule, one.tool, one.calls, one.traces) for one in blocked] == [
        ("order", "require", "look", 1, 1)
    ]
    assert [(one.test, one.rule, one.tool, one.calls, one.traces) for one in allowed] == [
        ("block", "blocklist 'refund'", "refund", 1, 1)
    ]
    example = allowed[0].examples[0]
    assert (example.trace_id, example.trace_line, example.call_index) == ("t0", 1, 2)
    assert not diff(tmp_path, [[("look", 1)], [("refund", 1)]], new=OLD).changed


def test_it_fits_the_screen_and_names_files_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diff(tmp_path, [[("look", 1), ("refund", 9)], [("other", 1)]])
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.json").rename(tmp_path / name / "passmuster.json")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "50")
    done = CliRunner().invoke(command, ["diff-policy", "old", "new", "--traces", "traces.jsonl"])
    assert done.exit_code == 0
    assert "      traces.jsonl:2 (trace t1): " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 50
    done = CliRunner().invoke(command, ["diff-policy", "old", "new", "--traces", "traces.jsonl", "--json"])
    assert "root" not in json.loads(done.stdout)


def test_scenarios_count_without_judges(tmp_path: Path) -> None:
    old = {"scenarios": [{"id": "S", "query": "q", "path": {"max_tool_calls": 5}}]}
    new = {"scenarios": [{"id": "S", "query": "q", "path": {"forbidden_tools": ["pay"]}}]}
    for name, suite in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(suite))
    (tmp_path / "t.jsonl").write_text('{"query": "q", "steps": [{"type": "tool_call", "tool": "pay"}]}\n')
    chosen = api.RunOptions(traces=(str(tmp_path / "t.jsonl"),), root=str(tmp_path))
    with api.StandardInput() as stdin:
        found = api.diff_policy(str(tmp_path / "old.json"), str(tmp_path / "new.json"), chosen, stdin)
    assert found.newly_blocked_traces == 1
    assert [(one.test, one.tool) for one in found.newly_blocked] == [("scenario S", "pay")]


def test_more_rules_than_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_policy_changes, "RULES", 3)
    traces = [[("look", 1), (f"drop_{n}", 1)] for n in range(10)]
    found = diff(
        tmp_path, traces, old=NEW, new={"tests": [{"id": "b", "metric": "tool_blocklist", "blocklist": ["x"]}]}
    )
    assert found.newly_allowed_calls == 10 == sum(one.calls for one in found.newly_allowed)
    assert found.newly_allowed[-1].test == "other"


def test_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_parts, "_SMALLEST", 2_000)
    traces = [[("look", n % 3), ("refund", n % 10)][: 1 + n % 2] + [("drop_a", 1)] * (n % 7 == 0) for n in range(200)]
    assert diff(tmp_path, traces, workers=2) == diff(tmp_path, traces, workers=1)


def test_secrets_are_hidden_and_bad_input_is_refused(tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2" * 12
    new = {"tests": [{"id": "a", "metric": "args_valid", "tool": "look", "constraints": {"amount": {"maxLength": 2}}}]}
    assert secret not in str(diff(tmp_path, [[("look", secret)]], new=new))
    with pytest.raises(InputError):
        diff(tmp_path, [], old=OLD, new=NEW)
    done = CliRunner().invoke(command, ["diff-policy", str(tmp_path / "old.json"), str(tmp_path / "no.yaml")])
    assert done.exit_code == 2
