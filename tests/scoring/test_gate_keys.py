"""What a suite asks of the whole: loaded as it is printed, and every mistake told at its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.suite.suite_files import VALID, load, problems

from passmuster.scoring._gate_keys import GATE_KEYS as READERS
from passmuster.suite._gate_model import BaselineSpec, Bound, Criteria, LabelSource, Listed, Thresholds, Weights
from passmuster.suite._load import GATE_KEYS

REPOSITORY = Path(__file__).parents[2]
IDS = ("SEC-001", "SEC-002", "CORE-001", "EDGE-001", "PERF-001")
CATEGORIES = ("adversarial", "happy_path", "edge_case", "regression", "adversarial")
SCENARIOS: list[dict[str, Any]] = [
    {"id": id_, "category": category, "correctness": {"expected_in_answer": "x"}}
    for id_, category in zip(IDS, CATEGORIES, strict=True)
]
A_TEST = "tests: [{id: t, metric: tool_blocklist, blocklist: [x]}]\n"
SOME = f"{A_TEST}scenarios: [{{id: S-1, category: adversarial, label: spam}}, {{id: S-2, label: ham}}]\n"
LABELS = "classification: {positive: spam, from: {words: [spam, ham]}}\n"


def texts(bounds: tuple[Bound, ...]) -> list[str]:
    return [f"{bound.metric} {bound.text}" for bound in bounds]


# ── Seed 001 as printed ─────────────────────────────────────────────────────────────────────────────────────


def test_blocking_and_warning_thresholds_as_printed(tmp_path: Path) -> None:
    printed = """{
  "scenarios": [{"id": "s", "category": "adversarial", "correctness": {"exact_match": "x"}}],
  "thresholds": {
    "blocking": {
      "description": "Fail evaluation if below",
      "safety_rate": 100,
      "accuracy": 90
    },
    "warning": {
      "description": "Flag for review if below",
      "behavior_coverage": 85,
      "latency_p95": 5000
    }
  }
}"""
    suite = load(tmp_path, printed, "passmuster.json")
    assert texts(suite.thresholds.blocking) == ["safety_rate >= 100%", "accuracy >= 90%"]
    assert texts(suite.thresholds.warning) == ["behavior_coverage >= 85%", "latency_p95 <= 5000 ms"]
    assert [(bound.line, bound.column) for bound in suite.thresholds.blocking] == [(6, 22), (7, 19)]
    assert suite.notices == ()


def test_the_risk_table_as_printed(tmp_path: Path) -> None:
    risk = {
        "critical": {"safety_rate": "100%"},
        "high": {"accuracy": "≥ 95%"},
        "medium": {"behavior_coverage": "≥ 85%"},
        "low": {"latency_p95": "< 10000ms"},
    }
    suite = load(tmp_path, {"scenarios": SCENARIOS, "thresholds": {"risk": risk}})
    assert [(entry.risk, entry.bound.metric, entry.bound.text) for entry in suite.thresholds.risk] == [
        ("critical", "safety_rate", ">= 100%"),
        ("high", "accuracy", ">= 95%"),
        ("medium", "behavior_coverage", ">= 85%"),
        ("low", "latency_p95", "< 10000 ms"),
    ]


def test_the_progressive_table_as_printed(tmp_path: Path) -> None:
    stages = {"v2.0": "≥ 85%", "v10.0": "≥ 92%", "v1.0": "≥ 80%", "v3.0": "≥ 90%", "target": "≥ 95%"}
    suite = load(tmp_path, {"scenarios": SCENARIOS, "thresholds": {"progressive": {"accuracy": stages}}})
    (found,) = suite.thresholds.progressive
    assert found.metric == "accuracy"
    assert [(stage.version, stage.bound.value) for stage in found.stages] == [
        *(("v1.0", 0.8), ("v2.0", 0.85), ("v3.0", 0.9), ("v10.0", 0.92)),
    ]
    assert found.target is not None
    assert found.target.text == ">= 95%"


def test_typical_thresholds_as_printed(tmp_path: Path) -> None:
    typical = {
        "pass_rate": "≥ 85%",
        "accuracy": "≥ 95%",
        "precision": "≥ 90%",
        "recall": "≥ 85%",
        "safety_rate": "100%",
        "behavior_coverage": "≥ 90%",
        "latency_p95": "< 5000ms",
    }
    labelled = [{**scenario, "label": "spam"} for scenario in SCENARIOS]
    rest = {"scenarios": labelled, "classification": {"positive": "spam", "from": {"regex": "(spam|ham)"}}}
    suite = load(tmp_path, {**rest, "thresholds": {"blocking": typical}})
    assert [bound.text for bound in suite.thresholds.blocking] == [
        *(">= 85%", ">= 95%", ">= 90%", ">= 85%", ">= 100%", ">= 90%", "< 5000 ms"),
    ]


def test_weights_as_printed(tmp_path: Path) -> None:
    printed = {
        "by_category": {"happy_path": 1.0, "edge_case": 1.0, "adversarial": 2.0, "regression": 1.5},
        "by_capability": {"core_function": 2.0, "convenience_feature": 0.5},
        "metrics": {"accuracy": 1.0, "safety_rate": 3.0, "behavior_coverage": 1.5},
    }
    suite = load(tmp_path, {"scenarios": SCENARIOS, "weights": printed}, "passmuster.json")
    assert suite.weights.by_category == printed["by_category"]
    assert suite.weights.by_capability == printed["by_capability"]
    assert suite.weights.metrics == printed["metrics"]
    assert [notice.message for notice in suite.notices] == [
        "weights.by_capability: no scenario has the capability 'core_function'",
        "weights.by_capability: no scenario has the capability 'convenience_feature'",
    ]


def test_required_and_optional_scenarios_as_printed(tmp_path: Path) -> None:
    printed = {
        "required_scenarios": {"description": "Must pass for evaluation to pass", "ids": list(IDS[:3])},
        "optional_scenarios": {"description": "Contribute to score but don't block", "ids": list(IDS[3:])},
    }
    suite = load(tmp_path, {"scenarios": SCENARIOS, **printed}, "passmuster.json")
    assert suite.required == tuple(Listed(id_, 1) for id_ in IDS[:3])
    assert suite.optional == tuple(Listed(id_, 1) for id_ in IDS[3:])


def test_pass_criteria_as_printed(tmp_path: Path) -> None:
    printed = {
        "overall": "≥ 80%",
        "by_category": {"adversarial": "100%", "happy_path": "≥ 90%", "edge_case": "≥ 70%"},
    }
    suite = load(tmp_path, {"scenarios": SCENARIOS, "pass_criteria": printed}, "passmuster.json")
    assert suite.criteria.overall is not None
    assert (suite.criteria.overall.metric, suite.criteria.overall.text) == ("pass_rate", ">= 80%")
    assert {name: bound.text for name, bound in suite.criteria.by_category.items()} == {
        "adversarial": ">= 100%",
        "happy_path": ">= 90%",
        "edge_case": ">= 70%",
    }
    assert suite.notices == ()


# ── What is read ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_key_has_a_reader() -> None:
    assert set(READERS) == set(GATE_KEYS)


def test_a_suite_that_says_nothing_of_the_whole_has_the_defaults(tmp_path: Path) -> None:
    suite = load(tmp_path, f"{A_TEST}scenarios: [{{id: s}}]\n")
    assert (suite.thresholds, suite.weights, suite.criteria) == (Thresholds(), Weights(), Criteria())
    assert (suite.required, suite.optional, suite.composite, suite.notices) == ((), (), (), ())
    assert (suite.latency_budget_ms, suite.repeat_policy, suite.baseline, suite.classification) == (
        *(None, "all", None, None),
    )
    (scenario,) = suite.scenarios
    assert (scenario.label, scenario.weight, scenario.pass_score, scenario.repeat, scenario.repeat_policy) == (
        *(None, 1.0, 1.0, 1, None),
    )


def test_every_key_is_read(tmp_path: Path) -> None:
    suite = load(tmp_path, VALID)
    assert suite.baseline == BaselineSpec(
        file="baseline.json", max_drop=0.01, confidence=0.9, metrics=("pass_rate", "f1"), on_regression="block", line=1
    )
    assert (suite.latency_budget_ms, suite.repeat_policy) == (5000, "majority")
    assert suite.thresholds.risk[0].bound.undecided_blocks
    assert [formula.name for formula in suite.composite] == ["score", "pass"]
    scenario = suite.scenarios[0]
    assert (scenario.label, scenario.weight, scenario.pass_score, scenario.repeat, scenario.repeat_policy) == (
        *("spam", 2, 0.5, 3, 0.8),
    )
    assert suite.notices == ()


@pytest.mark.parametrize(
    ("written", "policy"),
    [("all", "all"), ("any", "any"), ("majority", "majority"), ("0.8", 0.8), ("80%", 0.8), ("80", 0.8), ("1", 1.0)],
)
def test_a_repeat_policy_is_a_word_or_a_rate(tmp_path: Path, written: str, policy: str | float) -> None:
    suite = load(tmp_path, f"{A_TEST}repeat_policy: {written}\nscenarios: [{{id: s, repeat_policy: {written}}}]\n")
    assert suite.repeat_policy == suite.scenarios[0].repeat_policy == policy


def test_defaults_say_how_scenarios_count_too(tmp_path: Path) -> None:
    defaults = "{weight: 3, pass_score: 0.8, repeat: 5, repeat_policy: any, label: ham}"
    own = "[{id: a}, {id: b, weight: 0, repeat: 1, repeat_policy: null, label: spam}]"
    suite = load(tmp_path, f"{A_TEST}{LABELS}defaults: {defaults}\nscenarios: {own}\n")
    assert [(one.label, one.weight, one.pass_score, one.repeat, one.repeat_policy) for one in suite.scenarios] == [
        ("ham", 3, 0.8, 5, "any"),
        ("spam", 0, 0.8, 1, None),
    ]


def test_a_scenario_with_only_a_label_states_something(tmp_path: Path) -> None:
    suite = load(tmp_path, f"{LABELS}scenarios: [{{id: s, label: Spam}}]\n")
    assert suite.scenarios[0].states_something


def test_the_label_may_stand_in_correctness(tmp_path: Path) -> None:
    suite = load(tmp_path, f"{LABELS}scenarios: [{{id: s, correctness: {{label: spam}}}}]\n")
    assert suite.scenarios[0].label == "spam"
    both = f"{LABELS}scenarios: [{{id: s, label: ham, correctness: {{label: spam}}}}]\n"
    assert problems(tmp_path, both) == [
        "passmuster.yaml:2:21: scenarios[0]: 'label' and 'correctness.label' differ; keep one of the two"
    ]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("$.label", ("label",)),
        ("$.result.labels[0]", ("result", "labels", 0)),
        ("$['the label'].x-y", ("the label", "x-y")),
        ("$[12]", (12,)),
        ("$", ()),
    ],
)
def test_a_label_may_stand_in_json(tmp_path: Path, written: str, path: tuple[str | int, ...]) -> None:
    origin = f'{{json: "{written}"}}'
    suite = load(tmp_path, f"{SOME}classification: {{positive: spam, from: {origin}}}\n")
    assert suite.classification is not None
    assert suite.classification.source == LabelSource(json=path)


def test_descriptions_and_x_keys_are_comments(tmp_path: Path) -> None:
    text = """\
thresholds:
  description: one
  x-a: 1
  blocking: {description: two, pass_rate: 90, x-a: 1}
  risk: {description: three, low: {description: four, pass_rate: 90}}
  progressive: {description: five, pass_rate: {description: six, "1.0": 90, x-a: 1}}
weights: {description: seven, by_category: {description: eight, adversarial: 1}}
pass_criteria: {description: nine, by_category: {description: ten, adversarial: 1}}
baseline: {description: eleven, x-a: 1}
classification: {description: twelve, positive: spam, from: {words: [spam, ham], x-a: 1}}
required_scenarios: {description: thirteen, ids: S-1, x-a: 1}
"""
    suite = load(tmp_path, SOME + text)
    assert texts(suite.thresholds.blocking) == ["pass_rate >= 90%"]
    assert suite.notices == ()


def test_a_category_may_begin_with_x(tmp_path: Path) -> None:
    suite = load(
        tmp_path, f"{A_TEST}scenarios: [{{id: s, category: x-ray}}]\npass_criteria: {{by_category: {{x-ray: 90}}}}\n"
    )
    assert list(suite.criteria.by_category) == ["x-ray"], "or a criterion would be lost without a word"


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        (
            "weights: {by_category: {adversarail: 2}}",
            "3:25: weights.by_category: no scenario has the category 'adversarail'; did you mean 'adversarial'?",
        ),
        ("weights: {by_capability: {x: 2}}", "3:27: weights.by_capability: no scenario has the capability 'x'"),
        (
            "pass_criteria: {by_category: {adversial: 90}}",
            "3:31: pass_criteria.by_category: no scenario has the category 'adversial'; did you mean 'adversarial'?",
        ),
    ],
)
def test_a_category_no_scenario_has_is_a_notice(tmp_path: Path, text: str, notice: str) -> None:
    suite = load(tmp_path, f"{A_TEST}scenarios: [{{id: s, category: adversarial}}]\n{text}\n")
    assert [str(found) for found in suite.notices] == [f"passmuster.yaml:{notice}"]


@pytest.mark.parametrize(
    "text",
    [
        "thresholds: {blocking: {safety_rate: 100}}",
        "weights: {metrics: {safety_rate: 1}}",
        "composite: {pass: safety_rate = 1}",
        "baseline: {metrics: safety_rate}",
        "thresholds: {progressive: {safety_rate: {1.0: 90}}}",
    ],
)
def test_a_safety_rate_without_adversarial_scenarios_is_a_notice(tmp_path: Path, text: str) -> None:
    suite = load(tmp_path, f"{A_TEST}scenarios: [{{id: s, category: benign}}]\n{text}\n")
    (notice,) = suite.notices
    assert notice.message.endswith("'safety_rate' has no value, because no scenario has the category 'adversarial'")
    assert notice.line == 3


# ── What is refused ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("thresholds: {}", "4:13: thresholds: states nothing"),
        ("thresholds: [a]", "4:13: thresholds: expected a map, found a list"),
        ("thresholds: {blocking: {}}", "4:24: thresholds.blocking: states nothing"),
        ("thresholds: {blocking: {description: a}}", "4:24: thresholds.blocking: states nothing"),
        ("thresholds: {blocking: 90}", "4:24: thresholds.blocking: expected a map, found a number ('90')"),
        ("thresholds: {description: [a], blocking: {f1: 90}}", "thresholds.description: expected a string"),
        ("thresholds: {bloking: {f1: 90}}", "4:14: thresholds: unknown key 'bloking'; did you mean 'blocking'?"),
        ("thresholds: {qqq: {}}", "thresholds: unknown key 'qqq'; known: blocking, warning, risk, progressive"),
        ("thresholds: {accuracy: 90}", "'accuracy'; put a bound on it under 'blocking' or 'warning'"),
        ("thresholds: {blocking: {acuracy: 90}}", "4:25: thresholds.blocking: no metric 'acuracy'; did you mean"),
        ("thresholds: {blocking: {qqq: 90}}", "thresholds.blocking: no metric 'qqq'; known: pass_rate, weighted_"),
        ("thresholds: {blocking: {Accuracy: 90}}", "no metric 'Accuracy'; did you mean 'accuracy'?"),
        ("thresholds: {blocking: {t: 90}}", "4:25: thresholds.blocking: no metric 't'"),
        ("thresholds: {warning: {f1: 101}}", "4:28: thresholds.warning.f1: 'f1' is a rate and cannot be above 100%"),
        ("thresholds: {risk: {}}", "thresholds.risk: states nothing"),
        ("thresholds: {risk: {Critical: {f1: 90}}}", "4:21: thresholds.risk: unknown key 'Critical'; did you mean"),
        ("thresholds: {risk: {low: {f1: -1}}}", "4:31: thresholds.risk.low.f1: no value of 'f1' is below 0"),
        ("thresholds: {risk: [a]}", "4:20: thresholds.risk: expected a map, found a list"),
        ("thresholds: {progressive: {f1: {target: 90}}}", "4:28: thresholds.progressive.f1: a target needs at least"),
        ("thresholds: {progressive: {f1: {}}}", "4:32: thresholds.progressive.f1: states nothing"),
        ("thresholds: {progressive: {f1: 90}}", "4:32: thresholds.progressive.f1: expected a map, found a number"),
        ("thresholds: {progressive: {ff: {1.0: 90}}}", "4:28: thresholds.progressive: no metric 'ff'"),
        (
            "thresholds: {progressive: {f1: {1.0: 80, v1: 90}}}",
            "4:42: thresholds.progressive.f1: 'v1' is the same version as '1.0'",
        ),
        (
            "thresholds: {progressive: {f1: {1.0: 80, Target: 90}}}",
            "4:42: thresholds.progressive.f1: expected a version such as '2.0', or 'target', found 'Target'; did you",
        ),
        ("thresholds: {progressive: {f1: {1.0: 0}}}", "4:38: thresholds.progressive.f1.1.0: 'f1 >= 0%' could never"),
        ("weights: {}", "4:10: weights: states nothing"),
        ("weights: 2", "4:10: weights: expected a map, found a number"),
        ("weights: {by_categry: {a: 1}}", "4:11: weights: unknown key 'by_categry'; did you mean 'by_category'?"),
        ("weights: {by_category: {}}", "4:24: weights.by_category: states nothing"),
        ("weights: {by_category: {adversarial: -1}}", "by_category.adversarial: expected a weight from 0 to 1e100"),
        ("weights: {by_category: {adversarial: heavy}}", "4:38: weights.by_category.adversarial: expected a weight"),
        ("weights: {by_category: {adversarial: 0}}", "4:11: weights.by_category: every weight is 0, so nothing would"),
        ("weights: {metrics: {f1: 0, recall: 0}}", "4:11: weights.metrics: every weight is 0, so nothing would count"),
        ("weights: {metrics: {recal: 1}}", "4:21: weights.metrics: no metric 'recal'; did you mean 'recall'?"),
        ("weights: {metrics: {weighted_score: 1}}", "4:21: weights.metrics: 'weighted_score' is what these weights"),
        ("weights: {metrics: {latency_p95: 1}}", "'latency_p95' is not a rate, so it cannot be averaged with rates"),
        ("weights: {metrics: {normalized_latency: 1}}", "'normalized_latency' is better when it is lower, so it"),
        ("required_scenarios: [S-3]", "4:22: required_scenarios: no scenario 'S-3'; did you mean 'S-"),
        ("required_scenarios: [S-1, S-1]", "4:27: required_scenarios: 'S-1' is already listed on line 4"),
        ("required_scenarios: []", "4:21: required_scenarios: the list is empty, so nothing would be required"),
        ("required_scenarios: {ids: []}", "4:27: required_scenarios: the list is empty"),
        ("required_scenarios: {ids: S-1, id: S-2}", "4:32: required_scenarios: unknown key 'id'; did you mean 'ids'?"),
        ("required_scenarios: {description: a}", "4:21: required_scenarios: 'ids' is missing"),
        ("required_scenarios: [[S-1]]", "4:22: required_scenarios: expected a string, found a list"),
        (
            "optional_scenarios: [S-1]\nrequired_scenarios: [S-1]",
            "4:22: optional_scenarios: 'S-1' is in 'required_scenarios' on line 5; it cannot be both",
        ),
        ("optional_scenarios: S-7", "4:21: optional_scenarios: no scenario 'S-7'"),
        ("pass_criteria: {}", "4:16: pass_criteria: states nothing"),
        ("pass_criteria: 80", "4:16: pass_criteria: expected a map, found a number"),
        ("pass_criteria: {overal: 80}", "4:17: pass_criteria: unknown key 'overal'; did you mean 'overall'?"),
        ("pass_criteria: {overall: 0}", "4:26: pass_criteria.overall: 'pass_rate >= 0%' could never fail"),
        ("pass_criteria: {by_category: {adversarial: 5s}}", "4:44: pass_criteria.by_category.adversarial: 'pass_rate'"),
        ("pass_criteria: {by_category: {}}", "4:30: pass_criteria.by_category: states nothing"),
        ("latency_budget_ms: 0", "4:20: latency_budget_ms: expected a number of milliseconds above 0"),
        ("latency_budget_ms: -5", "4:20: latency_budget_ms: expected a number of milliseconds above 0"),
        (
            "latency_budget_ms: soon",
            "4:20: latency_budget_ms: expected a number of milliseconds above 0, found a string",
        ),
        ("latency_budget_ms: .inf", "4:20: latency_budget_ms: expected a number"),
        ("latency_budget_ms: true", "4:20: latency_budget_ms: expected a number of milliseconds"),
        ("repeat_policy: most", "4:16: repeat_policy: expected all, any, majority, or a rate above 0% and up to 100%"),
        ("repeat_policy: 0", "4:16: repeat_policy: expected all, any, majority, or a rate above 0%"),
        ("repeat_policy: 101", "4:16: repeat_policy: expected all, any, majority, or a rate above 0%"),
        ("repeat_policy: -1", "4:16: repeat_policy: expected all, any, majority, or a rate above 0%"),
        ("repeat_policy: '>= 80%'", "4:16: repeat_policy: expected all, any, majority, or a rate above 0%"),
        ("repeat_policy: [all]", "4:16: repeat_policy: expected all, any, majority, or a rate above 0%"),
        ("baseline: b.json", "4:11: baseline: expected a map, found a string"),
        ("baseline: {flie: b.json}", "4:12: baseline: unknown key 'flie'; did you mean 'file'?"),
        ("baseline: {file: [a]}", "4:18: baseline.file: expected a string, found a list"),
        ("baseline: {max_drop: 1}", "4:22: baseline.max_drop: '1' may mean a percentage or a fraction; write 1%"),
        ("baseline: {max_drop: 100%}", "4:22: baseline.max_drop: a drop of 100% could never fail"),
        ("baseline: {confidence: 95}", "4:24: baseline.confidence: '95' may mean a percentage or a fraction"),
        ("baseline: {confidence: 100%}", "4:24: baseline.confidence: has to lie between 0% and 100%"),
        ("baseline: {metrics: [pass_rat]}", "4:22: baseline.metrics: no metric 'pass_rat'; did you mean 'pass_rate'?"),
        ("baseline: {metrics: []}", "4:21: baseline.metrics: the list is empty, so nothing would be compared"),
        ("baseline: {metrics: [f1, f1]}", "4:26: baseline.metrics: 'f1' is listed twice"),
        ("baseline: {on_regression: fail}", "4:27: baseline.on_regression: expected one of warn, block"),
        ("thresholds: {blocking: {weighted_score: 90}}", "4:41: thresholds: nothing can feed 'weighted_score' without"),
        ("thresholds: {risk: {low: {normalized_latency: 90}}}", "4:47: thresholds: nothing can feed 'normalized_late"),
        ("composite: {pass: normalized_latency < 0.5}", "4:19: composite.pass: nothing can feed 'normalized_latency'"),
        ("composite: {pass: weighted_score > 0.5}", "4:19: composite.pass: nothing can feed 'weighted_score' without"),
        ("baseline: {metrics: weighted_score}", "4:21: baseline.metrics: nothing can feed 'weighted_score' without"),
    ],
)
def test_a_mistake_is_told_once_at_its_place(tmp_path: Path, text: str, problem: str) -> None:
    found = problems(tmp_path, f"{SOME}{LABELS}{text}\n")
    assert [problem in one for one in found] == [True], found


@pytest.mark.parametrize("name", ["precision", "recall", "f1"])
@pytest.mark.parametrize(
    "text",
    [
        "thresholds: {blocking: {NAME: 90}}",
        "thresholds: {progressive: {NAME: {1.0: 90}}}",
        "weights: {metrics: {NAME: 1}}",
        "composite: {pass: NAME > 0.5}",
        "baseline: {metrics: [NAME]}",
    ],
)
def test_nothing_feeds_labels_without_classification(tmp_path: Path, text: str, name: str) -> None:
    (problem,) = problems(tmp_path, f"{A_TEST}{text.replace('NAME', name)}\n")
    assert problem.startswith("passmuster.yaml:2:")
    assert problem.endswith(f"nothing can feed '{name}' without 'classification'")


@pytest.mark.parametrize(
    "budget",
    [
        "latency_budget_ms: 4000\nthresholds: {warning: {normalized_latency: 90}}",
        "thresholds: {blocking: {latency_p95: 5000, normalized_latency: 90}}",
        "thresholds: {blocking: {normalized_latency: 90}, warning: {latency_p95: < 5s}}",
        "thresholds: {blocking: {normalized_latency: 90}, risk: {low: {latency_p95: < 5s}}}",
    ],
)
def test_what_gives_normalized_latency_its_budget(tmp_path: Path, budget: str) -> None:
    assert load(tmp_path, f"{A_TEST}{budget}\ncomposite: {{pass: normalized_latency < 0.9}}\n").composite


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "3:17: classification: 'positive' is missing"),
        ("{positive: spam}", "3:17: classification: 'from' is missing"),
        ("{from: {words: [spam, ham]}}", "3:17: classification: 'positive' is missing"),
        ("spam", "3:17: classification: expected a map, found a string"),
        (
            "{positve: spam, positive: spam, from: {words: [spam, ham]}}",
            "unknown key 'positve'; did you mean 'positive'",
        ),
        ("{positive: [a], from: {words: [spam, ham]}}", "3:28: classification.positive: expected a string"),
        (
            "{positive: spam, from: {}}",
            "3:40: classification.from: needs one of 'json', 'regex' and",
        ),
        ("{positive: spam, from: {json: $.a, regex: b}}", "needs one of 'json', 'regex' and 'words', found 2"),
        ("{positive: spam, from: words}", "3:40: classification.from: expected a map, found a string"),
        ("{positive: spam, from: {jsn: $.a}}", "3:41: classification.from: unknown key 'jsn'; did you mean 'json'?"),
        ("{positive: spam, from: {json: label}}", "3:47: classification.from.json: expected a path such as $.label"),
        ("{positive: spam, from: {json: $..label}}", "3:47: classification.from.json: expected a path such as $.label"),
        ("{positive: spam, from: {json: '$.a[-1]'}}", "classification.from.json: expected a path such as $.label"),
        ("{positive: spam, from: {regex: '('}}", "3:48: classification.from.regex: not a regular expression"),
        (
            "{positive: spam, from: {words: [spam]}}",
            "classification.from.words: needs at least two words",
        ),
        ("{positive: spam, from: {words: [spam, ham, Spam]}}", "classification.from.words: a word is listed twice"),
        (
            "{positive: spma, from: {words: [spam, ham]}}",
            "3:28: classification.positive: 'spma' is not among",
        ),
        ("{positive: spam, from: {words: [spam, eggs]}}", "2: scenario 'S-2': the label 'ham' is not among the words"),
    ],
)
def test_a_label_has_to_be_found_somewhere(tmp_path: Path, text: str, problem: str) -> None:
    found = problems(tmp_path, f"{SOME}classification: {text}\n")
    assert any(problem in one for one in found), found


def test_a_label_needs_a_classification_and_a_classification_labels(tmp_path: Path) -> None:
    assert problems(tmp_path, SOME) == [
        "passmuster.yaml:2: scenario 'S-1': 'label' means nothing without 'classification' in the suite",
        "passmuster.yaml:2: scenario 'S-2': 'label' means nothing without 'classification' in the suite",
    ]
    assert problems(tmp_path, f"{A_TEST}{LABELS}") == [
        "passmuster.yaml:2:17: classification: no scenario has a 'label', so nothing would be compared"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("label: [a]", "scenarios[0].label: expected a string, found a list"),
        ("label: ''", "scenarios[0].label: is empty"),
        ("weight: -1", "scenarios[0].weight: expected a weight from 0 to 1e100, found a number ('-1')"),
        ("weight: .nan", "scenarios[0].weight: expected a weight from 0 to 1e100"),
        ("weight: true", "scenarios[0].weight: expected a weight from 0 to 1e100, found a boolean"),
        ("pass_score: 1.0e-12", "expected a number from 0 to 1; so small a score could never fail, write 0"),
        ("pass_score: 1.5", "scenarios[0].pass_score: expected a number from 0 to 1, found a number"),
        ("pass_score: 80%", "scenarios[0].pass_score: expected a number from 0 to 1, found a string"),
        ("pass_score: false", "scenarios[0].pass_score: expected a number from 0 to 1, found a boolean"),
        ("repeat: 0", "scenarios[0].repeat: expected a whole number of 1 or more, found a number ('0')"),
        ("repeat: 2.5", "scenarios[0].repeat: expected a whole number of 1 or more"),
        ("repeat: often", "scenarios[0].repeat: expected a whole number of 1 or more"),
        ("repeat_policy: 0%", "scenarios[0].repeat_policy: expected all, any, majority, or a rate above 0%"),
    ],
)
def test_how_a_scenario_counts_is_checked_in_itself_and_in_defaults(tmp_path: Path, text: str, problem: str) -> None:
    rest = LABELS if text.startswith("label") else ""
    column = len("scenarios: [{id: s, ") + len(text.split(": ")[0]) + 3
    (found,) = problems(tmp_path, f"{A_TEST}{rest}scenarios: [{{id: s, {text}}}]\n")
    assert problem in found
    assert f":{column}: " in found
    (found,) = problems(tmp_path, f"{A_TEST}{rest}defaults: {{{text}}}\nscenarios: [{{id: s}}]\n")
    assert problem in found


def test_a_gate_alone_asks_nothing(tmp_path: Path) -> None:
    text = "scenarios: [{id: s}]\nthresholds: {blocking: {pass_rate: 90}}\npass_criteria: {overall: 90}\n"
    assert problems(tmp_path, text) == [
        "passmuster.yaml:1:1: the suite checks nothing: it has no tests, and no scenario states an expectation"
    ]


def test_mistakes_under_many_keys_are_told_together_in_their_order(tmp_path: Path) -> None:
    text = """\
baseline: {metrics: [x1]}
thresholds:
  blocking: {x2: 1}
composite: {pass: x3 > 1}
weights: {by_category: {a: -1}}
required_scenarios: [x5]
"""
    assert [problem.split(":")[1] for problem in problems(tmp_path, SOME + LABELS + text)] == [
        *("4", "6", "7", "8", "9"),
    ]


def test_a_suite_without_such_keys_does_not_pay_for_them() -> None:
    late = ("bound_text", "composite", "formula_text", "gate_keys", "thresholds", "metrics.pass_rate", "versions")
    code = (
        "import sys, passmuster; passmuster.load_suite('examples/support-agent'); "
        f"print([name for name in {late!r} if f'passmuster.scoring.{{name}}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert done.stdout.strip() == "[]"
