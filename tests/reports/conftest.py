"""A real browser for the tests of the page. Where there is none they are skipped, and pytest says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)

OpenPage = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once."""
    pytest.importorskip("playwright", reason="the page is tested with playwright, which is not installed")
    found = os.environ.get("PASSMUSTER_BROWSER") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("no browser: install chromium, or name one in PASSMUSTER_BROWSER")
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Opens a file from disk. At the end of the test nothing was printed to the console and nothing was requested."""
    contexts: list[Any] = []
    heard: list[str] = []

    def open_file(file: Path, hash_: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("request", lambda request: heard.extend({request.url.split("#")[0]} - {file.as_uri()}))
        page.goto(f"{file.as_uri()}{hash_}")
        page.wait_for_function("document.documentElement.dataset.verdict")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert heard == []
