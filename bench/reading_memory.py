"""`python -m bench.reading_memory`: peak memory of reading spans in random order, and of reading conversations.

Spans of a trace may stand anywhere, so that no trace is complete before the file ends. Conversations are read one after
the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.message_logs import write_message_corpus
from bench.spans import write_shuffled_spans
from bench.timing import peak_memory

_READ = "import sys, passmuster; print(sum(1 for _ in passmuster.read_traces(sys.argv[1])), file=sys.stderr)"


def _measure(what: str, path: Path) -> None:
    size = path.stat().st_size / 1e6
    peak = peak_memory([sys.executable, "-c", _READ, str(path)]) * 1024 / 1e6
    print(f"| {what} | {size:,.0f} MB | {peak:,.0f} MB |", flush=True)


def main() -> None:
    """Write files, read each in a process of its own, and print the peak of its memory."""
    parser = argparse.ArgumentParser(prog="bench.reading_memory", description=__doc__)
    parser.add_argument("--spans", type=int, default=1_000_000, help="spans of the large file")
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the large file of conversations")
    given = parser.parse_args()
    print("| read | file | peak memory |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as name:
        path = Path(name) / "read.jsonl"
        # the small ones first, because a process starts with the peak of the one that starts it
        for size in (20, given.megabytes):
            write_message_corpus(path, size)
            _measure("chat messages", path)
        for spans in (given.spans // 50, given.spans // 5, given.spans):
            write_shuffled_spans(path, spans)
            _measure(f"{spans:,} spans in random order", path)


if __name__ == "__main__":
    main()
