"""`composite:`, formulas over metrics, of which `pass` decides.

    final_score = (accuracy × 0.3 + safety_rate × 0.7)
    pass = final_score ≥ 0.85 AND safety_rate = 1.0

A map of names to formulas, or one block of lines: there the first `=` of a line defines and later ones compare, and
a line break inside parentheses is white space. A formula may use the metrics and the formulas above it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from passmuster._problems import Problem
from passmuster.scoring._formula_text import WORDS, Mistake, Parser, Scope, Token, tokens_of
from passmuster.scoring._metrics import declared_metrics
from passmuster.suite import Expression, Formula, Name, Node, Operation, Prefix, Reader, Scalar
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


def names_in(formula: Formula) -> set[str]:
    """The metrics and formulas that a formula names."""
    return {part.name for part in _parts(formula.tree) if isinstance(part, Name)}


def metrics_of(formulas: Sequence[Formula], name: str) -> set[str]:
    """The metrics that a formula depends on, also through other formulas."""
    found: dict[str, set[str]] = {}
    for formula in formulas:  # each uses only those above it
        found[formula.name] = set().union(*(found.get(word, {word}) for word in names_in(formula)))
    return found.get(name, set())


def _parts(tree: Expression) -> Iterator[Expression]:
    yield tree
    match tree:
        case Prefix():
            yield from _parts(tree.operand)
        case Operation():
            yield from _parts(tree.first)
            for step in tree.steps:
                yield from _parts(step.operand)


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
    """The formulas of `composite` in their order, each with all it may name.

    `known` are the metrics; `unfed` says of some why they can never have a value. `lines` are those of the file:
    with them a mistake inside a formula is told at its own place, else at that of the text it stands in.
    """
    before = len(reader.problems)
    found = _Composite(reader, known, unfed or {}, lines)
    if isinstance(node, MappingNode):
        found.take_map(node)
    elif isinstance(node, Scalar) and isinstance(node.value, str):
        found.take_block(node)
    else:
        reader.expected("a map of formulas, or lines such as 'pass = accuracy >= 0.9'", node, "composite")
    formulas = found.formulas()
    if len(reader.problems) == before:
        _refuse_idle(reader, node, formulas, found.scope)
    return formulas


def _refuse_idle(reader: Reader, node: Node, formulas: tuple[Formula, ...], scope: Scope) -> None:
    """Refuse a composite without `pass`, or with one that no metric can change."""
    decides = next((formula for formula in formulas if formula.name == "pass"), None)
    if decides is None:
        reader.problem(node, "composite: needs a formula 'pass', which decides")
    elif scope.truths["pass"] is False:
        message = "composite.pass: has to be a comparison, such as 'final_score >= 0.85', found a number"
        reader.problems.append(Problem(message, reader.file, decides.line))
    elif not metrics_of(formulas, "pass"):
        message = "composite.pass: uses no metric, so nothing an agent does could change it"
        reader.problems.append(Problem(message, reader.file, decides.line))


class _Composite:
    """The formulas of one suite while they are read."""

    def __init__(self, reader: Reader, known: Collection[str], unfed: Mapping[str, str], lines: Sequence[str]) -> None:
        self._reader, self._lines = reader, lines
        rates = {name for name, metric in declared_metrics().items() if metric.rate}
        self.scope = Scope(known, unfed, rates)
        self._definitions: dict[str, _Definition] = {}

    def take_map(self, map_: MappingNode) -> None:
        for entry in map_:
            node, at = entry.value, f"composite.{entry.key}"
            if entry.key == "description":
                self._reader.text(node, at, empty=True)
            elif not entry.key.startswith("x-"):
                text = self._reader.text(node, at)
                if not text.strip() or not isinstance(node, Scalar):
                    continue
                try:
                    tokens = list(tokens_of(text))
                except Mistake as mistake:
                    self._problem(node, mistake, f"{at}: ")
                    continue
                self._define(_Definition(entry.key, text, tokens, len(text), node, entry.line, entry.column))

    def take_block(self, node: Scalar) -> None:
        try:
            statements = list(_statements(list(tokens_of(node.text))))
        except Mistake as mistake:
            self._problem(node, mistake, "composite: ")
            return
        for tokens in statements:
            line, column = _place(node, self._lines, tokens[0].start)
            if len(tokens) < 2 or tokens[0].kind != "name" or node.text[tokens[1].start : tokens[1].end] != "=":
                wrong = Mistake(
                    "expected 'name = formula'; a line break is allowed inside parentheses", tokens[0].start
                )
                self._problem(node, wrong, "composite: ")
                continue
            text = node.text[tokens[1].end : tokens[-1].end]
            self._define(_Definition(tokens[0].text, text, tokens[2:], tokens[-1].end, node, line, column))

    def _define(self, definition: _Definition) -> None:
        name = definition.name
        why = None
        if not re.fullmatch(r"[^\W\d]\w*", name) or name.lower() in WORDS:
            why = "is no name for a formula; it is made of letters, digits and _"
        elif name in self.scope.known:
            why = "is the name of a metric; give the formula another one"
        elif name in self._definitions:
            why = f"is already defined on line {self._definitions[name].line}"
        if why:
            message = f"composite: '{name}' {why}"
            self._reader.problems.append(Problem(message, self._reader.file, definition.line, definition.column))
        else:
            self._definitions[name] = definition
            self.scope.below.add(name)

    def formulas(self) -> tuple[Formula, ...]:
        """The formulas in order; those with mistakes are reported and left out."""
        understood = []
        for name, found in self._definitions.items():
            try:
                part = Parser(found.tokens, found.end, self.scope).formula()
            except Mistake as mistake:
                self._problem(found.node, mistake, f"composite.{name}: ")
                self.scope.truths[name] = None
            else:
                self.scope.truths[name] = part.is_truth
                text = " ".join(re.sub(r"#[^\n]*", "", found.text).split())
                understood.append(Formula(name, text, part.tree, found.line))
        return tuple(understood)

    def _problem(self, node: Scalar, mistake: Mistake, prefix: str) -> None:
        line, column = _place(node, self._lines, mistake.offset)
        self._reader.problems.append(Problem(f"{prefix}{mistake}", self._reader.file, line, column))


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
