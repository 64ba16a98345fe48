"""`passmuster view`: stored runs as pages, served to one person only."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.reports.page_blocks import blocks, report_in
from tests.reports.report_factory import rich_report

from passmuster import api
from passmuster._problems import InputError
from passmuster.reports import render
from passmuster.scoring import stored_report

SUITE = {
    "scenarios": [{"id": id_, "correctness": {"expected_in_answer": ["ok"]}} for id_ in "AB"],
    "thresholds": {"blocking": {"pass_rate": 50}},
}


def run(folder: Path, *answers: str) -> api.Run:
    lines = [json.dumps({"scenario": id_, "answer": answer}) for id_, answer in zip("AB", answers, strict=True)]
    (folder / "t.jsonl").write_text("\n".join(lines))
    with api.StandardInput() as stdin:
        made = api.run(None, api.RunOptions(traces=("t.jsonl",)), stdin)
    api.add_to_history(made)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    monkeypatch.chdir(tmp_path)
    for answers in (("ok", "ok"), ("no", "ok"), ("ok", "no")):
        run(tmp_path, *answers)
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[api.ViewServer]:
    served = api.ViewServer(api.report_viewer())
    thread = threading.Thread(target=served.serve)
    thread.start()
    yield served
    served.close()
    thread.join()


def ask(address: str, path: str | None = None, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request(method, path if path is not None else parts.path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def test_a_report_survives_its_document() -> None:
    document = json.loads(render("json", rich_report()))
    again = json.loads(render("json", stored_report(json.loads(json.dumps(document)), "r.json")))
    assert again == document


def test_the_last_run_is_compared_with_the_one_before(folder: Path) -> None:
    page = api.report_viewer().page(None, None)
    head = blocks(page)["head"]
    assert head["evidence"]["viewer"]["run"] == 3
    assert head["evidence"]["viewer"]["against"] == 2
    assert [one["id"] for one in head["evidence"]["viewer"]["runs"]] == [3, 2, 1]
    assert head["evidence"]["changes"]["worse"] == ["s:B"]
    assert head["evidence"]["changes"]["fixed"] == ["s:A"]
    assert [one["status"] for one in report_in(page)["scenarios"]] == ["pass", "fail"]


def test_any_two_runs_can_be_compared(folder: Path) -> None:
    viewer = api.report_viewer(str(folder))
    head = blocks(viewer.page(2, 3))["head"]
    assert head["evidence"]["changes"]["worse"] == ["s:A"]
    assert head["evidence"]["trails"] == ["p", "p"]
    assert blocks(viewer.page(1, None))["head"]["evidence"]["changes"] is None
    run(folder, "ok", "ok")
    assert blocks(viewer.page(None, 1))["head"]["evidence"]["viewer"]["run"] == 4


def test_a_report_file_is_shown(folder: Path) -> None:
    made = run(folder, "ok", "no")
    (folder / "r.json").write_bytes(render("json", made.report))
    page = api.report_viewer("r.json").page(None, None)
    assert report_in(page) == json.loads((folder / "r.json").read_bytes())
    (folder / "r.html").write_bytes(page)
    assert api.report_viewer("r.html").page(None, None) == page


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("r.html", "<p>hello</p>", "r.html: is not a page that passmuster wrote"),
        ("r.json", '{"schema": "passmuster.report/1", "suite": 5}', "this report cannot be shown"),
        ("nowhere", None, "there is no such suite file or folder"),
    ],
)
def test_what_cannot_be_shown_is_said_at_once(folder: Path, name: str, text: str | None, problem: str) -> None:
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=problem):
        api.report_viewer(name)


def test_a_suite_without_stored_runs_has_nothing_to_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run of this suite is stored yet"):
        api.report_viewer()


def test_the_page_is_served_on_loopback_with_a_token(server: api.ViewServer) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    assert len(urlsplit(server.address).path) > 30
    status, page, headers = ask(server.address)
    assert status == 200
    assert b'id="head"' in page
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    status, page, _ = ask(server.address, urlsplit(server.address).path + "?run=1&against=3")
    assert blocks(page)["head"]["evidence"]["viewer"] | {"runs": []} == {"run": 1, "against": 3, "runs": []}


@pytest.mark.parametrize("path", ["/", "/x/", "//", "/../etc/passwd", "/%2e%2e/"])
def test_nothing_is_served_without_the_token(server: api.ViewServer, path: str) -> None:
    assert ask(server.address, path)[:2] == (404, b"Not found\n")


def test_another_name_for_this_machine_is_refused(server: api.ViewServer) -> None:
    assert ask(server.address, Host="evil.example")[0] == 404
    assert ask(server.address, Host=urlsplit(server.address).netloc)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reading_is_possible(server: api.ViewServer, method: str) -> None:
    assert ask(server.address, method=method)[0] == 501


@pytest.mark.parametrize("query", ["?run=99", "?run=x", "?run=-1", "?run=" + "9" * 400, "?against=99", "?run=%00"])
def test_odd_numbers_of_runs_are_answered(server: api.ViewServer, query: str) -> None:
    assert ask(server.address, urlsplit(server.address).path + query)[0] in (200, 404)
