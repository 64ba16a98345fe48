"""`make bench`: the figures of bench/README.md, as ratios measured in one run.

`--short` measures what CI watches on a smaller corpus, and fails where a ratio is worse by more than a quarter than in
`ratios.json`; `--record` writes that file.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import write_corpus, write_heavy_corpus, write_heavy_suite, write_suite
from bench.message_logs import write_message_corpus
from bench.reference_decoding import decode_file
from bench.spans import decode_documents, write_span_corpus
from bench.timing import best_of, children_cpu, least_cpu, peak_memory, together

from passmuster.engine._load_suite import load_suite
from passmuster.engine._run import evaluate_sources
from passmuster.scoring._settings import Settings
from passmuster.traces._reading import read_traces
from passmuster.traces._sources import Source

HERE = Path(__file__).parent
COMMAND = str(Path(sys.executable).with_name("passmuster"))
SETTINGS = Settings(today=datetime.date(2026, 1, 1))
ALLOWED_FALL = 0.25


class Line:
    """One measured ratio: what it is, its bar, and whether more is better."""

    def __init__(self, key: str, what: str, ratio: float, bar: float, higher: bool) -> None:
        self.key, self.what, self.ratio, self.bar, self.higher = key, what, ratio, bar, higher

    @property
    def held(self) -> bool:
        return self.ratio >= self.bar if self.higher else self.ratio <= self.bar

    def __str__(self) -> str:
        sign = "≥" if self.higher else "≤"
        return f"| {self.what} | {self.ratio:.2f} | {sign} {self.bar:g} | {'yes' if self.held else 'NO'} |"

    def fell(self, recorded: float) -> bool:
        """Whether it is worse by more than a quarter than what was recorded."""
        if self.higher:
            return self.ratio < recorded * (1 - ALLOWED_FALL)
        return self.ratio > recorded / (1 - ALLOWED_FALL)


def throughput(folder: Path, megabytes: float, rounds: int) -> Line:
    """One worker on the first corpus next to a loop that only decodes it."""
    path, suite = folder / "corpus.jsonl", write_suite(folder)
    write_corpus(path, megabytes)
    return _next_to_decoding("throughput", "one worker ÷ only decoding", path, suite, rounds, 0.45)


def heavy_throughput(folder: Path, megabytes: float, rounds: int) -> Line:
    """The same on the second corpus, where validating arguments costs about as much as decoding them."""
    path, suite = folder / "heavy.jsonl", write_heavy_suite(folder)
    write_heavy_corpus(path, megabytes)
    return _next_to_decoding(
        "heavy_throughput", "one worker ÷ only decoding, heavy arguments", path, suite, rounds, 0.33
    )


def _next_to_decoding(key: str, what: str, path: Path, suite: Path, rounds: int, bar: float) -> Line:
    loaded, source = load_suite(suite), Source(str(path), path.name)
    only, full = least_cpu(rounds, lambda: decode_file(path), lambda: evaluate_sources(loaded, [source], SETTINGS))
    speed = path.stat().st_size / full / 1e6
    print(f"  decoding {only:.3f} s, evaluating {full:.3f} s: {speed:.0f} MB/s on one core", file=sys.stderr)
    return Line(key, what, only / full, bar, True)


def spans(folder: Path, megabytes: float, rounds: int) -> Line:
    """Reading OTLP next to a loop that only decodes its JSON."""
    path = folder / "spans.jsonl"
    write_span_corpus(path, megabytes)
    return _reading_next_to_decoding("spans", "reading OTLP ÷ only decoding it", path, rounds, 0.3)


def messages(folder: Path, megabytes: float, rounds: int) -> Line:
    """Reading chat messages next to a loop that only decodes their JSON."""
    path = folder / "messages.jsonl"
    write_message_corpus(path, megabytes)
    return _reading_next_to_decoding("messages", "reading chat messages ÷ only decoding them", path, rounds, 0.35)


def _reading_next_to_decoding(key: str, what: str, path: Path, rounds: int, bar: float) -> Line:
    def read() -> None:
        for _ in read_traces(path):
            pass

    only, full = least_cpu(rounds, lambda: decode_documents(path), read)
    speed = path.stat().st_size / full / 1e6
    print(f"  decoding {only:.3f} s, reading {full:.3f} s: {speed:.0f} MB/s on one core", file=sys.stderr)
    return Line(key, what, only / full, bar, True)


def two_workers(folder: Path, megabytes: float, rounds: int) -> Line:
    """Two workers on a file next to two separate processes on its halves."""
    whole, halves = folder / "whole.jsonl", [folder / "half-0.jsonl", folder / "half-1.jsonl"]
    write_corpus(whole, megabytes)
    for half in halves:
        write_corpus(half, megabytes / 2)
    suite = str(folder / "passmuster.json")
    one = [COMMAND, "run", suite, "--quiet", "--workers", "2", "--traces", str(whole)]
    two = [[COMMAND, "run", suite, "--quiet", "--workers", "1", "--traces", str(half)] for half in halves]
    one_command, apart = best_of(rounds, lambda: together([one]), lambda: together(two))
    print(f"  two workers {one_command:.2f} s, two processes {apart:.2f} s", file=sys.stderr)
    return Line("two_workers", "two workers ÷ two processes on the halves", apart / one_command, 0.95, True)


def memory(folder: Path, megabytes: float) -> Line:
    """Peak memory on a large file next to that on a small one."""
    small, large = folder / "small.jsonl", folder / "whole.jsonl"
    write_corpus(small, 20)
    if not large.exists():
        write_corpus(large, megabytes)
    suite = str(folder / "passmuster.json")
    peaks = [
        peak_memory([COMMAND, "run", suite, "--quiet", "--workers", "1", "--traces", str(path)])
        for path in (small, large)
    ]
    print(f"  {peaks[0] / 1024:.0f} MB at 20 MB, {peaks[1] / 1024:.0f} MB at {megabytes:.0f} MB", file=sys.stderr)
    return Line("memory", f"peak memory at {megabytes:.0f} MB ÷ at 20 MB", peaks[1] / peaks[0], 1.3, False)


def page(folder: Path, rounds: int) -> Line:
    """A run on the first corpus that writes the page next to one that does not."""
    suite, path = str(folder / "passmuster.json"), str(folder / "corpus.jsonl")
    run = [COMMAND, "run", suite, "--quiet", "--no-history", "--workers", "1", "--traces", path]
    without, with_page = best_of(
        rounds, lambda: together([run]), lambda: together([[*run, "--report", f"html={folder / 'report.html'}"]])
    )
    print(f"  without the page {without:.2f} s, with it {with_page:.2f} s", file=sys.stderr)
    return Line("page", "a run that writes the page ÷ one that does not", with_page / without, 1.15, False)


def linearity(folder: Path, rounds: int) -> Line:
    """Time at ten thousand calls in a trace next to ten times that at a thousand."""
    suite = load_suite(write_suite(folder))
    sources = []
    for calls, traces in ((1_000, 200), (10_000, 20)):
        path = folder / f"calls-{calls}.jsonl"
        write_corpus(path, 1e-9, calls)
        line = path.read_bytes()
        path.write_bytes(line * traces)
        sources.append(Source(str(path), path.name))
    short, long = least_cpu(
        rounds, *(lambda source=source: evaluate_sources(suite, [source], SETTINGS) for source in sources)
    )
    return Line("linearity", "10,000 calls in a trace ÷ 10 × 1,000 calls", long / short, 1.2, False)


def cold_start(rounds: int) -> Iterator[Line]:
    """The whole process next to a Python that does nothing, in CPU time."""
    example = str(HERE.parent / "examples" / "support-agent")
    bare, run, version = best_of(
        rounds,
        lambda: together([[sys.executable, "-c", "pass"]]),
        lambda: together([[COMMAND, "run", example]]),
        lambda: together([[COMMAND, "--version"]]),
        clock=children_cpu,
    )
    print(f"  bare Python {bare * 1e3:.1f} ms", file=sys.stderr)
    yield Line("cold_run", "`passmuster run examples/support-agent` ÷ `python -c pass`", run / bare, 10, False)
    yield Line("cold_version", "`passmuster --version` ÷ `python -c pass`", version / bare, 2.2, False)


def measure(short: bool, megabytes: float) -> Iterator[Line]:
    """All lines, one after the other."""
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as name:
        folder = Path(name)
        yield throughput(folder, *((40, 15) if short else (200, 9)))
        yield heavy_throughput(folder, *((20, 15) if short else (75, 9)))
        yield spans(folder, *((10, 5) if short else (50, 5)))
        yield messages(folder, *((10, 5) if short else (50, 5)))
        if not short:
            yield page(folder, 5)
            yield two_workers(folder, megabytes, 5)
        yield memory(folder, 200 if short else megabytes)
        yield linearity(folder, 5 if short else 15)
        yield from cold_start(40 if short else 80)


def main() -> None:
    """Measure, print the table, and compare where asked to."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--short", action="store_true", help="what CI watches, on a smaller corpus")
    parser.add_argument("--record", action="store_true", help="write ratios.json anew")
    parser.add_argument("--megabytes", type=float, default=2000, help="size of the large file")
    given = parser.parse_args()
    print("| measured | ratio | bar | held |\n|---|---|---|---|", flush=True)
    lines = []
    for line in measure(given.short or given.record, given.megabytes):
        print(line, flush=True)
        lines.append(line)
    record = HERE / "ratios.json"
    if given.record:
        record.write_text(json.dumps({line.key: round(line.ratio, 3) for line in lines}, indent=2) + "\n")
    elif given.short:
        recorded = json.loads(record.read_text())
        fallen = [line for line in lines if line.key in recorded and line.fell(recorded[line.key])]
        for line in fallen:
            print(f"fallen by more than a quarter: {line.what}: {recorded[line.key]} → {line.ratio:.2f}")
        sys.exit(1 if fallen else 0)


if __name__ == "__main__":
    main()
