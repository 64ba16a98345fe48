"""The SARIF 2.1.0 report: each violation at the policy line it breaks, with the place in the trace beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from passmuster.reports._findings import Finding, findings, fingerprint, path_from_root
from passmuster.reports._sarif_rules import rule_descriptor
from passmuster.reports._text import one_line
from passmuster.reports.formats.json import encoded, plain
from passmuster.scoring import Report

FILE_NAME = "report.sarif"
DESCRIPTION = "For code scanning: each violation at its line in the policy or suite."

MOST_RESULTS = 5000
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = {"SRCROOT": {"description": {"text": "The folder that file names are relative to."}}}
_EXITS = {0: "the gate passed", 1: "the gate failed", 2: "nothing was evaluated", 3: "the gate could not be decided"}
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def write(report: Report) -> bytes:
    """The report as SARIF."""
    found = findings(report)
    kept = found[:MOST_RESULTS]
    rules = list(dict.fromkeys(finding.rule for finding in found))
    left_out = len(found) - len(kept) + sum(test.violation_count - len(test.violations) for test in report.tests)
    return encoded({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, kept, rules, left_out)]})


def write_lints(
    found: Sequence[Finding], rules: Mapping[str, str], *, suite: str, root: str, version: str, exit_code: int
) -> bytes:
    """What is wrong with a suite as SARIF; `rules` describes every lint."""
    descriptors = [
        {"id": f"suite/{name}", "name": f"Suite{name.title().replace('_', '')}", "shortDescription": {"text": text}}
        for name, text in rules.items()
    ]
    indexes = {f"suite/{name}": place for place, name in enumerate(rules)}
    seen: Counter[tuple[str | None, ...]] = Counter()
    run = {
        "tool": {"driver": {**_driver(version), "rules": descriptors}},
        "automationDetails": {"id": f"passmuster-check/{one_line(suite)}/"},
        "invocations": [{"executionSuccessful": True, "exitCode": exit_code}],
        "originalUriBaseIds": _BASE,
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, indexes, seen, root) for one in found[:MOST_RESULTS]],
    }
    return encoded({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _driver(version: str) -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "passmuster", "version": version}
    if _SEMVER.fullmatch(version):
        driver["semanticVersion"] = version
    return driver


def _run(report: Report, kept: list[Finding], rules: list[str], left_out: int) -> dict[str, Any]:
    driver = _driver(report.provenance.version)
    driver["rules"] = [rule_descriptor(rule) for rule in rules]
    indexes = {rule: index for index, rule in enumerate(rules)}
    seen: Counter[tuple[str | None, ...]] = Counter()
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"passmuster/{one_line(report.suite)}/"},
        "invocations": [_invocation(report, left_out)],
        "originalUriBaseIds": _BASE,
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, indexes, seen, report.root) for finding in kept],
        **_properties(report),
    }


def _properties(report: Report) -> dict[str, Any]:
    """Groups of traces and what a sample says: SARIF has no place of its own for them."""
    found = {"groups": plain(report.groups), "sample": plain(report.sample)}
    kept = {name: value for name, value in found.items() if value}
    return {"properties": kept} if kept else {}


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
    result["partialFingerprints"] = {"passmuster/v1": fingerprint((*finding.identity, str(seen[finding.identity])))}
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
    path = path_from_root(file, root)
    if path is None:
        return None
    if re.match(r"[A-Za-z]:/", path):
        return {"uri": f"file:///{path[:2]}{_quoted(path[2:])}"}
    if path.startswith("/"):
        return {"uri": f"file:///{_quoted(path).lstrip('/')}"}
    return {"uri": _quoted(path), "uriBaseId": "SRCROOT"}


def _quoted(path: str) -> str:
    try:  # a name that is not UTF-8 comes as escaped bytes
        return quote(path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        return quote(path, safe="/", errors="surrogatepass")


def _unlinked(text: str) -> str:
    """The text with no link in it: viewers follow `[words](address)` even in plain messages."""
    return text.replace("](", "] (")
