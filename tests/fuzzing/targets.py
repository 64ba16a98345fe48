"""Fuzz targets: each makes one input from a seeded generator, feeds it to the program, and raises `Finding` if it
answers with anything but a result or a located refusal."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.cli_runner import CliRunner
from tests.fuzzing import seeds
from tests.fuzzing.mutation import mutated, mutated_bytes

import passmuster
from passmuster import api, reports
from passmuster._problems import InputError, OutsideError
from passmuster.cli import command
from passmuster.engine import load_suite
from passmuster.judges._cache import load as load_cache

FORMATS = [name for name in reports.FORMATS if name != "html"]


class Finding(Exception):
    """The program answered with something that is no answer."""


class Bench:
    """A folder with everything that a target may need, written once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.chdir(folder)
        (folder / ".git").mkdir(exist_ok=True)
        (folder / "policies").mkdir(exist_ok=True)
        for name in ("policy.json", "policies/p.yaml"):
            (folder / name).write_text(json.dumps(seeds.POLICY))
        (folder / "passmuster.json").write_text(json.dumps(seeds.SUITE))
        (folder / "t.jsonl").write_bytes(seeds.lines([seeds.NATIVE, {**seeds.NATIVE, "scenario": "S-2"}]))
        (folder / "bad.jsonl").write_bytes(b'{"steps": 5}\n')
        self.suite = api.load_suite("passmuster.json")
        self.small = passmuster.suite_from_dict(seeds.SMALL_SUITE, folder=folder)
        self.traces = list(passmuster.read_traces("t.jsonl"))
        with api.StandardInput() as stdin:
            api.save_baseline(None, api.RunOptions(traces=("t.jsonl",)), stdin, output="b.json")
            api.add_to_history(api.run(None, api.RunOptions(traces=("t.jsonl",)), stdin))
        self.baseline = json.loads((folder / "b.json").read_text())
        self.history = (folder / ".passmuster" / "history.db").read_bytes()
        self.extra: list[bytes] = []
        """More trace files to start from."""


def _finish(report: passmuster.Report, rng: Random) -> None:
    """A writer takes the report, and its exit code is one of those there are."""
    reports.render(rng.choice(FORMATS), report)
    if report.exit_code not in (0, 1, 3):
        raise Finding(f"exit code {report.exit_code}")


def _part_of(document: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The suite with some of its keys: what refers to a missing one is refused, as it should be."""
    return {key: value for key, value in document.items() if key in ("tests", "scenarios") or rng.random() < 0.4}


def suite_values(bench: Bench, rng: Random) -> str:
    """A suite with odd values, and its evaluation if it loads."""
    document = mutated(_part_of(rng.choice(seeds.SUITES), rng), rng)
    if not isinstance(document, dict):
        return "refused"
    try:
        suite = passmuster.suite_from_dict(document, folder=bench.folder, plugins=False)
        _finish(passmuster.evaluate(suite, bench.traces, judge="off"), rng)
    except (InputError, OutsideError):
        return "refused"
    return "evaluated"


def suite_text(bench: Bench, rng: Random) -> str:
    """A suite file, YAML or JSON, with odd bytes."""
    import yaml

    document = _part_of(rng.choice(seeds.SUITES), rng)
    as_json = rng.random() < 0.3
    text = json.dumps(document, indent=rng.choice([None, 2])) if as_json else yaml.safe_dump(document, sort_keys=False)
    path = bench.folder / ("fuzzed.json" if as_json else "fuzzed.yaml")
    content = mutated_bytes(text.encode(), rng)
    try:
        suite = load_suite(path, plugins=False, documents={str(path): content})
        _finish(passmuster.evaluate(suite, bench.traces, judge="off"), rng)
    except (InputError, OutsideError):
        return "refused"
    return "evaluated"


def policies(bench: Bench, rng: Random) -> str:
    """A policy with odd values or bytes."""
    document = rng.choice([seeds.POLICY, seeds.POLICY, seeds.MCP_POLICY])
    content = json.dumps(mutated(document, rng)).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        content = mutated_bytes(content, rng)
    path, policy = bench.folder / "fuzzed.json", bench.folder / "policy.json"
    test = {"id": "args", "metric": "args_valid", "policy": "policy.json", "strict": rng.random() < 0.5}
    try:
        documents = {str(path): json.dumps({"tests": [test]}).encode(), str(policy): content}
        suite = load_suite(path, plugins=False, documents=documents)
        _finish(passmuster.evaluate(suite, bench.traces, judge="off"), rng)
    except (InputError, OutsideError):
        return "refused"
    return "evaluated"


def traces(bench: Bench, rng: Random) -> str:
    """A trace file with odd values or bytes, in one of several formats, perhaps packed."""
    if bench.extra and rng.random() < 0.5:
        content = mutated_bytes(rng.choice(bench.extra), rng)
    else:
        content = seeds.lines(mutated(rng.choice(seeds.TRACES), rng))
        if rng.random() < 0.4:
            content = mutated_bytes(content, rng)
    name = rng.choice(["f.jsonl", "f.jsonl", "f.json", "f.ndjson", "f.jsonl.gz"])
    if name.endswith(".gz"):
        content = gzip.compress(content, 1)
        content = mutated_bytes(content, rng, 2) if rng.random() < 0.5 else content
    (bench.folder / name).write_bytes(content)
    try:
        found = list(passmuster.read_traces(name))
        _finish(passmuster.evaluate(bench.suite if rng.random() < 0.2 else bench.small, found, judge="off"), rng)
    except (InputError, OutsideError):
        return "refused"
    return "evaluated"


def baselines(bench: Bench, rng: Random) -> str:
    """A baseline with odd values or bytes."""
    content = json.dumps(mutated(bench.baseline, rng)).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        content = mutated_bytes(content, rng)
    path = bench.folder / "fuzzed-baseline.json"
    path.write_bytes(content)
    try:
        _finish(passmuster.evaluate(bench.suite, bench.traces, judge="off", baseline=path), rng)
    except (InputError, OutsideError):
        return "refused"
    return "evaluated"


def histories(bench: Bench, rng: Random) -> str:
    """A damaged history is told, whether it is read or written."""
    file = bench.folder / ".passmuster" / "history.db"
    content = mutated_bytes(bench.history, rng)
    if rng.random() < 0.1:
        content = content[: rng.randint(0, 100)]
    file.write_bytes(content)
    for beside in ("history.db-journal", "history.db-wal", "history.db-shm"):
        (file.parent / beside).unlink(missing_ok=True)
    try:
        api.read_history(last=5)
        api.compare_runs(1, 1)
    except (InputError, OutsideError):
        return "refused"
    finally:
        file.write_bytes(bench.history)
    return "evaluated"


def caches(bench: Bench, rng: Random) -> str:
    """A damaged cache of verdicts is refused line by line."""
    entries = mutated(seeds.CACHE, rng)
    content = seeds.lines(entries)
    path = bench.folder / "verdicts.jsonl"
    path.write_bytes(mutated_bytes(content, rng) if rng.random() < 0.5 else content)
    try:
        load_cache(path)
    except InputError:
        return "refused"
    return "evaluated"


def command_lines(bench: Bench, rng: Random) -> str:
    """Any words as arguments: an exit code from 0 to 3, and no traceback."""
    arguments = [rng.choice(seeds.WORDS) for _ in range(rng.randint(0, 7))]
    if rng.random() < 0.6:
        arguments = ["run", "--traces", "t.jsonl", *arguments]
    result = CliRunner().invoke(command, arguments, input="")
    if result.exit_code not in (0, 1, 2, 3):
        raise Finding(f"{arguments}: exit code {result.exit_code}")
    if "Traceback" in result.output or "unexpected failure" in result.output:
        raise Finding(f"{arguments}: {result.output}")
    asked_for = result.exit_code == 1 and "--quiet" in arguments  # a verdict, and no report of it
    if result.exit_code and not asked_for and not result.output.strip():
        raise Finding(f"{arguments}: exit code {result.exit_code} without a word")
    return "refused" if result.exit_code == 2 else "evaluated"


# ── Red stays red ───────────────────────────────────────────────────────────────────────────────────────────

_FORBIDDEN: dict[str, Any] = {"type": "tool_call", "tool": "delete_db", "arguments": {"name": "prod"}}
_CONTAINERS = [
    *(
        "steps",
        "children",
        "turns",
        "nested",
        "inner",
        "events",
        "output",
        "result",
        "content",
        "data",
        "calls",
        "x-note",
    ),
    *("metadata", "tool_calls", "messages", "spans", "attributes", "trajectory", "items", "log", "history", "actions"),
]


def hidden_calls(bench: Bench, rng: Random) -> str:
    """A forbidden call stays in the record, wherever it is put: the gate is never green."""
    record: dict[str, Any] = json.loads(json.dumps(seeds.NATIVE))
    call: Any = dict(_FORBIDDEN)
    for _ in range(rng.randrange(3)):
        call = rng.choice(
            [[call], {"type": rng.choice(["span", "turn", "message", "llm_call"]), rng.choice(_CONTAINERS): [call]}]
        )
    where = rng.randrange(4)
    if where == 0:
        record["steps"].insert(rng.randint(0, 5), call)
    elif where == 1:
        record[rng.choice(_CONTAINERS)] = call if isinstance(call, list) else [call]
    elif where == 2:
        rng.choice(record["steps"])[rng.choice(_CONTAINERS)] = [call]
    else:
        record = {rng.choice(_CONTAINERS): [record, call] if rng.random() < 0.5 else [{**record, "steps": [call]}]}
    (bench.folder / "f.jsonl").write_bytes(seeds.lines([record]))
    try:
        found = list(passmuster.read_traces("f.jsonl"))
        report = passmuster.evaluate(bench.suite, found, judge="off")
    except (InputError, OutsideError):
        return "refused"
    if report.exit_code == 0 and not _only_data(record):
        raise Finding(f"green with a forbidden call: {json.dumps(record)}")
    return "evaluated"


def _only_data(record: Any) -> bool:
    """Whether the call stands where a trace keeps data: in arguments, a result, metadata, an `x-` key, or a text."""
    text = json.dumps(
        {"steps": record.get("steps"), **{key: record[key] for key in record if key not in ("metadata", "x-note")}}
    )
    return "delete_db" not in _without_data(json.loads(text))


def _without_data(value: Any) -> str:
    if isinstance(value, dict):
        return str(
            {
                key: _without_data(item)
                for key, item in value.items()
                if key not in ("result", "arguments", "metadata", "x-note")
            }
        )
    return str([_without_data(item) for item in value]) if isinstance(value, list) else str(value)


def one_more(bench: Bench, rng: Random) -> str:
    """Asking for more never gives less: one more of anything turns no red gate green."""
    document = json.loads(json.dumps(seeds.SUITE))
    for key in rng.sample(["thresholds", "weights", "pass_criteria", "required_scenarios", "composite", "waivers"], 4):
        document.pop(key, None)
    for layer in rng.sample(["correctness", "path", "cost", "expected_behaviors", "must_not"], 3):
        document["scenarios"][0].pop(layer, None)
    records = [mutated(seeds.NATIVE, rng, 2) for _ in range(rng.randint(1, 3))]
    (bench.folder / "f.jsonl").write_bytes(seeds.lines(records))
    strict = rng.random() < 0.3
    try:
        found = list(passmuster.read_traces("f.jsonl"))
        before = passmuster.evaluate(
            passmuster.suite_from_dict(document, plugins=False), found, judge="off", strict=strict
        )
    except (InputError, OutsideError):
        return "refused"
    if before.exit_code not in (1, 3):
        return "green"
    what = _ask_more(document, rng)
    try:
        suite = passmuster.suite_from_dict(document, plugins=False)
        after = passmuster.evaluate(suite, found, judge="off", strict=strict or what == "strict")
    except (InputError, OutsideError):
        return "refused"
    if after.exit_code == 0:
        raise Finding(f"red turned green by one more {what}: {json.dumps(document)} on {json.dumps(records)}")
    return "evaluated"


def _ask_more(document: dict[str, Any], rng: Random) -> str:
    """Add one thing that is asked, and say what."""
    what = rng.choice(["test", "rule", "required", "bound", "criterion", "check", "strict"])
    if what == "test":
        document["tests"].append({"id": "more", "metric": "tool_blocklist", "blocklist": [rng.choice(["zz", "pay"])]})
    elif what == "rule":
        rule = rng.choice([{"type": "require", "tool": "pay"}, {"type": "blocklist", "tools": ["zz"]}])
        document["tests"][2]["rules"].insert(rng.randint(0, 4), rule)
    elif what == "required":
        document["required_scenarios"] = ["S-1", "S-2"]
    elif what == "bound":
        document.setdefault("thresholds", {})["risk"] = {"critical": {"pass_rate": "100%"}}
    elif what == "criterion":
        document.setdefault("pass_criteria", {}).setdefault("by_category", {})["happy"] = "100%"
    elif what == "check":
        scenario = document["scenarios"][0]
        layer = rng.choice([one for one in ("correctness", "path", "cost") if one in scenario] or ["path"])
        more = {"correctness": {"not_in_answer": ["zz"]}, "path": {"max_loops": 9}, "cost": {"max_llm_calls": 99}}
        if layer in scenario:
            scenario[layer].update(more[layer])
    return what


Target = Callable[[Bench, Random], str]
TARGETS: dict[str, tuple[Target, int]] = {
    "suite_values": (suite_values, 10),
    "suite_text": (suite_text, 8),
    "policies": (policies, 60),
    "traces": (traces, 170),
    "baselines": (baselines, 60),
    "histories": (histories, 40),
    "caches": (caches, 110),
    "command_lines": (command_lines, 10),
    "hidden_calls": (hidden_calls, 20),
    "one_more": (one_more, 12),
}
"""Each target and its share of a campaign."""
