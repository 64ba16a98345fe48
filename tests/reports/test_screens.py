"""What a person sees, as files: the console report of whole runs at 80 and 120 columns, with and without colour, and
what other commands print.

`python -m tests.reports.test_screens` writes what is shown now into `screens`, for review.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner

from passmuster import api
from passmuster.cli._main import command
from passmuster.reports import show_console
from passmuster.reports._screen import cells
from passmuster.scoring import Report

SCREENS = Path(__file__).parent / "screens"
EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "support-agent"
WIDTHS = (80, 120)

SHOP = """\
suite: shop
tests:
  - {id: arguments, metric: args_valid, policy: policies/shop.yaml}
  - id: order_first
    metric: sequence_valid
    rules:
      - {type: before, first: get_order, then: apply_discount, description: Look at the order before giving money away}
      - {type: before, first: verify, then: refund}
  - {id: no_admin, metric: tool_blocklist, blocklist: [admin_delete, amdin_*]}
defaults: {repeat_policy: majority}
scenarios:
SCENARIOS
required_scenarios: [ASK-01]
agent: {version: "2.1.0"}
thresholds:
  blocking: {pass_rate: 90%}
  warning: {latency_p95: "< 900ms"}
  progressive: {accuracy: {"1.0": 50, "2.0": 85, target: 95}}
"""
POLICY = """\
tools:
  apply_discount:
    arguments:
      percent: {type: number, max: 30}
  get_order:
    arguments:
      id: {type: string, required: true}
  admin_delete: {}
"""


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, "arguments": arguments}


def _shop_traces() -> Iterator[dict[str, Any]]:
    """Five runs of 40 scenarios, each with something wrong."""
    for number in range(200):
        task, run = number // 5 + 1, number % 5
        order = [_call("get_order", id=f"ord_{number}")] if run else []
        steps = [*order, _call("apply_discount", percent=31 + number % 7)]
        if task == 3:
            steps.append(_call("admin_delete", id=number))
        if task % 4 == 0:
            steps.append(_call("send_fax", to="all"))
        answer = "It is on its way." if (task + run) % (2 + task % 9) else "I do not know."
        yield {
            "trace_id": f"run-{number}",
            "scenario": f"ASK-{task:02}",
            "answer": answer,
            "steps": steps,
            "total_duration_ms": 700 + number,
        }


def _failing(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A shop whose every trace breaks something: 200 of them."""
    scenarios = "".join(
        f"  - {{id: ASK-{n:02}, category: {('orders', 'billing', 'returns')[n % 3]}, query: Where is order {n}?,"
        " correctness: {expected_in_answer: way}, path: {forbidden_tools: [admin_*]}}\n"
        for n in range(1, 41)
    )
    lines = "".join(f"{json.dumps(trace)}\n" for trace in _shop_traces())
    files = {"passmuster.yaml": SHOP.replace("SCENARIOS\n", scenarios), "policies/shop.yaml": POLICY}
    _write(folder, {**files, "traces/runs.jsonl": lines})
    return folder, {"traces": (str(folder / "traces"),)}


def _passing(folder: Path) -> tuple[Path, dict[str, Any]]:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("passmuster-report"))
    return folder, {}


def _partial(folder: Path) -> tuple[Path, dict[str, Any]]:
    suite, _ = _passing(folder)
    return suite, {"only": ("identity_*", "SUP-00[45]"), "traces": (str(folder / "traces" / "broken.jsonl"),)}


def _undecided(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A judge whose SDK is not installed."""
    suite = """\
suite: polite
judge_config: {provider: openai, model: gpt-4o-mini, cache: false}
scenarios:
  - {id: HELLO, query: Hello?, correctness: {llm_judge: {rule: The answer is polite.}}}
  - {id: BYE, query: Bye!, correctness: {expected_in_answer: bye}}
"""
    traces = [{"trace_id": "t-1", "scenario": "HELLO", "answer": "Hi!"}, {"scenario": "BYE", "answer": "Bye."}]
    _write(folder, {"passmuster.yaml": suite, "traces.jsonl": "".join(f"{json.dumps(one)}\n" for one in traces)})
    return folder, {"traces": (str(folder / "traces.jsonl"),)}


def _erroring(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A metric of the user's own that raises."""
    metric = """\
import passmuster


@passmuster.metric("short_answer")
def short_answer(trace, config):
    return len(trace.answer.split()) <= config["most"]
"""
    suite = """\
suite: short
plugins: [screen_metrics]
tests:
  - {id: short, metric: short_answer, config: {most: 3}}
  - {id: no_admin, metric: tool_blocklist, blocklist: ["admin_*"]}
"""
    files = {"screen_metrics.py": metric, "passmuster.yaml": suite}
    trace = {"trace_id": "t-1", "steps": [_call("search")]}
    _write(folder, {**files, "traces.jsonl": f"{json.dumps(trace)}\n"})
    return folder, {"traces": (str(folder / "traces.jsonl"),)}


RUNS: dict[str, Callable[[Path], tuple[Path, dict[str, Any]]]] = {
    "passing": _passing,
    "failing": _failing,
    "undecided": _undecided,
    "erroring": _erroring,
    "partial": _partial,
}


def report_of(name: str, folder: Path) -> Report:
    suite, options = RUNS[name](folder)
    options = {"today": None, "plugins": True, **options}
    sdk, sys.modules["openai"] = sys.modules.get("openai"), None  # type: ignore[assignment]
    try:
        with api.StandardInput() as stdin:
            return api.run(str(suite), api.RunOptions(**options), stdin).report
    finally:
        del sys.modules["openai"]
        if sdk is not None:
            sys.modules["openai"] = sdk


def shown(report: Report, folder: Path, width: int, *, colour: bool, detail: int = 0) -> str:
    """The screen of somebody who stands in the folder of the suite."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setenv("COLUMNS", str(width))
        patch.delenv("NO_COLOR", raising=False)
        patch.setenv("FORCE_COLOR", "1" if colour else "")
        show_console(report, out, detail=detail)
    text = out.getvalue().replace(f"{os.path.realpath(folder)}/", "")
    return re.sub(r'File "\S+/(passmuster/\S+)", line \d+', r'File "…/\1", line …', text)


def screen_file(name: str, width: int, colour: bool) -> Path:
    return SCREENS / f"{name}-{width}{'-colour' if colour else ''}.txt"


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_shown_as_on_its_screens(name: str, tmp_path: Path) -> None:
    report = report_of(name, tmp_path)
    for width in WIDTHS:
        for colour in (False, True):
            found = shown(report, tmp_path, width, colour=colour)
            assert found == screen_file(name, width, colour).read_text(encoding="utf-8")
            plain = re.sub(r"\x1b\[[\d;]*m", "", found)
            long = [line for line in plain.splitlines() if cells(line) > width and " " in line.strip()]
            assert [line for line in long if not line.startswith("   | ")] == []  # but for a traceback


@pytest.mark.parametrize("width", [40, 80, 100, 120, 10_000])
def test_200_failing_traces_fit_60_lines(width: int, tmp_path: Path) -> None:
    report = report_of("failing", tmp_path)
    text = shown(report, tmp_path, width, colour=False)
    assert report.traces.evaluated == 200
    if width >= 80:
        assert len(text.splitlines()) <= 60
    assert "apply_discount.percent > 30" in " ".join(text.split())
    assert re.search(r"\b200× apply_discount|Times: 200 on 200 traces", text)
    assert "did you mean 'admin_delete'?" in " ".join(text.split())


def test_more_detail_shows_more_and_the_most_shows_all(tmp_path: Path) -> None:
    report = report_of("failing", tmp_path)
    lengths = [len(shown(report, tmp_path, 100, colour=False, detail=detail).splitlines()) for detail in (0, 1, 2)]
    assert lengths[0] < lengths[1] < lengths[2]
    everything = shown(report, tmp_path, 100, colour=False, detail=2)
    assert everything.count("Argument: percent = ") == 200
    for scenario in report.scenarios:
        if scenario.status == "fail" and scenario.worst_run is not None:
            assert f"traces/runs.jsonl:{scenario.worst_run.line}" in everything


COMMANDS = {
    "check": "check contradictory.yaml",
    "compare": "compare traces/good.jsonl traces/broken.jsonl",
    "explain": "explain . traces/broken.jsonl --trace 2.2.0-sup-003",
    "formats": "formats",
    "init": "init learned --traces traces/good.jsonl",
    "mistake": "run --traces nowhere.jsonl",
    "promote": "promote own.jsonl --suite . --dry-run",
    "show": "show traces/good.jsonl",
    "timeline": "show traces/good.jsonl --trace 2.1.0-sup-003",
}
CONTRADICTORY = """\
tests:
  - {id: no_refunds, metric: tool_blocklist, blocklist: [issue_refund, "admin_*", admin_reset]}
  - id: order
    metric: sequence_valid
    rules:
      - {type: require, tool: issue_refund}
      - {type: before, first: verify_identity, then: issue_refund}
"""


def printed(words: str, folder: Path, width: int) -> str:
    """What a command prints on a terminal of this width to somebody who stands in the folder of the example."""
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        _passing(folder)
        own = {"query": "Close my account.", "steps": [_call("verify_identity", id=7), _call("close_account", id=7)]}
        _write(folder, {"contradictory.yaml": CONTRADICTORY, "own.jsonl": json.dumps(own)})
        patch.setenv("COLUMNS", str(width))
        found = CliRunner().invoke(command, words.split())
    return f"$ passmuster {words}\n{found.output}[exit {found.exit_code}]\n"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_is_on_its_screen(name: str, width: int, tmp_path: Path) -> None:
    found = printed(COMMANDS[name], tmp_path, width)
    assert found == screen_file(f"command-{name}", width, colour=False).read_text(encoding="utf-8")
    wide = [line for line in found.splitlines()[1:] if cells(line) > width]
    assert name in ("promote", "mistake") or wide == []  # a suite to copy, and a message that is one line in logs


def write_screens() -> None:
    SCREENS.mkdir(exist_ok=True)
    for name, words in COMMANDS.items():
        for width in WIDTHS:
            with tempfile.TemporaryDirectory() as folder:
                text = printed(words, Path(folder), width)
                screen_file(f"command-{name}", width, colour=False).write_text(text, encoding="utf-8")
    for name in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            report = report_of(name, Path(folder))
            for width in WIDTHS:
                for colour in (False, True):
                    text = shown(report, Path(folder), width, colour=colour)
                    screen_file(name, width, colour).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_screens()
