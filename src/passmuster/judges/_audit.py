"""Audits a judge against human labels, against deterministic checks, and against itself.

Three questions, each answered with its n and a 95 % interval, or with the reason why there is no number. Scenarios are
the sample: several labels of one scenario resemble each other.

*Does it agree with people?* Agreement and the rates of false passes and false failures with Wilson's interval (1927)
on the effective number of labels; Cohen's kappa (1960) beyond chance. A false pass is what people fail and the judge
passes.
*Does it see what code sees?* Where a deterministic check fails an answer, a judge of that answer should too. It is
asked although a run would not ask it.
*Does it say the same twice?* A question flips if repeated asking gives both a pass and a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from passmuster.checks import Inquiry, JudgeAnswer, Question, Verdict
from passmuster.judges._canaries import Ask, sway
from passmuster.scoring import RateSample, cohens_kappa, kappa_interval

Result = tuple[str | None, bool]
"""A scenario, and whether something held on it."""

ENOUGH_LABELS = 20
GOOD_KAPPA = 0.6
GOOD_AGREEMENT = 0.8
"""What the lower end of the agreement's interval has to reach where kappa does not reach its bar."""
MOST_FALSE_PASSES = 0.1
MOST_FLIPS = 0.1
MOST_UNANSWERED = 0.05


class Rated(Struct, frozen=True):
    """A check on one trace, and a person's label for it."""

    inquiry: Inquiry
    passes: bool
    scenario: str | None = None
    """Labels of one scenario resemble each other, so that they are one in the sample; None: on its own."""


class Overruled(Struct, frozen=True):
    """A check on a trace whose answer deterministic checks fail, and their names."""

    inquiry: Inquiry
    failed: tuple[str, ...]
    scenario: str | None = None


class Figure(Struct, frozen=True, kw_only=True):
    """One number with its n; no value where nothing was measured, and why."""

    value: float | None
    n: int
    ci95: tuple[float, float] | None = None
    why: str | None = None


class Confusion(Struct, frozen=True, kw_only=True):
    """Counts of (label, verdict): person first, judge second."""

    pass_pass: int = 0
    pass_fail: int = 0
    fail_pass: int = 0
    fail_fail: int = 0


class Audit(Struct, frozen=True, kw_only=True):
    """The figures of an audit and its conclusion."""

    labels: int
    unanswered: int
    """Labels on which the judge gave no verdict; they are in no figure."""
    confusion: Confusion
    agreement: Figure
    kappa: Figure
    false_pass: Figure
    """Agreement on what people fail."""
    false_fail: Figure
    """Agreement on what people pass."""
    by_check: dict[str, Figure]
    """Agreement on each check that was labelled."""
    against_checks: dict[str, Figure]
    """How often the judge passes an answer that a deterministic check fails, by that check."""
    flips: Figure
    sway: Figure
    usable: bool
    conclusion: str
    no_verdict: str | None = None
    """Why the judge gave no verdict."""


def audit(
    rated: Sequence[Rated],
    overruled: Sequence[Overruled],
    rounds: Sequence[Ask],
    canaries: Ask | str,
) -> Audit:
    """Asks in rounds, of which the first is compared with people and checks, and all with each other.

    `canaries` asks about the canaries, or says why nobody does.
    """
    asked = [*(one.inquiry for one in rated), *(one.inquiry for one in overruled)]
    questions = list(dict.fromkeys(question for inquiry in asked for question in inquiry.questions))
    answers = [dict(zip(questions, ask(questions), strict=True)) for ask in rounds]
    first = answers[0]
    said = [(one, _passes(one.inquiry, first)) for one in rated]
    heard_of = [(one.scenario, one.passes, passes) for one, passes in said if passes is not None]
    pairs = [(person, judge) for _, person, judge in heard_of]
    confusion = _confusion(pairs)
    agreed = [(scenario, person == judge) for scenario, person, judge in heard_of]
    agreement = rate(agreed, _NO_LABEL)
    kappa = _kappa(pairs, _clustered(agreed).effective())
    failed_by_people = [(scenario, judge) for scenario, person, judge in heard_of if not person]
    passed_by_people = [(scenario, not judge) for scenario, person, judge in heard_of if person]
    false_pass = rate(failed_by_people, "people failed none of the labelled answers")
    of_scenarios = [(one.inquiry, one.scenario) for one in rated] + [(one.inquiry, one.scenario) for one in overruled]
    flips = _flips(of_scenarios, answers)
    unanswered = len(rated) - len(pairs)
    faults = _faults(len(rated), unanswered, agreement, kappa, false_pass, flips)
    return Audit(
        labels=len(rated),
        unanswered=unanswered,
        confusion=confusion,
        agreement=agreement,
        kappa=kappa,
        false_pass=false_pass,
        false_fail=rate(passed_by_people, "people passed none of the labelled answers"),
        by_check=_rates(
            (
                (one.inquiry.check, one.scenario, None if passes is None else one.passes == passes)
                for one, passes in said
            ),
            _NO_LABEL,
        ),
        against_checks=_rates(
            ((name, one.scenario, _passes(one.inquiry, first)) for one in overruled for name in one.failed),
            "the judge gave no verdict",
        ),
        flips=flips,
        sway=_sway(canaries),
        usable=not faults,
        conclusion=_conclusion(faults, agreement, kappa, false_pass),
        no_verdict=next((one.message for one in first.values() if one and not isinstance(one, Verdict)), None),
    )


def rate(results: Sequence[Result], why: str) -> Figure:
    """The share of results that are true, with its interval, the scenarios being the sample; no value where n is 0."""
    if not results:
        return Figure(value=None, n=0, why=why)
    value = sum(result for _, result in results) / len(results)
    return Figure(value=value, n=len(results), ci95=_clustered(results).interval())


def _clustered(results: Sequence[Result]) -> RateSample:
    """The results by scenario, each weighing as much as it has results; those without a scenario are on their own.

    Where all belong to one scenario, they are the sample: the figures tell of this scenario only.
    """
    by_scenario: dict[object, list[bool]] = {}
    for place, (scenario, result) in enumerate(results):
        by_scenario.setdefault(place if scenario is None else scenario, []).append(result)
    counts = [(sum(found), len(found)) for found in by_scenario.values()]
    if len(counts) == 1:
        counts = [(int(result), 1) for _, result in results]
    return RateSample(counts, [float(of) for _, of in counts])


_NO_LABEL = "no labelled question got a verdict"


def _passes(inquiry: Inquiry, answers: Mapping[Question, JudgeAnswer]) -> bool | None:
    """The judge's result for a check; None where one of its questions got no verdict."""
    verdicts = [answers[question] for question in inquiry.questions]
    scores = [verdict.score for verdict in verdicts if isinstance(verdict, Verdict)]
    return inquiry.passes(scores) if len(scores) == len(verdicts) else None


def _confusion(pairs: Sequence[tuple[bool, bool]]) -> Confusion:
    return Confusion(
        pass_pass=pairs.count((True, True)),
        pass_fail=pairs.count((True, False)),
        fail_pass=pairs.count((False, True)),
        fail_fail=pairs.count((False, False)),
    )


def _kappa(pairs: Sequence[tuple[bool, bool]], effective: float | None) -> Figure:
    value = cohens_kappa(pairs)
    if value is None:
        why = "people and judge always gave the same label" if pairs else _NO_LABEL
        return Figure(value=None, n=len(pairs), why=why)
    return Figure(value=value, n=len(pairs), ci95=kappa_interval(pairs, effective=effective) if effective else None)


def _rates(results: Iterable[tuple[str, str | None, bool | None]], why: str) -> dict[str, Figure]:
    """For each name the share of its results that are true; those without a verdict (None) do not count."""
    found: dict[str, list[Result]] = {}
    for name, scenario, result in results:
        found.setdefault(name, []).extend([] if result is None else [(scenario, result)])
    return {name: rate(one, why) for name, one in sorted(found.items())}


def _flips(asked: Sequence[tuple[Inquiry, str | None]], rounds: Sequence[Mapping[Question, JudgeAnswer]]) -> Figure:
    """The share of questions on which several rounds gave both a pass and a failure."""
    if len(rounds) < 2:
        return Figure(value=None, n=0, why="every question was asked once")
    # One question may stand behind several checks, with thresholds of their own: it flips if it does for one of them.
    seen: dict[Question, set[int]] = {}
    scenarios: dict[Question, str | None] = {}
    for inquiry, scenario in asked:
        for question, least in zip(inquiry.questions, inquiry.least, strict=True):
            seen.setdefault(question, set()).add(least)
            scenarios.setdefault(question, scenario)
    flipped: list[Result] = []
    for question, leasts in seen.items():
        scores = [one.score for answers in rounds if isinstance(one := answers[question], Verdict)]
        if len(scores) > 1:
            flipped.append((scenarios[question], any(min(scores) < least <= max(scores) for least in leasts)))
    return rate(flipped, "no question got a verdict twice")


def _sway(canaries: Ask | str) -> Figure:
    if isinstance(canaries, str):
        return Figure(value=None, n=0, why=canaries)
    found = sway(canaries).overall
    if found.rate is None:
        return Figure(value=None, n=0, why="the judge passes the bad answers as they are, or gave no verdict")
    return Figure(value=found.rate, n=found.tried, ci95=found.ci95)


def _faults(
    labels: int, unanswered: int, agreement: Figure, kappa: Figure, false_pass: Figure, flips: Figure
) -> list[str]:
    """Why the judge should not block, most serious reason first; empty if it may."""
    faults: list[str] = []
    if agreement.value is None or agreement.ci95 is None:
        return [_NO_LABEL]
    if unanswered > MOST_UNANSWERED * labels:
        faults.append(f"it gave no verdict on {unanswered} of {labels} labels")
    if agreement.n < ENOUGH_LABELS:
        faults.append(f"{agreement.n} labels are too few to decide; at least {ENOUGH_LABELS} are needed")
    if false_pass.value is None:
        faults.append("people failed none of the labelled answers, so its false passes are unknown")
    elif kappa.value is None or kappa.ci95 is None or kappa.ci95[0] <= 0:
        faults.append(f"it agrees with people about as well as chance ({_kappa_text(kappa)})")
    elif kappa.value < GOOD_KAPPA and agreement.ci95[0] < GOOD_AGREEMENT:
        low = percent(agreement.ci95[0])
        faults.append(
            f"it agrees with people too little ({_kappa_text(kappa)} is below {GOOD_KAPPA:g}, and agreement may be "
            f"as low as {low}, below {percent(GOOD_AGREEMENT)})"
        )
    if false_pass.value is not None and false_pass.value > MOST_FALSE_PASSES:
        faults.append(
            f"it passes {percent(false_pass.value)} of what people fail, more than {percent(MOST_FALSE_PASSES)}"
        )
    if flips.value is not None and flips.value > MOST_FLIPS:
        faults.append(f"it flips on {percent(flips.value)} of the questions, more than {percent(MOST_FLIPS)}")
    return faults


def _conclusion(faults: list[str], agreement: Figure, kappa: Figure, false_pass: Figure) -> str:
    """One or two sentences for a person."""
    if not faults:
        text = (
            f"usable: it agrees with people on {percent(agreement.value or 0.0)} of the labels, {_kappa_text(kappa)}."
        )
    else:
        text = f"not usable: {'; '.join(faults)}."
    if false_pass.ci95 is not None:
        text += f" It may let through up to {percent(false_pass.ci95[1])} of what people fail."
    return text


def percent(share: float) -> str:
    """A share in whole percent, or to a tenth where rounding would give 0 % or 100 %."""
    whole = f"{share:.0%}"
    if (whole == "100%" and share < 1) or (whole == "0%" and share > 0):
        whole = f"{share:.1%}"
    return whole.replace("%", " %")


def _kappa_text(kappa: Figure) -> str:
    return f"κ {kappa.value:.2f}" if kappa.value is not None else "κ has no value"
