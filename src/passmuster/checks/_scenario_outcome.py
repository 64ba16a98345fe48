"""A scenario on one trace, decided (`ScenarioOutcome`) and as a report shows it (`RunReport`)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from passmuster.checks._outcome import Outcome, Status, Violation

Way = Literal["correctness", "path", "cost", "forbidden_tools", "behaviors", "must_not", "agent", "infra"]
"""How a run can fail: a layer, a forbidden tool, behaviors that are missing, one that must not be, the agent itself,
or what it ran on. Where a judge had no verdict, the way it would have failed."""
Quadrant = Literal["tp", "fp", "fn", "tn"]
"""Whether a label is right or wrong, positive or negative."""


class LayerOutcome(Struct, frozen=True):
    """One layer on one trace: its status, and that of each check in order."""

    status: Status
    checks: tuple[Status, ...]


class BehaviorsOutcome(Struct, frozen=True):
    """The behaviors of one run, and the score that follows."""

    outcomes: tuple[Outcome, ...]
    """One for each behavior: `pass` where it is as it should be."""
    score: float | None
    """None where nothing was decided."""
    score_if: float | None
    """The score, had every judge that failed seen what was wanted."""
    idle: tuple[str, ...] = ()
    """As they should be only because nothing happened that could have told."""
    failures: tuple[str, ...] = ()
    """Why judges had no verdict."""
    violated: bool = False
    """Something that must not be shown was."""
    broken: bool = False
    """The check of an expected behavior broke."""
    broken_must_not: bool = False
    open_must_not: bool = False
    """Something that must not be shown could not be decided."""


Layers = tuple[LayerOutcome | None, LayerOutcome | None, LayerOutcome | None]


class ScenarioOutcome(Struct, frozen=True):
    """A scenario on one trace: its status, and that of each layer it states."""

    status: Status
    layers: Layers = (None, None, None)
    judged: tuple[Outcome, ...] = ()
    """The checks of the answer that ask a judge, after the deterministic ones."""
    correct: Status | None = None
    """Correctness as a whole; `error` only where a judge had no verdict. None: nothing is stated."""
    has_verdict: bool = False
    """Some judge had a verdict."""
    behaviors: BehaviorsOutcome | None = None
    ways: tuple[Way, ...] = ()
    """In which ways it failed, or may have where a judge had no verdict."""
    label: Quadrant | None = None
    """Whether the label read from the answer is right or wrong, positive or negative."""
    undecided: tuple[str, ...] = ()
    """The checks and behaviors that could not be decided, for another reason than that an earlier one failed."""
    unsettled: bool = False
    """One of them would have failed the run, had it been violated."""
    open_barred: bool = False
    """One of them is a `must_not` or `forbidden_tools`."""

    @property
    def warned(self) -> bool:
        """Whether some check warned, a judge's among them."""
        layers = any("warn" in layer.checks for layer in self.layers if layer is not None)
        return layers or any(outcome.status == "warn" for outcome in self.judged)

    @property
    def open_ways(self) -> tuple[Way, ...]:
        """In which further ways it may have failed, where judges had no verdict."""
        ways: tuple[Way, ...] = ()
        if any(outcome.status == "error" for outcome in self.judged):
            ways = ("correctness",)
        if self.behaviors is not None and self.behaviors.failures:
            ways = (*ways, "must_not" if self.behaviors.open_must_not else "behaviors")
        return ways

    @property
    def not_needed(self) -> bool:
        """Whether some judge was not asked because an earlier check had failed."""
        return any(outcome.cause == "not_needed" for outcome in self.judged)


class CheckReport(Struct, frozen=True, kw_only=True):
    """One check of a scenario on the run that a report shows."""

    name: str
    """The key that asked for it; the name of a behavior."""
    status: Status
    message: str = ""
    line: int | None = None
    """Where the suite states it."""
    violations: tuple[Violation, ...] = ()


class LayerReport(Struct, frozen=True):
    """One layer as a report shows it."""

    status: Status
    checks: list[CheckReport]
    measures: dict[str, int | float] = {}
    """Figures by the names of their formulas in `passmuster.metrics`."""


class Behaviors(Struct, frozen=True):
    """What a scenario should and must not show, sorted by what was observed."""

    observed: list[str] = []
    missing: list[str] = []
    violated: list[str] = []
    undecided: list[str] = []
    checks: list[CheckReport] = []
    """Each of them in the order of the suite."""

    @property
    def reasons(self) -> list[str]:
        """Why they are missing, violated or undecided, where a judge or a check said why."""
        return self.reasons_for("warn", "fail", "skip", "error")

    def reasons_for(self, *statuses: Status) -> list[str]:
        """The reasons for these statuses alone."""
        return [f"{check.name}: {check.message}" for check in self.checks if check.status in statuses and check.message]


class RunReport(Struct, frozen=True):
    """One run of a scenario as a report shows it."""

    layers: dict[str, LayerReport] = {}
    behaviors: Behaviors = Behaviors()
    secrets: tuple[str, ...] = ()
    """What its calls hold that no report may show."""
