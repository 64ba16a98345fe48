"""The JUnit report, as Jenkins and GitLab read it: one case per test, scenario and suite-level gate line."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

from passmuster.reports._cases import Case, cases
from passmuster.reports._text import gate_lines, headline, one_line, scenario_lines, violation_lines
from passmuster.scoring import Report, TestReport

FILE_NAME = "junit.xml"
DESCRIPTION = "For build servers, in the schema that Jenkins and GitLab read."

# XML 1.0 cannot hold these even as references; a carriage return would come back as a line feed.
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def write(report: Report) -> bytes:
    """The report as JUnit XML."""
    all_cases = cases(report)
    counts = {
        "tests": str(len(all_cases)),
        "failures": str(sum(case.ending == "fail" for case in all_cases)),
        "errors": str(sum(case.ending == "error" for case in all_cases)),
        "skipped": str(sum(case.ending not in ("pass", "fail", "error") for case in all_cases)),
        "time": _seconds(report.duration_ms),
    }
    root = ElementTree.Element("testsuites", {"name": "passmuster", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _line(report.suite), **counts})
    names: Counter[tuple[str, str]] = Counter()
    for case in all_cases:
        _add(suite, case, _line(report.suite), names)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add(suite: ElementTree.Element, case: Case, suite_name: str, names: Counter[tuple[str, str]]) -> None:
    classname, name = f"{suite_name}.{_line(case.group)}", _line(case.id)
    names[classname, name] += 1
    if names[classname, name] > 1:
        # Readers tell cases apart by name alone.
        name = f"{name} ({names[classname, name]})"
    time = _seconds(case.test.duration_ms if case.test else 0.0)
    element = ElementTree.SubElement(suite, "testcase", {"classname": classname, "name": name, "time": time})
    body = _body(case)
    if case.ending in ("fail", "error"):
        kind = case.test.metric if case.test else case.line.kind if case.line else case.group
        tag = "failure" if case.ending == "fail" else "error"
        found = ElementTree.SubElement(element, tag, {"message": _summary(case), "type": _line(kind)})
        found.text = body
        return
    if case.ending != "pass":
        ElementTree.SubElement(element, "skipped", {"message": _skipped(case)})
    if body and (case.ending != "pass" or (case.test and case.test.violations)):
        ElementTree.SubElement(element, "system-out").text = body


def _skipped(case: Case) -> str:
    if case.ending == "never":
        return "never exercised"
    if case.ending == "tolerated" and case.line is not None:
        how = "could not be decided" if case.line.status in ("error", "undecided") else "failed"
        return f"{how}, tolerated by {_line(case.line.tolerated_by or '')}"
    if case.ending == "skip":
        return f"skipped: {_summary(case)}"
    return f"warning: {_summary(case)}"


def _summary(case: Case) -> str:
    if case.message:
        return _line(case.message)
    if case.test and case.test.violations:
        return _xml(headline(case.test.violations[0]))
    return f"{_line(case.id)}: {case.source.status if case.source else ''}"


def _body(case: Case) -> str:
    lines: list[str] = []
    if case.line:
        lines = [*([one_line(case.line.message)] if case.line.message else []), *gate_lines(case.line)]
    if case.test:
        lines += _test_text(case.test)
    if case.scenario:
        lines += ["", *scenario_lines(case.scenario)]
    return _xml("\n".join(lines).strip("\n"))


def _test_text(test: TestReport) -> list[str]:
    lines: list[str] = []
    for violation in test.violations:
        lines += ["", *violation_lines(violation)]
    if test.violation_count > len(test.violations):
        lines += ["", f"… and {test.violation_count - len(test.violations)} more"]
    if test.error is not None:
        lines += ["", *(one_line(part) for part in test.error.splitlines())]
    return lines


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _line(text: str) -> str:
    return _xml(one_line(text))


def _xml(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
