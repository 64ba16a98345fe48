"""The SARIF 2.1.0 report: each violation at the policy line it breaks, with the place in the trace beside it."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from passmuster.checks import LEVELS, Level, Violation
from passmuster.reports._cases import Case, cases
from passmuster.reports._sarif_rules import rule_descriptor
from passmuster.reports._text import gate_lines, headline, one_line, scenario_lines, violation_lines
from passmuster.reports.formats.json import encoded
from passmuster.scoring import GateLine, Report, ScenarioReport, TestReport

FILE_NAME = "report.sarif"
DESCRIPTION = "For code scanning: each violation at its line in the policy or suite."

MOST_RESULTS = 5000
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"block": "error", "warn": "warning", "log": "note"}
_ORDER = ("error", "warning", "note")
_EXITS = {0: "the gate passed", 1: "the gate failed", 2: "nothing was evaluated", 3: "the gate could not be decided"}
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


class Finding(Struct, frozen=True):
    """One result: its rule, level, text, locations, and what its fingerprint is made from."""

    rule: str
    level: str
    text: str
    identity: tuple[str | None, ...]
    file: str | None
    line: int | None
    trace_file: str | None = None
    trace_line: int | None = None


def write(report: Report) -> bytes:
    """The report as SARIF."""
    found = sorted(_findings(report), key=lambda finding: _ORDER.index(finding.level))
    kept = found[:MOST_RESULTS]
    rules = list(dict.fromkeys(finding.rule for finding in found))
    left_out = len(found) - len(kept) + sum(test.violation_count - len(test.violations) for test in report.tests)
    return encoded({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, kept, rules, left_out)]})


def _run(report: Report, kept: list[Finding], rules: list[str], left_out: int) -> dict[str, Any]:
    version = report.provenance.version
    driver: dict[str, Any] = {"name": "passmuster", "version": version}
    if _SEMVER.fullmatch(version):
        driver["semanticVersion"] = version
    driver["rules"] = [rule_descriptor(rule) for rule in rules]
    indexes = {rule: index for index, rule in enumerate(rules)}
    seen: Counter[tuple[str | None, ...]] = Counter()
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"passmuster/{one_line(report.suite)}/"},
        "invocations": [_invocation(report, left_out)],
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder that file names are relative to."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, indexes, seen, report.root) for finding in kept],
    }


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": report.exit_code in (0, 1),
        "exitCode": report.exit_code,
        "exitCodeDescription": _EXITS.get(report.exit_code, "unknown"),
    }
    if left_out > 0:
        text = f"{left_out} more results are not in this file, which holds the first {MOST_RESULTS} at most."
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    return invocation


def _findings(report: Report) -> Iterator[Finding]:
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


def _result(
    finding: Finding, indexes: dict[str, int], seen: Counter[tuple[str | None, ...]], root: str
) -> dict[str, Any]:
    seen[finding.identity] += 1
    result: dict[str, Any] = {
        "ruleId": one_line(finding.rule),
        "ruleIndex": indexes[finding.rule],
        "level": finding.level,
        "message": {"text": _unlinked(finding.text)},
    }
    if location := _location(finding.file, finding.line, root):
        result["locations"] = [{"physicalLocation": location}]
    if location := _location(finding.trace_file, finding.trace_line, root):
        note = {"text": "The call in the trace." if finding.trace_line else "The trace."}
        result["relatedLocations"] = [{"id": 1, "physicalLocation": location, "message": note}]
    result["partialFingerprints"] = {"passmuster/v1": _fingerprint((*finding.identity, str(seen[finding.identity])))}
    return result


def _location(file: str | None, line: int | None, root: str) -> dict[str, Any] | None:
    artifact = _artifact(file, root)
    if artifact is None:
        return None
    location: dict[str, Any] = {"artifactLocation": artifact}
    if line is not None and line > 0:
        location["region"] = {"startLine": line}
    return location


def _artifact(file: str | None, root: str) -> dict[str, str] | None:
    """Relative to the root where the file lies in it, else where it lies on this machine."""
    if not file or file.startswith("<"):
        return None
    if re.match(r"[A-Za-z]:[\\/]", file):
        drive, rest = file[0], file[2:].replace("\\", "/")
        return {"uri": f"file:///{drive}:{_quoted(posixpath.normpath(rest))}"}
    base = root.replace("\\", "/").rstrip("/") if root else ""
    path = posixpath.normpath(file)
    if path.startswith("..") and base:
        path = posixpath.normpath(posixpath.join(base, path))
    if base and path.startswith(f"{base}/"):
        path = path[len(base) + 1 :]
    if path == ".." or path.startswith("../"):
        return None
    if path.startswith("/"):
        return {"uri": f"file:///{_quoted(path).lstrip('/')}"}
    return {"uri": _quoted(path), "uriBaseId": "SRCROOT"}


def _quoted(path: str) -> str:
    try:  # a name that is not UTF-8 comes as escaped bytes
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="surrogatepass")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _unlinked(text: str) -> str:
    """The text with no link in it: viewers follow `[words](address)` even in plain messages."""
    return text.replace("](", "] (")


def _fingerprint(identity: tuple[str | None, ...]) -> str:
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()
