"""A baseline as its file, in 80 columns of text, the thresholds it suggests as YAML, and what a ratchet changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from passmuster._problems import plural
from passmuster.reports._text import aligned, cut, one_line
from passmuster.reports.formats.json import encoded
from passmuster.scoring import Baseline, Kept, RecordedScenario, Target, Tightened, between, written

_WIDTH = 80
_NAME = 28
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = {"true", "false", "null"}
# A list of plain values, one per line. No string holds a raw line break, so what follows `[` is not part of one.
_LIST = re.compile(rb"\[\n[^\[\]{}]*\]")
_BREAK = re.compile(rb"\n *")


def encoded_baseline(baseline: Baseline) -> bytes:
    """The file's bytes."""
    document = {"schema": baseline.schema, **msgspec.to_builtins(baseline)}
    return _LIST.sub(_on_one_line, encoded(document))


def _on_one_line(found: re.Match[bytes]) -> bytes:
    return b"[" + _BREAK.sub(b" ", found[0][1:-1]).strip() + b"]"


def baseline_text(baseline: Baseline) -> list[str]:
    """What was recorded, as lines of text."""
    agent = f", agent {one_line(baseline.agent_version)}" if baseline.agent_version else ""
    day = f", {one_line(baseline.day)}" if baseline.day else ""
    lines = [
        f"{one_line(baseline.suite)}: {one_line(baseline.verdict)}{agent}{day}",
        f"recorded by passmuster {one_line(baseline.version)} from suite file {one_line(baseline.suite_sha256[:12])}…",
    ]
    if baseline.metrics:
        lines += ["", "Metrics", *_indented(_metric_rows(baseline))]
    if baseline.scenarios:
        passed = sum(one.status in ("pass", "warn") for one in baseline.scenarios.values())
        lines += ["", f"Scenarios: {passed} of {len(baseline.scenarios)} passed"]
        lines += _indented(_scenario_row(id_, one) for id_, one in baseline.scenarios.items())
    if baseline.tests:
        lines += ["", "Tests"]
        lines += _indented(
            [_named(id_), test.status, "" if test.exercised else "not exercised"]
            for id_, test in baseline.tests.items()
        )
    return [cut(one_line(line), _WIDTH) for line in lines]


def _metric_rows(baseline: Baseline) -> Iterator[list[str]]:
    for name, metric in baseline.metrics.items():
        ends = f"95%: {between(name, metric.ci95)}" if metric.ci95 else ""
        yield [_named(name), written(name, metric.value), f"n = {metric.n}", ends]


def _scenario_row(id_: str, one: RecordedScenario) -> list[str]:
    return [
        _named(id_),
        one.status,
        f"{one.passed.passed} of {plural(one.passed.counted, 'run')}" if one.runs else "no run",
        "" if one.latency_ms is None else written("latency_p50", one.latency_ms),
        "" if one.cost_usd is None else written("mean_cost_usd", one.cost_usd),
        "required" if one.required else "",
    ]


def _named(name: str) -> str:
    return cut(one_line(name), _NAME)


def _indented(rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in aligned(rows)]


def tightening_text(
    file: str, before: bytes, after: bytes, raised: Sequence[Tightened], kept: Sequence[Kept], dry_run: bool
) -> list[str]:
    """What a ratchet did to a suite file, or with `dry_run` what it would do."""
    lines = [_raised(one, file) for one in raised]
    lines += [f"not changed: {one_line(one.name)}: {one_line(one.why)}" for one in kept]
    if dry_run:
        lines += _diff(before, after, file)
    if not raised:
        lines.append("No bound was tightened.")
    elif dry_run:
        lines.append("Nothing was written (--dry-run).")
    return lines


def _raised(one: Tightened, file: str) -> str:
    value, reached = (written(one.metric.name, value) for value in (float(one.value), one.reached))
    place = f"{one_line(file)}:{one.bound.line}"
    return f"{place}: {one_line(one.name)} {one.bound.text} → {one.bound.operator} {value} (reached {reached})"


def _diff(before: bytes, after: bytes, name: str) -> list[str]:
    import difflib  # late, for only a dry run shows it

    old, new = (text.decode("utf-8").splitlines() for text in (before, after))
    found = difflib.unified_diff(old, new, name, f"{name} (tightened)", lineterm="", n=1)
    return [one_line(line) for line in found]


def suggestion_text(targets: Sequence[Target], name: str, margin: float) -> list[str]:
    """Thresholds as YAML that can be pasted into a suite."""
    if not targets:
        return [f"# {name} has no metric to suggest a threshold from."]
    lines = [
        f"# {margin * 100:g}% better than what {name} reached: a target that this run does not meet.",
        "thresholds:",
    ]
    opened: list[str] = []
    for target in sorted(targets, key=lambda one: [*_SECTIONS, one.section].index(one.section)):
        path = target.section.split(".")
        for depth, key in enumerate(path):
            if opened[: depth + 1] != path[: depth + 1]:
                lines.append(f"{'  ' * (depth + 1)}{key}:")
                opened = path[: depth + 1]
        bound = f"{target.operator} {_as_stated(target)}"
        reached = written(target.metric.name, target.reached)
        lines.append(f'{"  " * (len(path) + 1)}{_key(target.metric.name)}: "{bound}"  # reached {reached}')
    return lines


_SECTIONS = ("blocking", "warning", "risk.critical", "risk.high", "risk.medium", "risk.low")


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _WORDS else json.dumps(name)


def _as_stated(target: Target) -> str:
    """The target's number as a suite states it, to the last digit."""
    metric = target.metric
    number = f"{(target.value.scaleb(2) if metric.rate else target.value).normalize():f}"
    return f"{number}%" if metric.rate else f"{number} {metric.unit}".rstrip()
