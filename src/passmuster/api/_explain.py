"""Why a suite judges a trace as it does, rule by rule. What is returned holds no secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.api._inputs import compared_with
from passmuster.api._load_suite import load_suite
from passmuster.api._options import RunOptions
from passmuster.api._show_traces import SourceOptions, TraceWanted, trace_sources
from passmuster.checks import CheckReport, Ending, Reasoning, Violation, redact_violation, secrets_of
from passmuster.engine import ExplainedTest, ExplainedTrace, Explainer, Unwrapper, redactor_of
from passmuster.redaction import Redactor
from passmuster.suite import Suite
from passmuster.traces import BadLines, lines_of, read_source, spot_of_trace

_MOST_TRACES = 20


class WhyPart(Struct, frozen=True):
    """One rule, call, pattern or check: how it ended and why."""

    name: str
    status: Ending | str
    place: str | None = None
    """Where the suite or a policy states it."""
    steps: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()


class WhyTest(Struct, frozen=True):
    """One test, or one layer of the scenario, with its parts."""

    name: str
    kind: str
    """The kind of check, or `scenario`."""
    status: str
    message: str | None
    parts: tuple[WhyPart, ...]
    exercised: bool = True
    """Whether the trace had anything to check."""


class WhyTrace(Struct, frozen=True):
    """One trace: its calls, and every test and layer that was evaluated on it."""

    trace_id: str | None
    file: str
    line: int | None
    scenario: str | None
    calls: tuple[str, ...]
    calls_unknown: bool
    tests: tuple[WhyTest, ...]
    number: int
    """The trace's number among all of the sources, from 1, to choose it by (`#3`)."""


class Why(Struct, frozen=True):
    """Traces explained, and how many there are besides."""

    suite: str
    traces: tuple[WhyTrace, ...]
    more: int = 0
    asks_judges: bool = False
    """Whether the suite has checks that only a judge decides; they are left out here."""


def explain(
    path: str,
    sources: Sequence[str],
    options: SourceOptions,
    *,
    trace_id: str | None = None,
    rule: str | None = None,
    root: str | None = None,
    plugins: bool = True,
) -> Why:
    """Why the suite judges the traces as it does; `trace_id` chooses one, `rule` (`TEST`, `TEST:2`) a test or its rule.

    Raises `UsageError` where there is no such trace, test or rule.
    """
    suite = load_suite(path, root=root, plugins=plugins)
    chosen = _chosen(suite, rule)
    baseline, _ = compared_with(suite, None, options.format)
    settings = RunOptions(judge="off", accept_loss=options.accept_loss).settings
    explainer = Explainer(suite, settings, baseline, plugins=plugins)
    unwrap, redactor = Unwrapper(suite, options.accept_loss), redactor_of(suite)
    wanted = TraceWanted(trace_id)
    found: list[WhyTrace] = []
    more = 0
    with trace_sources(sources, options.format) as opened:
        for source in opened:
            for trace in read_source(source, BadLines(source, options.skip_bad_lines, options.accept_loss)):
                if not wanted.takes(trace):
                    continue
                if len(found) == _MOST_TRACES:
                    more += 1
                    continue
                plain = unwrap(trace, []) if trace.wrapped else trace
                found.append(_told(explainer.explain(plain), suite, redactor, chosen, wanted.seen))
        wanted.refuse_if_none()
    return Why(suite.file, tuple(found), more, suite.may_ask)


Chosen = Callable[[str, int], bool]
"""Whether a test of this id, and its part of this number, from 1, was asked for."""


def _chosen(suite: Suite, rule: str | None) -> Chosen:
    if rule is None:
        return lambda id_, number: True
    ids = [*(test.id for test in suite.tests), *(scenario.id for scenario in suite.scenarios)]
    name, colon, digits = rule.rpartition(":")
    if rule in ids:
        return lambda id_, number: id_ == rule
    if not colon or name not in ids or not digits.isdecimal() or len(digits) > 9 or not int(digits):
        raise UsageError(Problem(f"--rule: there is no test or scenario '{rule}'{did_you_mean(rule, ids)}"))
    wanted = int(digits)
    tests = {test.id: len(getattr(test.spec, "rules", ())) for test in suite.tests}
    if tests.get(name) and wanted > tests[name]:
        raise UsageError(Problem(f"--rule: '{name}' has {tests[name]} rules, found '{digits}'"))
    return lambda id_, number: id_ == name and number in (0, wanted)


def _told(found: ExplainedTrace, suite: Suite, redactor: Redactor, chosen: Chosen, number: int) -> WhyTrace:
    trace = found.trace
    known = secrets_of(trace, redactor)
    told = _Teller(found, suite, redactor, known)
    spot = spot_of_trace(trace)
    calls = (
        f"{redactor.text(call.tool, known=known)}{' (failed)' if failed else ''}"
        for call, failed in zip(trace.tool_calls, found.failed, strict=True)
    )
    tests = [told.test(one, chosen) for one in found.tests if chosen(one.test.id, 0)]
    if found.scenario is not None and chosen(found.scenario, 0):
        tests += told.scenario(chosen)
    return WhyTrace(
        None if trace.trace_id is None else redactor.text(trace.trace_id),
        trace.origin.file,
        lines_of([spot]).get(spot),
        found.scenario,
        tuple(calls),
        trace.calls_unknown,
        tuple(tests),
        number,
    )


class _Teller:
    """Turns what the engine found into text without secrets."""

    def __init__(self, found: ExplainedTrace, suite: Suite, redactor: Redactor, known: tuple[str, ...]) -> None:
        self._found, self._suite, self._redactor, self._known = found, suite, redactor, known

    def test(self, one: ExplainedTest, chosen: Chosen) -> WhyTest:
        parts = (self._part(reason) for number, reason in enumerate(one.reasons, 1) if chosen(one.test.id, number))
        outcome = one.outcome
        return WhyTest(
            one.test.id, one.test.metric, outcome.status, self._text(outcome.message), tuple(parts), outcome.exercised
        )

    def scenario(self, chosen: Chosen) -> Iterator[WhyTest]:
        """The layers and behaviors of the trace's scenario."""
        run, id_ = self._found.run, self._found.scenario or ""
        if run is None:
            return
        layers = [(name, layer.status, layer.checks) for name, layer in run.layers.items()]
        if run.behaviors.checks:
            layers.append(("behaviors", self._found.scenario_status or "skip", run.behaviors.checks))
        for name, status, checks in layers:
            parts = (self._check(check) for number, check in enumerate(checks, 1) if chosen(id_, number))
            yield WhyTest(f"{id_} {name}", "scenario", status, None, tuple(parts))

    def _part(self, reason: Reasoning) -> WhyPart:
        place = None if reason.line is None else f"{reason.file or self._suite.file}:{reason.line}"
        steps = tuple(self._text(step) or "" for step in reason.steps)
        return WhyPart(self._text(reason.name) or "", reason.status, place, steps, self._violations(reason.violations))

    def _check(self, check: CheckReport) -> WhyPart:
        place = None if check.line is None else f"{self._suite.file}:{check.line}"
        steps = (self._text(check.message) or "",) if check.message else ()
        return WhyPart(self._text(check.name) or "", check.status, place, steps, self._violations(check.violations))

    def _violations(self, violations: Sequence[Violation]) -> tuple[Violation, ...]:
        return tuple(redact_violation(one, self._redactor, self._known) for one in violations)

    def _text(self, text: str | None) -> str | None:
        return None if text is None else self._redactor.text(text, 2_000, self._known)
