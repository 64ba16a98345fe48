"""The page as a file: the same numbers as the JSON report, a strict policy, and text that stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.reports.page_blocks import blocks, report_in
from tests.reports.report_factory import line, report, rich_report, scenario, test_report, too_much

from passmuster.checks._outcome import Violation
from passmuster.reports import render
from passmuster.reports._page_assets import _FOLDER, _ORDER, assets
from passmuster.scoring._report import Attempt, LineBound, Metric

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "javascript:alert(1)",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "{{style}}",
    "]]>",
    "\ud800",
    "&lt;b&gt;",
]


def hostile_report(*texts: str) -> Any:
    """A report that says these texts wherever a trace or a suite can say something."""
    found: dict[str, Violation] = {
        text: too_much(tool=text, message=text, argument=text, trace_id=text, value=text) for text in texts
    }
    return report(
        *(test_report(violation, id=text, metric=text) for text, violation in found.items()),
        suite=texts[0],
        scenarios=[
            scenario(id=f"S {text}", category=text, attempts=[Attempt(text, "fail", 0.0, text)]) for text in texts
        ],
        gate=[
            *(line("test", text, message=text) for text in texts),
            *(line("scenario", f"S {text}", message=text) for text in texts),
        ],
        metrics={text: Metric(0.5, 2) for text in texts},
    )


@pytest.mark.parametrize("make", [rich_report, *(lambda text=text: hostile_report(text) for text in HOSTILE)])
def test_the_page_has_the_numbers_of_the_json_report(make: Any) -> None:
    given = make()
    assert report_in(render("html", given)) == json.loads(render("json", given))


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(page: bytes) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Elements()
    parser.feed(page.decode())
    return parser.found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_element(text: str) -> None:
    plain = [tag for tag, _ in elements(render("html", hostile_report("plain")))]
    assert [tag for tag, _ in elements(render("html", hostile_report(text)))] == plain


def test_nothing_leaves_the_file() -> None:
    page = render("html", rich_report())
    for _, attributes in elements(page):
        assert not {"src", "href", "action", "srcset", "style", "onclick"} & set(attributes)
    addresses = set(re.findall(r"https?://[^\s\"'`]+", assets().script + assets().style + assets().template))
    assert addresses == {"http://www.w3.org/2000/svg"}, "the name of a namespace, which nobody fetches"


def test_the_policy_allows_this_script_and_this_style_only() -> None:
    policy = assets().policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    metas = [attributes for tag, attributes in elements(render("html", rich_report())) if tag == "meta"]
    assert metas[1]["content"] == policy


def test_the_files_are_small_and_join_to_one_module() -> None:
    files = sorted(_FOLDER.iterdir())
    assert sum(file.stat().st_size for file in files) <= 120_000
    assert {file.stem for file in files if file.suffix == ".js"} == set(_ORDER)
    declared = re.findall(r"^(?:const|let|function|class) (\w+)", assets().script, re.MULTILINE)
    assert len(declared) == len(set(declared))
    assert not re.search(r"^(import|export)\b", assets().script, re.MULTILINE)


def test_a_script_imports_only_what_stands_before_it() -> None:
    for place, name in enumerate(_ORDER):
        text = (_FOLDER / f"{name}.js").read_text(encoding="utf-8")
        assert set(re.findall(r'from "\./(\w+)\.js"', text)) <= set(_ORDER[:place]), name


def test_the_script_makes_elements_from_text_only() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", assets().script)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (
            Metric(37 / 40, 40, (0.8014, 0.9742)),
            "37 of 40. With this few, the true rate is likely between 80 % and 97 %.",
        ),
        (Metric(0.5, 400, (0.45, 0.55)), "200 of 400. With this many, the true rate is likely between 45 % and 55 %."),
        (Metric(0.51, 10, (0.2, 0.8)), "A mean over 10. With this few, the true rate is likely between 20 % and 80 %."),
        (Metric(1.0, 3), "3 of 3."),
        (Metric(None, 0), "Nothing to measure it on, so it has no value."),
    ],
)
def test_a_metric_is_explained(metric: Metric, words: str) -> None:
    head = blocks(render("html", report(metrics={"pass_rate": metric})))["head"]
    assert head["page"]["metrics"]["pass_rate"]["words"] == words


def test_how_far_a_line_is_from_its_threshold() -> None:
    bounds = {
        "pass_rate": (0.8333, LineBound("pass_rate", ">=", 0.9), "6.67 points below the threshold"),
        "latency_p95": (6000.0, LineBound("latency_p95", "<=", 5000.0), "1000 above the threshold"),
        "accuracy": (1.0, LineBound("accuracy", ">=", 1.0), "exactly at the threshold"),
    }
    gate = [line("threshold", name, actual=actual, bound=bound) for name, (actual, bound, _) in bounds.items()]
    head = blocks(render("html", report(gate=gate)))["head"]
    assert head["page"]["distances"] == [words for _, _, words in bounds.values()]
