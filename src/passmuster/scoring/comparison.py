"""Two reports of a suite, and what changed between them.

It works on the JSON documents, which outlive the version that wrote them: a key that is missing, or is not what this
version would write, is read as absent. Times and durations are no changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct

from passmuster.suite.metric_names import METRICS

__all__ = [
    "CaseChange",
    "Comparison",
    "CountChange",
    "Figure",
    "GateChange",
    "MetricChange",
    "Side",
    "Unit",
    "Unlisted",
    "ViolationChange",
    "compare",
    "unit_of",
]

Document = Mapping[str, Any]
Key = TypeVar("Key")
Unit = Literal["rate", "usd", "ms", "tokens", "number"]

_UNITS: dict[str, Unit] = {"USD": "usd", "ms": "ms", "tokens": "tokens"}
_GRAVITY = ("pass", "tolerated", "warning", "undecided", "fail", "error")
# These lines are there only while something is wrong; of the others, one that is gone is no longer asked for.
_COMPLAINTS = frozenset({"vacuous", "input", "judge", "error"})
_IDENTITY = ("rule", "constraint", "pattern", "tool", "argument")


class Side(Struct, frozen=True):
    """One of the two reports in short."""

    suite: str | None
    suite_file: str | None
    suite_sha256: str | None
    version: str | None
    """Of the program that wrote it."""
    verdict: str | None
    exit_code: int | None
    partial: bool


class GateChange(Struct, frozen=True):
    """A gate line that turned. `gone`: it failed, and is no longer asked for."""

    kind: str
    id: str
    turn: Literal["failing", "fixed", "changed", "gone"]
    before: str | None
    """`pass`, `tolerated`, `warning`, `undecided`, `fail` or `error`; None where there is no such line."""
    after: str | None
    message: str


class Figure(Struct, frozen=True):
    """A metric in one report."""

    value: float | None
    n: int | None
    ci95: tuple[float, float] | None


class MetricChange(Struct, frozen=True):
    """A metric in both reports, or in one of them."""

    name: str
    unit: Unit
    before: Figure | None
    after: Figure | None
    difference: float | None
    """After less before, in the metric's own unit."""
    relative: float | None
    """The difference as a part of what was before; not for rates, whose difference is in points."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


class CaseChange(Struct, frozen=True):
    """A test or a scenario whose status or score changed, that appeared or that is gone."""

    id: str
    before: str | None
    after: str | None
    score_before: float | None = None
    score_after: float | None = None


class ViolationChange(Struct, frozen=True, kw_only=True):
    """A violation that is new or no longer there. `gone`: its test is no longer in the suite."""

    turn: Literal["new", "fixed", "gone"]
    test: str
    rule: str | None
    constraint: str | None
    pattern: str | None
    tool: str | None
    argument: str | None
    scenario: str | None
    trace_id: str | None
    message: str
    before: int
    """How often it was found: in a scenario that is run several times, and in several calls of a trace."""
    after: int


class Unlisted(Struct, frozen=True):
    """A test with more violations than its report lists: which of the others are new cannot be said."""

    test: str
    before: int
    before_listed: int
    after: int
    after_listed: int


class CountChange(Struct, frozen=True):
    """A number of things, before and after."""

    name: str
    before: int
    after: int


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed from one report to another."""

    before: Side
    after: Side
    gate: list[GateChange]
    metrics: list[MetricChange]
    """All of them, changed or not."""
    tests: list[CaseChange]
    scenarios: list[CaseChange]
    violations: list[ViolationChange]
    unlisted: list[Unlisted]
    tools: list[CountChange]
    """The calls of each tool whose number changed."""
    traces: list[CountChange]

    @property
    def same_suite(self) -> bool:
        return (self.before.suite, self.before.suite_file) == (self.after.suite, self.after.suite_file)

    @property
    def changed(self) -> bool:
        """Whether there is anything to tell about what was judged."""
        return bool(
            (self.before.verdict, self.before.exit_code) != (self.after.verdict, self.after.exit_code)
            or any((self.gate, self.tests, self.scenarios, self.violations, self.tools, self.traces))
            or any(metric.changed for metric in self.metrics)
            or any(test.before != test.after for test in self.unlisted)
        )


def compare(before: Document, after: Document) -> Comparison:
    """What changed between two reports, in the order of the later one."""
    return Comparison(
        before=_side(before),
        after=_side(after),
        gate=list(_gate(before, after)),
        metrics=list(_metrics(before, after)),
        tests=list(_cases(before, after, "tests")),
        scenarios=list(_cases(before, after, "scenarios")),
        violations=list(_violations(before, after)),
        unlisted=list(_unlisted(before, after)),
        tools=_counts(before, after, "tools"),
        traces=_counts(before, after, "traces"),
    )


def unit_of(metric: str) -> Unit:
    """What a metric is counted in; one that this version does not know is a plain number."""
    known = METRICS.get(metric)
    if known is None:
        return "number"
    return "rate" if known.rate else _UNITS.get(known.unit, "number")


def _side(document: Document) -> Side:
    provenance = _map(document.get("provenance"))
    return Side(
        suite=_text(document.get("suite")),
        suite_file=_text(document.get("suite_file")),
        suite_sha256=_text(provenance.get("suite_sha256")),
        version=_text(provenance.get("version")),
        verdict=_text(document.get("verdict")),
        exit_code=_whole(document.get("exit_code")),
        partial=document.get("partial") is True,
    )


# ── The gate ────────────────────────────────────────────────────────────────────────────────────────────────


def _gate(before: Document, after: Document) -> Iterator[GateChange]:
    old, new = _endings(before), _endings(after)
    for key in _either(new, old):
        was, was_said = old.get(key, (None, ""))
        now, is_said = new.get(key, (None, ""))
        if (was or "pass") == (now or "pass"):
            continue
        if was in (None, "pass"):
            turn: Literal["failing", "fixed", "changed", "gone"] = "failing"
        elif now == "pass" or (now is None and key[0] in _COMPLAINTS):
            turn = "fixed"
        else:
            turn = "gone" if now is None else "changed"
        yield GateChange(*key, turn, was, now, was_said if turn in ("fixed", "gone") else is_said)


def _endings(document: Document) -> dict[tuple[str, str], tuple[str, str]]:
    """How each thing asked of the gate ended, by the gravest of its lines, and what that line says."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for line in _maps(document, "gate"):
        key = (_text(line.get("kind")) or "", _text(line.get("id")) or "")
        ending = _ending(line)
        if key not in found or _GRAVITY.index(ending) > _GRAVITY.index(found[key][0]):
            found[key] = (ending, _text(line.get("message")) or "")
    return found


def _ending(line: Document) -> str:
    status = _text(line.get("status"))
    if status == "pass":
        return "pass"
    if line.get("tolerated_by") is not None:
        return "tolerated"
    if line.get("level") == "warning":
        return "warning"
    return status if status in ("undecided", "error") else "fail"


# ── Metrics and counts ──────────────────────────────────────────────────────────────────────────────────────


def _metrics(before: Document, after: Document) -> Iterator[MetricChange]:
    old, new = _map(before.get("metrics")), _map(after.get("metrics"))
    for name in _either(new, old):
        was, now = _figure(old.get(name)), _figure(new.get(name))
        unit = unit_of(name)
        difference = relative = None
        if was and now and was.value is not None and now.value is not None:
            difference = now.value - was.value
            relative = difference / abs(was.value) if was.value and unit != "rate" else None
        yield MetricChange(name, unit, was, now, difference, relative)


def _figure(found: Any) -> Figure | None:
    if not isinstance(found, Mapping):
        return None
    interval = found.get("ci95")
    ends = [_number(end) for end in interval] if isinstance(interval, (list, tuple)) else []
    low, high = ends if len(ends) == 2 else (None, None)
    ci95 = None if low is None or high is None else (low, high)
    return Figure(_number(found.get("value")), _whole(found.get("n")), ci95)


def _counts(before: Document, after: Document, part: str) -> list[CountChange]:
    old, new = _map(before.get(part)), _map(after.get(part))
    # An older report that says nothing of it is not one that counted none.
    if part not in before or part not in after:
        return []
    changes = (CountChange(name, _whole(old.get(name)) or 0, _whole(new.get(name)) or 0) for name in _either(new, old))
    return [change for change in changes if change.before != change.after]


# ── Tests, scenarios and violations ─────────────────────────────────────────────────────────────────────────


def _cases(before: Document, after: Document, part: str) -> Iterator[CaseChange]:
    old, new = _by_id(before, part), _by_id(after, part)
    for name in _either(new, old):
        was, now = old.get(name, {}), new.get(name, {})
        change = CaseChange(
            name,
            _text(was.get("status")),
            _text(now.get("status")),
            _number(was.get("score")),
            _number(now.get("score")),
        )
        if (change.before, change.score_before) != (change.after, change.score_after):
            yield change


def _violations(before: Document, after: Document) -> Iterator[ViolationChange]:
    old, new = _by_id(before, "tests"), _by_id(after, "tests")
    for test in _either(new, old):
        was, was_like = _found(old.get(test, {}))
        now, now_like = _found(new.get(test, {}))
        for identity in _either(now, was):
            if was[identity] == now[identity]:
                continue
            like = (now_like if identity in now_like else was_like)[identity]
            fields = {name: _text(like.get(name)) for name in (*_IDENTITY, "scenario", "trace_id")}
            grew = now[identity] > was[identity]
            yield ViolationChange(
                turn="new" if grew else "fixed" if test in new else "gone",
                test=test,
                message=_text(like.get("message")) or "",
                before=was[identity],
                after=now[identity],
                **fields,
            )


def _found(test: Document) -> tuple[Counter[tuple[str | None, ...]], dict[tuple[str | None, ...], Document]]:
    """How often each violation was found, and one of each kind.

    What makes two violations the same survives unrelated edits, as in SARIF: no line, no call, no value. Traces are
    recorded anew for each version of an agent, so the scenario counts, and the trace only where there is none.
    """
    found: Counter[tuple[str | None, ...]] = Counter()
    like: dict[tuple[str | None, ...], Document] = {}
    for violation in _maps(test, "violations"):
        place = _text(violation.get("scenario")) or _text(violation.get("trace_id"))
        identity = (*(_text(violation.get(name)) for name in _IDENTITY), place)
        found[identity] += 1
        like.setdefault(identity, violation)
    return found, like


def _unlisted(before: Document, after: Document) -> Iterator[Unlisted]:
    old, new = _by_id(before, "tests"), _by_id(after, "tests")
    for test in _either(new, old):
        (was, was_listed), (now, now_listed) = _listed(old.get(test, {})), _listed(new.get(test, {}))
        if was > was_listed or now > now_listed:
            yield Unlisted(test, was, was_listed, now, now_listed)


def _listed(test: Document) -> tuple[int, int]:
    listed = len(_maps(test, "violations"))
    return _whole(test.get("violation_count")) or listed, listed


# ── Reading what may be missing ─────────────────────────────────────────────────────────────────────────────


def _by_id(document: Document, part: str) -> dict[str, Document]:
    return {_text(case.get("id")) or "": case for case in _maps(document, part)}


def _maps(document: Document, part: str) -> list[Document]:
    found = document.get(part)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, (list, tuple)) else []


def _map(found: Any) -> Document:
    return found if isinstance(found, Mapping) else {}


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _whole(found: Any) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        return float(found) if math.isfinite(found) else None
    except OverflowError:
        return None


def _either(new: Mapping[Key, Any], old: Mapping[Key, Any]) -> list[Key]:
    return list(dict.fromkeys((*new, *old)))
