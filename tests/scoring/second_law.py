"""Random trials of the second law: asking for more never gives less.

A trial draws a suite and runs of its scenarios, asks for one thing more (a test, a rule, a check in a stated layer, a
`must_not`, a required id, a bound that tolerates nothing, `--strict`) and compares the exit codes.
Runs lack figures, calls and arguments as often as not, and agents and infrastructure fail. A short form is a test; the
long one is run by hand:

    python -m tests.scoring.second_law --trials 100000 --seed 7
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import passmuster

Suite = dict[str, Any]
Runs = list[dict[str, Any]]

GRAVITY = (0, 3, 1, 2)
"""Exit codes from green to red."""
IDS = ("A", "B", "C")
TOOLS = ("a", "b", "c")
PATTERNS = ("a", "b", "c", "[bc]", "z", "*")
RATES = ("pass_rate", "weighted_pass_rate", "accuracy", "safety_rate", "behavior_coverage")
SELECTORS: tuple[Any, ...] = (
    *PATTERNS,
    {"tool": "a", "args": {"x": {"$gt": 1}}},
    {"tool": "b", "failed": True},
    ["a", "b"],
)
CHECKS: dict[str, dict[str, tuple[Any, ...]]] = {
    "correctness": {
        "expected_in_answer": ("ok", "no"),
        "not_in_answer": ("ok", "no", "zz"),
        "exact_match": ("ok",),
        "regex_match": ("^o", "[nk]"),
    },
    "path": {
        "max_tool_calls": (0, 1, 2, 9),
        "forbidden_tools": (["b"], ["z"], ["[bc]"]),
        "expected_tools": (["a"], ["a", "b"], []),
        "max_loops": (0, 1),
        "max_handoff_count": (0,),
        "match_mode": ("strict", "in_order"),
        "expected_calls": (["a"], [{"tool": "a", "args": {"x": 1}}], {"calls": ["a"], "extras": "forbid"}),
    },
    "cost": {
        "max_latency_ms": (5, 50),
        "max_total_tokens": (5, 50),
        "max_llm_calls": (0, 2),
        "max_cost_usd": (0.5,),
        "max_cost_multiplier": (2,),
    },
}
"""Without checks of which one changes what another means: `min_tool_recall`, `expected_tool_sequence`, `similarity`."""
MUST_NOT: tuple[Any, ...] = (
    {"tool_called": "c"},
    {"tool_called": {"tool": "a", "args": {"x": {"$gt": 1}}}},
    {"type": "require", "tool": "b"},
    {"answer_contains": "no"},
    "swears",
)
EXPECTED: tuple[Any, ...] = (
    "greets",
    "thanks",
    {"tool_called": "a"},
    {"tool_not_called": "b"},
    {"answer_contains": "ok"},
)
KINDS = (
    *("test", "rule", "check", "check", "check", "check", "must_not", "required", "rate", "figure", "warning"),
    *("criterion", "strict"),
)
COMPOSITES = (
    "pass = accuracy >= 0.4",
    "score = accuracy * 0.5 + pass_rate * 0.5\npass = score >= 0.4 AND pass_rate > 0",
    "pass = pass_rate > 0.3 OR weighted_pass_rate = 1",
)


class Trial(NamedTuple):
    """A suite, what was asked in addition, the runs, and what came of both."""

    what: str
    less: Suite
    more: Suite
    runs: Runs
    strict: tuple[bool, bool]
    codes: tuple[int, int]

    @property
    def is_milder(self) -> bool:
        return GRAVITY.index(self.codes[1]) < GRAVITY.index(self.codes[0])


def trials(seed: int | str, times: int = 8) -> Iterator[Trial]:
    """Trials with one suite, each with another thing more; none where the gate is green already.

    A gate that is red for many reasons cannot become green by accident, so most suites of that kind are passed over.
    """
    draw = random.Random(seed)
    less, runs = _suite(draw), _runs(draw)
    strict = draw.random() < 0.3
    before = _report(less, runs, strict)
    if before is None or before.exit_code == 0:
        return
    if sum(line.level == "blocking" and line.status != "pass" for line in before.gate) > 2 and draw.random() < 0.9:
        return
    for _ in range(times):
        more = deepcopy(less)
        what = _ask_more(draw, more, before)
        if what is None or (what == "strict" and strict):
            continue
        stricter = strict or what == "strict"
        after = _report(more, runs, stricter)
        codes = before.exit_code, 2 if after is None else after.exit_code
        yield Trial(what, less, more, runs, (strict, stricter), codes)


def _report(suite: Suite, runs: Runs, strict: bool) -> passmuster.Report | None:
    try:
        return passmuster.evaluate(passmuster.suite_from_dict(suite), runs, strict=strict, redact=False)
    except passmuster.InputError:
        return None


def _suite(draw: random.Random) -> Suite:
    suite: Suite = {"scenarios": [_scenario(draw, id_) for id_ in IDS[: draw.randint(1, 3)]]}
    ids = [one["id"] for one in suite["scenarios"]]
    if draw.random() < 0.4:
        suite["tests"] = [{"id": f"t{n}", **_test(draw)} for n in range(draw.randint(1, 2))]
    if draw.random() < 0.5:
        suite["required_scenarios"] = draw.sample(ids, draw.randint(1, len(ids)))
    left = [id_ for id_ in ids if id_ not in suite.get("required_scenarios", [])]
    if left and draw.random() < 0.2:
        suite["optional_scenarios"] = [draw.choice(left)]
    if draw.random() < 0.4:
        suite["thresholds"] = {"blocking": {draw.choice(RATES): draw.choice(["10%", "30%", "60%", "100%"])}}
    if draw.random() < 0.2:
        suite["pass_criteria"] = {"overall": draw.choice(["20%", "50%", "100%"])}
    if draw.random() < 0.15:
        suite["composite"] = draw.choice(COMPOSITES)
    if draw.random() < 0.2:
        suite["layers"] = {draw.choice(["path", "cost"]): "block"}
    if draw.random() < 0.3:
        suite["repeat_policy"] = draw.choice(["any", "majority", 0.5])
    if draw.random() < 0.1 and "tests" in suite:
        suite["waivers"] = [{"test": "t0", "reason": "known", "expires": draw.choice(["2020-01-01", "2999-01-01"])}]
    return suite


def _scenario(draw: random.Random, id_: str) -> dict[str, Any]:
    scenario: dict[str, Any] = {"id": id_}
    for layer, checks in CHECKS.items():
        if draw.random() < 0.5:
            keys = draw.sample(list(checks), draw.randint(1, 2))
            scenario[layer] = {key: draw.choice(checks[key]) for key in keys}
    if draw.random() < 0.2:
        scenario["must_not"] = draw.sample(MUST_NOT, draw.randint(1, 2))
    if draw.random() < 0.2:
        scenario["expected_behaviors"] = draw.sample(EXPECTED, draw.randint(1, 2))
    if draw.random() < 0.3:
        scenario["category"] = draw.choice(["adversarial", "happy"])
    if draw.random() < 0.15:
        scenario["weight"] = draw.choice([0, 2])
    if draw.random() < 0.15:
        scenario["repeat_policy"] = draw.choice(["any", "majority", "all"])
    return scenario


def _test(draw: random.Random) -> dict[str, Any]:
    severity = {"severity": draw.choice(["block", "warn", "log"])} if draw.random() < 0.3 else {}
    match draw.randint(0, 2):
        case 0:
            return {"metric": "tool_blocklist", "blocklist": [draw.choice(PATTERNS)], **severity}
        case 1:
            constraint = draw.choice([{"max": 1}, {"required": True}, {"max": 1, "on_violation": "warn"}])
            return {"metric": "args_valid", "tool": draw.choice("ab"), "constraints": {"x": constraint}, **severity}
        case _:
            return {"metric": "sequence_valid", "rules": [_rule(draw) for _ in range(draw.randint(1, 2))], **severity}


def _rule(draw: random.Random) -> dict[str, Any]:
    one, other = draw.choice(SELECTORS), draw.choice(SELECTORS)
    rules: tuple[dict[str, Any], ...] = (
        {"type": "require", "tool": one},
        {"type": "before", "first": one, "then": other},
        {"type": "blocklist", "tools": one},
        {"type": "allowlist", "tools": one},
        {"type": "count", "tool": one, "max": draw.randint(0, 2)},
        {"type": "after", "trigger": one, "then": other},
        {"type": "never_after", "trigger": one, "forbidden": other},
        {"type": "eventually", "tool": one, "within": draw.randint(1, 3)},
    )
    return draw.choice(rules)


def _runs(draw: random.Random) -> Runs:
    return [_run(draw, id_) for id_ in IDS for _ in range(draw.choice([0, 1, 1, 1, 2, 3]))] or [_run(draw, "A")]


def _run(draw: random.Random, id_: str) -> dict[str, Any]:
    """A run that mostly does well, and tells of itself whatever it likes."""
    run: dict[str, Any] = {"scenario": id_, "answer": draw.choice(["ok", "ok", "ok", "no", None])}
    if draw.random() < 0.8:
        names = draw.choice(["", "a", "a", "ab", "aa", "c", "ba"])
        run["steps"] = [{"type": "tool_call", "tool": name, **_told(draw)} for name in names]
    if run["answer"] is None and "steps" not in run:
        run["answer"] = "ok"
    for total in ("total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd"):
        if draw.random() < 0.7:
            run[total] = draw.choice([0, 1, 1, 10])
    behaviors = draw.choice(
        [["greets", "thanks"], ["greets", "thanks"], ["greets", "swears"], {}, {"greets": True}, None]
    )
    if behaviors is not None:
        run["behaviors"] = behaviors
    if draw.random() < 0.1:
        run["error"] = draw.choice(["gave up", {"kind": "infra", "message": "down"}])
    return run


def _told(draw: random.Random) -> dict[str, Any]:
    told: dict[str, Any] = {"arguments": draw.choice([{}, {"x": 1}, {"x": 2}, None])}
    if draw.random() < 0.15:
        told["error"] = "boom"
    return told


def _ask_more(draw: random.Random, suite: Suite, before: passmuster.Report) -> str | None:
    """Asks for one thing more; what it is, or None where what was drawn is asked already or is no such thing."""
    what = draw.choice(KINDS)
    match what:
        case "test":
            suite.setdefault("tests", []).insert(0, {"id": "more", **_test(draw)})
        case "rule":
            ordered = [one for one in suite.get("tests", []) if one["metric"] == "sequence_valid"]
            if not ordered:
                return None
            draw.choice(ordered)["rules"].append(_rule(draw))
        case "check" | "must_not":
            return _one_more_check(draw, suite, before, what)
        case "required":
            asked = suite.get("required_scenarios", [])
            free = [
                one["id"]
                for one in suite["scenarios"]
                if one["id"] not in (*asked, *suite.get("optional_scenarios", ()))
            ]
            if not free:
                return None
            suite["required_scenarios"] = [*asked, draw.choice(free)]
        case "rate" | "figure" | "warning":
            bounds: dict[str, Any] = {
                "rate": {"critical": {draw.choice(RATES): "100%"}},
                "figure": {"high": {draw.choice(["latency_p95", "total_tokens", "mean_cost_usd"]): 5}},
                "warning": {"low": {draw.choice(RATES): draw.choice(["10%", "90%"])}},
            }
            suite.setdefault("thresholds", {})["risk"] = bounds[what]
        case "criterion":
            criteria = suite.setdefault("pass_criteria", {})
            criteria.setdefault("by_category", {})[draw.choice(["adversarial", "happy"])] = "100%"
    return what


def _one_more_check(draw: random.Random, suite: Suite, before: passmuster.Report, what: str) -> str | None:
    """A check in a layer that a scenario states, or a `must_not`; not the first one that can be decided on a run."""
    skipped = {one.id for one in before.scenarios if any(run.status == "skip" for run in one.attempts)}
    scenario = draw.choice(suite["scenarios"])
    if scenario["id"] in skipped:
        return None
    if what == "must_not":
        if not any(layer in scenario for layer in (*CHECKS, "must_not", "expected_behaviors")):
            return None
        added = draw.choice(MUST_NOT)
        if added in scenario.get("must_not", ()):
            return None
        scenario["must_not"] = [*scenario.get("must_not", ()), added]
        return what
    stated = [layer for layer in CHECKS if layer in scenario]
    if not stated:
        return None
    layer = draw.choice(stated)
    key = draw.choice(list(CHECKS[layer]))
    if key in scenario[layer]:
        return None
    scenario[layer][key] = draw.choice(CHECKS[layer][key])
    return f"{layer}.{key}"


def main(arguments: list[str]) -> int:
    """Run trials and print the figures; 1 where a gate became milder."""
    parser = argparse.ArgumentParser(description="Random trials of the second law.")
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    started, done, drawn, found = time.time(), 0, 0, 0
    kinds: Counter[str] = Counter()
    while done < options.trials:
        drawn += 1
        for one in trials(f"{options.seed}-{drawn}"):
            done += 1
            kinds[one.what] += 1
            if one.is_milder:
                found += 1
                print(f"milder, trial {options.seed}-{drawn}: {one.what} {one.codes} strict {one.strict}")
                print(json.dumps({"less": one.less, "more": one.more, "runs": one.runs}), flush=True)
        if drawn % 2_000 == 0:
            print(f"{done} trials of {drawn} suites, {found} milder, {time.time() - started:.0f} s", flush=True)
    print(f"{done} trials on red gates of {drawn} suites drawn, {found} milder, {time.time() - started:.0f} s")
    print(dict(sorted(kinds.items())))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
