"""`prices: genai-prices`: the cost of model calls that traces do not record."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli_runner import CliRunner

from passmuster.cli._main import command
from passmuster.traces import LlmCall, PriceList, Trace

TODAY = datetime.date(2026, 3, 1)
CHEAP = 1_000_000 * 0.15e-6 + 100_000 * 0.6e-6
"""A million tokens in, a tenth of that out, at the prices of gpt-4o-mini."""


def priced(**call: Any) -> Trace:
    given: dict[str, Any] = {"model": "gpt-4o-mini", "tokens_in": 1_000_000, "tokens_out": 100_000, **call}
    return PriceList(TODAY)(Trace(steps=(LlmCall(**given),)))


@pytest.mark.parametrize(
    ("call", "cost"),
    [
        ({}, CHEAP),
        ({"model": "gpt-4o-mini-2024-07-18"}, CHEAP),
        ({"model": "openai/gpt-4o-mini"}, CHEAP),
        ({"model": "openai:gpt-4o-mini"}, CHEAP),
        ({"tokens_cached": 1_000_000}, CHEAP - 0.075),
        ({"tokens_cached": 2_000_000}, CHEAP - 0.075),
        ({"started_at": "2026-02-01T10:00:00Z"}, CHEAP),
        ({"started_at": "not a time"}, CHEAP),
        ({"cost_usd": 7.0}, 7.0),
        ({"model": "nobody-knows-1"}, None),
        ({"model": "openai/"}, None),
        ({"model": None}, None),
        ({"tokens_in": None}, None),
        ({"tokens_out": None}, None),
    ],
)
def test_cost_of_a_call(call: dict[str, Any], cost: float | None) -> None:
    trace = priced(**call)
    assert trace.model_calls[0].cost_usd == (cost if cost is None else pytest.approx(cost))
    assert trace.inferred == (("cost",) if cost is not None and "cost_usd" not in call else ())


def test_stated_totals_are_kept() -> None:
    trace = Trace(steps=(LlmCall(model="gpt-4o-mini", tokens_in=1, tokens_out=1),), total_cost_usd=3.0)
    assert PriceList(TODAY)(trace) is trace


SUITE = """
prices: genai-prices
scenarios:
  - { id: A, query: q, cost: { max_cost_usd: 0.2 } }
thresholds: { blocking: { total_cost_usd: "<= 0.5" } }
layers: { cost: block }
"""
TRACE = {
    "scenario": "A",
    "answer": "x",
    "steps": [{"type": "llm_call", "model": "gpt-4o-mini", "tokens_in": 1_000_000, "tokens_out": 100_000}],
}


def run(folder: Path, suite: str, *options: str) -> tuple[int, dict[str, Any]]:
    (folder / "passmuster.yaml").write_text(suite, encoding="utf-8")
    (folder / "t.jsonl").write_text(json.dumps(TRACE) + "\n", encoding="utf-8")
    report = folder / "report.json"
    words = ["run", str(folder), "--traces", str(folder / "t.jsonl"), "--no-history", "--report", f"json={report}"]
    result = CliRunner().invoke(command, [*words, *options])
    return result.exit_code, json.loads(report.read_text(encoding="utf-8"))


def test_a_suite_asks_for_prices(tmp_path: Path) -> None:
    code, report = run(tmp_path, SUITE)
    assert code == 1, "0.21 dollars are more than 0.2"
    assert report["metrics"]["total_cost_usd"]["value"] == pytest.approx(CHEAP)
    assert report["provenance"]["options"]["prices"].startswith("genai-prices 0.")


def test_without_the_key_cost_is_unknown(tmp_path: Path) -> None:
    code, report = run(tmp_path, SUITE.replace("prices: genai-prices", ""))
    assert report["metrics"]["total_cost_usd"]["value"] is None
    assert report["provenance"]["options"]["prices"] is None
    assert code != 0


def test_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "passmuster.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "t.jsonl").write_text(json.dumps(TRACE) + "\n", encoding="utf-8")
    hidden = "import sys; sys.modules['genai_prices'] = None; from passmuster.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hidden, "run", str(tmp_path), "--traces", str(tmp_path / "t.jsonl"), "--no-history"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert "pip install 'passmuster[prices]'" in done.stderr
