"""`make bench-peers`: from a file of JSON traces to the outcome of each, in turns with the engine of `ciagent`.

`python -m bench.next_to_ciagent PYTHON`, where PYTHON is the interpreter of the peers. Both judge the same traces by
the same checks, and the figures stand only if both find the same checks failed on every trace.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.layered import BROKEN, CHECKS, TRACES, write_suite, write_traces
from bench.timing import timed

from passmuster.engine._load_suite import load_suite
from passmuster.engine._plan import Plan
from passmuster.traces._reading import BadLines, read_source
from passmuster.traces._sources import Source

BAR = 2.5
ROUNDS = 40
TODAY = datetime.date(2026, 1, 1)


def engine(folder: Path, path: Path) -> tuple[Callable[[], None], list[list[str]]]:
    """What judges the file once, and the checks that each trace fails."""
    source = Source(str(path), path.name)
    suite = load_suite(write_suite(folder))
    traces = list(read_source(source, BadLines(source, skip=False)))
    golden = Plan(suite, TODAY).golden(traces[:1])
    plan = Plan(suite, TODAY, golden)

    def judge() -> None:
        evaluate = plan.evaluate
        for trace in read_source(source, BadLines(source, skip=False)):
            evaluate(trace)

    failing: list[list[str]] = []
    for trace in traces:
        explain = plan.evaluate(trace).explain
        assert explain is not None
        lines = [line for layer in explain().layers.values() for line in layer.checks]
        failing.append(sorted(line.name for line in lines if line.status != "pass"))
    return judge, failing


def compare(ours: list[list[str]], theirs: list[list[str]]) -> None:
    """Leave, unless both found the same, and each broken trace broken where it was meant to be."""
    every = sorted(key for layer in CHECKS.values() for key in layer)
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        name = BROKEN.get(number)
        meant = not mine if name is None else mine == every if name == "everything" else name in mine
        if mine != other or not meant:
            sys.exit(f"trace {number} ({name or 'sound'}): passmuster finds {mine} failed, ciagent {other}")


def main() -> None:
    """Print the line of the table."""
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as name:
        folder = Path(name)
        own_form, other_form = write_traces(folder)
        judge, failing = engine(folder, own_form)
        peer = [sys.argv[1], str(Path(__file__).with_name("ciagent_engine.py")), str(other_form)]
        with subprocess.Popen(peer, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin
            assert process.stdout
            compare(failing, json.loads(process.stdout.readline()))
            ours = theirs = float("inf")
            for _ in range(ROUNDS):
                process.stdin.write("\n")
                process.stdin.flush()
                theirs = min(theirs, float(process.stdout.readline()))
                ours = min(ours, timed(judge))
            process.stdin.close()
    times, mine, other = theirs / ours, ours / TRACES * 1e6, theirs / TRACES * 1e6
    print("| measured | theirs, µs | ours, µs | times | bar | held |\n|---|---|---|---|---|---|")
    what = "thirteen checks on ten calls, from JSON to outcome ÷ `ciagent`"
    print(f"| {what} | {other:.1f} | {mine:.1f} | {times:.2f} × | ≥ {BAR:g} × | {'yes' if times >= BAR else 'NO'} |")


if __name__ == "__main__":
    main()
