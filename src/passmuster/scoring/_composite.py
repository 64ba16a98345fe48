"""`composite:`, formulas over metrics, of which `pass` decides.

    final_score = (accuracy × 0.3 + safety_rate × 0.7)
    pass = final_score ≥ 0.85 AND safety_rate = 1.0

A map of names to formulas, or one block of lines: there the first `=` of a line defines and later ones compare, and
a line break inside parentheses is white space. A formula may use the metrics and the formulas above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from passmuster._problems import Problem
from passmuster.scoring._formula_text import WORDS, Mistake, Parser, Scope, Token, tokens_of
from passmuster.scoring._formula_values import metrics_of
from passmuster.scoring._metrics import declared_metrics
from passmuster.scoring._tautology import idle_comparisons
from passmuster.suite import Formula, Node, Reader, Scalar
from passmuster.suite import Mapping as MappingNode

COMPOSITE_SCHEMA = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "properties": {"pass": {"type": "string", "description": "The formula that decides."}},
            "patternProperties": {"^x-": {}},
            "additionalProperties": {"type": ["string", "number"]},
            "required": ["pass"],
        },
    ]
}


# ── Reading `composite` ─────────────────────────────────────────────────────────────────────────────────────


class _Definition(NamedTuple):
    """A formula as it was written, not yet parsed."""

    name: str
    text: str
    tokens: list[Token]
    end: int
    node: Scalar
    line: int
    column: int


def read_composite(
    reader: Reader,
    node: Node,
    known: Collection[str],
    unfed: Mapping[str, str] | None = None,
    lines: Sequence[str] = (),
) -> tuple[Formula, ...]:
    """The formulas of `composite` in their order.

    `known` are the metrics; `unfed` says of some why they can never have a value. `lines` are those of the file: with
    them a mistake inside a formula is reported at its own place.
    """
    before = len(reader.problems)
    rates = {name for name, metric in declared_metrics().items() if metric.rate}
    scope = Scope(known, unfed or {}, rates)

    def problem(line: int, column: int | None, message: str) -> None:
        reader.problems.append(Problem(message, reader.file, line, column))

    def mistake_in(node: Scalar, mistake: Mistake, at: str) -> None:
        problem(*_place(node, lines, mistake.offset), f"{at}: {mistake}")

    definitions: dict[str, _Definition] = {}
    for one in _definitions(reader, node, lines, mistake_in):
        if why := _why_no_name(one.name, scope, definitions):
            problem(one.line, one.column, f"composite: '{one.name}' {why}")
        else:
            definitions[one.name] = one
    scope.below.update(definitions)
    formulas = []
    for name, one in definitions.items():
        try:
            part = Parser(one.tokens, one.end, scope).formula()
        except Mistake as mistake:
            mistake_in(one.node, mistake, f"composite.{name}")
            scope.truths[name] = None
            continue
        scope.truths[name] = part.is_truth
        text = " ".join(re.sub(r"#[^\n]*", "", one.text).split())
        formulas.append(Formula(name, text, part.tree, one.line))
    if len(reader.problems) > before:
        return tuple(formulas)
    # `pass` decides: it has to be there, and an agent has to be able to change it.
    if "pass" not in definitions:
        reader.problem(node, "composite: needs a formula 'pass', which decides")
    elif scope.truths["pass"] is False:
        message = "composite.pass: has to be a comparison, such as 'final_score >= 0.85', found a number"
        problem(definitions["pass"].line, None, message)
    elif not metrics_of(formulas, "pass"):
        message = "composite.pass: uses no metric, so nothing an agent does could change it"
        problem(definitions["pass"].line, None, message)
    else:
        between = {name for name in known if name in rates or name not in declared_metrics()}  # scores of tests too
        for formula, why in idle_comparisons(formulas, between):
            problem(formula.line, None, f"composite.{formula.name}: {why}")
    return tuple(formulas)


def _why_no_name(name: str, scope: Scope, definitions: Mapping[str, _Definition]) -> str | None:
    if not re.fullmatch(r"[^\W\d]\w*", name) or name.lower() in WORDS:
        return "is not a valid name of a formula; use letters, digits and _"
    if name in scope.known:
        return "is the name of a metric; give the formula another one"
    return f"is already defined on line {definitions[name].line}" if name in definitions else None


def _definitions(
    reader: Reader, node: Node, lines: Sequence[str], mistake_in: Callable[[Scalar, Mistake, str], None]
) -> Iterator[_Definition]:
    """The formulas of a map, or of a block of lines."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        try:
            statements = list(_statements(list(tokens_of(node.text))))
        except Mistake as mistake:
            return mistake_in(node, mistake, "composite")
        for tokens in statements:
            start = tokens[0].start
            if len(tokens) < 2 or tokens[0].kind != "name" or node.text[tokens[1].start : tokens[1].end] != "=":
                wrong = Mistake("expected 'name = formula'; a line break is allowed inside parentheses", start)
                mistake_in(node, wrong, "composite")
                continue
            text, end = node.text[tokens[1].end : tokens[-1].end], tokens[-1].end
            yield _Definition(tokens[0].text, text, tokens[2:], end, node, *_place(node, lines, start))
    elif isinstance(node, MappingNode):
        for entry in node:
            value, at = entry.value, f"composite.{entry.key}"
            text = "" if entry.key.startswith("x-") else reader.text(value, at, empty=entry.key == "description")
            if entry.key == "description" or not text.strip() or not isinstance(value, Scalar):
                continue
            try:
                tokens = list(tokens_of(text))
            except Mistake as mistake:
                mistake_in(value, mistake, at)
                continue
            yield _Definition(entry.key, text, tokens, len(text), value, entry.line, entry.column)
    else:
        reader.expected("a map of formulas, or lines such as 'pass = accuracy >= 0.9'", node, "composite")


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each definition: a line break ends it unless a parenthesis is open."""
    statement: list[Token] = []
    depth = 0
    for token in tokens:
        if token.kind == "bracket":
            depth = max(depth + (1 if token.text == "(" else -1), 0)
        if token.kind != "break":
            statement.append(token)
        elif depth == 0 and statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _place(node: Scalar, lines: Sequence[str], offset: int) -> tuple[int, int]:
    """Line and column of an offset in a scalar's text, as far as the file shows the text as it is.

    Escapes, folding and anchors move the text about; the place is then that of the scalar.
    """
    row = node.text.count("\n", 0, offset)
    column = offset - (node.text.rfind("\n", 0, offset) + 1)
    written = node.text.split("\n")[row]
    opening = lines[node.line - 1][node.column - 1 :] if node.line <= len(lines) else ""
    if opening.startswith("|"):
        below = node.line + row  # a block begins in the line after its sign
        if below < len(lines) and lines[below].endswith(written):
            return below + 1, len(lines[below]) - len(written) + column + 1
    elif row == 0 and (found := opening.find(written, 0, len(written) + 1)) >= 0:
        return node.line, node.column + found + column
    return node.line, node.column
