"""A scenario over its runs: its status by the repeat policy, its rates, and why runs differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from passmuster.checks import CheckReport, RunReport, Status
from passmuster.scoring._report import Attempt, Flip, RunPlace, ScenarioReport
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.scoring._scenario_tally import FORBIDDEN, Run, ScenarioTally, ShownRun, map_checks
from passmuster.suite import RepeatPolicy, Suite
from passmuster.traces import Spot

_KS = (1, 2, 3, 5, 10)
_PASSED: tuple[Status, ...] = ("pass", "warn")


def scenario_report(suite: Suite, one: ScenarioRuns, lines: Mapping[Spot, int]) -> ScenarioReport:
    """One scenario as reports show it."""
    scenario, tally = one.scenario, one.tally
    status = _status(tally, scenario.repeat_policy or suite.repeat_policy)
    undecided: list[str] = []
    if one.required_at is not None and status in (*_PASSED, "error"):
        undecided = _fails_if_required(tally, scenario.repeat_policy or suite.repeat_policy)
        status = "fail" if undecided else status
    passed, _, counted = one.runs()
    shown = _placed(tally.shown, scenario.id, lines) if tally.shown else RunReport()
    named = [(run.trace_id or place_of(run.spot, lines) or "", run) for run in tally.kept]
    at_k = _at_k(passed, counted) if tally.runs > 1 and counted else (None, None)
    return ScenarioReport(
        id=scenario.id,
        category=scenario.category,
        capability=scenario.capability,
        status=status,
        score=_score(one, status),
        weight=one.weight,
        runs=tally.runs,
        layers=shown.layers,
        behaviors=shown.behaviors,
        attempts=[
            Attempt(name, run.status, _run_score(run), run.message, run.duration_ms, run.cost_usd, run.tokens)
            for name, run in named
        ],
        file=suite.file,
        line=scenario.line,
        pass_rate=passed / counted if counted else None,
        pass_at_k=at_k[0],
        pass_hat_k=at_k[1],
        flips=list(_flips(named)) or None if tally.runs > 1 else None,
        secrets=shown.secrets,
        undecided=undecided,
        worst_run=_worst_run(tally, lines),
    )


def _worst_run(tally: ScenarioTally, lines: Mapping[Spot, int]) -> RunPlace | None:
    """The run that the report shows, or the first that did not pass where no check was stated."""
    failed = (run for run in tally.kept if run.status not in _PASSED)
    run = tally.shown or next(failed, tally.kept[0] if tally.kept else None)
    if run is None:
        return None
    name = run.trace_id if run.trace_id is not None else place_of(run.spot, lines)
    return RunPlace(name or "", run.spot.file or None, lines.get(run.spot))


def _placed(shown: ShownRun, scenario: str, lines: Mapping[Spot, int]) -> RunReport:
    """The run that a report shows, with the scenario and the trace line of each violation."""

    def placed(check: CheckReport) -> CheckReport:
        return replace(
            check,
            violations=tuple(
                replace(
                    one,
                    scenario=scenario,
                    trace_id=one.trace_id if one.trace_id is not None else place_of(shown.spot, lines),
                    trace_line=lines.get(shown.calls.get(one.call_index or 0, shown.spot)),
                )
                for one in check.violations
            ),
        )

    return map_checks(shown.report, placed)


def place_of(spot: Spot, lines: Mapping[Spot, int]) -> str | None:
    """What a trace without an id is called: the place it stands in."""
    return f"{spot.file}:{lines[spot]}" if spot in lines else spot.file or None


def _status(tally: ScenarioTally, policy: RepeatPolicy) -> Status:
    """The status by the policy, which forgives nothing forbidden. Runs with infrastructure or judge errors count as
    passed and as failed: if that differs, it is an error. Skipped runs are left out."""
    if not tally.runs:
        return "not_run" if tally.not_run else "missing"
    if not FORBIDDEN.isdisjoint(tally.ways):
        return "fail"
    statuses = tally.statuses
    passed = statuses.get("pass", 0) + statuses.get("warn", 0)
    broken, failed = statuses.get("error", 0), statuses.get("fail", 0)
    counted = passed + broken + failed
    if not counted:
        return "skip"
    at_worst, at_best = _enough(passed, counted, policy), _enough(passed + broken, counted, policy)
    if at_worst != at_best:
        return "error"
    if not at_worst:
        return "fail"
    return "warn" if tally.warned else "pass"


def _fails_if_required(tally: ScenarioTally, policy: RepeatPolicy) -> list[str]:
    """The checks that could not be decided and for which a required scenario fails, though nothing else fails it.

    Either too few runs pass if each such check that could have failed its run counts as violated, or a check was
    decided on no run at all. A check that only warns and was decided on some run leaves a warning.
    """
    good: tuple[Status, ...] = (*_PASSED, "error")  # with an error it may have passed
    passed = sum(tally.statuses.get(status, 0) - tally.unsettled.get(status, 0) for status in good)
    counted = tally.runs - tally.statuses.get("skip", 0) + tally.unsettled.get("skip", 0)
    if tally.open_barred or not _enough(passed, counted, policy):
        return sorted(tally.undecided)
    return sorted(name for name, runs in tally.undecided.items() if runs == tally.runs)


def _enough(passed: int, counted: int, policy: RepeatPolicy) -> bool:
    match policy:
        case "all":
            return passed == counted
        case "any":
            return passed > 0
        case "majority":
            return 2 * passed > counted
        case _:
            return passed / counted >= policy - 1e-9


def _score(one: ScenarioRuns, status: Status) -> float | None:
    """The mean score of its runs: by its behaviors where it states some, else 1 for each run that passed."""
    tally = one.tally
    if status in ("missing", "skip", "not_run"):
        return None
    if tally.scored:
        return tally.score.mean(tally.scored)
    passed, _, counted = one.runs()
    return passed / counted if counted else None


def _run_score(run: Run) -> float | None:
    if run.score is not None:
        return run.score
    return None if run.status == "skip" else float(run.status in _PASSED)


def _at_k(passed: int, counted: int) -> tuple[dict[str, float], dict[str, float]]:
    from passmuster.scoring._repeats import pass_at_k, pass_hat_k

    ks = sorted({k for k in (*_KS, counted) if k <= counted})
    at = {str(k): pass_at_k(counted, passed, k) or 0.0 for k in ks}
    return at, {str(k): pass_hat_k(counted, passed, k) or 0.0 for k in ks}


def _flips(named: list[tuple[str, Run]]) -> Iterator[Flip]:
    """Why runs ended differently: one line per cause, with the first pair of runs that shows it."""
    passed = [(name, run) for name, run in named if run.status in _PASSED]
    if not passed:
        return
    judged = {run.fingerprint: name for name, run in reversed(passed) if run.has_verdict}
    told: set[str] = set()
    for name, run in named:
        if run.status not in ("fail", "error"):
            continue
        twin = judged.get(run.fingerprint) if run.has_verdict and run.message is None else None
        if run.status == "error":
            flip = Flip("infrastructure", passed[0][0], name, _broke(run))
        elif twin is not None:
            flip = Flip("judge", twin, name, "the same calls and answer were judged differently")
        else:
            flip = Flip("agent", passed[0][0], name, "its calls, its answer or its usage changed")
        if flip.blame not in told:
            told.add(flip.blame)
            yield flip


def _broke(run: Run) -> str:
    return run.message or ("the infrastructure failed" if run.infra else "a judge had no verdict")
