"""Two reports of a suite, and what changed between them.

It works on the JSON documents, which outlive the version that wrote them: a key that is missing, or is not what this
version would write, is read as absent. Times and durations are no changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct

from passmuster.scoring._metrics import metric_named
from passmuster.scoring._report_documents import (
    Document,
    Figure,
    Side,
    by_id,
    figure,
    map_of,
    maps_in,
    number_of,
    side,
    text_of,
    whole_of,
)

Key = TypeVar("Key")

_GRAVITY = ("pass", "tolerated", "warning", "undecided", "fail", "error")
# These lines are there only while something is wrong; of the others, one that is gone is no longer asked for.
_COMPLAINTS = frozenset({"vacuous", "input", "judge", "error"})
_IDENTITY = ("rule", "constraint", "pattern", "tool", "argument")


class GateChange(Struct, frozen=True):
    """A gate line whose status changed. `gone`: it failed, and the suite no longer has it."""

    kind: str
    id: str
    turn: Literal["failing", "fixed", "changed", "gone"]
    before: str | None
    """`pass`, `tolerated`, `warning`, `undecided`, `fail` or `error`; None where there is no such line."""
    after: str | None
    message: str


class MetricChange(Struct, frozen=True):
    """A metric in both reports, or in one of them."""

    name: str
    rate: bool
    """Whether it lies in 0 to 1."""
    before: Figure | None
    after: Figure | None
    difference: float | None
    """After less before, in the metric's own unit."""
    relative: float | None
    """The difference as a part of what was before; not for rates, whose difference says as much."""

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
    """A test with more violations than its report lists, so that new ones cannot be told."""

    test: str
    before: int
    before_listed: int
    after: int
    after_listed: int


class CountChange(Struct, frozen=True):
    """A count before and after."""

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
        """Whether any result changed."""
        return bool(
            (self.before.verdict, self.before.exit_code) != (self.after.verdict, self.after.exit_code)
            or any((self.gate, self.tests, self.scenarios, self.violations, self.tools, self.traces))
            or any(metric.changed for metric in self.metrics)
            or any(test.before != test.after for test in self.unlisted)
        )


def compare(before: Document, after: Document) -> Comparison:
    """What changed between two reports, in the order of the later one."""
    return Comparison(
        before=side(before),
        after=side(after),
        gate=list(_gate(before, after)),
        metrics=list(_metrics(before, after)),
        tests=list(_cases(before, after, "tests")),
        scenarios=list(_cases(before, after, "scenarios")),
        violations=list(_violations(before, after)),
        unlisted=list(_unlisted(before, after)),
        tools=_counts(before, after, "tools"),
        traces=_counts(before, after, "traces"),
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
    """The worst status of each gate line by kind and id, with its message."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for line in maps_in(document, "gate"):
        key = (text_of(line.get("kind")) or "", text_of(line.get("id")) or "")
        ending = _ending(line)
        if key not in found or _GRAVITY.index(ending) > _GRAVITY.index(found[key][0]):
            found[key] = (ending, text_of(line.get("message")) or "")
    return found


def _ending(line: Document) -> str:
    status = text_of(line.get("status"))
    if status == "pass":
        return "pass"
    if line.get("tolerated_by") is not None:
        return "tolerated"
    if line.get("level") == "warning":
        return "warning"
    return status if status in ("undecided", "error") else "fail"


# ── Metrics and counts ──────────────────────────────────────────────────────────────────────────────────────


def _metrics(before: Document, after: Document) -> Iterator[MetricChange]:
    old, new = map_of(before.get("metrics")), map_of(after.get("metrics"))
    for name in _either(new, old):
        was, now = figure(old.get(name)), figure(new.get(name))
        rate = metric_named(name).rate
        difference = relative = None
        if was and now and was.value is not None and now.value is not None:
            difference = now.value - was.value
            relative = difference / abs(was.value) if was.value and not rate else None
        yield MetricChange(name, rate, was, now, difference, relative)


def _counts(before: Document, after: Document, part: str) -> list[CountChange]:
    old, new = map_of(before.get(part)), map_of(after.get(part))
    # An older report that says nothing of it is not one that counted none.
    if part not in before or part not in after:
        return []
    changes = (
        CountChange(name, whole_of(old.get(name)) or 0, whole_of(new.get(name)) or 0) for name in _either(new, old)
    )
    return [change for change in changes if change.before != change.after]


# ── Tests, scenarios and violations ─────────────────────────────────────────────────────────────────────────


def _cases(before: Document, after: Document, part: str) -> Iterator[CaseChange]:
    old, new = by_id(before, part), by_id(after, part)
    for name in _either(new, old):
        was, now = old.get(name, {}), new.get(name, {})
        change = CaseChange(
            name,
            text_of(was.get("status")),
            text_of(now.get("status")),
            number_of(was.get("score")),
            number_of(now.get("score")),
        )
        if (change.before, change.score_before) != (change.after, change.score_after):
            yield change


def _violations(before: Document, after: Document) -> Iterator[ViolationChange]:
    old, new = by_id(before, "tests"), by_id(after, "tests")
    for test in _either(new, old):
        was, was_like = _found(old.get(test, {}))
        now, now_like = _found(new.get(test, {}))
        for identity in _either(now, was):
            if was[identity] == now[identity]:
                continue
            like = (now_like if identity in now_like else was_like)[identity]
            fields = {name: text_of(like.get(name)) for name in (*_IDENTITY, "scenario", "trace_id")}
            grew = now[identity] > was[identity]
            yield ViolationChange(
                turn="new" if grew else "fixed" if test in new else "gone",
                test=test,
                message=text_of(like.get("message")) or "",
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
    for violation in maps_in(test, "violations"):
        place = text_of(violation.get("scenario")) or text_of(violation.get("trace_id"))
        identity = (*(text_of(violation.get(name)) for name in _IDENTITY), place)
        found[identity] += 1
        like.setdefault(identity, violation)
    return found, like


def _unlisted(before: Document, after: Document) -> Iterator[Unlisted]:
    old, new = by_id(before, "tests"), by_id(after, "tests")
    for test in _either(new, old):
        (was, was_listed), (now, now_listed) = _listed(old.get(test, {})), _listed(new.get(test, {}))
        if was > was_listed or now > now_listed:
            yield Unlisted(test, was, was_listed, now, now_listed)


def _listed(test: Document) -> tuple[int, int]:
    listed = len(maps_in(test, "violations"))
    return whole_of(test.get("violation_count")) or listed, listed


def _either(new: Mapping[Key, Any], old: Mapping[Key, Any]) -> list[Key]:
    return list(dict.fromkeys((*new, *old)))
