"""One layer of a scenario: its checks, decided on every trace and explained on the one that a report shows.

A check decides `pass`, `fail`, `skip` (it lacks a figure or a reference) or `error`. What a failure means depends on
the layer: correctness fails; path and cost warn unless the suite makes the layer block. In a layer that blocks, a check
that lacks what it needs fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks._golden import Golden
from passmuster.checks._outcome import (
    BROKEN,
    CALLS_UNKNOWN,
    FAIL,
    PASS,
    SKIP,
    Level,
    Outcome,
    Status,
    Violation,
    worst,
)
from passmuster.checks._scenario_outcome import CheckReport, LayerOutcome
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.layers._layer_map import LAYERS
from passmuster.suite import Definitions, JsonSchema, Layer, Suite, Value


class LayerCheck(Struct, frozen=True):
    """One check of a layer, compiled."""

    decide: Callable[[View], Outcome]
    """Returns one of the shared outcomes `PASS`, `FAIL`, `SKIP` and `BROKEN`."""
    message: Callable[[View], str]
    """What was found, whether or not it holds."""
    violations: Callable[[View], Iterable[Violation]] | None = None
    """How it was broken; without it, the message is the one violation."""
    always_fails: bool = False
    """A failure fails whatever the layer: `forbidden_tools`."""
    reads_calls: bool = False
    """Whether it is about calls, so that it is undecided where a trace does not record them."""


class Context(Struct, frozen=True):
    """What checks are compiled with: the layer they stand in, and what the suite and a baseline say."""

    stated: Mapping[str, Any]
    """The values of all keys of the layer."""
    suite: Suite
    tools: ToolIndex
    golden: Golden | None = None
    judges_only_warn: bool = False


class LayerKey(Struct, frozen=True):
    """The declaration of one key of a layer."""

    value: Value[Any]
    description: str
    """One sentence, for editors and reference tables."""
    compile: Callable[[Any, Context], Any] | None = None
    """Turns the value into a `LayerCheck`, or into a `Stage` that asks a judge. None: an option of other checks."""
    order: int = 100
    """Where the check stands among those of its layer."""
    example: Any = None
    needs: str | None = None
    """Another key without which it means nothing."""
    asks_judge: bool = False
    lacks: Callable[[Any, Suite], str | None] | None = None
    """What a value lacks elsewhere in the suite."""

    def schema(self, definitions: Definitions) -> JsonSchema:
        """The JSON Schema of its value."""
        example = {} if self.example is None else {"examples": [self.example]}
        return {**self.value.schema(definitions), "description": self.description, **example}


def decided(holds: bool) -> Outcome:
    """The shared outcome for a check that holds or does not."""
    return PASS if holds else FAIL


class _Stated(Struct, frozen=True):
    name: str
    line: int
    check: LayerCheck


class CompiledLayer:
    """The checks of one layer of one scenario."""

    def __init__(self, stated: Iterable[tuple[str, int, LayerCheck]], failure: Status, blocks: bool) -> None:
        self._stated = [_Stated(*one) for one in stated]
        self._decisions = [one.check.decide for one in self._stated]
        self._failures: list[Status] = ["fail" if blocks or one.check.always_fails else failure for one in self._stated]
        """What a failed check makes of each: `fail` or `warn`."""
        self._blocks = blocks
        self._all_pass = [PASS] * len(self._stated)
        statuses: tuple[Status, ...] = tuple("pass" for _ in self._stated)
        self.sound = LayerOutcome("pass" if statuses else "skip", statuses)
        """The outcome where every check passes."""

    def evaluate(self, view: View) -> LayerOutcome:
        """Every check decided."""
        try:
            found = [decide(view) for decide in self._decisions]
        except Exception:  # the other checks keep their results
            found = [_guarded(decide, view) for decide in self._decisions]
        return self.sound if found == self._all_pass else self._weigh(found)

    def evaluate_without_calls(self, view: View) -> LayerOutcome:
        """The outcome where the trace does not record its calls: only a forbidden one that it shows is certain."""
        return self._weigh([FAIL if _is_certain(one.check, view) else SKIP for one in self._stated])

    def _weigh(self, found: list[Outcome]) -> LayerOutcome:
        weighed: list[Status] = []
        for outcome, failure in zip(found, self._failures, strict=True):
            status = outcome.status
            if status == "fail":
                status = failure
            elif status == "skip" and self._blocks:
                status = "fail"
            weighed.append(status)
        together = weighed[0]
        for status in weighed:
            together = worst(together, status)
        return LayerOutcome(together, tuple(weighed))

    def failed(self, outcome: LayerOutcome) -> list[tuple[str, bool]]:
        """The checks that failed or broke, and whether each fails whatever the layer."""
        return [
            (one.name, one.check.always_fails)
            for one, status in zip(self._stated, outcome.checks, strict=True)
            if status in ("fail", "error")
        ]

    def undecided(self, outcome: LayerOutcome) -> list[tuple[str, bool]]:
        """The checks that could not be decided, and whether each fails whatever the layer."""
        return [
            (one.name, one.check.always_fails)
            for one, status in zip(self._stated, outcome.checks, strict=True)
            if status == "skip"
        ]

    def explain(self, view: View, outcome: LayerOutcome, file: str) -> list[CheckReport]:
        """The same in words, with every violation at its key and its call."""
        return [_explained(one, view, status, file) for one, status in zip(self._stated, outcome.checks, strict=True)]


def _guarded(decide: Callable[[View], Outcome], view: View) -> Outcome:
    """What a check decides; `BROKEN` where it raises."""
    try:
        return decide(view)
    except Exception:
        return BROKEN


def found_by(find: Callable[[View], Iterable[Violation]] | None, view: View) -> list[Violation]:
    """The violations that a check finds on second sight; none where it breaks or runs out of time only now."""
    try:
        return list(find(view)) if find else []
    except Exception:
        return []


def _message(check: LayerCheck, view: View) -> str:
    """What a check found, or how it broke."""
    try:
        return check.message(view)
    except Exception as error:
        return f"the check broke: {type(error).__name__}: {error}"


def _is_certain(check: LayerCheck, view: View) -> bool:
    return check.always_fails and check.decide(view) is FAIL


def _explained(stated: _Stated, view: View, status: Status, file: str) -> CheckReport:
    check, message = stated.check, _message(stated.check, view)
    violations: list[Violation] = []
    if check.reads_calls and view.trace.calls_unknown and not _is_certain(check, view):
        message = f"unknown: {CALLS_UNKNOWN}"
        violations = [view.violation(None, message=message)] if status != "skip" else []
        return check_report(stated.name, stated.line, status, message, file, violations)
    if status in ("fail", "warn", "error"):
        find = check.violations if _guarded(check.decide, view) is FAIL else None
        violations = found_by(find, view) or [view.violation(None, message=message)]
    return check_report(stated.name, stated.line, status, message, file, violations)


def check_report(
    name: str, line: int, status: Status, message: str, file: str, violations: Iterable[Violation]
) -> CheckReport:
    """A check as a report shows it: each violation has the check's level, and its line where it has none itself."""
    level: Level = "warn" if status == "warn" else "block"
    located = [replace(one, level=level, policy_file=file, policy_line=one.policy_line or line) for one in violations]
    return CheckReport(name=name, status=status, message=message, line=line, violations=tuple(located))


def compile_layer(name: str, layer: Layer, context: Context) -> list[tuple[str, int, Any]]:
    """The checks that a layer states, with their names and lines, in the order that their keys declare."""
    keys = {key: LAYERS[name].key(key) for key in layer.values}
    found = []
    for key, declared in sorted(keys.items(), key=lambda one: one[1].order):
        check = declared.compile(layer.values[key], context) if declared.compile else None
        if name == "path" and check is not None:
            check = replace(check, reads_calls=True)
        if check is not None:
            found.append((key, layer.lines[key], check))
    return found
