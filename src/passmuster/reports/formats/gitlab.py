"""The GitLab Code Quality report: each finding in the merge request, at its line in the policy or suite."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passmuster.reports._findings import Finding, findings, fingerprint, path_from_root
from passmuster.reports._text import cut, one_line
from passmuster.reports.formats.json import encoded
from passmuster.scoring import Report

FILE_NAME = "gl-code-quality-report.json"
DESCRIPTION = "For GitLab merge requests (Code Quality)."

MOST_FINDINGS = 1000
_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}
_MOST_TEXT = 500


def write(report: Report) -> bytes:
    """The report as GitLab's list of findings. GitLab compares fingerprints, so they hold no line numbers."""
    found = findings(report)
    seen: Counter[tuple[str | None, ...]] = Counter()
    entries = [_entry(finding, report, seen) for finding in found[:MOST_FINDINGS]]
    if len(found) > MOST_FINDINGS:
        text = f"{len(found) - MOST_FINDINGS} more findings are not shown; the JSON report has all of them."
        notice = Finding("gate", "note", text, (report.suite, "more"), report.suite_file, 1)
        entries.append(_entry(notice, report, seen))
    return encoded(entries)


def _entry(finding: Finding, report: Report, seen: Counter[tuple[str | None, ...]]) -> dict[str, Any]:
    seen[finding.identity] += 1
    path, line = path_from_root(finding.file, report.root), finding.line
    if path is None:  # GitLab needs a place for each
        path, line = path_from_root(report.suite_file, report.root) or "passmuster.yaml", 1
    return {
        "description": cut(_described(finding), _MOST_TEXT),
        "check_name": one_line(finding.rule),
        "fingerprint": fingerprint((*finding.identity, str(seen[finding.identity]))),
        "severity": _SEVERITIES[finding.level],
        "location": {"path": path, "lines": {"begin": max(1, line or 1)}},
    }


def _described(finding: Finding) -> str:
    text = one_line(finding.text.partition("\n")[0])
    if not finding.trace_file:
        return text
    place = one_line(finding.trace_file) + (f":{finding.trace_line}" if finding.trace_line else "")
    return f"{text} Trace: {place}"
