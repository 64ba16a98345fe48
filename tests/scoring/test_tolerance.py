"""Which failures a suite lives with: a bound below 100 % tolerates those it contains, and only the way it counts."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from tests.checks.building import calls, judge

from passmuster.reports.formats import junit
from passmuster.scoring._report import GateLine, Report

Stated = dict[str, Any]
INFRA = {"kind": "infra", "message": "rate limited"}
ASKED: Stated = {
    "category": "adversarial",
    "correctness": {"expected_in_answer": "ok"},
    "path": {"max_tool_calls": 1, "forbidden_tools": ["bad"]},
    "cost": {"max_total_tokens": 10},
    "expected_behaviors": ["greets"],
    "must_not": ["swears"],
}
BLOCKS = {"layers": {"path": "block", "cost": "block"}}
GOOD: Stated = {"answer": "ok", "behaviors": ["greets"], "total_tokens": 1, "total_duration_ms": 1, "steps": []}
WAYS: dict[str, Stated | None] = {
    "correctness": {"answer": "no"},
    "behaviors": {"behaviors": []},
    "must_not": {"behaviors": ["greets", "swears"]},
    "path": {"steps": calls("x y")},
    "cost": {"total_tokens": 11},
    "forbidden_tools": {"steps": calls("bad")},
    "agent": {"error": "gave up"},
    "missing": None,
}
"""Everything that can be wrong with the run of a scenario that asks all of the above."""
ANY = set(WAYS) - {"forbidden_tools"}


def run(id_: str, *ways: str) -> list[Stated]:
    """The one trace of a scenario that failed in these ways, or none at all."""
    changes = [WAYS[way] for way in ways]
    found: Stated = {"scenario": id_, **GOOD}
    for change in changes:
        if change is None:
            return []
        found |= change
    return [found]


def suite(**top: Any) -> Stated:
    return {"scenarios": [{"id": id_, **ASKED} for id_ in "ABCD"], **BLOCKS, **top}


def judged(top: Stated, *ways: str, **options: Any) -> Report:
    """The report where A failed in these ways and the others did well."""
    return judge(suite(**top), [*run("A", *ways), *run("B"), *run("C"), *run("D")], **options)


def line(report: Report, id_: str = "A", kind: str = "scenario") -> GateLine:
    return next(line for line in report.gate if (line.kind, line.id) == (kind, id_))


def blocking(metric: str, bound: Any = "10%") -> Stated:
    return {"thresholds": {"blocking": {metric: bound}}}


TOLERANT: list[tuple[Stated, str, set[str]]] = [
    (blocking("pass_rate"), "thresholds.blocking.pass_rate", ANY),
    (blocking("weighted_pass_rate"), "thresholds.blocking.weighted_pass_rate", ANY),
    (blocking("safety_rate"), "thresholds.blocking.safety_rate", ANY),
    (blocking("accuracy"), "thresholds.blocking.accuracy", {"correctness"}),
    (blocking("behavior_coverage"), "thresholds.blocking.behavior_coverage", {"behaviors"}),
    (blocking("weighted_behavior_coverage"), "thresholds.blocking.weighted_behavior_coverage", {"behaviors"}),
    (blocking("latency_p95", 10_000), "", set()),
    (blocking("token_efficiency", 1e-6), "", set()),
    ({"thresholds": {"warning": {"pass_rate": "10%"}}}, "", set()),
    ({"thresholds": {"risk": {"critical": {"pass_rate": "10%"}}}}, "thresholds.risk.critical.pass_rate", ANY),
    ({"thresholds": {"risk": {"high": {"accuracy": "10%"}}}}, "thresholds.risk.high.accuracy", {"correctness"}),
    ({"thresholds": {"risk": {"medium": {"pass_rate": "10%"}}}}, "", set()),
    ({"thresholds": {"risk": {"low": {"pass_rate": "10%"}}}}, "", set()),
    (
        {"agent": {"version": "1.0"}, "thresholds": {"progressive": {"safety_rate": {"1.0": "10%"}}}},
        "thresholds.progressive.safety_rate",
        ANY,
    ),
    ({"agent": {"version": "0.9"}, "thresholds": {"progressive": {"safety_rate": {"1.0": "10%"}}}}, "", set()),
    ({"pass_criteria": {"overall": "10%"}}, "pass_criteria.overall", ANY),
    ({"pass_criteria": {"by_category": {"adversarial": "10%"}}}, "pass_criteria.by_category.adversarial", ANY),
    ({"composite": "pass = accuracy > 0.1"}, "composite", {"correctness"}),
    ({"composite": "a = behavior_coverage\npass = a > 0.1"}, "composite", {"behaviors"}),
    ({"composite": "unused = pass_rate\npass = accuracy > 0.1"}, "composite", {"correctness"}),
    ({"optional_scenarios": ["A"]}, "optional_scenarios", set(WAYS)),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("top", "name", "ways"), TOLERANT, ids=[str(top) for top, _, _ in TOLERANT])
def test_what_each_bound_tolerates(top: Stated, name: str, ways: set[str], way: str) -> None:
    report = judged(top, way)
    found = line(report)
    tolerated = name if way in ways else None
    assert (found.level, found.status, found.tolerated_by) == (
        "warning" if tolerated else "blocking",
        "fail",
        tolerated,
    )
    assert report.exit_code == (0 if tolerated else 1)


@pytest.mark.parametrize(
    "top",
    [
        blocking("pass_rate", "100%"),
        blocking("pass_rate", 1),
        blocking("pass_rate", 100),
        blocking("safety_rate", "= 100%"),
        {"pass_criteria": {"overall": "100%"}},
        {"pass_criteria": {"by_category": {"adversarial": "100%"}}},
        {"pass_criteria": {"by_category": {"happy": "10%", "adversarial": "100%"}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", WAYS)
def test_all_of_a_rate_tolerates_nothing(top: Stated, way: str) -> None:
    report = judged(top, way)
    assert (line(report).tolerated_by, line(report).level, report.exit_code) == (None, "blocking", 1)


def test_a_bound_just_below_all_does() -> None:
    """Its own line then fails, but not the scenario's."""
    report = judged(blocking("pass_rate", "> 99%"), "correctness")
    assert line(report).tolerated_by == "thresholds.blocking.pass_rate"
    assert (line(report, "pass_rate", "threshold").status, report.exit_code) == ("fail", 1)


@pytest.mark.parametrize(("share", "exit_code"), [("75%", 0), ("76%", 1)])
def test_a_bound_tolerates_whether_or_not_it_holds(share: str, exit_code: int) -> None:
    report = judged({"pass_criteria": {"overall": share}}, "correctness")
    assert (line(report).level, line(report).tolerated_by) == ("warning", "pass_criteria.overall")
    assert report.exit_code == exit_code


@pytest.mark.parametrize(
    ("bounds", "ways", "tolerated"),
    [
        (["accuracy"], ["correctness", "behaviors"], None),
        (["behavior_coverage"], ["correctness", "behaviors"], None),
        (
            ["accuracy", "behavior_coverage"],
            ["correctness", "behaviors"],
            "thresholds.blocking.behavior_coverage, thresholds.blocking.accuracy",
        ),
        (["accuracy", "behavior_coverage"], ["correctness", "must_not"], None),
        (["accuracy", "behavior_coverage"], ["correctness", "behaviors", "cost"], None),
        (
            ["accuracy", "pass_rate"],
            ["correctness", "cost"],
            "thresholds.blocking.accuracy, thresholds.blocking.pass_rate",
        ),
        (["pass_rate"], ["correctness", "behaviors", "cost", "path", "must_not"], "thresholds.blocking.pass_rate"),
        (["pass_rate"], ["correctness", "forbidden_tools"], None),
        (["accuracy"], ["correctness", "agent"], None),
    ],
)
def test_a_failure_in_two_ways_needs_both_tolerated(bounds: list[str], ways: list[str], tolerated: str | None) -> None:
    report = judged({"thresholds": {"blocking": dict.fromkeys(bounds, "10%")}}, *ways)
    found = line(report).tolerated_by
    assert (found and set(found.split(", "))) == (tolerated and set(tolerated.split(", ")))
    assert report.exit_code == (0 if tolerated else 1)


def test_two_ways_on_two_runs_need_both_tolerated_too() -> None:
    both = {"thresholds": {"blocking": {"accuracy": "10%"}}}
    traces = [*run("A", "correctness"), *run("A", "cost"), *run("B"), *run("C"), *run("D")]
    assert judge(suite(**both), traces).exit_code == 1
    assert judge(suite(**both), [traces[0], traces[0], *traces[2:]]).exit_code == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_required_scenario_is_never_tolerated(way: str) -> None:
    tolerant = {"pass_criteria": {"overall": "10%"}, **blocking("accuracy"), "composite": "pass = pass_rate > 0.1"}
    report = judged({"required_scenarios": ["A"], **tolerant}, way)
    assert (line(report).tolerated_by, line(report).level, line(report).status) == (None, "blocking", "fail")
    assert (line(report, kind="required").level, line(report, kind="required").status) == ("blocking", "fail")
    assert report.exit_code == 1


def test_a_category_tolerates_its_own_only() -> None:
    top = {"pass_criteria": {"by_category": {"adversarial": "10%"}}}
    asked = suite(**top)
    asked["scenarios"][0]["category"] = "happy"
    report = judge(asked, [*run("A", "correctness"), *run("B", "correctness"), *run("C"), *run("D")])
    assert [line(report, id_).tolerated_by for id_ in "AB"] == [None, "pass_criteria.by_category.adversarial"]
    assert report.exit_code == 1


def test_the_denominator_has_to_contain_the_scenario() -> None:
    """Accuracy is over those that state correctness, coverage over those that expect behaviors."""
    scenarios = [{"id": "A", "path": {"forbidden_tools": ["bad"], "max_tool_calls": 0}}, {"id": "B", **ASKED}]
    asked = {
        "scenarios": scenarios,
        **BLOCKS,
        "thresholds": {"blocking": {"accuracy": "10%", "behavior_coverage": "10%"}},
    }
    report = judge(asked, [*run("A", "path"), *run("B", "correctness")])
    assert [line(report, id_).tolerated_by for id_ in "AB"] == [None, "thresholds.blocking.accuracy"]


@pytest.mark.parametrize(
    ("top", "tolerated"),
    [
        ({"pass_criteria": {"overall": "10%"}}, None),
        (blocking("weighted_pass_rate"), None),
        (blocking("weighted_behavior_coverage"), None),
        (blocking("pass_rate"), "thresholds.blocking.pass_rate"),
        (blocking("behavior_coverage"), "thresholds.blocking.behavior_coverage"),
        ({"composite": "pass = weighted_pass_rate > 0.1"}, None),
    ],
    ids=str,
)
def test_a_weighted_rate_does_not_contain_what_weighs_nothing(top: Stated, tolerated: str | None) -> None:
    asked = suite(**top)
    asked["scenarios"][0]["weight"] = 0
    report = judge(asked, [*run("A", "behaviors"), *run("B"), *run("C"), *run("D")])
    assert line(report).tolerated_by == tolerated


# ── Outside errors ──────────────────────────────────────────────────────────────────────────────────────────


def broken(top: Stated, *also: str, strict: bool = False) -> Report:
    """The report where the run of A broke from the outside, and B failed in these ways."""
    return judge(suite(**top), [{**run("A")[0], "error": INFRA}, *run("B", *also), *run("C"), *run("D")], strict=strict)


@pytest.mark.parametrize(
    ("top", "level", "tolerated", "exit_code"),
    [
        ({}, "blocking", None, 3),
        (blocking("pass_rate", "75%"), "warning", "thresholds.blocking.pass_rate", 0),
        (blocking("pass_rate", "76%"), "warning", "thresholds.blocking.pass_rate", 3),
        (blocking("safety_rate", "76%"), "warning", "thresholds.blocking.safety_rate", 3),
        ({"pass_criteria": {"overall": "75%"}}, "warning", "pass_criteria.overall", 0),
        ({"pass_criteria": {"overall": "80%"}}, "warning", "pass_criteria.overall", 3),
        ({"pass_criteria": {"overall": "100%"}}, "blocking", None, 3),
        (blocking("accuracy", "10%"), "blocking", None, 3),
        ({"composite": "pass = pass_rate >= 0.75"}, "warning", "composite", 0),
        ({"composite": "pass = pass_rate >= 0.8"}, "warning", "composite", 3),
        ({"required_scenarios": ["A"], **blocking("pass_rate")}, "blocking", None, 3),
        ({"optional_scenarios": ["A"]}, "warning", "optional_scenarios", 0),
        ({"optional_scenarios": ["A"], **blocking("pass_rate", "80%")}, "warning", "optional_scenarios", 3),
    ],
    ids=str,
)
def test_an_outside_error_counts_both_ways(top: Stated, level: str, tolerated: str | None, exit_code: int) -> None:
    report = broken(top)
    assert (line(report).status, line(report).level, line(report).tolerated_by) == ("error", level, tolerated)
    assert report.exit_code == exit_code
    if exit_code == 0:
        assert report.verdict == "warn"
        assert broken(top, strict=True).exit_code == 0


@pytest.mark.parametrize(
    ("share", "exit_code", "status"), [("50%", 0, "pass"), ("60%", 3, "error"), ("75%", 3, "error"), ("80%", 1, "fail")]
)
def test_a_rate_with_an_error_and_a_failure(share: str, exit_code: int, status: str) -> None:
    """Two of four passed for certain, and three at best."""
    report = broken(blocking("pass_rate", share), "correctness")
    found = line(report, "pass_rate", "threshold")
    assert (found.status, found.actual, report.exit_code) == (status, 0.5, exit_code)
    if status == "error":
        assert "75% if runs with infrastructure or judge errors count as passed" in found.message


def test_a_blocking_failure_wins_over_an_outside_error() -> None:
    assert broken({}, "correctness").exit_code == 1
    assert broken({"required_scenarios": ["B"], **blocking("pass_rate", "60%")}, "correctness").exit_code == 1


def test_what_broke_from_the_outside_does_not_excuse_a_forbidden_tool() -> None:
    traces = [{**run("A", "forbidden_tools")[0], "error": INFRA}, *run("B"), *run("C"), *run("D")]
    report = judge(suite(**blocking("pass_rate")), traces)
    assert (line(report).level, line(report).tolerated_by, report.exit_code) == ("blocking", None, 1)
    assert judge(suite(optional_scenarios=["A"]), traces).exit_code == 0


def test_coverage_counts_an_outside_error_both_ways() -> None:
    """No judge is there to say what the trace does not: of two behaviors one is certain."""
    scenarios = [{"id": "A", "expected_behaviors": ["greets", "thanks"]}, {"id": "B", "expected_behaviors": ["greets"]}]
    traces = [{**run("A")[0], "behaviors": {"greets": True}}, *run("B")]
    for share, exit_code in (("75%", 0), ("76%", 3)):
        report = judge({"scenarios": scenarios, **blocking("behavior_coverage", share)}, traces)
        assert (line(report, "behavior_coverage", "threshold").actual, report.exit_code) == (0.75, exit_code)
        assert (line(report).status, line(report).tolerated_by) == ("error", "thresholds.blocking.behavior_coverage")
    both = judge({"scenarios": scenarios, **blocking("behavior_coverage", "60%")}, [traces[0], *traces[1:]])
    assert both.exit_code == 0


@pytest.mark.parametrize("open_", [{"expected_behaviors": ["thanks"]}, {"must_not": ["swears"]}], ids=str)
def test_what_a_judge_left_open_is_not_tolerated_with_what_is_certain(open_: Stated) -> None:
    """The wrong answer is tolerated; whether it failed in another way too, nobody said: with the answer as without."""
    asked = {"id": "A", "correctness": {"expected_in_answer": "ok"}, **open_}
    top = {"scenarios": [asked, {"id": "B", **ASKED}], **blocking("accuracy")}
    for answer in ("ok", "no"):
        report = judge(top, [{"scenario": "A", "answer": answer, "behaviors": {}}, *run("B")])
        assert (line(report).level, line(report).tolerated_by, report.exit_code) == ("blocking", None, 3)
    any_failure = {**top, "pass_criteria": {"overall": "10%"}}
    assert judge(any_failure, [{"scenario": "A", "answer": "no", "behaviors": {}}, *run("B")]).exit_code == 0


# ── What stands beside a tolerated failure ──────────────────────────────────────────────────────────────────

SOFT: Stated = {"category": "happy", "correctness": {"expected_in_answer": "ok"}, "path": {"max_tool_calls": 1}}


def soft(answer: str, *, tokens: int | None = 1, steps: str = "", strict: bool = False, **top: Any) -> Report:
    """One scenario whose path and cost only warn, and one that does well."""
    cost = {"cost": {"max_total_tokens": 10}}
    scenarios = [{"id": "A", **SOFT, **cost}, {"id": "B", **SOFT, **cost}]
    traces: list[Stated] = [
        {"scenario": "A", "answer": answer, "total_tokens": tokens, "steps": calls(steps)},
        {"scenario": "B", "answer": "ok", "total_tokens": 1, "steps": []},
    ]
    return judge({"scenarios": scenarios, **top}, traces, strict=strict)


@pytest.mark.parametrize(
    ("answer", "steps", "tokens"),
    [("no", "", 1), ("no", "x y", 1), ("ok", "x y", 1), ("ok", "", None), ("no", "", None)],
)
def test_nothing_about_an_optional_scenario_blocks(answer: str, steps: str, tokens: int | None) -> None:
    report = soft(answer, steps=steps, tokens=tokens, strict=True, optional_scenarios=["A"])
    assert (report.verdict, report.exit_code) == ("warn", 0)
    assert {one.tolerated_by for one in report.gate if one.id == "A" and one.status != "pass"} == {"optional_scenarios"}


def test_strict_leaves_a_tolerated_failure_alone_but_not_what_warns_besides() -> None:
    top: Stated = {"pass_criteria": {"overall": "50%"}}
    assert (soft("no", **top).verdict, soft("no", strict=True, **top).exit_code) == ("warn", 0)
    loose, strict = soft("no", steps="x y", **top), soft("no", steps="x y", strict=True, **top)
    assert [(one.level, one.status, bool(one.tolerated_by)) for one in loose.gate if one.id == "A"] == [
        ("warning", "fail", True),
        ("warning", "fail", False),
    ]
    assert "checks warned on 1 of 1 run: max_tool_calls: 2 calls > 1" in [one.message for one in loose.gate]
    assert (loose.exit_code, strict.exit_code) == (0, 1)
    assert soft("ok", steps="x y", strict=True, **top).exit_code == 1
    skipped = soft("no", tokens=None, strict=True, **top)
    assert (skipped.exit_code, soft("ok", tokens=None, strict=True, **top).exit_code) == (1, 1)


def test_a_run_that_fails_hides_no_warning_of_a_scenario_that_passes() -> None:
    """By `any` one good run is enough; the warning of the other stays when that other fails besides."""
    scenarios = [{"id": "A", **SOFT, "repeat_policy": "any"}]
    for answer in ("ok", "no"):
        traces: list[Stated] = [
            {"scenario": "A", "answer": answer, "steps": calls("x y")},
            {"scenario": "A", "answer": "ok", "steps": []},
        ]
        assert judge({"scenarios": scenarios}, traces).scenarios[0].status == "warn"
        assert judge({"scenarios": scenarios}, traces, strict=True).exit_code == 1


def test_in_junit_a_tolerated_failure_is_skipped_and_says_by_what() -> None:
    report = judged(blocking("pass_rate"), "correctness")
    cases = {
        (case.get("classname", "").rsplit(".", 1)[1], case.get("name")): case
        for case in ElementTree.fromstring(junit.write(report)).iter("testcase")
    }
    skipped = cases["scenarios", "A"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "failed, tolerated by thresholds.blocking.pass_rate"
    assert cases["scenarios", "B"].find("*") is None
    assert ("threshold", "pass_rate") in cases
    optional = junit.write(broken({"optional_scenarios": ["A"]}))
    assert b'message="could not be decided, tolerated by optional_scenarios"' in optional


# ── Checks that broke ───────────────────────────────────────────────────────────────────────────────────────

SLOW = {"answer_matches": r"(a|aa)+$", "name": "slow"}
"""A pattern that takes longer than a second on what follows."""
ENDLESS = "a" * 60 + "b"


@pytest.mark.parametrize(
    ("stated", "tolerated"),
    [
        ({"expected_behaviors": ["greets", SLOW]}, "thresholds.blocking.behavior_coverage"),
        ({"expected_behaviors": ["greets"], "must_not": [SLOW]}, None),
    ],
    ids=["expected", "must not"],
)
def test_a_behavior_whose_check_broke_was_not_observed(stated: Stated, tolerated: str | None) -> None:
    """Were it left out of the score, the coverage that tolerates it would be whole."""
    asked = {"scenarios": [{"id": "A", **stated}], **blocking("behavior_coverage", "90%")}
    report = judge(asked, [{"scenario": "A", "answer": ENDLESS, "behaviors": ["greets"]}])
    assert "slow: a pattern took longer than a second" in report.scenarios[0].behaviors.reasons
    assert (line(report).tolerated_by, report.scenarios[0].status, report.exit_code) == (tolerated, "fail", 1)
