"""Reference tables of everything that is declared, as Markdown, for the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from passmuster.checks import KINDS, LAYERS, RULES, Argument, BuiltInKind, MatcherWords, Selector, ToolEntry, rule_class
from passmuster.judges import JudgeConfig
from passmuster.reports import FORMATS as REPORT_FORMATS
from passmuster.scoring import declared_metrics
from passmuster.suite import BaselineSpec, Record, Scenario, SuiteFile, Test, Waiver, first_line, reference_rows
from passmuster.traces import FORMATS

Row = tuple[str, ...]


def reference_tables() -> dict[str, str]:
    """The tables by name."""
    metrics = sorted(declared_metrics().values(), key=lambda metric: metric.order)
    return {
        "suite": _record(SuiteFile),
        "test": _record(Test),
        "scenario": _record(Scenario),
        "waiver": _record(Waiver),
        "baseline": _record(BaselineSpec),
        "judge_config": _record(JudgeConfig),
        "checks": _table(("`metric`", "passes when"), _described((name, BuiltInKind(name).record) for name in KINDS)),
        "args_valid": _record(BuiltInKind("args_valid").record),
        "policy tool": _record(ToolEntry),
        "policy argument": _record(Argument),
        "tool_blocklist": _record(BuiltInKind("tool_blocklist").record),
        "selector": _record(Selector),
        "matcher": _record(MatcherWords),
        "rules": _table(("`type`", "keys", "holds when"), _rules()),
        **{layer: _layer(layer) for layer in LAYERS},
        "metrics": _table(
            ("metric", "value", "better"),
            ((f"`{metric.name}`", metric.description, metric.better) for metric in metrics),
        ),
        "trace formats": _table(
            ("format", "a record", ""),
            ((f"`{name}`", f"`{FORMATS[name].SHAPE}`", FORMATS[name].DESCRIPTION) for name in FORMATS),
        ),
        "report formats": _table(
            ("format", "file", ""),
            (
                (f"`{name}`", f"`{REPORT_FORMATS[name].FILE_NAME}`", REPORT_FORMATS[name].DESCRIPTION)
                for name in REPORT_FORMATS
            ),
        ),
    }


def _table(head: Row, rows: Iterable[Row]) -> str:
    escaped = (tuple(cell.replace("|", "\\|") for cell in row) for row in rows)
    rule = f"|{'---|' * len(head)}\n"
    first, *rest = (re.sub(" +", " ", f"| {' | '.join(cells)} |\n") for cells in (head, *escaped))
    return "".join((first, rule, *rest))


def _record(record: type[Record]) -> str:
    rows = ((f"`{name}`", words, default, text) for name, words, default, text in reference_rows(record))
    return _table(("key", "value", "default", "meaning"), rows)


def _described(records: Iterable[tuple[str, type[Record]]]) -> Iterator[Row]:
    return ((f"`{name}`", first_line(record.__doc__)) for name, record in records)


def _rules() -> Iterator[Row]:
    for name in RULES:
        rows = [row[0] for row in reference_rows(rule_class(name)) if row[0] != "description"]
        yield f"`{name}`", ", ".join(f"`{key}`" for key in rows), first_line(rule_class(name).__doc__)


def _layer(name: str) -> str:
    layer = LAYERS[name]
    keys = sorted((layer.key(key).order, key) for key in layer.keys)
    rows = ((f"`{key}`", layer.key(key).value.words, layer.key(key).description) for _, key in keys)
    return _table(("key", "value", "meaning"), rows)
