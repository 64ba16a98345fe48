"""What judges are audited on: the labelled traces, and those whose answers fail a deterministic check."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from passmuster._problems import Problem, SuiteError, did_you_mean
from passmuster.checks import Inquiry
from passmuster.engine._plan import Plan
from passmuster.judges import Label, Overruled, Rated
from passmuster.suite import Suite
from passmuster.traces import Trace


class AuditCases(Struct, frozen=True):
    """The questions of an audit, and how many traces they come from."""

    rated: list[Rated]
    overruled: list[Overruled]
    traces: int


def audit_cases(suite: Suite, traces: Iterable[Trace], labels: Sequence[Label], file: str) -> AuditCases:
    """The checks that have a label, and those on answers that a deterministic check fails.

    Raises `SuiteError` with every label that fits no trace, several, or no question; `file` is where they are.
    """
    plan = Plan(suite, datetime.date.min)
    by_id = _index(labels, lambda label: label.trace_id)
    by_scenario = _index(labels, lambda label: label.scenario)
    fitting: list[list[tuple[str | None, list[Inquiry]]]] = [[] for _ in labels]
    overruled: list[Overruled] = []
    read = 0
    for trace in traces:
        read += 1
        scenario, inquiries, failed = plan.inquire(trace)
        places = [*by_id.get(trace.trace_id or "", ()), *by_scenario.get(scenario or "", ())]
        for place in places:
            if labels[place].run in (None, trace.run):
                fitting[place].append((scenario, inquiries))
        if failed:
            # Only the judge of the answer as such: a wrong answer may well be safe, or true to its sources.
            overruled += [Overruled(inquiry, failed, scenario) for inquiry in inquiries if inquiry.check == "llm_judge"]
    problems: list[Problem] = []
    rated: list[Rated] = []
    said: dict[tuple[int, str], Label] = {}
    for label, found in zip(labels, fitting, strict=True):
        inquiry = _inquiry(label, found, suite)
        if isinstance(inquiry, Inquiry):
            earlier = said.setdefault((id(found[0][1]), inquiry.check), label)
            if earlier is label:
                rated.append(Rated(inquiry, label.passes, found[0][0]))
                continue
            inquiry = f"{label.name}, {inquiry.check}: already labeled on line {earlier.line}"
        problems.append(Problem(inquiry, file, label.line))
    if problems:
        raise SuiteError(problems)
    return AuditCases(rated, overruled, read)


def _index(labels: Sequence[Label], key: Callable[[Label], str | None]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        name = key(label)
        if name is not None:
            found.setdefault(name, []).append(place)
    return found


def _inquiry(label: Label, found: Sequence[tuple[str | None, list[Inquiry]]], suite: Suite) -> Inquiry | str:
    """The check that a label is about, or what is wrong with the label."""
    if not found:
        known = [scenario.id for scenario in suite.scenarios]
        hint = did_you_mean(label.scenario, known) if label.scenario is not None and label.scenario not in known else ""
        return f"{label.name}: no trace matches{hint}"
    if len(found) > 1:
        told_apart = label.trace_id is not None or label.run is not None
        hint = "the label has to match exactly one" if told_apart else "give 'run' or 'trace_id'"
        return f"{label.name}: {len(found)} traces match; {hint}"
    scenario, inquiries = found[0]
    names = [inquiry.check for inquiry in inquiries]
    if not names:
        whose = f"its scenario '{scenario}' asks a judge nothing about it" if scenario else "it belongs to no scenario"
        return f"{label.name}: there is no question for a judge: {whose}"
    if label.check is None and len(names) > 1:
        return f"{label.name}: state which 'check' is meant: {', '.join(names)}"
    if label.check is not None and label.check not in names:
        hint = did_you_mean(label.check, names) or f"; there is {', '.join(names)}"
        return f"{label.name}: no question is called '{label.check}'{hint}"
    return inquiries[names.index(label.check) if label.check is not None else 0]
