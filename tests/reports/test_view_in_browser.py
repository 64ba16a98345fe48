"""Stored runs chosen and compared in a real browser."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from passmuster import api


def test_runs_are_chosen_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Any) -> None:
    suite = {"scenarios": [{"id": "A", "correctness": {"expected_in_answer": ["ok"]}}]}
    (tmp_path / "passmuster.json").write_text(json.dumps(suite))
    monkeypatch.chdir(tmp_path)
    for answer in ("ok", "no", "ok"):
        (tmp_path / "t.jsonl").write_text(json.dumps({"scenario": "A", "answer": answer}))
        with api.StandardInput() as stdin:
            api.add_to_history(api.run(None, api.RunOptions(traces=("t.jsonl",)), stdin))
    server = api.ViewServer(api.report_viewer())
    thread = threading.Thread(target=server.serve)
    thread.start()
    heard: list[str] = []
    try:
        page = browser.new_context().new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(server.address)
        assert page.locator(".verdict strong").text_content() == "PASS"
        assert "1 fixed" in page.locator(".changes").text_content()
        with page.expect_navigation():
            page.get_by_label("Run", exact=True).select_option(value="2")
        assert page.locator(".verdict strong").text_content() == "FAIL"
        assert "Since run 1" in page.locator(".changes").text_content()
        assert "1 newly failing" in page.locator(".changes").text_content()
        with page.expect_navigation():
            page.get_by_label("Compared with").select_option(value="3")
        assert "Since run 3" in page.locator(".changes").text_content()
        page.context.close()
    finally:
        server.close()
        thread.join()
    assert heard == []
