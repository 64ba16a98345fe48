"""The data of a page, as its script would decode it."""

from __future__ import annotations

import json
import re
from typing import Any

_BLOCK = re.compile(rb'<script type="application/json" id="([\w-]+)">(.*?)</script>', re.DOTALL)


def blocks(page: bytes) -> dict[str, Any]:
    """Each block of JSON by its id."""
    return {name.decode(): json.loads(data) for name, data in _BLOCK.findall(page)}


def report_in(page: bytes) -> dict[str, Any]:
    """The report as the page has it, put together again."""
    found = blocks(page)
    numbered = sorted((int(name.rpartition("-")[2]), name) for name in found if name.startswith("scenarios-"))
    tests = sorted((int(name.rpartition("-")[2]), name) for name in found if name.startswith("test-"))
    return {
        **found["head"]["report"],
        "tests": [found[name] for _, name in tests],
        "scenarios": [one for _, name in numbered for one in found[name]],
    }
