"""Arguments and calls that are wrapped in others are unwrapped, or refused, unless a policy declares the name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli_runner import CliRunner
from tests.traces.building import call, lines, read, refusal, tools, trace, write

import passmuster
from passmuster.cli import command
from passmuster.traces import PositionalError, ToolCall, Trace, plain_arguments
from passmuster.traces._wrapped import PARALLEL, WRAPPERS

PAID = {"amount": 9999}
UNWRAPPED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kwargs": PAID}, PAID),
    ({"input": PAID}, PAID),
    ({"parameters": '{"amount": 9999}'}, PAID),
    ({"args": [], "kwargs": PAID}, PAID),
    ({"args": None, "kwargs": PAID}, PAID),
    ({"input": {"kwargs": PAID}}, PAID),
    ({"run": 1, "kwargs": PAID}, {"run": 1, **PAID}),
    ({"input": "9999"}, {"input": "9999"}),
    ({"input": PAID, "amount": 1}, {"input": PAID, "amount": 1}),
    ({"args": ["-l"], "command": "ls"}, {"args": ["-l"], "command": "ls"}),
    ({}, {}),
]


@pytest.mark.parametrize(("written", "plain"), UNWRAPPED)
def test_arguments_by_their_names(written: dict[str, Any], plain: dict[str, Any]) -> None:
    assert plain_arguments(written, ()) == plain


@pytest.mark.parametrize(
    "written",
    [{"args": [1]}, {"args": [1], "kwargs": {}}, {"kwargs": {"a": 1}, "a": 2}, {"input": [PAID]}, {"__arg1": "9999"}],
)
def test_arguments_without_names(written: dict[str, Any]) -> None:
    with pytest.raises(PositionalError):
        plain_arguments(written, ())
    assert plain_arguments(written, WRAPPERS) == written


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(), min_size=1),
    st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=4),
)
def test_any_nesting_of_wrappers_is_undone(plain: dict[str, Any], wrappers: list[str]) -> None:
    wrapped = plain
    for name in wrappers:
        wrapped = {name: wrapped}
    assert plain_arguments(wrapped, ()) == plain


SUITE = "tests: [{id: p, metric: args_valid, tool: pay, constraints: {%s}}]\n"
AMOUNT = "amount: {type: number, max: 30}"


@pytest.mark.parametrize(
    ("arguments", "constraints", "code"),
    [
        ({"kwargs": PAID}, AMOUNT, 1),
        ({"kwargs": {"amount": 9}}, AMOUNT, 0),
        ({"args": [9999]}, AMOUNT, 2),
        ({"args": [9999]}, "args: {type: array, maxItems: 0}", 1),
        ({"input": PAID}, "input: {type: object, properties: {amount: {type: number, max: 30}}}", 1),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, constraints: str, code: int, workers: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "passmuster.yaml", (SUITE % constraints).encode())
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", lines(trace(call("pay", arguments=arguments))))
    given_ = ["run", "--traces", "*.jsonl", "--no-history", "--workers", workers]
    assert CliRunner().invoke(command, given_).exit_code == code


NAMED = {
    "a rule": "tests: [{id: b, metric: sequence_valid, rules: [{type: blocklist, tools: [%s]}]}]\n",
    "a must_not": "scenarios: [{id: A, must_not: [{tool_called: %s}]}]\n",
    "expected calls": (
        "layers: {path: block}\nscenarios: [{id: A, path: {expected_calls: {extras: forbid, calls: [{tool: pay, args: "
        "{input.amount: {$lt: 30}}}]}}}]\n"
    ),
}


@pytest.mark.parametrize("where", NAMED)
def test_a_wrapper_that_the_suite_names_is_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    selector = "{tool: pay, args: {input.amount: {$gt: 30}}}"
    text = NAMED[where] % selector if "%s" in NAMED[where] else NAMED[where]
    write(tmp_path / "passmuster.yaml", text.encode())
    for amount, code in ((31, 1), (29, 0)):
        paid = call("pay", arguments={"input": {"amount": amount}})
        write(tmp_path / "a.jsonl", lines({**trace(paid), "scenario": "A"}))
        ended = CliRunner().invoke(command, ["run", "--traces", "a.jsonl", "--no-history"])
        assert ended.exit_code == code, ended.output


def test_accepted_or_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "passmuster.yaml", (SUITE % AMOUNT).encode())
    records = trace(call("pay", arguments={"args": [1]})), trace(call("pay", arguments={"amount": 1}))
    write(tmp_path / "a.jsonl", lines(*records))
    given_ = ["run", "--traces", "a.jsonl", "--no-history"]
    refused = CliRunner().invoke(command, given_)
    assert (refused.exit_code, "a.jsonl:1: the call of 'pay' has arguments without names" in refused.output) == (
        2,
        True,
    )
    accepted = CliRunner().invoke(command, [*given_, "--accept-loss"])
    assert (accepted.exit_code, "WARN: input a.jsonl:1: not read: the call of 'pay'" in accepted.output) == (0, True)
    skipped = CliRunner().invoke(command, [*given_, "--skip-bad-lines"])
    assert (skipped.exit_code, "1 line could not be read" in skipped.output) == (0, True)


def uses(*made: Any) -> dict[str, Any]:
    return call(PARALLEL, arguments={"tool_uses": list(made)})


def test_calls_within_a_call(tmp_path: Path) -> None:
    first, second = {"recipient_name": "functions.a", "parameters": {"x": 1}}, {"recipient_name": "b", "parameters": {}}
    (found,) = read(write(tmp_path / "t.jsonl", lines(trace(call("c"), uses(first, second), call("d")))))
    assert tools(found) == ["c", "a", "b", "d"]
    assert [one.arguments for one in found.tool_calls[1:3]] == [{"x": 1}, {}]
    assert found.tool_calls[1].group == found.tool_calls[2].group is not None
    for bad in (uses(), uses({"parameters": {}}), uses("a"), call(PARALLEL)):
        assert f"the call of '{PARALLEL}' has" in refusal(write(tmp_path / "u.jsonl", lines(trace(bad))))


def test_in_chat_messages_too(tmp_path: Path) -> None:
    def asked(name: str, arguments: str) -> dict[str, Any]:
        made = [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]
        return {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": made}]}

    within = '{"tool_uses": [{"recipient_name": "functions.a", "parameters": {}}]}'
    (found,) = read(write(tmp_path / "t.json", asked(PARALLEL, within)))
    assert tools(found) == ["a"]
    (found,) = read(write(tmp_path / "u.json", asked("a", '{"kwargs": {"x": 1}}')))
    assert found.wrapped
    assert "begins or ends with white space" in refusal(write(tmp_path / "v.json", asked("a ", "{}")))


BLOCKED = {"tests": [{"id": "b", "metric": "tool_blocklist", "blocklist": ["x"]}]}


def test_traces_made_in_python() -> None:
    suite = passmuster.suite_from_dict(BLOCKED)
    with pytest.raises(TypeError, match=r"steps: expected ToolCall, .* found dict"):
        passmuster.evaluate(suite, [Trace(steps=[{"type": "tool_call", "tool": "x"}])])  # type: ignore[arg-type]
    with pytest.raises(passmuster.TraceError, match="begins or ends with white space"):
        passmuster.evaluate(suite, [Trace(steps=(ToolCall("x "),))])
    within = ToolCall(PARALLEL, arguments={"tool_uses": [{"recipient_name": "functions.x", "parameters": {}}]})
    assert passmuster.evaluate(suite, [Trace(steps=(within,))]).verdict == "fail"
