"""The keys about the suite as a whole, read once its tests and scenarios are known."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._composite import COMPOSITE_SCHEMA, read_composite
from passmuster.scoring._formula_values import names_in
from passmuster.scoring._gate_values import GateValues, unusable_metrics
from passmuster.suite import (
    PROSE,
    TEXT,
    BaselineSpec,
    Classification,
    Criteria,
    Definitions,
    JsonSchema,
    LabelSource,
    Listed,
    Mapping,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Sequence,
    Suite,
    Thresholds,
    Weights,
    read_record,
)

Schema = Callable[[Definitions], JsonSchema]


class _GateKey(Struct, frozen=True):
    """How a key is read, and its JSON Schema."""

    read: Callable[[Reader, GateValues, Node], Suite]
    value: Schema

    def resolve(self, reader: Reader, suite: Suite, node: Node) -> Suite:
        gate = GateValues(suite)
        inner = Reader(reader.file, reader.problems, reader.linked_files, {**reader.vocabulary, **gate.vocabulary()})
        suite = self.read(inner, gate, node)
        return replace(suite, notices=tuple(dict.fromkeys((*suite.notices, *gate.notices))))

    def schema(self, definitions: Definitions) -> JsonSchema:
        definitions.vocabulary = {**definitions.vocabulary, **GateValues().vocabulary()}
        return self.value(definitions)


def _read_weights(reader: Reader, gate: GateValues, node: Node) -> Suite:
    found = read_record(Weights, reader, node, "weights") or Weights()
    for kind in ("by_category", "by_capability", "metrics"):
        weights = getattr(found, kind)
        if weights and not any(weights.values()) and isinstance(node, Mapping):
            reader.problem(node.entries[kind], f"weights.{kind}: every weight is 0, so nothing would count")
    return replace(gate.suite, weights=found)


def _read_thresholds(reader: Reader, gate: GateValues, node: Node) -> Suite:
    misplaced = [entry for entry in node if entry.key in gate.metrics] if isinstance(node, Mapping) else []
    for entry in misplaced:
        message = f"thresholds: unknown key '{entry.key}'; put a bound on it under 'blocking' or 'warning'"
        reader.problem(entry, message)
    also = [entry.key for entry in misplaced]
    found = read_record(Thresholds, reader, node, "thresholds", also=also) or Thresholds()
    suite = replace(gate.suite, thresholds=found)
    why = unusable_metrics(suite)  # an upper bound on the latency feeds a metric
    staged = (one.bound for each in found.progressive for one in each.stages)
    targets = (each.target for each in found.progressive if each.target)
    for bound in (*(bound for _, bound in found.plain_bounds()), *staged, *targets):
        if bound.metric in why:
            message = f"thresholds: {why[bound.metric]}"
            reader.problems.append(Problem(message, reader.file, bound.line, bound.column))
        gate.notice_without_value(bound.metric, bound.line, bound.column, "thresholds")
    return suite


def _read_classification(reader: Reader, gate: GateValues, node: Node) -> Suite:
    suite, at = gate.suite, "classification"
    found = read_record(Classification, reader, node, at) or Classification(positive="", source=LabelSource())
    if isinstance(node, Mapping) and (why := found.source.why_foreign(found.positive)):
        reader.problem(node.entries["positive"].value, f"{at}.positive: {why}")
    labelled = [(one, one.label) for one in suite.scenarios if one.label is not None]
    for scenario, label in labelled:
        if why := found.source.why_foreign(label):
            message = f"scenario '{scenario.id}': the label {why}"
            reader.problems.append(Problem(message, reader.file, scenario.line))
    if isinstance(node, Mapping) and not labelled:
        reader.problem(node, f"{at}: no scenario has a 'label', so nothing would be compared")
    return replace(suite, classification=found)


def _read_composite(reader: Reader, gate: GateValues, node: Node) -> Suite:
    suite = gate.suite
    lines = re.split(r"\r\n?|\n", suite.documents.get(str(suite.path), b"").decode("utf-8", "replace"))
    found = read_composite(reader, node, gate.metrics, gate.unusable, lines)
    for formula in found:
        for name in sorted(names_in(formula)):
            gate.notice_without_value(name, formula.line, None, f"composite.{formula.name}")
    return replace(suite, composite=found)


def _listed(reader: Reader, suite: Suite, node: Node, at: str) -> tuple[Listed, ...]:
    """The scenarios of a list, or of a map with `ids`; no optional one may be required."""
    ids: Node | None = node
    if isinstance(node, Mapping):
        map_ = reader.mapping(node, at, ("description", "ids"))
        reader.optional_text(map_, "description", at, empty=True)
        ids = map_.get("ids")
    if ids is None:
        reader.problem(node, f"{at}: 'ids' is missing")
        return ()
    known = {scenario.id: None for scenario in suite.scenarios}
    elsewhere = {one.id: one.line for one in suite.required} if at == "optional_scenarios" else {}
    found: dict[str, Listed] = {}
    for item in reader.one_or_more(ids):
        id_ = reader.text(item, at)
        if id_ and id_ not in known:
            reader.problem(item, f"{at}: no scenario '{id_}'{did_you_mean(id_, known)}")
        elif id_ in elsewhere:
            message = f"{at}: '{id_}' is in 'required_scenarios' on line {elsewhere[id_]}; it cannot be both"
            reader.problem(item, message)
        elif id_ in found:
            reader.problem(item, f"{at}: '{id_}' is already listed on line {found[id_].line}")
        elif id_:
            found[id_] = Listed(id_, item.line)
    if isinstance(ids, Sequence) and not ids.items and at == "required_scenarios":
        reader.problem(ids, f"{at}: the list is empty, so nothing would be required")
    return tuple(found.values())


def _ids_schema(definitions: Definitions) -> JsonSchema:
    ids = OneOrMore(TEXT, empty=True).schema(definitions)
    map_ = {"ids": ids, "description": PROSE.schema(definitions)}
    return {"anyOf": [*ids["anyOf"], {"type": "object", "properties": map_, "required": ["ids"]}]}


def _record(cls: type[Record], field: str, key: str) -> _GateKey:
    """A key that spells a record, for a field of the suite."""

    def read(reader: Reader, gate: GateValues, node: Node) -> Suite:
        return replace(gate.suite, **{field: read_record(cls, reader, node, key) or cls()})

    return _GateKey(read, RecordOf(cls).schema)


def _ids(field: str, key: str) -> _GateKey:
    """A key that lists scenarios, for a field of the suite."""

    def read(reader: Reader, gate: GateValues, node: Node) -> Suite:
        return replace(gate.suite, **{field: _listed(reader, gate.suite, node, key)})

    return _GateKey(read, _ids_schema)


GATE_KEYS: dict[str, _GateKey] = {
    "classification": _GateKey(_read_classification, RecordOf(Classification).schema),
    "weights": _GateKey(_read_weights, RecordOf(Weights).schema),
    "thresholds": _GateKey(_read_thresholds, RecordOf(Thresholds).schema),
    "required_scenarios": _ids("required", "required_scenarios"),
    "optional_scenarios": _ids("optional", "optional_scenarios"),
    "pass_criteria": _record(Criteria, "criteria", "pass_criteria"),
    "composite": _GateKey(_read_composite, lambda definitions: COMPOSITE_SCHEMA),
    "baseline": _record(BaselineSpec, "baseline", "baseline"),
}
