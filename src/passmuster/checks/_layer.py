"""What the three layers have in common: a list of checks, each decided quickly, and explained when a report asks.

A check decides `pass`, `fail`, `skip` (it lacks a figure or a reference) or `error`. What a failure means is for the
layer to say: in correctness it fails, in path and cost it warns unless the suite tightens the layer. In a layer that
blocks, a check that lacks what it needs fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from msgspec import Struct

from passmuster.checks._outcome import Status, worst

if TYPE_CHECKING:
    from passmuster.checks._behavior import BehaviorsSeen

__all__ = ["CheckLine", "Explained", "Layer", "LayerCheck", "LayerReport", "Quadrant", "ScenarioSeen", "Seen", "Way"]

Way = Literal["correctness", "path", "cost", "forbidden_tools", "behaviors", "must_not", "agent", "infra"]
"""How a run can fail: a layer, a forbidden tool, behaviors that are missing, one that must not be, the agent itself,
or what it ran on. Where a judge had no verdict, the way it would have failed."""
Quadrant = Literal["tp", "fp", "fn", "tn"]

T = TypeVar("T")
Decide = Callable[[T], Status]
Explain = Callable[[T], str]


class LayerCheck(Struct, Generic[T], frozen=True):
    """One check of a layer on what the layer looks at."""

    name: str
    """The key that asked for it."""
    decide: Decide[T]
    explain: Explain[T]
    always_fails: bool = False
    """A failure fails whatever the layer: `forbidden_tools`."""


class CheckLine(Struct, frozen=True):
    """One check of a layer as a report shows it, with its figures."""

    name: str
    status: Status
    message: str


class LayerReport(Struct, frozen=True):
    """One layer of one trace as a report shows it."""

    status: Status
    checks: list[CheckLine]
    measures: dict[str, float] | None = None


class Explained(Struct, frozen=True):
    """A run of a scenario as a report shows it."""

    layers: dict[str, LayerReport]
    secrets: tuple[str, ...] = ()
    """What its calls hold that no report may show, wherever it comes back."""


class Seen(Struct, frozen=True):
    """What a layer made of one trace: its status, and that of each check in order."""

    status: Status
    checks: tuple[Status, ...]


class ScenarioSeen(Struct, frozen=True):
    """What a scenario made of one trace: its status, and that of each layer it states."""

    status: Status
    layers: tuple[Seen | None, Seen | None, Seen | None] = (None, None, None)
    judged: tuple[CheckLine, ...] = ()
    """What judges made of the answer, after the deterministic checks of correctness."""
    spared: bool = False
    """Some judge was not asked, because an earlier check had failed."""
    unasked: bool = False
    """Some judge was not asked, because judges are off."""
    correct: Status | None = None
    """Correctness as a whole, judges included; `error` only where a judge had no verdict. None: nothing is stated."""
    heard: bool = False
    """Some judge had a verdict."""
    behaviors: BehaviorsSeen | None = None
    ways: tuple[Way, ...] = ()
    """In which ways it failed, or may have where an outside part left that open."""
    label: Quadrant | None = None
    """Where the label read from the answer falls: right or wrong, positive or negative."""

    @property
    def warned(self) -> bool:
        """Whether some check warned, a judge's among them."""
        layers = any("warn" in layer.checks for layer in self.layers if layer is not None)
        return layers or any(line.status == "warn" for line in self.judged)

    @property
    def skipped(self) -> bool:
        """Whether some check could not be decided, for another reason than that an earlier one failed."""
        return self.unasked or any("skip" in layer.checks for layer in self.layers if layer is not None)


class Layer(Generic[T]):
    """The checks of one layer of one scenario."""

    def __init__(self, checks: Sequence[LayerCheck[T]], failure: Status, blocks: bool) -> None:
        self.checks = checks
        self._decisions = [check.decide for check in checks]
        """What a failed check makes of each: `fail` or `warn`."""
        self._failures: list[Status] = ["fail" if blocks or check.always_fails else failure for check in checks]
        self._blocks = blocks
        self.sound = Seen("pass", tuple("pass" for _ in checks)) if checks else Seen("skip", ())
        """What is seen where every check passes."""

    def look(self, at: T) -> Seen:
        """Every check decided."""
        decided: list[Status] = [decide(at) for decide in self._decisions]
        for status in decided:
            if status != "pass":
                return self._weigh(decided)
        return self.sound

    def _weigh(self, decided: list[Status]) -> Seen:
        weighed: list[Status] = []
        for status, failure in zip(decided, self._failures, strict=True):
            if status == "fail":
                weighed.append(failure)
            elif status == "skip" and self._blocks:
                weighed.append("fail")
            else:
                weighed.append(status)
        together = weighed[0]
        for status in weighed:
            together = worst(together, status)
        return Seen(together, tuple(weighed))

    def explain(self, at: T, seen: Seen) -> list[CheckLine]:
        """The same, in words and figures."""
        return [
            CheckLine(check.name, status, check.explain(at))
            for check, status in zip(self.checks, seen.checks, strict=True)
        ]
