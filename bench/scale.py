"""What sweeps cost, as ratios measured in one run: `python -m bench.scale [--megabytes 500]`.

Ray next to processes, a store on loopback next to a disk, Parquet next to JSON lines, many small files, and 100,000
tallies merged in a tree. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from bench.__main__ import COMMAND, Line
from bench.corpus import trace_lines, write_corpus, write_suite
from bench.timing import best_of, together
from tests.scale.s3_server import served

from passmuster.engine._execution import ONE_PROCESS
from passmuster.engine._load_suite import load_suite
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine.executors.inline import execute
from passmuster.scoring import Settings, Tally, TallyTree
from passmuster.traces import Source

TALLIES = 100_000
FILES = 2_000


def run_command(suite: Path, traces: str | Path, *more: str) -> list[str]:
    return [COMMAND, "run", str(suite), "--quiet", "--no-history", "--traces", str(traces), *more]


def ray(suite: Path, corpus: Path, rounds: int) -> Line:
    """A cluster of two CPUs that is up already; ending it ends only what it started."""
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        tasks = run_command(suite, corpus, "--executor", "ray", "--ray-address", cluster.address)
        processes = run_command(suite, corpus, "--workers", "2")
        on_ray, plain = best_of(rounds, lambda: together([tasks]), lambda: together([processes]))
    finally:
        cluster.shutdown()
    print(f"  Ray {on_ray:.2f} s, processes {plain:.2f} s", file=sys.stderr)
    return Line("ray", "Ray ÷ processes on the same cores", plain / on_ray, 0.9, True)


def remote(suite: Path, corpus: Path, rounds: int) -> Line:
    """A store on loopback, whose server takes a part of the same cores."""
    with served() as bucket:
        bucket.objects = {"corpus.jsonl": corpus.read_bytes()}
        os.environ |= {"AWS_ENDPOINT_URL": bucket.url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "none"}
        far = run_command(suite, f"s3://{bucket.name}/corpus.jsonl", "--workers", "1")
        near = run_command(suite, corpus, "--workers", "1")
        stored, local = best_of(rounds, lambda: together([far]), lambda: together([near]))
    print(f"  store {stored:.2f} s, disk {local:.2f} s", file=sys.stderr)
    return Line("remote", "a store on loopback ÷ a disk", local / stored, 0.8, True)


def parquet(suite: Path, corpus: Path, folder: Path, rounds: int) -> Line:
    rows = folder / "corpus.parquet"
    subprocess.run([COMMAND, "import", str(corpus), "-o", str(rows)], check=True, capture_output=True)
    as_rows, as_lines = (run_command(suite, path, "--workers", "1") for path in (rows, corpus))
    in_rows, in_lines = best_of(rounds, lambda: together([as_rows]), lambda: together([as_lines]))
    sizes = rows.stat().st_size / corpus.stat().st_size
    print(f"  Parquet {in_rows:.2f} s at {sizes:.2f} of the bytes, lines {in_lines:.2f} s", file=sys.stderr)
    return Line("parquet", "Parquet ÷ JSON lines", in_lines / in_rows, 0.0, True)


def small_files(suite: Path, folder: Path, rounds: int) -> Line:
    """Ten times as many files take ten times as long."""
    line = next(trace_lines(1))
    folders = []
    for count in (FILES, 10 * FILES):
        folders.append(folder / f"files-{count}")
        folders[-1].mkdir()
        for number in range(count):
            (folders[-1] / f"{number}.jsonl").write_bytes(line)
    commands = [run_command(suite, at, "--workers", "1") for at in folders]
    few, many = best_of(rounds, lambda: together([commands[0]]), lambda: together([commands[1]]))
    print(f"  {FILES} files {few:.2f} s, {10 * FILES} files {many:.2f} s", file=sys.stderr)
    return Line("small_files", "time for 20,000 files ÷ 10 × for 2,000", many / (10 * few), 1.2, False)


def merging(suite: Path, folder: Path) -> Line:
    """Tallies of real parts, each with a place of its own, decoded and merged as the driver or a node does it."""
    part = folder / "part.jsonl"
    write_corpus(part, 0.3)
    job = Job(load_suite(suite), Settings(today=datetime.date(2026, 1, 1)))
    counted = execute(job, [Part(Source(str(part), "part.jsonl"))], ONE_PROCESS, Progress())
    decode, data = msgspec.json.Decoder(Tally).decode, msgspec.json.encode(counted)
    tree, started = TallyTree(), perf_counter()
    for number in range(TALLIES):
        tally = decode(data)
        tally.parts = [msgspec.structs.replace(one, file=f"part-{number}") for one in tally.parts]
        tree.add(tally)
    total = tree.total()
    assert total is not None
    assert total.read == counted.read * TALLIES
    took = perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {len(data)} bytes each, {took:.1f} s in one process, {peak:.0f} MB at most", file=sys.stderr)
    return Line("merging", f"seconds to merge {TALLIES} tallies in a tree", took, 60.0, False)


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="bench.scale", description=__doc__)
    parser.add_argument("entries", nargs="*", help="merging, ray, parquet, remote, small_files (default: all)")
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as name:
        folder, rounds = Path(name), given.rounds
        suite, corpus = write_suite(folder), folder / "corpus.jsonl"
        write_corpus(corpus, given.megabytes)
        entries: dict[str, Callable[[], Line]] = {
            "merging": lambda: merging(suite, folder),
            "ray": lambda: ray(suite, corpus, rounds),
            "parquet": lambda: parquet(suite, corpus, folder, rounds),
            "remote": lambda: remote(suite, corpus, rounds),
            "small_files": lambda: small_files(suite, folder, rounds),
        }
        print("| measured | ratio | bar | held |\n|---|---|---|---|", flush=True)
        held = True
        for entry in given.entries or entries:
            line = entries[entry]()
            print(line, flush=True)
            held = held and line.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
