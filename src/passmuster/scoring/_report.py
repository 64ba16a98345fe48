"""The report: the verdict with its reasons, as every writer reads it. The field names are those of the JSON report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from passmuster.checks import Behaviors, LayerReport, Status, Violation

REPORT_SCHEMA = "passmuster.report/1"

Kind = Literal[
    "test",
    "scenario",
    "required",
    "threshold",
    "criteria",
    "composite",
    "baseline",
    "vacuous",
    "input",
    "judge",
    "error",
]


Plain = bool | int | float | str | None


class GateLine(Struct, frozen=True):
    """One reason for the verdict: what was asked, what was found, and whether it blocks."""

    kind: Kind
    id: str
    level: Literal["blocking", "warning"]
    status: Literal["pass", "fail", "error", "undecided"]
    message: str
    actual: Plain = None
    expected: Plain = None
    tolerated_by: str | None = None
    file: str | None = None
    line: int | None = None
    values: dict[str, bool | int | float | None] | None = None
    """What each formula of a composite came to, or a metric before and after next to a baseline."""


class Metric(Struct, frozen=True):
    """One number about the whole suite. `value` is None where there is nothing to divide by."""

    value: float | None
    n: int
    ci95: tuple[float, float] | None = None
    known: int | None = None
    """How many traces tell the figure, of `total`, where some do not."""
    total: int | None = None


class RuleReport(Struct, frozen=True):
    """One sequence rule over all traces."""

    type: str
    line: int
    status: Status
    exercised_on: int
    violated_on: int


class TestReport(Struct, frozen=True):
    """One test over all traces it applied to."""

    id: str
    metric: str
    status: Status
    exercised: bool
    rules: list[RuleReport]
    violations: list[Violation]
    violation_count: int
    """All of them; `violations` holds the first few thousand in the order of the traces."""
    stats: dict[str, Any]
    duration_ms: float
    severity: Literal["block", "warn", "log"]
    file: str
    line: int
    traces: int
    """How many traces it applied to."""
    failed_traces: int
    waived_count: int
    error: str | None = None
    """Why the check itself broke, with the traceback of a custom metric."""


class Attempt(Struct, frozen=True):
    """One trace of a scenario."""

    trace_id: str
    status: Status
    score: float | None
    message: str | None = None


class Flip(Struct, frozen=True):
    """Runs of one scenario that ended differently, and what made them differ."""

    blame: Literal["agent", "judge", "infrastructure"]
    passed: str
    """The first run that passed."""
    failed: str
    """The first that did not, for this reason."""
    message: str


class ScenarioReport(Struct, frozen=True):
    """One scenario over all its runs."""

    id: str
    category: str | None
    status: Status
    score: float | None
    weight: float
    runs: int
    layers: dict[str, LayerReport]
    behaviors: Behaviors
    attempts: list[Attempt]
    file: str
    line: int
    capability: str | None = None
    pass_rate: float | None = None
    """The fraction of its runs that passed; None where every run was skipped."""
    pass_at_k: dict[str, float] | None = None
    """With repeats: the chance that at least one of k runs passes, by k."""
    pass_hat_k: dict[str, float] | None = None
    """With repeats: the chance that all of k runs pass, by k."""
    flips: list[Flip] | None = None
    """With repeats that did not all end alike: who is to blame."""
    secrets: tuple[str, ...] = ()
    """What the calls of the run shown hold that no report may show; redaction removes it."""

    def violations(self) -> Iterator[Violation]:
        """How the run shown broke layers and behaviors."""
        for layer in self.layers.values():
            for check in layer.checks:
                yield from check.violations
        for check in self.behaviors.checks:
            yield from check.violations


class TraceCounts(Struct, frozen=True):
    """How many traces were read, evaluated, and left without a scenario; how many lines could not be read."""

    read: int
    evaluated: int
    unmatched: int
    bad_lines: int


class Provenance(Struct, frozen=True):
    """What the verdict was made from: program version, suite, and the options that can change it."""

    version: str
    suite_sha256: str
    options: dict[str, bool | str | list[str] | None]


class Report(Struct, frozen=True, kw_only=True):
    """One suite's verdict. `gate` has every reason for it; the rest is evidence."""

    schema: str = REPORT_SCHEMA
    suite: str
    verdict: Literal["pass", "warn", "fail", "error"]
    exit_code: int
    partial: bool
    metrics: dict[str, Metric]
    gate: list[GateLine]
    tests: list[TestReport]
    scenarios: list[ScenarioReport]
    traces: TraceCounts
    provenance: Provenance
    suite_file: str
    agent_version: str | None = None
    """The version of the agent, where options, suite or traces state one."""
    tools: dict[str, int] = field(default_factory=dict)
    """How often each tool was called."""
    root: str = ""
    """The folder that file names are relative to; empty in what is written to disk."""
    duration_ms: float = 0.0

    def violations(self) -> Iterator[Violation]:
        """Every violation that the report holds, of tests and of scenarios."""
        for test in self.tests:
            yield from test.violations
        for scenario in self.scenarios:
            yield from scenario.violations()
