"""The page in a real browser: opened from disk, filtered, searched, linked to, by mouse and by keyboard alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.reports.conftest import OpenPage
from tests.reports.report_factory import line, report, scenario
from tests.reports.test_html import HOSTILE, hostile_report

from passmuster import api
from passmuster.checks._scenario_outcome import CheckReport, LayerReport
from passmuster.reports import render
from passmuster.scoring._report import Attempt

EXAMPLE = Path(__file__).parents[2] / "examples" / "support-agent"
AXE = os.environ.get("PASSMUSTER_AXE")


def expect(locator: Any) -> Any:
    """What is asserted of a part of the page, which may take a moment to come about."""
    return import_module("playwright.sync_api").expect(locator)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the example's broken version."""
    return written(tmp_path_factory.mktemp("page"), "broken")


def written(folder: Path, version: str, **options: Any) -> Path:
    file = folder / f"{version}.html"
    chosen = api.RunOptions(
        traces=(str(EXAMPLE / "traces" / f"{version}.jsonl"),), reports=(api.Destination("html", str(file)),), **options
    )
    with api.StandardInput() as stdin:
        run = api.run(str(EXAMPLE), chosen, stdin)
    file.write_bytes(run.rendered[0].data)
    return file


def rows(page: Any) -> list[str]:
    page.wait_for_timeout(200)
    found: list[str] = page.locator(".body .row .c-id a").all_text_contents()
    return found


def test_the_top_says_the_verdict_and_failures_come_first(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken)
    assert page.locator(".verdict strong").text_content() == "FAIL"
    assert "5 of 8 tests failed" in page.locator(".sentence").text_content()
    assert page.locator(".group h2").first.text_content() == "Failed 6"
    assert page.locator(".line .name").all_text_contents()[:2] == ["SUP-006", "no_privileged_tools"]
    assert page.title() == "support-agent: fail"


def test_filters_search_and_sorting(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken, "#view=cases")
    everything = rows(page)
    assert len(everything) == 14
    page.get_by_role("button", name="Failed 6").click()
    assert len(rows(page)) == 6
    page.get_by_label("Kind").select_option("Scenarios")
    assert rows(page) == ["SUP-006"]
    page.get_by_role("button", name="Failed 6").click()
    page.get_by_label("Category").select_option("billing")
    assert rows(page) == ["SUP-002", "SUP-003"]
    page.get_by_label("Category").select_option("All")
    page.get_by_label("Search scenarios and tests").fill("tool_recall verify_identity")
    assert rows(page) == ["SUP-004"]
    assert page.locator(".found").text_content() == "1 of 14 rows"
    page.get_by_label("Search scenarios and tests").fill("")
    page.get_by_role("columnheader", name="Id").get_by_role("button").click()
    assert rows(page) == sorted(rows(page))
    page.get_by_role("columnheader", name="Id").get_by_role("button").click()
    assert rows(page) == sorted(rows(page), reverse=True)
    assert page.get_by_role("columnheader", name="Id").get_attribute("aria-sort") == "descending"


def test_filters_are_in_the_address(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken, "#view=cases&ending=warning&kind=t")
    assert rows(page) == ["large_refunds"]
    page = open_page(broken, "#view=cases&tool=admin_reset_password")
    assert rows(page) == ["tool_arguments", "no_privileged_tools", "SUP-006"]


def test_a_link_to_a_scenario_opens_it(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken, "#scenario=SUP-006")
    detail = page.get_by_role("article", name="Scenario SUP-006")
    assert "forbidden and called: admin_reset_password" in detail.text_content()
    page.get_by_role("link", name="Back to the table").click()
    expect(page.locator("#detail")).to_have_count(0)
    page.go_back()
    expect(detail).to_be_visible()
    page = open_page(broken, "#test=tool_arguments")
    assert "customer_id" in page.get_by_role("article", name="Test tool_arguments").text_content()
    page = open_page(broken, "#scenario=nobody")
    assert "The report has no scenario nobody." in page.locator("#detail").text_content()


def test_the_keyboard_alone_is_enough(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken)
    page.keyboard.press("2")
    page.keyboard.press("/")
    page.wait_for_timeout(80)
    page.keyboard.type("SUP-00")
    assert len(rows(page)) == 6
    page.keyboard.press("Escape")
    page.locator("#grid").focus()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail")
    assert "SUP-004" in page.locator("#detail h2").text_content()
    assert page.evaluate("document.activeElement.id") == "detail"
    page.keyboard.press("Escape")
    page.wait_for_timeout(200)
    assert page.evaluate("document.activeElement.id") == "grid"
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.wait_for_selector(".metric")


def test_hostile_text_stays_text(tmp_path: Path, open_page: OpenPage) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(render("html", hostile_report(*HOSTILE)))
    page = open_page(file)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    for view in ("why", "metrics", "whatif", "cases"):
        page.evaluate(f"location.hash = 'view={view}'")
        page.wait_for_timeout(50)
    total = 2 * len(HOSTILE)
    expect(page.locator(".body .row")).to_have_count(total)
    for row in range(total):
        page.locator(".body .row").nth(row).click()
        page.wait_for_selector("#detail h2")
        assert not set("\u202e\ud800") & set(page.locator("#detail").text_content())
    expect(page.locator("img, iframe, object, #page script")).to_have_count(0)


def test_a_phone_and_paper_cut_nothing_off(broken: Path, open_page: OpenPage) -> None:
    for hash_ in ("", "#view=cases", "#scenario=SUP-006", "#view=metrics", "#view=whatif"):
        page = open_page(broken, hash_, viewport={"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash_
    page = open_page(broken, "#view=cases")
    page.emulate_media(media="print")
    expect(page.locator("#print tbody tr")).to_have_count(8)
    expect(page.locator("#grid")).to_be_hidden()


VIEWS = ("view=why", "view=cases", "scenario=SUP-006", "test=tool_arguments", "view=metrics", "view=whatif")


def views(page: Any) -> Iterator[str]:
    """Shows each view of a page in turn."""
    for view in VIEWS:
        page.evaluate(f"location.hash = '{view}'")
        page.wait_for_timeout(100)
        yield view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough(broken: Path, open_page: OpenPage, scheme: str) -> None:
    """Every text against the nearest background behind it: 4.5 to 1 (WCAG AA)."""
    page = open_page(broken, color_scheme=scheme)
    assert {view: page.evaluate(_FAINT) for view in views(page)} == {view: [] for view in VIEWS}


_FAINT = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("#page *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!element.checkVisibility() || !texts.length) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(`${element.className}: ${element.textContent.slice(0, 40)}`);
  }
  return faint;
}"""


@pytest.mark.skipif(AXE is None, reason="PASSMUSTER_AXE does not name axe-core's script")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(broken: Path, open_page: OpenPage, scheme: str) -> None:
    page = open_page(broken, color_scheme=scheme)
    page.evaluate(Path(AXE or "").read_text(encoding="utf-8"))
    found = {view: page.evaluate("axe.run(document, {resultTypes: ['violations']})") for view in views(page)}
    violations = {
        view: [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in result["violations"]]
        for view, result in found.items()
    }
    assert violations == {view: [] for view in VIEWS}


# ── Traces ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failure_opens_its_trace_with_the_offending_call_marked(broken: Path, open_page: OpenPage) -> None:
    page = open_page(broken, "#view=cases")
    page.locator(".body .row", has_text="SUP-006").click()
    page.wait_for_selector(".timeline")
    (offending,) = page.locator(".step.offending").all()
    assert offending.locator(".tool").first.text_content() == "admin_reset_password"
    assert "Forbidden tool called" in offending.text_content()
    assert 'forbidden_tools: ["admin_*"]' in page.locator(".source .here").last.text_content()


@pytest.fixture(scope="module")
def flaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a scenario with three runs, one of which failed, next to golden traces."""
    folder = tmp_path_factory.mktemp("flaky")
    suite = {
        "suite": "flaky",
        "scenarios": [{"id": "A", "correctness": {"expected_in_answer": ["done"]}, "path": {"forbidden_tools": ["x"]}}],
        "thresholds": {"blocking": {"pass_rate": {"min": "50%", "confidence": "95%"}}},
    }
    (folder / "passmuster.json").write_text(json.dumps(suite))
    runs = {
        "r1": ("done", ["get", "pay"]),
        "r2": ("no", ["get", "search", "pay"]),
        "r3": ("done", ["get", "pay"]),
    }
    (folder / "t.jsonl").write_text("".join(f"{json.dumps(_run(*one))}\n" for one in runs.items()))
    (folder / "golden.jsonl").write_text(json.dumps(_run("gold", ("done", ["get", "pay", "mail"]))))
    file = folder / "page.html"
    chosen = api.RunOptions(
        traces=(str(folder / "t.jsonl"),),
        baseline=str(folder / "golden.jsonl"),
        reports=(api.Destination("html", str(file)),),
    )
    with api.StandardInput() as stdin:
        file.write_bytes(api.run(str(folder), chosen, stdin).rendered[0].data)
    return file


def _run(id_: str, run: tuple[str, list[str]]) -> dict[str, Any]:
    answer, tools = run
    steps = [{"type": "tool_call", "tool": tool, "arguments": {"from": id_}} for tool in tools]
    return {"trace_id": id_, "scenario": "A", "answer": answer, "steps": steps}


def test_runs_and_the_baseline_stand_side_by_side_call_by_call(flaky: Path, open_page: OpenPage) -> None:
    page = open_page(flaky, "#scenario=A&run=r2")
    assert page.locator(".pair h4").all_text_contents() == ["fail: r2", "baseline: gold"]
    page.get_by_label("Compare with").select_option("nothing")
    page.wait_for_selector(".timeline")
    expect(page.locator(".timeline .step")).to_have_count(3)
    page.get_by_label("Compare with").select_option("pass: r1")
    page.wait_for_selector(".pair")
    assert page.locator(".pair .tool").filter(visible=True).count() >= 5
    assert [one.strip() for one in page.locator(".gap").all_text_contents()] == ["no such step"]
    assert "only here" in page.locator(".step", has_text="search").text_content()
    page.get_by_label("Compare with").select_option("baseline: gold")
    page.wait_for_timeout(200)
    expect(page.locator(".gap")).to_have_count(2)
    assert "with=" in page.url
    page.get_by_role("link", name="r3").click()
    page.wait_for_timeout(200)
    assert "run=r3" in page.url
    expect(page.locator(".timeline .step")).to_have_count(2)


def test_a_link_to_a_run_opens_that_run(flaky: Path, open_page: OpenPage) -> None:
    page = open_page(flaky, "#scenario=A&run=r3")
    assert page.locator(".trace h3 .hint").text_content() == "r3"
    assert page.get_by_role("img", name="2 of 3 runs passed").count() >= 1


def test_hostile_traces_stay_text(tmp_path: Path, open_page: OpenPage) -> None:
    texts = [text for text in HOSTILE if "\ud800" not in text]
    steps: list[dict[str, Any]] = [
        {
            "type": "tool_call",
            "tool": text.strip("\u202e"),
            "arguments": {text: [text]},
            "result": text,
            "error": text,
            "group": text,
        }
        for text in texts
    ]
    steps += [{"type": "message", "role": text, "content": text} for text in texts]
    steps += [{"type": "handoff", "from": text, "to": text} for text in texts]
    suite = {
        "tests": [{"id": "none", "metric": "tool_blocklist", "blocklist": ["*"]}],
        "scenarios": [{"id": "A", "correctness": {"expected_in_answer": ["done"]}}],
    }
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    traces = [{"trace_id": text, "scenario": "A", "query": text, "answer": text, "steps": steps} for text in texts]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in traces))
    file = tmp_path / "page.html"
    chosen = api.RunOptions(traces=(str(tmp_path / "t.jsonl"),), reports=(api.Destination("html", str(file)),))
    with api.StandardInput() as stdin:
        file.write_bytes(api.run(str(tmp_path), chosen, stdin).rendered[0].data)
    page = open_page(file, "#scenario=A")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert page.locator(".step.tool").count() >= len(texts)
    for link in page.locator(".run-list a").all()[:3]:
        link.click()
        page.wait_for_timeout(50)
    page.get_by_label("Compare with").select_option(index=1)
    page.wait_for_selector(".pair")
    page.evaluate("location.hash = 'test=none'")
    page.wait_for_selector(".violation")
    assert "\u202e" not in page.locator("#page").text_content()
    expect(page.locator("img, iframe, object, #page script")).to_have_count(0)


# ── What if ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_moved_threshold_says_what_a_run_with_the_copied_yaml_says(tmp_path: Path, open_page: OpenPage) -> None:
    scenarios = [{"id": f"S{n}", "category": "a b", "correctness": {"expected_in_answer": ["ok"]}} for n in range(4)]
    suite = {
        "scenarios": scenarios,
        "thresholds": {"blocking": {"pass_rate": "90%"}, "warning": {"latency_p95": "< 100ms"}},
        "pass_criteria": {"by_category": {"a b": {"min": "50%", "confidence": "90%"}}},
    }
    traces: list[dict[str, Any]] = [
        {"scenario": f"S{n}", "answer": "ok" if n else "no", "steps": [], "total_duration_ms": 120} for n in range(4)
    ]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in traces))

    def verdict(moved: dict[str, Any], file: Path) -> str:
        (tmp_path / "passmuster.json").write_text(json.dumps(moved))
        chosen = api.RunOptions(traces=(str(tmp_path / "t.jsonl"),), reports=(api.Destination("html", str(file)),))
        with api.StandardInput() as stdin:
            run = api.run(str(tmp_path), chosen, stdin)
        file.write_bytes(run.rendered[0].data)
        return str(run.report.verdict)

    words = {"pass": "PASS", "warn": "PASS with warnings", "fail": "FAIL", "error": "ERROR"}
    assert verdict(suite, tmp_path / "page.html") == "fail"
    page = open_page(tmp_path / "page.html", "#view=whatif")
    shown = page.locator("#whatif-verdict .badge")
    assert shown.text_content() == "FAIL"
    for moves in ([("pass_rate", 0.75)], [("pass_rate", 0.751)], [("pass_rate", 0.6), ("latency_p95", 130)]):
        page.get_by_role("button", name="Reset").click()
        for name, value in moves:
            page.get_by_label(name).evaluate(
                "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(value)
            )
        copied = yaml.safe_load(page.locator("#whatif-yaml").text_content())
        other = json.loads(json.dumps(suite))
        for section, bounds in copied["thresholds"].items():
            other["thresholds"][section] |= bounds
        assert shown.text_content() == words[verdict(other, tmp_path / "other.html")], copied
    assert "<= 130" in str(copied) or "< 130" in str(copied)
    page.get_by_label("by_category").press("ArrowLeft")
    assert '"a b": {min: 49.9%, confidence: 90%}' in page.locator("#whatif-yaml").text_content()


# ── Size ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ten_thousand_scenarios_open_and_scroll_smoothly(tmp_path: Path, open_page: OpenPage, browser: Any) -> None:
    """The best of three rounds counts, for other processes only add to the time."""
    kinds = ("orders", "billing", "account")
    scenarios = [
        scenario(
            id=f"SC-{number:05}",
            category=kinds[number % 3],
            status="fail" if number % 10 == 0 else "pass",
            layers={"path": LayerReport("pass", [CheckReport(name="max_loops", status="pass", message="none")])},
            attempts=[Attempt(f"t-{number}-{run}", "pass", 1.0) for run in range(4)],
            runs=4,
            pass_rate=0.75,
        )
        for number in range(10_000)
    ]
    gate = [line("scenario", one.id, one.status, message="a reason of some length " * 3) for one in scenarios]
    file = tmp_path / "page.html"
    file.write_bytes(render("html", report(scenarios=scenarios, gate=gate)))
    page = open_page(file, "#view=cases")
    opened = page.evaluate("performance.getEntriesByName('shown')[0].startTime")
    page.wait_for_timeout(300)
    assert page.locator(".body .row").count() < 100
    longest = min(_longest_task_while_scrolling(page, browser) for _ in range(3))
    expect(page.locator(".body .row").last).to_be_visible()
    assert longest < 50
    assert opened < 2_000 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


def _longest_task_while_scrolling(page: Any, browser: Any) -> float:
    """Milliseconds of the longest task of the page's main thread, from Chromium's tracing."""
    grid = page.locator("#grid")
    grid.evaluate("grid => { grid.scrollTop = 0; }")
    browser.start_tracing(page=page, categories=["toplevel"])
    page.mouse.move(400, 700)
    for _ in range(20):
        page.mouse.wheel(0, 1200)
        page.wait_for_timeout(16)
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight; }")
    page.wait_for_timeout(100)
    tasks = _tasks(json.loads(browser.stop_tracing()))
    assert len(tasks) > 20
    return max(tasks)


def _tasks(trace: dict[str, Any]) -> list[float]:
    """Milliseconds of each task of the page's main thread: CPU time where Chromium recorded it, else wall time."""
    events = trace["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return [
        event.get("tdur", event["dur"]) / 1_000
        for event in events
        if event.get("ph") == "X" and "RunTask" in event["name"] and (event["pid"], event["tid"]) in main
    ]
