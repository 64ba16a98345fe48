"""How often suites from `passmuster init` fail traces of the same agent that they were not learned from.

`python -m bench.learned_suites [--traces PATH] [--agents 20] [--sizes 20 50 100 200 300]`

Of each sample, four fifths are learned from, as `init --traces` does it; then every other trace of the agent is
evaluated alone. Agents are generated: tasks that are not equally frequent, each with an order of tools of which some
steps are optional or in any order, rare tools, and arguments of which some are optional or of two types. With
`--traces` the samples are drawn from recorded traces instead.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import passmuster
from passmuster import api

SIZES = (20, 50, 100, 200, 300)
LIMIT = 0.01
_FRESH = 50
"""How many further traces of a generated agent are evaluated."""

Record = dict[str, Any]


class Tool(Struct, frozen=True):
    """A tool and how its arguments are given: by name, how often, and as values of which types."""

    name: str
    arguments: tuple[tuple[str, float, tuple[str, ...]], ...]


class Step(Struct, frozen=True):
    """A call of a task: how often it is made, and whether it may change places with the one before."""

    tool: Tool
    chance: float
    moves: bool


class Agent(Struct, frozen=True):
    """A generated agent: its tasks with their weights, and tools that any run may call."""

    tasks: tuple[tuple[Step, ...], ...]
    weights: tuple[float, ...]
    rare: tuple[tuple[Tool, float], ...]


def drawn_agent(seed: int) -> Agent:
    """An agent with three to fourteen tools and one to six tasks."""
    rng = random.Random(f"agent {seed}")
    tools = [_tool(f"tool_{number}", rng) for number in range(rng.randint(3, 14))]
    tasks = []
    for _ in range(rng.randint(1, 6)):
        chosen = rng.sample(tools, rng.randint(1, min(6, len(tools))))
        tasks.append(tuple(_step(tool, rng) for tool in chosen))
    weights = tuple(1 / (rank + 1) ** rng.choice((0, 1, 1.5)) for rank in range(len(tasks)))
    rare = tuple((_tool(f"rare_{n}", rng), rng.choice((0.003, 0.01, 0.03))) for n in range(rng.choice((0, 0, 1, 2))))
    return Agent(tuple(tasks), weights, rare)


def _tool(name: str, rng: random.Random) -> Tool:
    arguments = []
    for number in range(rng.randint(0, 5)):
        given = 1.0 if rng.random() < 0.75 else rng.choice((0.2, 0.5, 0.8, 0.95))
        types = [rng.choice(("string", "number", "array", "boolean"))]
        if rng.random() < 0.03:
            types.append("null")
        arguments.append((f"argument_{number}", given, tuple(types)))
    return Tool(name, tuple(arguments))


def _step(tool: Tool, rng: random.Random) -> Step:
    chance = 1.0 if rng.random() < 0.5 else rng.choice((0.3, 0.7, 0.95))
    return Step(tool, chance, rng.random() < 0.3)


_VALUES: dict[str, Callable[[random.Random], Any]] = {
    "string": lambda rng: f"text {rng.randrange(1000)}",
    "number": lambda rng: rng.choice((rng.randrange(100), round(rng.random(), 3))),
    "array": lambda rng: [rng.randrange(9)],
    "boolean": lambda rng: rng.random() < 0.5,
    "null": lambda rng: None,
}


def _call(tool: Tool, rng: random.Random) -> Record:
    arguments = {
        name: _VALUES[types[0] if len(types) == 1 or rng.random() < 0.9 else types[1]](rng)
        for name, given, types in tool.arguments
        if rng.random() < given
    }
    return {"type": "tool_call", "tool": tool.name, "arguments": arguments}


def run_of(agent: Agent, number: int, rng: random.Random) -> Record:
    """One trace."""
    steps: list[Record] = []
    for step in rng.choices(agent.tasks, agent.weights)[0]:
        if rng.random() < step.chance:
            steps.insert(len(steps) - (step.moves and rng.random() < 0.2), _call(step.tool, rng))
    for tool, chance in agent.rare:
        if rng.random() < chance:
            steps.insert(rng.randint(0, len(steps)), _call(tool, rng))
    return {"trace_id": f"t-{number}", "query": f"Question {number}", "answer": "Done.", "steps": steps}


def traces_of(seed: int, count: int) -> list[Record]:
    """So many traces of one generated agent."""
    agent, rng = drawn_agent(seed), random.Random(f"traces {seed}")
    return [run_of(agent, number, rng) for number in range(count)]


class Trial(Struct, frozen=True):
    """One suite: how many fresh traces it failed, by test, and which families of rules block."""

    fresh: int
    failed: int
    by_test: dict[str, int]
    blocking: frozenset[str]


def trial(learned: Sequence[bytes], fresh: Sequence[bytes]) -> Trial:
    """Learn a suite from some records and evaluate others with it, one by one."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("learned.jsonl").write_bytes(b"\n".join(learned))
        Path("fresh.jsonl").write_bytes(b"\n".join(fresh))
        api.init_suite(["learned.jsonl"], api.SourceOptions())
        suite = passmuster.load_suite(".")
        failed, by_test, seen = 0, dict[str, int](), 0
        for trace in passmuster.read_traces("fresh.jsonl"):
            seen += 1
            report = passmuster.evaluate(suite, [trace])
            if report.exit_code:
                failed += 1
                for test in report.tests:
                    if test.status == "fail" and test.severity == "block":
                        by_test[test.id] = by_test.get(test.id, 0) + 1
        return Trial(seen, failed, by_test, frozenset(test.id for test in suite.tests if test.severity == "block"))


def sample_trials(records: Sequence[bytes], size: int, splits: int, seed: int) -> list[Trial]:
    """Suites learned from four fifths of random samples of recorded traces; the rest of the traces is fresh."""
    trials = []
    for split in range(splits):
        shuffled = random.Random(f"{seed} {size} {split}").sample(records, len(records))
        learned = round(size * 0.8)
        trials.append(trial(shuffled[:learned], shuffled[learned:]))
    return trials


def generated_trials(size: int, agents: int, seed: int, fresh: int = _FRESH) -> list[Trial]:
    """A suite for each of so many generated agents."""
    trials = []
    learned = round(size * 0.8)
    for agent in range(agents):
        records = [msgspec.json.encode(one) for one in traces_of(seed * 1_000 + agent, learned + fresh)]
        trials.append(trial(records[:learned], records[learned:]))
    return trials


def failing_share(trials: Sequence[Trial]) -> float:
    """The mean share of fresh traces that fail."""
    return sum(one.failed / one.fresh for one in trials) / len(trials)


def _row(size: int, trials: Sequence[Trial]) -> str:
    tests = sorted({name for one in trials for name in one.blocking})
    shown = [
        f"{name} {sum(one.by_test.get(name, 0) / one.fresh for one in trials) / len(trials):.2%}"
        f" (blocks in {sum(name in one.blocking for one in trials) / len(trials):.0%})"
        for name in tests
    ]
    return f"{size:>6}  {failing_share(trials):>6.2%}  {'; '.join(shown)}"


def _records(path: str) -> list[bytes]:
    """The traces of a file in one format, each as passmuster's own record."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "traces.jsonl"
        api.import_traces([path], str(target), api.SourceOptions())
        return target.read_bytes().splitlines()


def main() -> int:
    """Print the figures; 1 where a mean share is above the limit."""
    words = argparse.ArgumentParser(prog="python -m bench.learned_suites", description=__doc__.splitlines()[0])
    words.add_argument("--traces", help="recorded traces to draw samples from, instead of generated agents")
    words.add_argument("--agents", type=int, default=100, help="how many agents, or samples of recorded traces")
    words.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    records = _records(given.traces) if given.traces else []
    print(f"traces  failed  by test, mean over {given.agents} suites each")
    worst = 0.0
    for size in given.sizes:
        if given.traces and round(size * 0.8) >= len(records):
            continue
        if given.traces:
            trials = sample_trials(records, size, given.agents, given.seed)
        else:
            trials = generated_trials(size, given.agents, given.seed)
        worst = max(worst, failing_share(trials))
        print(_row(size, trials), flush=True)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
