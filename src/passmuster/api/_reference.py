"""Reference tables of everything that is declared, as Markdown, for the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from passmuster.agents import HttpAgent
from passmuster.checks import (
    KINDS,
    LAYERS,
    RULES,
    Argument,
    BuiltInKind,
    MatcherWords,
    Retrieval,
    Selector,
    ToolEntry,
    rule_class,
)
from passmuster.judges import JudgeConfig
from passmuster.migration import ORIGINS
from passmuster.reports import FORMATS as REPORT_FORMATS
from passmuster.scoring import declared_metrics
from passmuster.suite import Agent, BaselineSpec, Record, Scenario, SuiteFile, Test, Waiver, first_line, reference_rows
from passmuster.traces import describe_formats

Row = tuple[str, ...]

RECORDS: dict[str, type[Record]] = {
    "suite": SuiteFile,
    "test": Test,
    "scenario": Scenario,
    "waiver": Waiver,
    "baseline": BaselineSpec,
    "judge_config": JudgeConfig,
    "retrieval": Retrieval,
    "agent": Agent,
    "agent.http": HttpAgent,
    "policy tool": ToolEntry,
    "policy argument": Argument,
    "selector": Selector,
    "matcher": MatcherWords,
}
"""Every map of the suite language that has keys of its own, by name."""


def reference_tables() -> dict[str, str]:
    """The tables by name."""
    metrics = sorted(declared_metrics().values(), key=lambda metric: metric.order)
    return {
        **{name: _record(record) for name, record in RECORDS.items()},
        "checks": _table(("`metric`", "passes when"), _described((name, BuiltInKind(name).record) for name in KINDS)),
        "args_valid": _record(BuiltInKind("args_valid").record),
        "tool_blocklist": _record(BuiltInKind("tool_blocklist").record),
        "run_limits": _record(BuiltInKind("run_limits").record),
        "rules": _table(("`type`", "keys", "holds when"), _rules()),
        **{layer: _layer(layer) for layer in LAYERS},
        "metrics": _table(
            ("metric", "value", "better"),
            ((f"`{metric.name}`", metric.description, metric.better) for metric in metrics),
        ),
        "trace formats": _table(
            ("format", "a record", "", "cannot carry"),
            ((f"`{one.name}`", f"`{one.record}`", one.description, ", ".join(one.lacks)) for one in describe_formats()),
        ),
        "kinds of files to migrate": _table(
            ("kind of file", ""), ((f"`{name}`", ORIGINS[name].DESCRIPTION) for name in ORIGINS)
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
        own = (row[0] for row in reference_rows(rule_class(name)))
        keys = [key for key in own if key not in ("description", "allow_unexercised")]  # which every rule has
        yield f"`{name}`", ", ".join(f"`{key}`" for key in keys), first_line(rule_class(name).__doc__)


def _layer(name: str) -> str:
    layer = LAYERS[name]
    keys = sorted((layer.key(key).order, key) for key in layer.keys)
    rows = ((f"`{key}`", layer.key(key).value.words, layer.key(key).description) for _, key in keys)
    return _table(("key", "value", "meaning"), rows)
