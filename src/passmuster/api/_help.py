"""What a word of a suite means: checks, rules, metrics, keys and formats, as they are declared."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.api._reference import RECORDS
from passmuster.checks import KINDS, LAYERS, RULES, BuiltInKind, rule_class
from passmuster.reports import FORMATS
from passmuster.scoring import declared_metrics
from passmuster.suite import Record, fields_of, first_line, reference_rows
from passmuster.traces import describe_formats


class KeyHelp(Struct, frozen=True):
    """One key: what it takes and what it means."""

    name: str
    value: str
    default: str
    """Empty where it is not worth stating; `required` where there is none."""
    text: str


class Topic(Struct, frozen=True):
    """One meaning of a word."""

    name: str
    kind: str
    """What it is: `check`, `sequence rule`, `metric`, `key of path`, …"""
    text: str
    details: tuple[tuple[str, str], ...] = ()
    """More about it, with headings."""
    keys: tuple[KeyHelp, ...] = ()


def explain_word(word: str) -> list[Topic]:
    """Every meaning of a word. Raises `UsageError`, with the nearest words, where it has none."""
    found = [topic for topic in topics() if topic.name == word]
    if not found:
        names = {topic.name for topic in topics()}
        hint = did_you_mean(word, names)
        raise UsageError(Problem(f"'{word}' is no word of a suite{hint or '; list them all with passmuster help'}"))
    return found


def topics() -> Iterator[Topic]:
    """Everything that is declared."""
    for name in KINDS:
        kind = BuiltInKind(name).record
        yield Topic(name, "check", first_line(kind.__doc__), (("In a suite", f"metric: {name}"),), _keys(kind))
    for name in RULES:
        rule = rule_class(name)
        yield Topic(name, "sequence rule", first_line(rule.__doc__), (("In a suite", f"type: {name}"),), _keys(rule))
    for metric in sorted(declared_metrics().values(), key=lambda one: one.order):
        yield Topic(metric.name, "metric", metric.description, (("Better", metric.better),))
    for layer in LAYERS:
        for key in LAYERS[layer].keys:
            declared = LAYERS[layer].key(key)
            details = [("Takes", declared.value.words)]
            if declared.example is not None:
                details.append(("Example", f"{key}: {_shown(declared.example)}"))
            yield Topic(key, f"key of {layer}", declared.description, tuple(details))
    for where, record in RECORDS.items():
        for one in fields_of(record).values():
            details = [("Takes", one.value.words)]
            if one.required:
                details.append(("Default", "required"))
            if one.key.example is not None:
                details.append(("Example", f"{one.name}: {_shown(one.key.example)}"))
            yield Topic(one.name, f"key of {where}", one.key.description, tuple(details))
    for name in FORMATS:
        file = FORMATS[name].FILE_NAME
        yield Topic(name, "report", FORMATS[name].DESCRIPTION, (("Example", f"--report {name}={file}"),))
    for form in describe_formats():
        details = [("A record", form.record), ("Cannot carry", ", ".join(form.lacks))]
        yield Topic(form.name, "trace format", form.description, tuple(one for one in details if one[1]))


def _keys(record: type[Record]) -> tuple[KeyHelp, ...]:
    rows = reference_rows(record)
    return tuple(KeyHelp(name, words, default.strip("`"), text) for name, words, default, text in rows)


def _shown(example: object) -> str:
    return example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
