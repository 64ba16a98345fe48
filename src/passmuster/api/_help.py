"""What a word of a suite means: checks, rules, metrics, keys and formats, as they are declared."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.api._keys_within import KeyHelp, Topic, keys_within, shown
from passmuster.api._reference import RECORDS
from passmuster.api._schema import json_schema
from passmuster.checks import KINDS, LAYERS, RULES, BuiltInKind, rule_class
from passmuster.reports import FORMATS
from passmuster.scoring import declared_metrics
from passmuster.suite import Field, Record, fields_of, first_line, reference_rows
from passmuster.traces import describe_formats


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
    known = set()
    for topic in _declared():
        known.add(topic.name)
        yield topic
    yield from keys_within(json_schema("suite"), known)


def _declared() -> Iterator[Topic]:
    """Checks, rules, metrics, formats, and the keys of the larger parts of a suite."""
    for name in KINDS:
        kind = BuiltInKind(name).record
        yield Topic(name, "check", first_line(kind.__doc__), (("In a suite", f"metric: {name}"),), _keys(kind))
    for name in RULES:
        rule = rule_class(name)
        yield Topic(name, "sequence rule", first_line(rule.__doc__), (("In a suite", f"type: {name}"),), _keys(rule))
    parts: list[tuple[str, type[Record]]] = [(f"the check {name}", BuiltInKind(name).record) for name in KINDS]
    parts += [(f"the rule {name}", rule_class(name)) for name in RULES]
    shared = set.intersection(*(set(fields_of(rule_class(name))) for name in RULES))
    told = {(name, one.key.description) for name, one in fields_of(RECORDS["test"]).items()}
    for where, part in parts:
        for name, one in fields_of(part).items():
            if (name, one.key.description) not in told:
                told.add((name, one.key.description))
                yield _key(one, "every rule" if name in shared else where)
    for metric in sorted(declared_metrics().values(), key=lambda one: one.order):
        yield Topic(metric.name, "metric", metric.description, (("Better", metric.better),))
    for layer in LAYERS:
        for key in LAYERS[layer].keys:
            declared = LAYERS[layer].key(key)
            details = [("Takes", declared.value.words)]
            if declared.example is not None:
                details.append(("Example", f"{key}: {shown(declared.example)}"))
            yield Topic(key, f"key of {layer}", declared.description, tuple(details))
    for where, record in RECORDS.items():
        for one in fields_of(record).values():
            yield _key(one, where)
    for name in FORMATS:
        file = FORMATS[name].FILE_NAME
        yield Topic(name, "report", FORMATS[name].DESCRIPTION, (("Example", f"--report {name}={file}"),))
    for form in describe_formats():
        details = [("A record", form.record), ("Cannot carry", ", ".join(form.lacks))]
        yield Topic(form.name, "trace format", form.description, tuple(one for one in details if one[1]))


def _keys(record: type[Record]) -> tuple[KeyHelp, ...]:
    rows = reference_rows(record)
    return tuple(KeyHelp(name, words, default.strip("`"), text) for name, words, default, text in rows)


def _key(one: Field, where: str) -> Topic:
    details = [("Takes", one.value.words)]
    if one.required:
        details.append(("Default", "required"))
    if one.key.example is not None:
        details.append(("Example", f"{one.name}: {shown(one.key.example)}"))
    return Topic(one.name, f"key of {where}", one.key.description, tuple(details))
