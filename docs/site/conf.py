"""The documentation as a static site: `make docs`. The pages are those of `docs/`; nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERSION = re.search(r'"(.+)"', (HERE.parent.parent / "src/passmuster/_version.py").read_text(encoding="utf-8"))

project = "passmuster"
author = "the passmuster authors"
version = release = VERSION[1] if VERSION else ""
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["site/**"]
html_theme = "furo"
html_title = f"passmuster {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

PARTS = {
    "Start": ("tutorial", "start", "concepts", "migrating"),
    "How-to": ("howto", "policies", "flaky"),
    "Suites": ("suite", "checks", "layers", "judges"),
    "Traces and agents": ("traces", "live", "capture", "scale"),
    "Verdicts": ("statistics", "baselines", "history", "reports"),
    "In CI": ("github", "pytest", "other-ci"),
    "Reference": ("cli", "api", "errors", "how-this-is-tested"),
}
"""The pages in the order of the contents; one that is missing here fails the build."""


def _adapt(app: Any, name: str, source: list[str]) -> None:
    """Adds the contents to the first page, drops the titles of blocks, and makes text of links that leave `docs/`."""
    text = source[0]
    text = re.sub(r"^```(\w+) .+$", r"```\1", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"`\1`", text)
    text = re.sub(r"^(#+) (__\w+__)$", r"\1 `\2`", text, flags=re.MULTILINE)  # a name, not bold text
    if name == "README":
        for title, pages in PARTS.items():
            listed = "\n".join(page for page in pages if (HERE.parent / f"{page}.md").exists())
            text += f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n"
    source[0] = text


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _adapt)
