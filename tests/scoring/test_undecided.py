"""Required scenarios with checks that could not be decided: what fails them, what only warns."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import calls, judge

OK = {"correctness": {"expected_in_answer": "ok"}}
COST = {"max_cost_usd": 0.5}


def run(**fields: Any) -> dict[str, Any]:
    return {"scenario": "A", "answer": "ok", "steps": calls("a"), **fields}


KNOWN = run(total_cost_usd=0.1)


def judged(stated: dict[str, Any], runs: list[dict[str, Any]], *, required: bool = True) -> tuple[str, int]:
    suite = {"scenarios": [{"id": "A", **stated}], **({"required_scenarios": ["A"]} if required else {})}
    report = judge(suite, runs)
    return report.scenarios[0].status, report.exit_code


@pytest.mark.parametrize(
    ("stated", "runs", "status", "code"),
    [
        # Nothing decided at all.
        ({"cost": COST}, [run()], "skip", 1),
        # One more check of the layer changes nothing, whether it holds or not.
        ({"cost": {**COST, "max_total_tokens": 50}}, [run(total_tokens=100)], "fail", 1),
        ({"cost": {**COST, "max_total_tokens": 50}}, [run(total_tokens=10)], "fail", 1),
        # Nor does another layer.
        ({"cost": COST, **OK}, [run()], "fail", 1),
        ({"path": {"match_mode": "strict"}, **OK}, [run()], "fail", 1),
        ({"path": {"match_mode": "strict", "max_tool_calls": 3}}, [run()], "fail", 1),
        ({"cost": {"max_cost_multiplier": 2, "max_llm_calls": 3}}, [run(total_llm_calls=1)], "fail", 1),
        # Decided on some run: a warning.
        ({"cost": COST, **OK}, [run(), KNOWN], "pass", 0),
        ({"cost": COST, **OK}, [run(), KNOWN, run(total_cost_usd=1)], "warn", 0),
        # All decided.
        ({"cost": COST, **OK}, [KNOWN], "pass", 0),
    ],
)
def test_required_scenarios(stated: dict[str, Any], runs: list[dict[str, Any]], status: str, code: int) -> None:
    assert judged(stated, runs) == (status, code)
    if status == "fail":
        assert judged(stated, runs, required=False)[1] == 0


def test_the_reason_names_the_check() -> None:
    report = judge({"scenarios": [{"id": "A", "cost": COST, **OK}], "required_scenarios": ["A"]}, [run()])
    (line,) = (line for line in report.gate if line.kind == "required")
    assert line.message == (
        "could not be decided, and the scenario is required: max_cost_usd "
        "(max_cost_usd: unknown: the trace does not state its cost)"
    )
    assert report.scenarios[0].undecided == ["max_cost_usd"]


def test_what_a_judge_leaves_open_excuses_no_undecided_check() -> None:
    """A name that neither the suite nor the trace knows is a question for a judge, and there is none."""
    stated = {"cost": COST, **OK}
    assert judged(stated, [run()]) == ("fail", 1)
    assert judged({**stated, "must_not": ["swears"]}, [run()]) == ("fail", 1)
    assert judged({**OK, "must_not": ["swears"]}, [run()]) == ("error", 3)


@pytest.mark.parametrize("turned", [False, True])
def test_of_runs_that_passed_an_undecided_one_is_shown(turned: bool) -> None:
    runs = [run(), {"scenario": "A", "answer": "ok"}]
    scenario = {"id": "A", **OK, "must_not": [{"tool_called": "x"}]}
    report = judge({"scenarios": [scenario], "required_scenarios": ["A"]}, runs[::-1] if turned else runs)
    (line,) = (line for line in report.gate if line.kind == "required")
    assert "the trace does not record its tool calls" in line.message
