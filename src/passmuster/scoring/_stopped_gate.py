"""The gate of a live run that skipped runs: every line is certain, settled, or said to be open.

The lines were made from the runs that took place. Here each is compared with what the skipped runs could have come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from passmuster._problems import plural
from passmuster.scoring._curtailment import Curtailment, LineKey, line_key
from passmuster.scoring._early_stop import EarlyStop, SettledLine
from passmuster.scoring._report import GateLine
from passmuster.scoring._scenario_tally import Figures
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import Tally
from passmuster.suite import Suite


def stopped_gate(suite: Suite, tally: Tally, settings: Settings, gate: Sequence[GateLine]) -> list[GateLine]:
    """The gate, with nothing in it that the skipped runs could have changed."""
    stop, skipped = settings.early_stop, settings.skipped_runs
    if stop is None or not skipped:
        return list(gate)
    seen = Curtailment(suite, settings, tally).outlook(skipped, skipped)
    settled = {line_key(one): one for one in stop.settled}
    runs = plural(stop.not_run, "run")
    certain = {line_key(line) for line in seen.failures}
    agreed = [one for line in gate if (one := settled.get(line_key(line))) and one.status == line.status]
    red = bool(certain) or any(one.status == "fail" for one in agreed)
    open_keys = seen.open_bounds - {line_key(one) for one in agreed}
    known = [_noted(line, settled.get(line_key(line))) for line in gate]
    if red:
        decided = certain | {line_key(one) for one in agreed}
        return [*(_demoted(line, decided, open_keys, runs) for line in known), *_not_compared(suite, settings, runs)]
    left = [*sorted(f"{kind} {id_} {expected}" for kind, id_, expected in open_keys), *seen.hazards]
    if left:
        message = f"{runs} did not take place, and could change: {', '.join(left)}"
        return [*known, GateLine("error", "stop_early", "blocking", "error", message)]
    return [*known, *_at_best_a_warning(agreed, runs)]


def _noted(line: GateLine, one: SettledLine | None) -> GateLine:
    """The line with how it was settled in its message."""
    return line if one is None else replace(line, message=f"{line.message}; {_settled_words(one)}")


def _settled_words(one: SettledLine) -> str:
    return (
        f"settled after {one.runs} of {one.of} runs: all runs would say otherwise with at most {one.chance:.2g} chance"
    )


def _percent(chance: float) -> str:
    return f"{chance * 100:.2g} % chance"


def _demoted(line: GateLine, decided: set[LineKey], open_keys: frozenset[LineKey], runs: str) -> GateLine:
    """A line that the skipped runs could have changed is undecided, and not the reason of the verdict."""
    if line_key(line) in decided or line.level != "blocking":
        return line
    if line.status == "fail" or (line_key(line) in open_keys and line.status == "pass"):
        return replace(line, level="warning", status="undecided", message=f"{line.message}; {runs} did not take place")
    return line


def _not_compared(suite: Suite, settings: Settings, runs: str) -> Iterator[GateLine]:
    if settings.baseline is not None or suite.baseline is not None:
        message = f"not compared with the baseline, because {runs} did not take place"
        yield GateLine("baseline", "stop_early", "warning", "undecided", message)


def _at_best_a_warning(agreed: Sequence[SettledLine], runs: str) -> Iterator[GateLine]:
    if agreed:
        chance = sum(one.chance for one in agreed)
        message = f"{runs} did not take place; with them the verdict would be another with at most {_percent(chance)}"
        yield GateLine("input", "stop_early", "warning", "fail", message)


def with_savings(stop: EarlyStop, figures: Figures | None) -> EarlyStop:
    """With what the skipped runs would have cost and how long they would have taken, by the mean of the others."""
    if figures is None or not stop.skipped or not figures.traces:
        return stop
    times = figures.ordered_durations()
    return replace(
        stop,
        saved_usd=_estimate(stop, figures.cost.mean(), figures.cost.known == figures.traces),
        saved_ms=_estimate(stop, sum(times) / len(times) if times else None, len(times) == figures.traces),
    )


def _estimate(stop: EarlyStop, mean: float | None, known: bool) -> float | None:
    return mean * stop.not_run if known and mean is not None else None
