"""`make bench-peers`: what this program needs for the operations that `peers.py` timed, and how often it fits in."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from bench.comparison import ARGUMENTS, CALLS

from passmuster.checks._spec import spec_of
from passmuster.checks._view import Viewer
from passmuster.checks.layers.path._pairing import Actual, expect, pair
from passmuster.checks.matchers import Equal
from passmuster.engine._load_suite import load_suite
from passmuster.traces._model import ToolCall, Trace

BAR = 20.0


def best(run: Callable[[], object], times: int, rounds: int = 7) -> float:
    """Microseconds of one run, the best of several rounds."""
    shortest = float("inf")
    for _ in range(rounds):
        started = perf_counter()
        for _ in range(times):
            run()
        shortest = min(shortest, perf_counter() - started)
    return shortest / times * 1e6


def arguments_of_a_call() -> float:
    """`args_valid` as a whole on a trace of ten calls, per call."""
    tools = {call["tool"]: {"arguments": ARGUMENTS} for call in CALLS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.json").write_text(json.dumps({"tools": tools}))
        suite = {"tests": [{"id": "a", "metric": "args_valid", "policy": "policy.json"}]}
        (folder / "passmuster.json").write_text(json.dumps(suite))
        test = load_suite(folder, root=folder).tests[0]
    viewer = Viewer()
    check = spec_of(test).compile(viewer.tools)
    view = viewer.view(Trace(steps=tuple(ToolCall(call["tool"], arguments=call["arguments"]) for call in CALLS)))
    assert check(view).status == "pass"
    return best(lambda: check(view), 2_000) / len(CALLS)


def a_trajectory() -> float:
    """Ten calls paired in order with ten expected ones, every argument compared."""
    expected = [
        expect(call["tool"], {name: Equal(value) for name, value in call["arguments"].items()}, exact_args=True)
        for call in CALLS
    ]
    actual = [Actual(call["tool"], call["arguments"], place, place) for place, call in enumerate(CALLS)]
    assert pair(expected, actual, "exact").cost == 0
    return best(lambda: pair(expected, actual, "exact"), 500)


def main() -> None:
    """Print the table."""
    peers = json.loads(Path(sys.argv[1]).read_text())
    ours = {"jsonschema": arguments_of_a_call(), "agentevals": a_trajectory()}
    ours["deepeval"] = ours["agentevals"]
    what = {
        "jsonschema": "arguments of one call ÷ `jsonschema` in a plain loop",
        "agentevals": "ten calls compared ÷ LangChain `agentevals`, strict",
        "deepeval": "ten calls compared ÷ DeepEval `ToolCorrectnessMetric`",
    }
    print("| measured | theirs, µs | ours, µs | times | bar | held |\n|---|---|---|---|---|---|")
    for name, theirs in peers.items():
        times = theirs / ours[name]
        held = "yes" if times >= BAR else "NO"
        print(f"| {what[name]} | {theirs:.1f} | {ours[name]:.2f} | {times:.0f} × | ≥ {BAR:g} × | {held} |")


if __name__ == "__main__":
    main()
