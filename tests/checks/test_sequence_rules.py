"""Each sentence about sequence rules, with the smallest trace that shows it.

`held` and `broken` are rules that were exercised; `idle` is one that had nothing to say.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import Step, call, calls, judge_one, rules, trace

import passmuster

Rule = dict[str, Any]


def verdict_on(rule: Rule, steps: list[Step]) -> str:
    test = judge_one(rules(rule), trace(steps))
    (decided,) = test.rules
    assert (decided.status == "fail") == (test.status == "fail") == bool(test.violations)
    assert test.exercised == bool(decided.exercised_on)
    if decided.status == "fail":
        assert decided.exercised_on
        return "broken"
    return "held" if decided.exercised_on else "idle"


REQUIRE = {"type": "require", "tool": "a"}
EACH = {"type": "require", "tool": ["a", "b"]}
BEFORE = {"type": "before", "first": "a", "then": "b"}
ALL_FIRST = {"type": "before", "first": ["a", "b"], "then": "c"}
EACH_THEN = {"type": "before", "first": "a", "then": ["b", "c"]}
DIRECTLY = {"type": "immediately_before", "first": "a", "then": "b"}
ANY_DIRECTLY = {"type": "immediately_before", "first": ["a", "x"], "then": ["b", "c"]}
NONE_OF = {"type": "blocklist", "tools": ["a", "x_*"]}
ONLY = {"type": "allowlist", "tools": ["a", "b"]}
NOTHING = {"type": "allowlist", "tools": []}
TWICE = {"type": "count", "tool": "a", "exactly": 2}
NEVER = {"type": "count", "tool": "a", "exactly": 0}
AT_LEAST = {"type": "count", "tool": "a", "min": 2}
AT_MOST = {"type": "count", "tool": "a", "max": 1}
BETWEEN = {"type": "count", "tool": "a", "min": 1, "max": 2}
SUM = {"type": "count", "tool": ["a", "b"], "max": 2}
MAX_CALLS = {"type": "max_calls", "tool": "a", "max": 1}
AFTER = {"type": "after", "trigger": "a", "then": "b"}
SOON_AFTER = {"type": "after", "trigger": "a", "then": "b", "within": 2}
ANY_AFTER = {"type": "after", "trigger": ["a", "x"], "then": ["b", "c"]}
NEVER_AFTER = {"type": "never_after", "trigger": "a", "forbidden": "b"}
EVENTUALLY = {"type": "eventually", "tool": "a"}
EARLY = {"type": "eventually", "tool": "a", "within": 2}
EACH_EARLY = {"type": "eventually", "tool": ["a", "b"], "within": 2}
ORDER = {"type": "sequence", "tools": ["a", "b", "c"]}
CHAIN = {"type": "sequence", "tools": ["a", "b", "c"], "strict": True}

SENTENCES: list[tuple[str, Rule, str, str]] = [
    # require
    ("called once is enough", REQUIRE, "b a", "held"),
    ("never called", REQUIRE, "b", "broken"),
    ("without any call it is exercised all the same", REQUIRE, "", "broken"),
    ("a failed call is no call", REQUIRE, "a!", "broken"),
    ("a second try counts", REQUIRE, "a! a", "held"),
    ("each of a list", EACH, "a b", "held"),
    ("each of a list, not any", EACH, "a", "broken"),
    # before
    ("first came earlier", BEFORE, "a x b", "held"),
    ("first came later", BEFORE, "b a", "broken"),
    ("first never came", BEFORE, "b", "broken"),
    ("then never came", BEFORE, "a", "idle"),
    ("parallel is not before", BEFORE, "(a b)", "broken"),
    ("a whole group is before the next position", BEFORE, "(a x) (b y)", "held"),
    ("first failed", BEFORE, "a! b", "broken"),
    ("first failed, was tried again and came too late", BEFORE, "a! b a", "broken"),
    ("then failed: trying it was forbidden too", BEFORE, "b!", "broken"),
    ("once opened, it stays open", BEFORE, "a b b b", "held"),
    ("all of a list of first", ALL_FIRST, "b a c", "held"),
    ("one of a list of first is not all", ALL_FIRST, "a c", "broken"),
    ("each of a list of then", EACH_THEN, "c a b", "broken"),
    ("each of a list of then, opened", EACH_THEN, "a c b", "held"),
    # immediately_before
    ("directly before", DIRECTLY, "x a b", "held"),
    ("something in between", DIRECTLY, "a x b", "broken"),
    ("every call of then needs its own", DIRECTLY, "a b b", "broken"),
    ("every call of then has its own", DIRECTLY, "a b a b", "held"),
    ("the first call has nothing before it", DIRECTLY, "b a", "broken"),
    ("parallel is not directly before", DIRECTLY, "(a b)", "broken"),
    ("a group is one position", DIRECTLY, "(a x) (b y)", "held"),
    ("what failed was not done", DIRECTLY, "a! b", "broken"),
    ("trying it needs it too", DIRECTLY, "b!", "broken"),
    ("without then it says nothing", DIRECTLY, "a x", "idle"),
    ("any of a list of first, each of a list of then", ANY_DIRECTLY, "x b a c", "held"),
    ("each of a list of then needs one", ANY_DIRECTLY, "x b c", "broken"),
    # blocklist and allowlist
    ("none of these", NONE_OF, "b c", "held"),
    ("one of these", NONE_OF, "b x_1", "broken"),
    ("trying is enough to break a blocklist", NONE_OF, "a!", "broken"),
    ("no call at all says nothing about a blocklist", NONE_OF, "", "idle"),
    ("only these", ONLY, "b a a", "held"),
    ("something else", ONLY, "a c", "broken"),
    ("trying is enough to break an allowlist", ONLY, "c!", "broken"),
    ("no call at all says nothing about an allowlist", ONLY, "", "idle"),
    ("an empty allowlist allows nothing", NOTHING, "a", "broken"),
    # count
    ("exactly", TWICE, "a b a", "held"),
    ("one too few", TWICE, "a", "broken"),
    ("one too many", TWICE, "a a a", "broken"),
    ("exactly counts successes", TWICE, "a! a a", "held"),
    ("failed ones do not make up the number", TWICE, "a a!", "broken"),
    ("exactly is always exercised", TWICE, "", "broken"),
    ("exactly 0 is a maximum", NEVER, "b", "held"),
    ("exactly 0: a failed call is one too many", NEVER, "a!", "broken"),
    ("exactly 0 without any call", NEVER, "", "idle"),
    ("a minimum counts successes", AT_LEAST, "a a!", "broken"),
    ("a minimum is always exercised", AT_LEAST, "", "broken"),
    ("a maximum counts attempts", AT_MOST, "a a!", "broken"),
    ("a maximum is exercised by any call", AT_MOST, "b", "held"),
    ("a maximum without any call", AT_MOST, "", "idle"),
    ("both bounds, each counted its own way", BETWEEN, "a! a", "held"),
    ("both bounds: the attempts are too many", BETWEEN, "a! a! a", "broken"),
    ("both bounds: the successes are too few", BETWEEN, "a! a!", "broken"),
    ("the sum of a list", SUM, "a b", "held"),
    ("the sum of a list, not each", SUM, "a a b", "broken"),
    ("parallel calls are several", AT_MOST, "(a a)", "broken"),
    ("max_calls is count with max", MAX_CALLS, "a a!", "broken"),
    ("max_calls without any call", MAX_CALLS, "", "idle"),
    # after
    ("followed", AFTER, "a x b", "held"),
    ("not followed", AFTER, "b a", "broken"),
    ("every trigger is followed", AFTER, "a b a", "broken"),
    ("one answer serves several triggers", AFTER, "a a b", "held"),
    ("parallel is not after", AFTER, "(a b)", "broken"),
    ("the answer failed", AFTER, "a b!", "broken"),
    ("a trigger that failed asks for nothing", AFTER, "a!", "idle"),
    ("without a trigger", AFTER, "b", "idle"),
    ("within two positions", SOON_AFTER, "a x b", "held"),
    ("three positions are too many", SOON_AFTER, "a x x b", "broken"),
    ("within counts positions, not calls", SOON_AFTER, "a (x x x) b", "held"),
    ("any of a list of triggers, any of a list of answers", ANY_AFTER, "x c a b", "held"),
    # never_after
    ("nothing forbidden after", NEVER_AFTER, "b a x", "held"),
    ("forbidden after", NEVER_AFTER, "a x b", "broken"),
    ("parallel is not after, so not forbidden", NEVER_AFTER, "(a b)", "held"),
    ("an attempt triggers", NEVER_AFTER, "a! b", "broken"),
    ("an attempt is forbidden", NEVER_AFTER, "a b!", "broken"),
    ("without a trigger all is allowed", NEVER_AFTER, "b", "idle"),
    # eventually
    ("at some time", EVENTUALLY, "x x x a", "held"),
    ("at no time", EVENTUALLY, "", "broken"),
    ("among the first two", EARLY, "x a", "held"),
    ("the third is too late", EARLY, "x x a", "broken"),
    ("a group is one position of the first two", EARLY, "(x x x) a", "held"),
    ("a failed call is not in time", EARLY, "a! x a", "broken"),
    ("each of a list is in time", EACH_EARLY, "a b", "held"),
    ("each of a list, not any, is in time", EACH_EARLY, "a x b", "broken"),
    # sequence
    ("in this order, others between", ORDER, "a x b x c", "held"),
    ("in another order", ORDER, "a c b", "broken"),
    ("an early one too many does no harm", ORDER, "c a b c", "held"),
    ("parallel is not in order", ORDER, "(a b) c", "broken"),
    ("a step failed", ORDER, "a b! c", "broken"),
    ("a sequence is always exercised", ORDER, "", "broken"),
    ("strict: directly one after another", CHAIN, "x a b c", "held"),
    ("strict: nothing between", CHAIN, "a b x c", "broken"),
    ("strict: a later run will do", CHAIN, "a x a b c", "held"),
    ("strict: groups are positions", CHAIN, "(a x) (b a) c", "held"),
    ("strict: a failed call breaks the run", CHAIN, "a b! b c", "broken"),
]


@pytest.mark.parametrize(
    ("rule", "steps", "expected"),
    [row[1:] for row in SENTENCES],
    ids=[f"{row[1]['type']}: {row[0]}" for row in SENTENCES],
)
def test_a_rule_means_what_its_sentence_says(rule: Rule, steps: str, expected: str) -> None:
    assert verdict_on(rule, calls(steps)) == expected


SELECTORS: list[tuple[str, Any, list[Step], str]] = [
    ("a pattern is a whole-name glob", "get_*", [call("get_x")], "held"),
    ("a pattern is a whole-name glob, not a part", "get", [call("get_x")], "broken"),
    ("case matters", "Get", [call("get")], "broken"),
    ("arguments as stated", {"tool": "a", "args": {"id": 1}}, [call("a", {"id": 1.0, "more": 2})], "held"),
    ("other arguments", {"tool": "a", "args": {"id": 1}}, [call("a", {"id": 2})], "broken"),
    ("a dotted path", {"tool": "a", "args": {"who.id": 1}}, [call("a", {"who": {"id": 1}})], "held"),
    ("a literal key with a dot wins", {"tool": "a", "args": {"who.id": 1}}, [call("a", {"who.id": 1})], "held"),
    (
        "a literal key with a dot wins over the path",
        {"tool": "a", "args": {"who.id": 1}},
        [call("a", {"who.id": 2, "who": {"id": 1}})],
        "broken",
    ),
    ("a place in a list", {"tool": "a", "args": {"l[1].n": 5}}, [call("a", {"l": [{}, {"n": 5}]})], "held"),
    ("a place in a list, dotted", {"tool": "a", "args": {"l.1.n": 5}}, [call("a", {"l": [{}, {"n": 5}]})], "held"),
    ("a place beyond a list", {"tool": "a", "args": {"l[2].n": 5}}, [call("a", {"l": [{}, {"n": 5}]})], "broken"),
    ("a result as stated", {"tool": "a", "result": {"ok": True}}, [call("a", result={"ok": True, "n": 1})], "held"),
    ("an unknown result fits no value", {"tool": "a", "result": {"ok": True}}, [call("a")], "broken"),
    ("an unknown result is absent", {"tool": "a", "result": {"$absent": True}}, [call("a")], "held"),
    ("a result of null is one", {"tool": "a", "result": None}, [call("a", result=None)], "held"),
    ("failed: true is taken at its word", {"tool": "a", "failed": True}, calls("a!"), "held"),
    ("failed: true does not mean a success", {"tool": "a", "failed": True}, calls("a"), "broken"),
    ("failed: false means a success", {"tool": "a", "failed": False}, calls("a!"), "broken"),
    ("the agent that made it", {"tool": "a", "agent": "billing"}, [call("a", agent="billing")], "held"),
    ("another agent", {"tool": "a", "agent": "billing"}, [call("a", agent="triage")], "broken"),
    ("any of several agents, as globs", {"agent": ["x", "bill*"]}, [call("a", agent="billing")], "held"),
    ("no agent is recorded", {"tool": "a", "agent": "*"}, [call("a")], "broken"),
    ("without a tool, any", {"args": {"id": 1}}, [call("z", {"id": 1})], "held"),
    ("several patterns in a map mean any", {"tool": ["a", "b"], "args": {"id": 1}}, [call("b", {"id": 1})], "held"),
    ("arguments that are not a map hold no value", {"tool": "a", "args": {"id": 1}}, [call("a", [1])], "broken"),
    (
        "arguments that are not a map lack it",
        {"tool": "a", "args": {"id": {"$absent": True}}},
        [call("a", [1])],
        "held",
    ),
]


@pytest.mark.parametrize(
    ("selector", "steps", "expected"), [row[1:] for row in SELECTORS], ids=[row[0] for row in SELECTORS]
)
def test_a_selector_means_these_calls(selector: Any, steps: list[Step], expected: str) -> None:
    assert verdict_on({"type": "require", "tool": selector}, steps) == expected


FAILURE_STATED: list[tuple[str, Rule, str, str]] = [
    (
        "a minimum of failures",
        {"type": "count", "tool": {"tool": "a", "failed": True}, "min": 1},
        "a!",
        "held",
    ),
    (
        "a failed call opens what asks for one",
        {"type": "before", "first": {"tool": "a", "failed": True}, "then": "b"},
        "a! b",
        "held",
    ),
    (
        "only failed calls are forbidden",
        {"type": "never_after", "trigger": "a", "forbidden": {"tool": "b", "failed": True}},
        "a b",
        "held",
    ),
    (
        "only successes are counted against a maximum",
        {"type": "count", "tool": {"tool": "a", "failed": False}, "max": 1},
        "a! a",
        "held",
    ),
    (
        "a failed trigger asks when it is named",
        {"type": "after", "trigger": {"tool": "a", "failed": True}, "then": "b"},
        "a!",
        "broken",
    ),
    (
        "a successful then needs nothing when failed ones are named",
        {"type": "before", "first": "x", "then": {"tool": "a", "failed": True}},
        "a",
        "idle",
    ),
]


@pytest.mark.parametrize(
    ("rule", "steps", "expected"), [row[1:] for row in FAILURE_STATED], ids=[row[0] for row in FAILURE_STATED]
)
def test_an_explicit_failed_overrides_what_counts_as_done(rule: Rule, steps: str, expected: str) -> None:
    assert verdict_on(rule, calls(steps)) == expected


def test_only_adjacent_calls_form_a_group() -> None:
    apart = [call("a", group=1), call("x"), call("b", group=1)]
    assert verdict_on(BEFORE, apart) == "held"
    assert verdict_on(BEFORE, [call("a", group=1), call("b", group=2)]) == "held"
    assert verdict_on(BEFORE, [call("a", group=0), call("b", group=0)]) == "broken"


WORDS: list[tuple[Rule, str, str]] = [
    (REQUIRE, "b", "Expected a to be called; a was never called"),
    (REQUIRE, "a! a!", "Expected a to be called; a was called 2 times and failed"),
    (BEFORE, "b", "Expected a before b; b called without prior a"),
    (BEFORE, "a! b", "Expected a before b; b called without prior a (a was called before and failed)"),
    (BEFORE, "(a b)", "Expected a before b; b called without prior a (a ran in parallel, which is not before)"),
    (BEFORE, "b a", "Expected a before b; b called without prior a (a came only later)"),
    (ALL_FIRST, "a! c", "Expected a and b before c; c called without prior a and b (a was called before and failed)"),
    (DIRECTLY, "b", "Expected a directly before b; b called as the first call"),
    (DIRECTLY, "a x b", "Expected a directly before b; b called directly after x"),
    (DIRECTLY, "a! b", "Expected a directly before b; b called directly after a, which failed"),
    (DIRECTLY, "(p q r s t) b", "Expected a directly before b; b called directly after p, q, r and 2 more"),
    (NONE_OF, "x_1 x_1", "Expected x_1 not to be called; x_1 was called 2 times"),
    (ONLY, "z", "Expected only a or b to be called; z was called once"),
    (TWICE, "a", "Expected a to be called exactly 2 times; a was called once"),
    (TWICE, "a! a!", "Expected a to be called exactly 2 times; a was called 2 times and failed"),
    (TWICE, "a! a", "Expected a to be called exactly 2 times; a was called 2 times and failed once"),
    (NEVER, "a", "Expected a to be called never; a was called once"),
    (AT_MOST, "a a! a", "Expected a to be called at most once; a was called 3 times"),
    (SUM, "a b a", "Expected a and b to be called at most 2 times; a and b was called 3 times"),
    (AFTER, "a", "Expected b after a; b was not called after it"),
    (AFTER, "a b!", "Expected b after a; b was called after it and failed"),
    (SOON_AFTER, "a x x b", "Expected b after a within 2 positions; b came only 3 positions later"),
    (NEVER_AFTER, "a b", "Expected no b after a; b was called after a (call 1)"),
    (EARLY, "x x a", "Expected a to be called among the first 2 positions; a came only at position 3"),
    (
        EARLY,
        "a! x a",
        "Expected a to be called among the first 2 positions; "
        "a came only at position 3, because it was called before and failed",
    ),
    (EARLY, "a!", "Expected a to be called among the first 2 positions; a was called once and failed"),
    (ORDER, "a c", "Expected a → b → c in this order; b was never called"),
    (ORDER, "b a c", "Expected a → b → c in this order; b never came after a"),
    (ORDER, "b a b!", "Expected a → b → c in this order; b never came after a (it was called and failed)"),
    (ORDER, "a! b c", "Expected a → b → c in this order; a was called once and failed"),
    (CHAIN, "a b x c", "Expected a → b → c, directly one after another; c never came directly after a → b"),
]


@pytest.mark.parametrize(("rule", "steps", "message"), WORDS, ids=[f"{row[0]['type']} on {row[1]}" for row in WORDS])
def test_the_message_says_what_was_expected_and_what_happened(rule: Rule, steps: str, message: str) -> None:
    (violation,) = judge_one(rules(rule), trace(steps)).violations
    assert violation.message == message
    assert violation.message == f"Expected {violation.expected}; {violation.actual}"
    assert violation.rule == rule["type"]
    assert violation.suggestion


def test_every_rule_is_evaluated_and_both_report_the_same_missing_call() -> None:
    suite = """\
tests:
  - id: t
    metric: sequence_valid
    rules:
      - type: require
        tool: authenticate
      - type: before
        first: authenticate
        then: get_patient_record
      - type: before
        first: authenticate
        then: delete_patient_record
      - type: blocklist
        tools: [admin_*]
"""
    test = judge_one(suite, trace("get_patient_record"), trace("authenticate"))
    assert [(rule.type, rule.line, rule.status, rule.exercised_on) for rule in test.rules] == [
        ("require", 5, "fail", 2),
        ("before", 7, "fail", 1),
        ("before", 10, "pass", 0),
        ("blocklist", 13, "pass", 2),
    ]
    assert [(found.rule, found.policy_line, found.call_index) for found in test.violations] == [
        ("require", 5, None),
        ("before", 7, 1),
    ]


def test_a_violation_stands_at_the_call_that_broke_the_rule() -> None:
    steps = [{"type": "llm_call"}, *calls("x b"), {"type": "message", "role": "user", "content": "hm"}, *calls("b")]
    first, second = judge_one(rules(BEFORE), trace(steps, trace_id="t-1")).violations
    assert (first.call_index, first.tool, first.trace_id, first.trace_line) == (2, "b", "t-1", 1)
    assert first.neighbours is not None
    assert (first.neighbours.calls, first.neighbours.before, first.neighbours.after) == (3, "x", "b")
    assert second.call_index == 3


def test_a_list_violation_counts_the_calls_and_names_the_pattern() -> None:
    (found,) = judge_one(rules(NONE_OF), trace("b x_1 x_1!")).violations
    assert (found.tool, found.pattern, found.calls_found, found.call_index) == ("x_1", "x_*", 2, 2)


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "before", "first": "a", "then": "b", "thn": "c"},
        {"type": "count", "tool": "a", "maximum": 3},
        {"type": "after", "trigger": "a", "then": "b", "wihtin": 3},
        {"type": "sequence", "tools": ["a"], "srict": True},
        {"type": "require", "tool": {"tool": "a", "arguments": {}}},
    ],
    ids=lambda rule: f"{rule['type']}",
)
def test_a_typo_in_an_option_of_a_rule_is_an_error(rule: Rule) -> None:
    with pytest.raises(passmuster.SuiteError, match="unknown key"):
        judge_one(rules(rule), trace("a"))


FAILED_WHEN: list[tuple[str, dict[str, Any], list[Step], str]] = [
    ("a result that looks failed", {"tool": "a", "result": {"ok": False}}, [call("a", result={"ok": False})], "broken"),
    ("a result that does not", {"tool": "a", "result": {"ok": False}}, [call("a", result={"ok": True})], "held"),
    ("another tool's result", {"tool": "b", "result": {"ok": False}}, [call("a", result={"ok": False})], "held"),
    ("a result nobody knows", {"result": {"ok": False}}, [call("a")], "held"),
    ("it never makes a failed call good", {"result": "no"}, [call("a", result="yes", error="boom")], "broken"),
    ("a missing result, if that is what it says", {"result": {"$absent": True}}, [call("a")], "broken"),
]


@pytest.mark.parametrize(
    ("when", "steps", "expected"), [row[1:] for row in FAILED_WHEN], ids=[row[0] for row in FAILED_WHEN]
)
def test_failed_when_says_what_a_failure_looks_like(when: dict[str, Any], steps: list[Step], expected: str) -> None:
    assert (
        judge_one({**rules(REQUIRE), "failed_when": [when]}, trace(steps)).status
        == {"held": "pass", "broken": "fail"}[expected]
    )


ALWAYS_BROKEN: list[Rule] = [
    BEFORE,
    DIRECTLY,
    {"type": "after", "trigger": "b", "then": "a"},
    {"type": "never_after", "trigger": "b", "forbidden": "b"},
    {"type": "before", "first": {"tool": "b", "failed": True}, "then": "b"},
]


@pytest.mark.parametrize("rule", ALWAYS_BROKEN, ids=lambda rule: f"{rule['type']}")
def test_work_grows_with_the_calls_even_where_each_breaks_the_rule(rule: Rule) -> None:
    def seconds(number: int) -> float:
        test = judge_one(rules(rule), trace("(" + "b " * 50 + ")" + "b " * number))
        assert test.violation_count >= number
        return test.duration_ms

    assert min(seconds(8_000) for _ in range(3)) < 30 * min(seconds(1_000) for _ in range(3))
