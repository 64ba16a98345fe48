"""Checks that the search of the built site finds words: `passmuster help | python check_search.py SITE`.

The search looks for stems of words in `searchindex.js`, which a page loads from disk like any script.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import snowballstemmer

STOP_WORDS = {"not", "then", "to"}
"""Words of a suite that no search looks for."""


def main() -> None:
    """Exit with 1, and name the words, where the search would not find some."""
    site = Path(sys.argv[1])
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    known = {**found["terms"], **found["titleterms"]}
    stem = snowballstemmer.stemmer("english").stemWord
    lists = (line for line in sys.stdin if line.startswith(" "))
    words = sorted({word.strip() for line in lists for word in line.split(",") if word.strip()})
    parts = {word: set(re.findall(r"\w{2,}", word.lower())) - STOP_WORDS for word in words}
    missing = [word for word in words if not all(stem(part) in known for part in parts[word])]
    if missing:
        sys.exit(f"the search does not find: {', '.join(missing)}")
    outside = [
        f"{page.name}: {address}"
        for page in site.glob("*.html")
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8"))
    ]
    if outside:
        sys.exit(f"pages load from elsewhere: {', '.join(outside)}")
    print(f"{len(words)} words are found by the search; no page loads anything from elsewhere")


if __name__ == "__main__":
    main()
