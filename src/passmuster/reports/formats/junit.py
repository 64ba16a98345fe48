"""The JUnit report, as Jenkins and GitLab read it: one case per test, scenario and suite-level gate line."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from passmuster.reports._case_text import case_text, skip_reason, summary
from passmuster.reports._cases import Case, cases
from passmuster.reports._text import one_line
from passmuster.scoring import Report

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
    names: set[tuple[str, str]] = set()
    for case in all_cases:
        _add(suite, case, _line(report.suite), names)
    if report.sample is not None or report.groups:
        from passmuster.reports._group_text import sweep_lines  # late, for few runs have them

        ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(sweep_lines(report)))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add(suite: ElementTree.Element, case: Case, suite_name: str, names: set[tuple[str, str]]) -> None:
    classname, name = f"{suite_name}.{_line(case.group)}", _line(case.id)
    name = _unique(classname, name, names)
    time = _seconds(case.test.duration_ms if case.test else 0.0)
    element = ElementTree.SubElement(suite, "testcase", {"classname": classname, "name": name, "time": time})
    body = _xml(case_text(case))
    if case.ending in ("fail", "error"):
        kind = case.test.metric if case.test else case.line.kind if case.line else case.group
        tag = "failure" if case.ending == "fail" else "error"
        found = ElementTree.SubElement(element, tag, {"message": _xml(summary(case)), "type": _line(kind)})
        found.text = body
        return
    if case.ending != "pass":
        ElementTree.SubElement(element, "skipped", {"message": _xml(skip_reason(case))})
    if body and (case.ending != "pass" or (case.test and case.test.violations)):
        ElementTree.SubElement(element, "system-out").text = body


def _unique(classname: str, name: str, names: set[tuple[str, str]]) -> str:
    """The name, with a number where it is taken: readers tell cases apart by name alone."""
    number, free = 1, name
    while (classname, free) in names:
        number += 1
        free = f"{name} ({number})"
    names.add((classname, free))
    return free


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _line(text: str) -> str:
    return _xml(one_line(text))


def _xml(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
