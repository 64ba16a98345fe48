"""The page: one HTML file that opens from disk, with everything it shows inside.

Data is JSON in blocks that are decoded when they are shown. A strict content security policy lets nothing run but the
page's own script, and nothing be fetched.
"""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec
from msgspec import structs

from passmuster.reports._page_assets import assets
from passmuster.reports._page_data import page_of
from passmuster.reports._text import one_line
from passmuster.reports.formats.json import document, plain
from passmuster.scoring import Report

FILE_NAME = "report.html"
DESCRIPTION = "For people: a page that opens from disk, with reasons, scenarios, traces and metrics."

SHOWS_EVIDENCE = True

_CHUNK = 100
"""Scenarios in one block."""


def write(report: Report) -> bytes:
    """The report as one HTML page."""
    shared = assets()
    page, columns = page_of(report, _CHUNK)
    written = document(report)
    scenarios, tests = written.pop("scenarios"), written.pop("tests")
    blocks = [_block("head", {"report": written, "page": page, "cases": columns, "evidence": _index(report)})]
    for start in range(0, len(scenarios), _CHUNK):
        blocks.append(_block(f"scenarios-{start // _CHUNK}", scenarios[start : start + _CHUNK]))
    blocks += [_block(f"test-{number}", test) for number, test in enumerate(tests)]
    kept = report.evidence.traces if report.evidence else ()
    blocks += [_block(f"trace-{number}", trace) for number, trace in enumerate(kept)]
    parts = {
        "policy": shared.policy.encode(),
        "title": _text(f"{report.suite}: {report.verdict}"),
        "sentence": _text(page.sentence),
        "style": shared.style.encode(),
        "script": shared.script.encode(),
        "data": b"\n".join(blocks),
    }
    return _filled(shared.template, parts)


def _index(report: Report) -> dict[str, Any] | None:
    """The evidence, with a list of the traces in place of the traces themselves."""
    if report.evidence is None:
        return None
    found = structs.asdict(report.evidence)
    found["traces"] = [
        {"trace_id": one.trace_id, "role": one.role, "scenario": one.scenario, "status": one.status}
        for one in report.evidence.traces
    ]
    return found


def _filled(template: str, parts: dict[str, bytes]) -> bytes:
    """The template with its marks replaced; what is put in is not looked at for marks."""
    pieces = template.split("{{")
    written = [pieces[0].encode()]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        written += (parts[name], rest.encode())
    return b"".join(written)


def _block(name: str, value: Any) -> bytes:
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate, which a suite written in JSON may have in an id
        data = msgspec.json.encode(plain(msgspec.to_builtins(value)))
    data = data.replace(b"<", b"\\u003c")  # no text in it may end the element or open a comment
    data = data.replace(b"##", b"#\\u0023")  # nor command a build server in whose log the page is printed
    return b'<script type="application/json" id="%s">%s</script>' % (name.encode(), data)


def _text(text: str) -> bytes:
    return escape(one_line(text)).encode("utf-8", "backslashreplace")
