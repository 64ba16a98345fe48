"""Keep one comment on a pull request up to date: `comment_on_pull_request.py REPORT.md SUITE`.

The first line of a comment names its suite. The one that begins with it is replaced, else one is made. Without a report
the comment says that nothing was evaluated, so that none tells of an earlier run. Needs the variables TOKEN,
PULL_REQUEST, GITHUB_API_URL and GITHUB_REPOSITORY; a token that may not comment (a pull request from a fork) is a
notice, not a failure.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_NOTHING = (
    "## ❌ Nothing was evaluated\n\nThe suite, a trace or the command line is wrong; the log of the job says where.\n"
)
_PAGES = 20
_TIMEOUT = 30


def main() -> int:
    report, suite = Path(sys.argv[1]), sys.argv[2]
    marker = f"<!-- passmuster-action:{hashlib.sha256(suite.encode()).hexdigest()[:16]} -->"
    told = report.read_text(encoding="utf-8") if report.is_file() else _NOTHING
    body = f"{marker}\n{told}"
    api = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        for comment in _comments(f"{api}/{int(os.environ['PULL_REQUEST'])}/comments"):
            if str(comment.get("body") or "").startswith(marker) and _replaced(f"{api}/comments/{comment['id']}", body):
                return 0
        _request("POST", f"{api}/{int(os.environ['PULL_REQUEST'])}/comments", {"body": body})
    except urllib.error.HTTPError as problem:
        print(f"No comment was made: GitHub answered {problem.code}. The report is in the job summary.")
        return 0 if problem.code in (401, 403, 404) else 1
    return 0


def _comments(address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for page in range(1, _PAGES + 1):
        some = _request("GET", f"{address}?per_page=100&page={page}")
        found += some
        if len(some) < 100:
            break
    return found


def _replaced(address: str, body: str) -> bool:
    """Whether the comment was replaced; that of somebody else cannot be."""
    try:
        _request("PATCH", address, {"body": body})
    except urllib.error.HTTPError as problem:
        if problem.code in (403, 404):
            return False
        raise
    return True


def _request(method: str, address: str, content: dict[str, str] | None = None) -> Any:
    headers = {
        "Authorization": f"Bearer {os.environ['TOKEN']}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
    }
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
