"""Sequence rules agree with the plainest reading of what they mean, on any trace and any rule.

`means`, `did` and `expected` below read the definitions word by word, with nested loops and nothing borrowed
from the product.
"""

from __future__ import annotations

import itertools
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checks.building import Step, call, calls, judge_one, rules, trace, write

import passmuster

Rule = dict[str, Any]
Selector = Any

# ── Traces and rules ────────────────────────────────────────────────────────────────────────────────────────

TOOLS = ["a", "b", "c", "ab"]
PATTERNS = ["a", "b", "c", "a*", "*b", "[ab]", "[!a]", "?", "*", "zz"]

arguments: st.SearchStrategy[Any] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"x": st.sampled_from([0, 1, 1.0, True, "1", None])}),
    st.fixed_dictionaries({"x": st.just(1), "y": st.fixed_dictionaries({"z": st.integers(0, 2)})}),
    st.fixed_dictionaries({"y.z": st.integers(0, 2)}),
    st.just([1]),
)
results = st.sampled_from([{}, {"result": None}, {"result": {"ok": True}}, {"result": {"ok": False}}])
any_call = st.builds(
    lambda tool, given, group, error, result: call(tool, given, group=group, error=error, **result),
    st.sampled_from(TOOLS),
    arguments,
    st.sampled_from([None, None, 1, 2]),
    st.sampled_from([None, None, "boom"]),
    results,
)
plain_call = st.builds(lambda tool: call(tool, group=None, error=None), st.sampled_from(TOOLS))
recorded_calls = st.one_of(st.lists(any_call, max_size=8), st.lists(plain_call, max_size=8))
patterns = st.sampled_from(PATTERNS)
maps = st.fixed_dictionaries(
    {"tool": st.one_of(patterns, st.lists(patterns, min_size=1, max_size=2))},
    optional={
        "args": st.sampled_from([{"x": 1}, {"x": {"$absent": True}}, {"y.z": {"$gt": 0}}, {"x": {"$not": 1}}]),
        "result": st.sampled_from([{"ok": True}, {"$absent": True}, None]),
        "failed": st.booleans(),
    },
)
one = st.one_of(patterns, maps)
selectors = st.one_of(one, st.lists(one, min_size=1, max_size=3))
whole = st.integers(0, 4)


def rule(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Rule]:
    return st.fixed_dictionaries({"type": st.just(kind), **parts})


within = st.one_of(st.none(), st.integers(1, 3))
bounds = st.one_of(
    st.fixed_dictionaries({"exactly": whole}),
    st.fixed_dictionaries({"max": whole}),
    st.fixed_dictionaries({"min": st.integers(1, 4)}),
    st.tuples(whole, whole).map(lambda pair: {"min": min(pair), "max": max(pair)}),
)
any_rule = st.one_of(
    rule("require", tool=selectors),
    rule("before", first=selectors, then=selectors),
    rule("immediately_before", first=selectors, then=selectors),
    rule("blocklist", tools=selectors),
    rule("allowlist", tools=st.one_of(selectors, st.just([]))),
    st.builds(lambda counted, bound: {**counted, **bound}, rule("count", tool=selectors), bounds),
    rule("max_calls", tool=selectors, max=whole),
    rule("after", trigger=selectors, then=selectors, within=within),
    rule("never_after", trigger=selectors, forbidden=selectors),
    rule("eventually", tool=selectors, within=within),
    rule(
        "sequence",
        tools=st.lists(st.one_of(one, st.lists(patterns, min_size=1, max_size=2)), min_size=1, max_size=3),
        strict=st.booleans(),
    ),
).map(lambda written: {key: value for key, value in written.items() if value is not None or key != "within"})


# ── The plain reading ───────────────────────────────────────────────────────────────────────────────────────


def each_of(selector: Selector) -> list[Selector]:
    return selector if isinstance(selector, list) else [selector]


def positions_of(calls: list[Step]) -> list[int]:
    """Each call has one; adjacent calls of a group share it."""
    positions = [0] * len(calls)
    for n in range(1, len(calls)):
        together = calls[n]["group"] is not None and calls[n]["group"] == calls[n - 1]["group"]
        positions[n] = positions[n - 1] + (0 if together else 1)
    return positions


def is_one(value: Any) -> bool:
    return value == 1 and not isinstance(value, bool)


def fits_args(wanted: dict[str, Any], found: Any) -> bool:
    """The four ways of asking about arguments that are generated above."""
    named = found if isinstance(found, dict) else {}
    if wanted == {"x": 1}:
        return is_one(named.get("x"))
    if wanted == {"x": {"$absent": True}}:
        return "x" not in named
    if wanted == {"x": {"$not": 1}}:
        return "x" in named and not is_one(named["x"])
    value = named["y.z"] if "y.z" in named else named.get("y", {}).get("z")
    return value is not None and value > 0


def fits_result(wanted: Any, step: Step) -> bool:
    if wanted == {"$absent": True}:
        return "result" not in step
    if wanted is None:
        return "result" in step and step["result"] is None
    return step.get("result") is not None and step["result"]["ok"] is True


def means(selector: Selector, step: Step) -> bool:
    """Whether a selector that is no list means a call, failed or not. A list of patterns means any of them."""
    if isinstance(selector, dict):
        if "args" in selector and not fits_args(selector["args"], step["arguments"]):
            return False
        if "result" in selector and not fits_result(selector["result"], step):
            return False
        if "failed" in selector and selector["failed"] != (step["error"] is not None):
            return False
        selector = selector["tool"]
    return any(fnmatchcase(step["tool"], pattern) for pattern in each_of(selector))


def did(selector: Selector, step: Step) -> bool:
    """Whether the call is one that the selector means and that did not fail, unless the selector speaks of that."""
    stated = isinstance(selector, dict) and "failed" in selector
    return means(selector, step) and (stated or step["error"] is None)


def any_means(selector: Selector, step: Step) -> bool:
    return any(means(single, step) for single in each_of(selector))


def any_did(selector: Selector, step: Step) -> bool:
    return any(did(single, step) for single in each_of(selector))


def chains(wanted: list[Selector], calls: list[Step], at: list[int], strict: bool, last: int | None = None) -> bool:
    """Whether the rest of a sequence can be found after a position."""
    if not wanted:
        return True
    return any(
        did(wanted[0], calls[n])
        and (last is None or (at[n] == last + 1 if strict else at[n] > last))
        and chains(wanted[1:], calls, at, strict, at[n])
        for n in range(len(calls))
    )


def expected(rule: Rule, calls: list[Step]) -> tuple[bool, bool]:
    """Whether the rule is exercised, and whether it holds."""
    at = positions_of(calls)
    every = range(len(calls))
    match rule["type"]:
        case "require":
            return True, all(any(did(tool, step) for step in calls) for tool in each_of(rule["tool"]))
        case "eventually":
            limit = rule.get("within", len(calls))
            return True, all(
                any(did(tool, calls[n]) and at[n] < limit for n in every) for tool in each_of(rule["tool"])
            )
        case "before":
            thens = [n for n in every if any_means(rule["then"], calls[n])]
            return bool(thens), all(
                any(did(first, calls[m]) and at[m] < at[n] for m in every)
                for n in thens
                for first in each_of(rule["first"])
            )
        case "immediately_before":
            thens = [n for n in every if any_means(rule["then"], calls[n])]
            return bool(thens), all(
                any(any_did(rule["first"], calls[m]) and at[m] == at[n] - 1 for m in every) for n in thens
            )
        case "blocklist":
            return bool(calls), not any(any_means(rule["tools"], step) for step in calls)
        case "allowlist":
            return bool(calls) or rule["tools"] == [], all(any_means(rule["tools"], step) for step in calls)
        case "count" | "max_calls":
            attempts = sum(any_means(rule["tool"], step) for step in calls)
            successes = sum(any_did(rule["tool"], step) for step in calls)
            if rule.get("exactly") == 0:
                return bool(calls), attempts == 0
            if "exactly" in rule:
                return True, successes == rule["exactly"]
            enough = "min" not in rule or successes >= rule["min"]
            return "min" in rule or bool(calls), enough and ("max" not in rule or attempts <= rule["max"])
        case "after":
            triggers = [n for n in every if any_did(rule["trigger"], calls[n])]
            limit = rule.get("within", len(calls))
            return bool(triggers), all(
                any(any_did(rule["then"], calls[m]) and at[n] < at[m] <= at[n] + limit for m in every) for n in triggers
            )
        case "never_after":
            triggers = [n for n in every if any_means(rule["trigger"], calls[n])]
            return bool(triggers), not any(
                any_means(rule["forbidden"], calls[m]) and at[m] > at[n] for n in triggers for m in every
            )
        case "sequence":
            return True, chains(rule["tools"], calls, at, rule["strict"])
    raise AssertionError(rule)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(any_rule, min_size=1, max_size=6), st.lists(recorded_calls, min_size=1, max_size=3))
def test_rules_mean_what_their_plainest_reading_says(written: list[Rule], recorded: list[list[Step]]) -> None:
    for steps in recorded:
        test = judge_one(rules(*written), trace(steps))
        plain = [expected(rule, steps) for rule in written]
        assert [(bool(rule.exercised_on), rule.status == "pass") for rule in test.rules] == plain
        assert (test.status == "fail") == (not all(holds for _, holds in plain))
        assert test.exercised == any(exercised for exercised, _ in plain)


# ── Every short trace ───────────────────────────────────────────────────────────────────────────────────────

SINGLE: list[Selector] = ["a", "b", "[bc]", ["a", "b"]]
PAIRS = list(itertools.product(SINGLE, SINGLE))
SIMPLE: list[Rule] = [
    *({"type": "require", "tool": one} for one in SINGLE),
    *({"type": "blocklist", "tools": one} for one in SINGLE),
    *({"type": "allowlist", "tools": one} for one in SINGLE),
    *({"type": "eventually", "tool": one} for one in SINGLE),
    *({"type": "eventually", "tool": one, "within": 2} for one in SINGLE),
    *({"type": "count", "tool": one, "max": 1} for one in SINGLE),
    *({"type": "count", "tool": one, "min": 2} for one in SINGLE),
    *({"type": "count", "tool": one, "min": 1, "max": 1} for one in SINGLE),
    *({"type": "count", "tool": one, "exactly": 2} for one in SINGLE),
    *({"type": "before", "first": one, "then": other} for one, other in PAIRS),
    *({"type": "immediately_before", "first": one, "then": other} for one, other in PAIRS),
    *({"type": "after", "trigger": one, "then": other} for one, other in PAIRS),
    *({"type": "after", "trigger": one, "then": other, "within": 1} for one, other in PAIRS),
    *({"type": "never_after", "trigger": one, "forbidden": other} for one, other in PAIRS),
    *({"type": "sequence", "tools": [one, other], "strict": True} for one, other in PAIRS),
    *({"type": "sequence", "tools": [one, other], "strict": False} for one, other in PAIRS),
    *({"type": "sequence", "tools": ["a", one, "a"], "strict": strict} for one in SINGLE for strict in (True, False)),
]
SHORT = [
    *("".join(word) for length in range(5) for word in itertools.product(["a ", "b ", "c "], repeat=length)),
    *("".join(word) for length in (1, 2, 3) for word in itertools.product(["a ", "b ", "a! ", "b! "], repeat=length)),
    *(f"({one} {two}) {last}" for one, two, last in itertools.product("abc", ["a", "b", "b!"], ["", "a", "b"])),
    *(f"{first} ({one} {two})" for first, one, two in itertools.product("abc", ["a", "b", "b!"], "abc")),
]


def test_rules_mean_what_their_plainest_reading_says_on_every_short_trace(tmp_path: Path) -> None:
    recorded = [calls(short) for short in SHORT]
    path, source = write(tmp_path, rules(*SIMPLE), [trace(steps) for steps in recorded])
    suite = passmuster.load_suite(path)
    for short, steps, one in zip(SHORT, recorded, passmuster.read_traces(source), strict=True):
        (test,) = passmuster.evaluate(suite, [one]).tests
        for rule, found in zip(SIMPLE, test.rules, strict=True):
            assert (bool(found.exercised_on), found.status == "pass") == expected(rule, steps), (rule, short)
