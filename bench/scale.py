"""What sweeps cost, as ratios measured in one run: `python -m bench.scale [--megabytes 500]`.

Ray next to processes, a store on loopback next to a disk, Parquet next to JSON lines, many bytes, many small files, and
100,000 tallies merged in a tree. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
from bench.__main__ import COMMAND, Line
from bench.corpus import trace_lines, write_corpus, write_suite
from bench.timing import best_of, cpu_seconds, resources, together
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
    """A store on loopback by CPU time: its server takes a part of the same cores, and is measured apart."""
    code = f"from bench.scale import serve; serve({str(corpus)!r})"
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin
    assert server.stdout
    url = server.stdout.readline().strip()
    os.environ |= {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "none"}
    far = run_command(suite, "s3://traces/corpus.jsonl", "--workers", "1")
    near = run_command(suite, corpus, "--workers", "1")
    before = _cpu_of(server)
    by_clock, (stored, local) = [inf, inf], [inf, inf]
    for _ in range(rounds):
        for place, command in enumerate((far, near)):
            started = perf_counter()
            used = cpu_seconds(command)
            by_clock[place] = min(by_clock[place], perf_counter() - started)
            stored, local = (min(stored, used), local) if command is far else (stored, min(local, used))
    served_in = (_cpu_of(server) - before) / rounds
    server.communicate()
    clock = f"by the clock {by_clock[0]:.1f} s and {by_clock[1]:.1f} s"
    print(f"  CPU: store {stored:.2f} s, disk {local:.2f} s, server {served_in:.2f} s; {clock}", file=sys.stderr)
    return Line("remote", "a store on loopback ÷ a disk, CPU of the command", local / stored, 0.8, True)


def serve(file: str) -> None:
    """Serve a file as an object until standard input ends."""
    with served() as bucket:
        bucket.objects = {"corpus.jsonl": Path(file).read_bytes()}
        print(bucket.url, flush=True)
        sys.stdin.read()


def _cpu_of(process: subprocess.Popen[str]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def size(suite: Path, folder: Path, gigabytes: float) -> Iterator[Line]:
    """Ten times the bytes: ten times the CPU time, in the same memory. Files are of a repeated gigabyte."""
    few = folder / "bytes-few.jsonl"
    many = folder / "bytes-many.jsonl"
    write_corpus(few, gigabytes * 100)
    with many.open("wb") as file:
        for _ in range(10):
            with few.open("rb") as piece:
                shutil.copyfileobj(piece, file, 1 << 20)
    small, large = (resources(run_command(suite, path, "--workers", "1")) for path in (few, many))
    many.unlink()
    times = [one.ru_utime + one.ru_stime for one in (small, large)]
    peaks = [one.ru_maxrss / 1024 for one in (small, large)]
    print(f"  {gigabytes / 10:g} GB {times[0]:.1f} s of CPU and {peaks[0]:.0f} MB, ", end="", file=sys.stderr)
    print(f"{gigabytes:g} GB {times[1]:.1f} s and {peaks[1]:.0f} MB", file=sys.stderr)
    yield Line("bytes", f"CPU time for {gigabytes:g} GB ÷ 10 × for a tenth", times[1] / (10 * times[0]), 1.2, False)
    yield Line("memory", f"peak memory at {gigabytes:g} GB ÷ at a tenth", peaks[1] / peaks[0], 1.3, False)


def parquet(suite: Path, corpus: Path, folder: Path, rounds: int) -> Line:
    rows = folder / "corpus.parquet"
    subprocess.run([COMMAND, "import", str(corpus), "-o", str(rows)], check=True, capture_output=True)
    as_rows, as_lines = (run_command(suite, path, "--workers", "1") for path in (rows, corpus))
    in_rows, in_lines = best_of(rounds, lambda: together([as_rows]), lambda: together([as_lines]))
    sizes = rows.stat().st_size / corpus.stat().st_size
    print(f"  Parquet {in_rows:.2f} s at {sizes:.2f} of the bytes, lines {in_lines:.2f} s", file=sys.stderr)
    return Line("parquet", "Parquet ÷ JSON lines", in_lines / in_rows, 0.0, True)


def small_files(suite: Path, folder: Path, files: int) -> Line:
    """Ten times as many files take ten times as long, with a trace of 10 KB in each, a thousand in a folder."""
    line = next(trace_lines(1))
    used = []
    for count in (files // 10, files):
        top = folder / f"files-{count}"
        for number in range(count):
            if number % 1_000 == 0:
                inside = top / str(number // 1_000)
                inside.mkdir(parents=True)
            (inside / f"{number}.jsonl").write_bytes(line)
        used.append(resources(run_command(suite, top, "--workers", "1")))
        shutil.rmtree(top)
    few, many = (one.ru_utime + one.ru_stime for one in used)
    peaks = [one.ru_maxrss / 1024 for one in used]
    print(f"  {files // 10:,} files {few:.1f} s of CPU and {peaks[0]:.0f} MB, ", end="", file=sys.stderr)
    print(f"{files:,} files {many:.1f} s and {peaks[1]:.0f} MB", file=sys.stderr)
    return Line("small_files", f"CPU time for {files:,} files ÷ 10 × for a tenth", many / (10 * few), 1.2, False)


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
    parser.add_argument("entries", nargs="*", help="merging, ray, parquet, remote, small_files, size (default: all)")
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--files", type=int, default=20_000, help="small files (default: 20,000)")
    parser.add_argument("--gigabytes", type=float, default=2, help="for `size` (default: 2)")
    parser.add_argument("--folder", help="where to write the corpus (default: the folder for temporary files)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-", dir=given.folder) as name:
        folder, rounds = Path(name), given.rounds
        suite, corpus = write_suite(folder), folder / "corpus.jsonl"
        chosen = given.entries or ("merging", "ray", "parquet", "remote", "small_files", "size")
        if not {"ray", "parquet", "remote"}.isdisjoint(chosen):
            write_corpus(corpus, given.megabytes)
        entries: dict[str, Callable[[], Line | Iterable[Line]]] = {
            "merging": lambda: merging(suite, folder),
            "ray": lambda: ray(suite, corpus, rounds),
            "parquet": lambda: parquet(suite, corpus, folder, rounds),
            "remote": lambda: remote(suite, corpus, rounds),
            "small_files": lambda: small_files(suite, folder, given.files),
            "size": lambda: size(suite, folder, given.gigabytes),
        }
        print("| measured | ratio | bar | held |\n|---|---|---|---|", flush=True)
        held = True
        for entry in chosen:
            measured = entries[entry]()
            for line in [measured] if isinstance(measured, Line) else measured:
                print(line, flush=True)
                held = held and line.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
