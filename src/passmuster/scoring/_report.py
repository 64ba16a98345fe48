"""The report: the verdict with its reasons, as every writer reads it. The field names are those of the JSON report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from passmuster.checks import Behaviors, LayerReport, Status, Violation
from passmuster.scoring._early_stop import EarlyStop
from passmuster.scoring._evidence import Evidence

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


class LineBound(Struct, frozen=True):
    """The bound of a gate line in numbers: a rate as a fraction, a latency in milliseconds."""

    metric: str
    operator: str
    value: float
    confidence: float | None = None
    """Where the bound asks for it."""
    interval: tuple[float, float] | None = None
    """Of the value, at this confidence or else at 95 %."""


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
    bound: LineBound | None = None
    """What the line compares a metric with."""


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
    description: str | None = None
    allow_unexercised: bool | None = None
    """Whether the suite says that a run may never exercise it; only where it does."""


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
    skipped_traces: int = 0
    """On how many traces it could not be decided."""
    skip_reason: str | None = None
    outside_error: bool | None = None
    """Whether it could not be decided for what the traces lack, not because the check broke."""

    @property
    def may_stay_idle(self) -> bool:
        """Whether the suite says of every rule that a run may never exercise it."""
        return bool(self.rules) and self.traces > 0 and all(rule.allow_unexercised for rule in self.rules)

    def idle_rules(self) -> list[tuple[int, RuleReport]]:
        """The rules that no trace exercised and that should have been, with their places; none in an idle or broken
        test."""
        idle = [(n, rule) for n, rule in enumerate(self.rules) if not (rule.exercised_on or rule.allow_unexercised)]
        return idle if self.exercised and self.status != "error" else []


class Attempt(Struct, frozen=True):
    """One trace of a scenario."""

    trace_id: str
    status: Status
    score: float | None
    message: str | None = None
    duration_ms: float | None = None
    cost_usd: float | None = None
    tokens: float | None = None


class Flip(Struct, frozen=True):
    """Runs of one scenario that ended differently, and what made them differ."""

    blame: Literal["agent", "judge", "infrastructure"]
    passed: str
    """The first run that passed."""
    failed: str
    """The first that did not, for this reason."""
    message: str


class RunPlace(Struct, frozen=True):
    """One run of a scenario, and where its trace stands."""

    trace_id: str
    file: str | None = None
    line: int | None = None


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
    undecided: list[str] = []
    """Checks that could not be decided, for which a required scenario fails."""
    worst_run: RunPlace | None = None
    """The run that `layers` and `behaviors` are of; None where it never ran."""

    def violations(self) -> Iterator[Violation]:
        """How the run shown broke layers and behaviors."""
        for layer in self.layers.values():
            for check in layer.checks:
                yield from check.violations
        for check in self.behaviors.checks:
            yield from check.violations


class Stage(Struct, frozen=True):
    """Where a progressive threshold stands: the stage that the agent's version has reached, and the target."""

    metric: str
    expected: str | None
    """The bound of the stage; None below the first one."""
    target: str | None
    value: float | None


class JudgeUse(Struct, frozen=True):
    """What judges were asked in a run."""

    questions: int
    """Asked of judges or of the cache."""
    calls: int
    """Requests that were sent."""
    spent_usd: float | None = None
    """What they cost; None where a price is not known."""


class ScenarioCounts(Struct, frozen=True):
    """How many scenarios passed, by their status: the one count that every report shows. Rates are over runs."""

    total: int
    passed: int
    """Status `pass` or `warn`."""
    failed: int
    """Status `fail`, `error` or `missing`."""
    skipped: int
    """Nothing in them could be decided; they are in no rate."""
    passed_every_run: int
    """Of those that passed, how many did on every run."""
    runs: int
    """The runs that were decided, of all scenarios."""
    runs_passed: int
    not_run: int = 0
    """No run of them took place, because the verdict was known without; they are in no rate."""


class GroupTestReport(Struct, frozen=True):
    """One test on the traces of a group."""

    traces: int
    failed_traces: int
    violation_count: int
    violation_rate: Metric


class GroupReport(Struct, frozen=True):
    """The traces that have the same values of the keys of `--group-by`."""

    by: dict[str, str | None]
    """Each key with its value; null for traces that do not have it."""
    traces: int
    failed_traces: int
    """Traces on which a test or their scenario failed."""
    metrics: dict[str, Metric]
    tests: dict[str, GroupTestReport]
    folded: bool | None = None
    """Whether these are all the groups that are not told apart."""


class Estimate(Struct, frozen=True):
    """What a sample says about a test on all traces."""

    violation_rate: Metric
    failed_traces: float | None = None
    """Of all traces; None for a test that applies to some of them only."""
    failed_traces_ci95: tuple[float, float] | None = None


class SampleReport(Struct, frozen=True):
    """A sample of the traces, and what it says about all of them."""

    share: float
    """As it was asked for."""
    traces: int
    """All traces, those that are not in the sample too."""
    evaluated: int
    tests: dict[str, Estimate]


class LiveSummary(Struct, frozen=True):
    """How many runs of the agent were planned for this verdict, and how many took place."""

    planned: int
    finished: int
    spent_usd: float | None = None
    """What they cost; None where no run tells it."""


class TraceCounts(Struct, frozen=True):
    """How many traces were read, evaluated, and left without a scenario; how many lines could not be read."""

    read: int
    evaluated: int
    unmatched: int
    bad_lines: int


class Provenance(Struct, frozen=True):
    """What the verdict was made from: program version, suite, policies, traces, and the options that can change it."""

    version: str
    suite_sha256: str
    options: dict[str, bool | str | list[str] | None]
    policies: dict[str, str] = {}
    """The SHA-256 of every other file that the suite reads: policies, schemas, rubrics."""
    inputs_sha256: str | None = None
    """Of all trace files together; None where they were not files, or too large to digest."""
    inputs: dict[str, str] = {}
    """The SHA-256 of each trace file as it is stored, the first ones by name."""


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
    scenario_counts: ScenarioCounts | None = None
    """None in a suite without scenarios."""
    groups: list[GroupReport] = []
    """The traces by the keys of `--group-by`."""
    sample: SampleReport | None = None
    """What `--sample` says about all traces."""
    agent_version: str | None = None
    """The version of the agent, where options, suite or traces state one."""
    live: LiveSummary | None = None
    """Where the agent was run for this verdict."""
    tools: dict[str, int] = field(default_factory=dict)
    """How often each tool was called."""
    uncovered_tools: list[str] = field(default_factory=list)
    """Tools that were called and that no policy of the suite covers; empty in a suite without policies."""
    stages: list[Stage] = field(default_factory=list)
    """The progressive thresholds, at the agent's version."""
    judging: JudgeUse | None = None
    """None where nothing was asked."""
    root: str = ""
    """The folder that file names are relative to; empty in what is written to disk."""
    duration_ms: float = 0.0
    early_stop: EarlyStop | None = None
    """Of a live run: in which order its runs took place, which were skipped, why, and what that saved."""
    evidence: Evidence | None = None
    """What a page shows besides; no part of the JSON report."""

    @property
    def incomplete(self) -> bool:
        """Whether it says less than a full run, and so is kept out of baselines, history and pools."""
        return self.partial or bool(self.early_stop and self.early_stop.skipped)

    def violations(self) -> Iterator[Violation]:
        """Every violation that the report holds, of tests and of scenarios."""
        for test in self.tests:
            yield from test.violations
        for scenario in self.scenarios:
            yield from scenario.violations()
