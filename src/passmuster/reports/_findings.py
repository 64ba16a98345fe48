"""Findings: each violation, and each gate line without one, with its rule, level and place."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator

from msgspec import Struct

from passmuster.checks import LEVELS, Level, Violation
from passmuster.reports._cases import Case, cases
from passmuster.reports._text import gate_lines, headline, one_line, scenario_lines, violation_lines
from passmuster.scoring import GateLine, Report, ScenarioReport, TestReport

_LEVELS = {"block": "error", "warn": "warning", "log": "note"}
_ORDER = ("error", "warning", "note")


class Finding(Struct, frozen=True):
    """One finding: its rule, level, text, locations, and what its fingerprint is made from."""

    rule: str
    level: str
    text: str
    identity: tuple[str | None, ...]
    file: str | None
    line: int | None
    trace_file: str | None = None
    trace_line: int | None = None


def findings(report: Report) -> list[Finding]:
    """All findings, errors first."""
    return sorted(_all(report), key=lambda finding: _ORDER.index(finding.level))


def _all(report: Report) -> Iterator[Finding]:
    for case in cases(report):
        if case.test is not None and (case.test.violations or case.test.error):
            yield from _test_findings(report, case, case.test)
        if case.ending in ("pass", "skip"):
            continue
        if case.scenario is not None:
            yield from _scenario_findings(report, case, case.scenario)
        if case.line is not None and not _is_covered(case, case.line):
            yield _line_finding(report, case)


def _is_covered(case: Case, line: GateLine) -> bool:
    """Whether violations with places of their own already say why."""
    if case.test is not None:
        return line.kind == "test" and bool(case.test.violations or case.test.error)
    if case.scenario is None or line.kind != "scenario" or any(attempt.message for attempt in case.scenario.attempts):
        return False
    levels = {violation.level for violation in case.scenario.violations()}
    return "block" in levels or ("warn" in levels and case.scenario.status == "warn")


def _test_findings(report: Report, case: Case, test: TestReport) -> Iterator[Finding]:
    for violation in test.violations:
        yield _violation_finding(
            report, case, violation, test.metric, min(violation.level, test.severity, key=LEVELS.index)
        )
    if test.error is not None:
        lines = [one_line(line) for line in test.error.splitlines()]
        text = _sentence(f"The check '{one_line(test.id)}' itself broke") + "\n\n" + "\n".join(lines)
        level = "error" if case.ending in ("fail", "error") else "warning"
        yield Finding(test.metric, level, text, (report.suite, test.id, "error"), test.file, test.line)


def _scenario_findings(report: Report, case: Case, scenario: ScenarioReport) -> Iterator[Finding]:
    found = [(check.name, check) for layer in scenario.layers.values() for check in layer.checks]
    behaviors = scenario.behaviors
    found += [
        ("must_not" if check.name in behaviors.violated else "expected_behaviors", check) for check in behaviors.checks
    ]
    for rule, check in found:
        for violation in check.violations:
            yield _violation_finding(report, case, violation, rule, violation.level)


def _violation_finding(report: Report, case: Case, violation: Violation, rule: str, level: Level) -> Finding:
    source = case.source
    assert source is not None
    if level != "log":
        if violation.waived is not None or case.ending in ("warning", "tolerated"):
            level = "warn"
        if case.ending == "fail" and source.status == "warn":
            level = "block"  # a strict run fails on warnings
    return Finding(
        rule=rule,
        level=_LEVELS[level],
        text=f"{_sentence(headline(violation))}\n\n" + "\n".join(violation_lines(violation)),
        identity=(
            *(report.suite, source.id, violation.rule, violation.constraint, violation.pattern),
            *(violation.tool, violation.argument, violation.scenario or violation.trace_id),
        ),
        file=violation.policy_file or source.file,
        line=violation.policy_line if violation.policy_file else source.line,
        trace_file=violation.trace_file,
        trace_line=violation.trace_line,
    )


def _line_finding(report: Report, case: Case) -> Finding:
    line = case.line
    assert line is not None
    rule = case.test.metric if case.test and line.kind == "test" else line.kind
    details = gate_lines(line)
    if case.scenario is not None:
        details += scenario_lines(case.scenario)
    file, number = line.file, line.line
    if not file:
        source = case.source
        file, number = (source.file, source.line) if source else (report.suite_file, 1)
    text = _sentence(f"{one_line(line.id)}: {one_line(line.message)}")
    return Finding(
        rule=rule,
        level="error" if case.ending in ("fail", "error") else "warning",
        text=f"{text}\n\n" + "\n".join(details) if details else text,
        identity=(report.suite, line.kind, line.id),
        file=file,
        line=number,
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def fingerprint(identity: tuple[str | None, ...]) -> str:
    """A digest of what a finding is about; it survives edits elsewhere in the file."""
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def path_from_root(file: str | None, root: str) -> str | None:
    """A file's path with forward slashes: relative to the root where it lies in it, else absolute; None for no file."""
    if not file or file.startswith("<"):
        return None
    if re.match(r"[A-Za-z]:[\\/]", file):
        return file[:2] + posixpath.normpath(file[2:].replace("\\", "/"))
    base = root.replace("\\", "/").rstrip("/") if root else ""
    path = posixpath.normpath(file)
    if path.startswith("..") and base:
        path = posixpath.normpath(posixpath.join(base, path))
    if base and path.startswith(f"{base}/"):
        path = path[len(base) + 1 :]
    return None if path == ".." or path.startswith("../") else path
