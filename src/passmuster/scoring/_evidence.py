"""What a page shows besides the report: traces, earlier runs, distributions. Gathered only for formats that show it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from passmuster.checks import Status


class KeptStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a kept trace. What is not known is left out."""

    kind: Literal["tool", "llm", "handoff", "message"]
    name: str | None = None
    """The tool, the model, the role of a message, or who hands over to whom."""
    call: int | None = None
    """The number of a tool call, from 1."""
    arguments: Any = None
    result: Any = None
    error: Any = None
    text: str | None = None
    duration_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    group: int | str | None = None
    """Calls made in parallel share one."""
    depth: int = 0
    """How many steps it ran inside of."""
    agent: str | None = None


class KeptTrace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A trace that is kept with a report, bounded in size."""

    trace_id: str
    """As the report names it."""
    role: Literal["run", "baseline"]
    steps: tuple[KeptStep, ...]
    scenario: str | None = None
    status: Status | None = None
    file: str | None = None
    line: int | None = None
    query: str | None = None
    answer: str | None = None
    error: str | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    duration_ms: float | None = None
    left_out: int = 0
    """Steps that were too many."""
    calls_unknown: bool = False
    """The trace could not have shown calls."""


class Distribution(Struct, frozen=True):
    """How a figure is spread: counts between edges."""

    name: str
    unit: str
    edges: list[float]
    counts: list[int]
    words: str


class PastMetric(Struct, frozen=True):
    """A metric of an earlier run."""

    value: float | None
    ci95: tuple[float, float] | None
    words: str


class PastRun(Struct, frozen=True):
    """A run before this one, or this one."""

    label: str
    verdict: str
    metrics: dict[str, PastMetric]
    now: bool = False


class MetricShift(Struct, frozen=True):
    """A metric that changed."""

    name: str
    words: str
    tone: Literal["good", "bad", ""]


class Changes(Struct, frozen=True):
    """What is different from the last run. Cases are `s:ID` for scenarios and `t:ID` for tests."""

    since: str
    worse: list[str]
    fixed: list[str]
    metrics: list[MetricShift]


Effect = Literal["pass", "warn", "error", "fail"]
"""What a line of the gate makes of the verdict."""


class Segment(Struct, frozen=True):
    """What a gate line comes to for bounds up to a value; None: for all above the segment before."""

    upto: float | None
    status: str
    effect: Effect


class MovableBound(Struct, frozen=True, kw_only=True):
    """A bound that can be moved, and where its line of the gate changes."""

    path: tuple[str, ...]
    """The keys in the suite."""
    operator: str
    value: float
    """As the suite states it."""
    actual: str
    """The metric in words."""
    least: float
    most: float
    step: float
    scale: int
    """What the value is multiplied by where it is written."""
    unit: str
    shown_unit: str
    """The unit for people, where the suite needs none."""
    template: str
    """The value in the suite, with VALUE for the number."""
    segments: list[Segment]


class WhatIf(Struct, frozen=True):
    """The verdict for other thresholds: the gravest effect of all lines and of the rest."""

    now: str
    lines: list[MovableBound]
    rest: Effect
    """Of everything else."""
    fixed: list[str]
    """Bounds that cannot be moved, and why."""


class ChosenRun(Struct, frozen=True):
    """A stored run that a person can choose."""

    id: int
    label: str
    verdict: str


class Viewer(Struct, frozen=True):
    """Which stored run is shown, and next to which."""

    run: int
    against: int | None
    runs: list[ChosenRun]
    """The newest first."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What belongs to a page besides its report. Secrets are hidden in it."""

    when: str | None = None
    """In UTC: `2026-01-31T09:30:00Z`."""
    traces: tuple[KeptTrace, ...] = ()
    """The worst first."""
    left_out: int = 0
    """Traces that are not kept."""
    budget: str = ""
    """How much room traces have, in words."""
    lines: dict[str, dict[int, str]] = {}
    """Lines of suite and policies that the report refers to, by file."""
    sequences: dict[str, tuple[tuple[str, ...], ...]] = {}
    """The tools that the baseline recorded, by scenario."""
    distributions: tuple[Distribution, ...] = ()
    history: tuple[PastRun, ...] = ()
    """The oldest first, this run last."""
    trails: list[str] | None = None
    """For each test and then each scenario, how earlier runs ended: one letter each, the oldest first."""
    changes: Changes | None = None
    what_if: WhatIf | None = None
    viewer: Viewer | None = None
    """Where stored runs are looked at: those to choose from."""
