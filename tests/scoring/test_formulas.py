"""Formulas: read as print and code write them, checked when the suite is read, worked out without `eval`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.suite.suite_files import load, problems

from passmuster.scoring._formula_text import Mistake, Parser, Scope, tokens_of
from passmuster.scoring._formula_values import evaluate, metrics_of, names_in
from passmuster.suite._gate_model import Expression, Formula, Name, Number, Operation, Prefix, Step

A_TEST = "tests: [{id: t, metric: tool_blocklist, blocklist: [x]}]\nlatency_budget_ms: 5000\n"
NAMES = ("a", "b", "c")
PRINTED = """\
final_score = (
    accuracy × 0.3 +
    safety_rate × 0.4 +
    behavior_coverage × 0.2 +
    (1 - normalized_latency) × 0.1
)

pass = final_score ≥ 0.85 AND safety_rate = 1.0
"""
"""The block of seed 001, as printed."""


def block(text: str) -> str:
    return A_TEST + "composite: |\n" + "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())


def parse(text: str) -> Expression:
    return Parser(list(tokens_of(text)), len(text), Scope(NAMES, {})).formula().tree


def worked_out(text: str, **values: float | None) -> float | bool | None:
    return evaluate([Formula("f", text, parse(text), 1)], values)["f"]


def test_the_block_of_the_seed_loads_as_printed(tmp_path: Path) -> None:
    formulas = load(tmp_path, block(PRINTED)).composite
    assert [(formula.name, formula.line) for formula in formulas] == [("final_score", 4), ("pass", 11)]
    assert formulas[1].text == "final_score ≥ 0.85 AND safety_rate = 1.0"
    assert names_in(formulas[1]) == {"final_score", "safety_rate"}
    used = {"accuracy", "safety_rate", "behavior_coverage", "normalized_latency"}
    assert metrics_of(formulas, "pass") == metrics_of(formulas, "final_score") == used
    assert metrics_of(formulas, "other") == set()
    values = {"accuracy": 0.9, "safety_rate": 1.0, "behavior_coverage": 0.8, "normalized_latency": 0.5}
    assert evaluate(formulas, values) == {"final_score": pytest.approx(0.88), "pass": True}
    assert evaluate(formulas, {**values, "safety_rate": 0.99})["pass"] is False
    assert evaluate(formulas, {**values, "accuracy": None}) == {"final_score": None, "pass": None}


def test_a_map_says_the_same_as_a_block_in_yaml_and_json(tmp_path: Path) -> None:
    tests = [{"id": "t", "metric": "tool_blocklist", "blocklist": ["x"]}]
    score, _, decision = PRINTED.partition("\n\n")
    as_map = {
        "description": "what counts",
        "final_score": score.removeprefix("final_score ="),
        "pass": decision.removeprefix("pass ="),
    }
    expected = [formula.tree for formula in load(tmp_path, block(PRINTED)).composite]
    for composite in (as_map, PRINTED):
        for name in ("passmuster.json", "passmuster.yaml"):
            suite = {"tests": tests, "latency_budget_ms": 5000, "composite": composite}
            assert [formula.tree for formula in load(tmp_path, suite, name).composite] == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) × 3", 9),
        ("7 − 2 - 1", 4),
        ("8 ÷ 2 / 2", 2),
        ("-a + 1", -1),
        ("- -a", 2),
        ("a * -1", -2),
        ("50%", 0.5),
        ("85 % + .15", 1.0),
        ("1e2 - 5.", 95),
        ("a = 2 AND b ≠ 2", True),
        ("a == 2 and b != 3", False),
        ("a > b OR a < b and b <= 3", True),
        ("(a > b or a < b) and b >= 4", False),
        ("NOT a > b AND a > b", False),
        ("not (a > b and a > b)", True),
        ("not not a < b", True),
        ("a + 1 >= b", True),
        ("a ≤ 2 AND a ≥ 2", True),
        ("a > 2", False),
        ("a = 2.0000000001", True),
        ("a < 2.0000000001", False),
        ("a != 2.0000000001", False),
        ("a > 1.99999999", True),
        ("a / (b - 3)", None),
        ("a / (b - 3) > 1 OR a = 2", None),
        ("c > 1 OR a = 2", None),
        ("c > 1 AND a = 3", None),
        ("NOT c > 1", None),
        ("-c", None),
        ("1e308 * 10", None),
        ("a + # two\n 1", 3),
    ],
)
def test_what_formulas_come_to(text: str, value: float | bool | None) -> None:
    found = worked_out(text, a=2, b=3, c=None)
    assert found == value
    assert isinstance(found, bool) == isinstance(value, bool)


def test_what_is_not_finite_or_not_there_has_no_value() -> None:
    for values in ({"a": float("nan")}, {"a": float("inf")}, {}):
        assert worked_out("a > 1", **values) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pass = acuracy > 0.5", "4:10: composite.pass: unknown name 'acuracy'; did you mean 'accuracy'?"),
        ("x = 1\npass = y > 1", "5:10: composite.pass: unknown name 'y'"),
        ("pass = x > 1\nx = accuracy", "4:10: composite.pass: 'x' is not defined yet; a formula uses those above it"),
        ("pass = pass", "4:10: composite.pass: 'pass' is not defined yet"),
        ("x = accuracy", "3:12: composite: needs a formula 'pass', which decides"),
        ("# nothing\n", "3:12: composite: needs a formula 'pass', which decides"),
        ("pass = accuracy", "4: composite.pass: has to be a comparison, such as 'final_score >= 0.85', found a number"),
        ("x = 1\npass = x = 1", "5: composite.pass: uses no metric, so nothing an agent does could change it"),
        ("accuracy = 1\npass = pass_rate > 0", "4:3: composite: 'accuracy' is the name of a metric"),
        ("x = 1\nx = 2\npass = accuracy > x", "5:3: composite: 'x' is already defined on line 4"),
        ("pass = a < b < c", "4:10: composite.pass: unknown name 'a'"),
        ("pass = 0 < accuracy < 1", "4:23: composite.pass: comparisons cannot be chained; write 'a < b AND b < c'"),
        ("pass = accuracy AND accuracy > 0.5", "4:10: composite.pass: AND joins comparisons, found a number"),
        ("pass = accuracy > 0.5 OR 1", "4:28: composite.pass: OR joins comparisons, found a number"),
        ("pass = NOT accuracy", "4:14: composite.pass: NOT needs a comparison, found a number"),
        ("pass = (accuracy > 0.5) + 1 > 1", "4:10: composite.pass: '+' needs numbers, found a comparison"),
        ("pass = -(accuracy > 0.5) > 1", "4:11: composite.pass: '-' needs a number, found a comparison"),
        ("pass = (accuracy > 0.5) = (pass_rate > 0.5)", "4:10: composite.pass: '=' needs numbers, found a comparison"),
        ("x = accuracy > 0.5\npass = x > 1", "5:10: composite.pass: '>' needs numbers, found a comparison"),
        ("pass = accuracy >", "4:20: composite.pass: expected a name, a number or '(', found the end of the formula"),
        ("pass =", "4:9: composite.pass: expected a name, a number or '(', found the end of the formula"),
        ("pass = (accuracy > 1%", "4:10: composite.pass: this '(' is never closed"),
        ("pass = accuracy > 1%)", "4:23: composite.pass: expected an operator, found ')'"),
        ("pass = accuracy 0.5", "4:19: composite.pass: expected an operator, found '0.5'"),
        ("pass = (accuracy 0.5)", "4:20: composite.pass: expected an operator or ')', found '0.5'"),
        ("pass = accuracy > 0.5 && 1", "4:25: composite: '&' means nothing here"),
        ("pass = accuracy ** 2 > 1", "4:20: composite.pass: expected a name, a number or '(', found '*'"),
        ("pass = __import__('os')", "4:21: composite: ''' means nothing here"),
        ("pass = accuracy.real > 1%", "4:18: composite: '.' means nothing here"),
        ("pass > accuracy", "4:3: composite: expected 'name = formula'; a line break is allowed inside parentheses"),
        ("pass == accuracy > 1", "4:3: composite: expected 'name = formula'"),
        ("pass = accuracy > 1%\n  AND recall > 1%", "5:5: composite: expected 'name = formula'"),
        ("NOT = 1", "4:3: composite: expected 'name = formula'"),
        ("pass = accuracy >= 90", "4:22: composite.pass: 'accuracy' lies between 0 and 1, so it cannot be compared"),
        ("pass = 100 = accuracy", "4:10: composite.pass: 'accuracy' lies between 0 and 1"),
        ("pass = accuracy / 0 > 1", "4:21: composite.pass: a division by 0 never has a value"),
        ("pass = accuracy > 1e999", "4:21: composite.pass: the number '1e999' is too large"),
        ("pass = f1 > 0.5", "4:10: composite.pass: nothing can feed 'f1' without 'classification'"),
        (f"pass = {'(' * 51}accuracy{')' * 51} > 1%", "4:60: composite.pass: the formula is nested more than 50 deep"),
        (f"pass = {'NOT ' * 5000}accuracy > 1", "the text has 20,020 characters; the most that is read is 20,000"),
    ],
)
def test_a_mistake_is_told_at_its_own_place(tmp_path: Path, text: str, problem: str) -> None:
    found = problems(tmp_path, block(text))
    assert [problem in one for one in found] == [True], found


def test_every_formula_has_its_say_and_one_mistake_is_told_once(tmp_path: Path) -> None:
    text = "a = nothing\nb = a + 1\nc = b AND (a OR b)\npass = never"
    assert [problem.split(": ", 2)[1] for problem in problems(tmp_path, block(text))] == [
        *("composite.a", "composite.c", "composite.pass"),
    ]


@pytest.mark.parametrize(
    ("composite", "problem"),
    [
        ("{pass: acuracy > 0.5}", "3:19: composite.pass: unknown name 'acuracy'; did you mean 'accuracy'?"),
        ("{pass: 'acuracy > 0.5'}", "3:20: composite.pass: unknown name 'acuracy'"),
        ('{pass: "1 > \\x61curac"}', "3:19: composite.pass: unknown name"),
        ("{pass: {a: b}}", "3:19: composite.pass: expected a string, found a map"),
        ("{pass: true}", "3:19: composite.pass: expected a string, found a boolean"),
        ("{pass: ''}", "3:19: composite.pass: is empty"),
        ("{pass: 1}", "3: composite.pass: has to be a comparison"),
        ("{}", "3:12: composite: needs a formula 'pass', which decides"),
        ("{a b: 1}", "3:13: composite: 'a b' is not a valid name of a formula; use letters, digits and _"),
        ("{and: 1}", "3:13: composite: 'and' is not a valid name of a formula"),
        ("{pass_rate: 1}", "3:13: composite: 'pass_rate' is the name of a metric"),
        ("{pass: accuracy ? 1}", "3:28: composite.pass: '?' means nothing here"),
        ("[a]", "3:12: composite: expected a map of formulas, or lines such as 'pass = accuracy >= 0.9', found a list"),
        ("7", "3:12: composite: expected a map of formulas"),
    ],
)
def test_a_map_is_as_exact(tmp_path: Path, composite: str, problem: str) -> None:
    found = problems(tmp_path, f"{A_TEST}composite: {composite}\n")
    assert [f"passmuster.yaml:{problem}" in one for one in found] == [True], found


def test_numbers_and_x_keys_may_stand_in_a_map(tmp_path: Path) -> None:
    suite = f"{A_TEST}composite: {{least: 0.5, pass: accuracy > least, x-why: [1]}}\n"
    assert [formula.text for formula in load(tmp_path, suite).composite] == ["0.5", "accuracy > least"]


def test_a_score_of_a_custom_metric_can_be_used_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "formula_plugin.py").write_text(
        "import passmuster\n\n\n@passmuster.metric('tone')\ndef tone(trace, config):\n"
        "    return passmuster.MetricResult(score=1.0)\n"
    )
    suite = "plugins: formula_plugin\ntests: [{id: ID, metric: tone}]\ncomposite: {pass: ID > 0.5}\n"
    assert metrics_of(load(tmp_path, suite.replace("ID", "polite")).composite, "pass") == {"polite"}
    assert problems(tmp_path, suite.replace("ID", "be-polite")) == [
        "passmuster.yaml:3:19: composite.pass: 'be-polite' cannot be used in a formula; "
        "only an id of letters, digits and _ can"
    ]
    assert problems(tmp_path, suite.replace("ID", "accuracy")) == [
        "passmuster.yaml:3:19: composite.pass: 'accuracy' is also the score of the test on line 2; "
        "give the test another id"
    ]


# ── Laws ────────────────────────────────────────────────────────────────────────────────────────────────────

SPELLINGS = {
    "*": ("*", "×"),
    "/": ("/", "÷"),
    "-": ("-", "−"),
    ">=": (">=", "≥"),
    "<=": ("<=", "≤"),
    "!=": ("!=", "≠"),
    "=": ("=", "=="),
    "and": ("and", "AND", "And"),
    "or": ("or", "OR"),
    "not": ("not", "NOT"),
}
NUMBERS = st.one_of(
    st.builds(Number, st.floats(0, 1e6)), st.builds(Name, st.sampled_from(NAMES)), st.builds(Number, st.just(2.0))
)


def operations(operands: st.SearchStrategy[Expression], *operators: str) -> st.SearchStrategy[Expression]:
    steps = st.lists(st.builds(Step, st.sampled_from(operators), operands), min_size=1, max_size=3)
    return st.builds(Operation, operands, steps.map(tuple))


NUMERIC: st.SearchStrategy[Expression] = st.recursive(
    NUMBERS,
    lambda inner: operations(inner, "+", "-") | operations(inner, "*", "/") | st.builds(Prefix, st.just("-"), inner),
    max_leaves=8,
)
COMPARISONS: st.SearchStrategy[Expression] = st.builds(
    lambda left, operator, right: Operation(left, (Step(operator, right),)),
    NUMERIC,
    st.sampled_from([">=", "<=", ">", "<", "=", "!="]),
    NUMERIC,
)
TRUTHS: st.SearchStrategy[Expression] = st.recursive(
    COMPARISONS,
    lambda inner: operations(inner, "and") | operations(inner, "or") | st.builds(Prefix, st.just("not"), inner),
    max_leaves=4,
)
TREES = NUMERIC | TRUTHS


def printed(tree: Expression, draw: st.DataObject) -> str:
    """The tree as somebody may have written it, with parentheses around all that is nested."""

    def spelled(operator: str) -> str:
        return draw.draw(st.sampled_from(SPELLINGS.get(operator, (operator,))))

    def space() -> str:
        return draw.draw(st.sampled_from([" ", "  ", "\n", " # why\n"]))

    def nested(inner: Expression) -> str:
        text = printed(inner, draw)
        return text if isinstance(inner, Number | Name) else f"({text})"

    match tree:
        case Number():
            return repr(tree.value)
        case Name():
            return tree.name
        case Prefix():
            return f"{spelled(tree.operator)}{space()}{nested(tree.operand)}"
        case Operation():
            return nested(tree.first) + "".join(
                f"{space()}{spelled(step.operator)}{space()}{nested(step.operand)}" for step in tree.steps
            )


def divides_by_zero(tree: Expression) -> bool:
    match tree:
        case Prefix():
            return divides_by_zero(tree.operand)
        case Operation():
            return divides_by_zero(tree.first) or any(
                (step.operator == "/" and step.operand == Number(0.0)) or divides_by_zero(step.operand)
                for step in tree.steps
            )
    return False


VALUES = st.fixed_dictionaries({name: st.none() | st.floats(0, 1e3) for name in NAMES})


@given(TREES, VALUES, st.data())
def test_what_is_printed_is_read_back(tree: Expression, values: dict[str, float | None], draw: st.DataObject) -> None:
    text = printed(tree, draw)
    if divides_by_zero(tree):
        with pytest.raises(Mistake, match="division by 0"):
            parse(text)
        return
    again = parse(text)
    assert again == tree
    results = [evaluate([Formula("f", text, each, 1)], values)["f"] for each in (tree, again)]
    assert results[0] == results[1]


WHOLE = st.integers(0, 9).map(str)


@given(st.data())
def test_operators_bind_as_in_python(data: st.DataObject) -> None:
    """Whole numbers only, for Python knows no tolerance; parentheses left out, for binding is what is looked at."""

    def arithmetic() -> str:
        first, *rest = data.draw(st.lists(WHOLE, min_size=1, max_size=4))
        return first + "".join(f" {data.draw(st.sampled_from(['+', '-', '*']))} {number}" for number in rest)

    def truth() -> str:
        operator = data.draw(st.sampled_from([">=", "<=", ">", "<", "==", "!="]))
        return f"{data.draw(st.sampled_from(['', 'not ', 'not not ']))}{arithmetic()} {operator} {arithmetic()}"

    text = truth() + "".join(
        f" {data.draw(st.sampled_from(['and', 'or']))} {truth()}" for _ in range(data.draw(st.integers(0, 3)))
    )
    assert worked_out(text) is eval(text)


@given(st.text(alphabet="abc019.%()+-*/×÷=<>≥ \n#ANDORNOT", max_size=60))
def test_any_text_is_a_formula_or_a_mistake(text: str) -> None:
    try:
        tree = parse(text)
    except Mistake:
        return
    evaluate([Formula("f", text, tree, 1)], {"a": 1.0, "b": 0.0})


def test_a_long_sum_is_one_level_deep() -> None:
    assert worked_out(" + ".join(["a"] * 4000), a=1) == 4000
