"""Correctness where code cannot decide: three questions in a chain, each asked only if the one before did not stop it.

`llm_judge` is asked if no deterministic check failed, `safety_check` if the judge did not fail, `hallucination_check`
if safety did not. A skip or an error stops the chain too. What was not asked is recorded with its reason.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Literal

from msgspec import Struct

from passmuster import metrics
from passmuster.checks._layer import CheckLine
from passmuster.checks._question import Heard, Inquiry, JudgeFailure, Question
from passmuster.checks._view import View
from passmuster.suite import Correctness, Rubric

__all__ = ["Asking", "Judged", "Stage", "ask", "stages_of"]

Asking = Generator[list[Question], Sequence[Heard], list["Judged"]]
"""Yields the questions of a round and is sent what came of them."""

_SHOWN = 60


class Judged(Struct, frozen=True):
    """One rubric's line, and whether it was spared because an earlier check stopped the chain."""

    line: CheckLine
    spared: bool = False


class Stage(Struct, frozen=True):
    """One link of the chain."""

    name: Literal["llm_judge", "safety_check", "hallucination_check"]
    rubrics: tuple[Rubric, ...]
    only_warns: bool = False
    """What the judge fails is a warning, for nobody knows how good it is."""

    def questions(self, view: View) -> list[Question]:
        """What is asked about one trace."""
        trace = view.trace
        grounding = self.name == "hallucination_check"
        return [
            Question(
                kind=self.name,
                rule=rubric.rule,
                query=trace.query,
                answer=trace.answer or "",
                evidence=view.evidence if grounding else (),
                context=rubric.context,
                examples=rubric.examples,
                unsent=() if grounding else view.evidence,
            )
            for rubric in self.rubrics
        ]

    def inquiry(self, view: View) -> Inquiry:
        """The same, for whoever wants to know how good the judge is."""
        least = tuple(metrics.judge_threshold(rubric.threshold) for rubric in self.rubrics)
        return Inquiry(self.name, tuple(self.questions(view)), least)

    def judged(self, heard: Sequence[Heard]) -> list[Judged]:
        """What came of its questions."""
        return [Judged(self._line(rubric, answer)) for rubric, answer in zip(self.rubrics, heard, strict=True)]

    def not_asked(self, reason: str, *, spared: bool) -> list[Judged]:
        """Its lines where nothing was asked."""
        return [Judged(CheckLine(self.name, "skip", f"not asked: {reason}"), spared) for _ in self.rubrics]

    def unanswerable(self) -> list[Judged]:
        """Its lines for a trace without an answer."""
        return [Judged(CheckLine(self.name, "fail", "there is no answer")) for _ in self.rubrics]

    def _line(self, rubric: Rubric, heard: Heard) -> CheckLine:
        rule = f" ({_short(rubric.rule)})" if rubric.rule else ""
        if heard is None:
            return CheckLine(self.name, "skip", f"not asked: judges are off{rule}")
        if isinstance(heard, JudgeFailure):
            return CheckLine(self.name, "error", f"no verdict{rule}: {heard.message}")
        least = metrics.judge_threshold(rubric.threshold)
        passed = heard.score >= least
        votes = f", votes {', '.join(map(str, heard.votes))}" if heard.votes else ""
        text = f"score {heard.score} {'≥' if passed else '<'} {least}{votes}{rule}: {heard.reason}"
        return CheckLine(self.name, "pass" if passed else "warn" if self.only_warns else "fail", text)


def stages_of(correctness: Correctness, only_warn: bool = False) -> tuple[Stage, ...]:
    """The links of a scenario's chain, in their order."""
    stages = []
    if correctness.llm_judge:
        stages.append(Stage("llm_judge", correctness.llm_judge, only_warn))
    if correctness.safety_check:
        stages.append(Stage("safety_check", (correctness.safety_check,), only_warn))
    if correctness.hallucination_check:
        stages.append(Stage("hallucination_check", (correctness.hallucination_check,), only_warn))
    return tuple(stages)


def ask(stages: Sequence[Stage], view: View, stopped: str | None) -> Asking:
    """The chain on one trace; `stopped` says what failed already. One round of questions for each link."""
    if view.trace.answer is None:
        return [line for stage in stages for line in stage.unanswerable()]
    found: list[Judged] = []
    spared = True
    for stage in stages:
        if stopped is not None:
            found += stage.not_asked(stopped, spared=spared)
            continue
        judged = stage.judged((yield stage.questions(view)))
        found += judged
        ends = {one.line.status for one in judged}
        if "fail" in ends or "warn" in ends:  # the same questions are asked, whether or not judges only warn
            stopped = f"{stage.name} failed"
        elif "error" in ends:
            stopped = f"{stage.name} has no verdict"
        elif "skip" in ends:
            stopped, spared = "judges are off", False
    return found


def _short(rule: str) -> str:
    folded = " ".join(rule.split())
    return folded if len(folded) <= _SHOWN else f"{folded[:_SHOWN].rstrip()}…"
