"""Questions to judges: evaluations that wait for one are kept in batches, each asked in rounds until it is decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster.engine._plan import Pending
from passmuster.redaction import Redactor
from passmuster.scoring import Evaluation, Settings
from passmuster.suite import Suite

if TYPE_CHECKING:
    from passmuster.checks import JudgeAnswer, Question
    from passmuster.judges import Judges, Mode

_BATCH = 256
"""Traces that wait together. Their questions are asked at once, as many as `concurrency` allows."""


class QuestionQueue:
    """Counts evaluations; those that wait for a judge are asked in batches first."""

    def __init__(
        self, ask: Callable[[Sequence[Question]], Sequence[JudgeAnswer]], add: Callable[[Evaluation], None]
    ) -> None:
        self._ask, self._add = ask, add
        self._waiting: list[Pending] = []

    def put(self, evaluation: Evaluation | Pending) -> None:
        """Count an evaluation, now or once its questions are answered."""
        if isinstance(evaluation, Evaluation):
            self._add(evaluation)
            return
        self._waiting.append(evaluation)
        if len(self._waiting) >= _BATCH:
            self.finish()

    def finish(self) -> None:
        """Ask until nothing waits."""
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            answers = iter(self._ask([question for pending in waiting for question in pending.questions]))
            for pending in waiting:
                resumed = pending.resume([next(answers) for _ in pending.questions])
                if isinstance(resumed, Evaluation):
                    self._add(resumed)
                else:
                    self._waiting.append(resumed)


def open_judges(
    suite: Suite, mode: Mode, progress: Callable[[int, int], None] | None = None, *, remember: bool = True
) -> Judges:
    """The judges of a suite; with `remember`, verdicts are read from its cache and written to it."""
    from passmuster.judges import Judges, cache_path, config_of

    config = config_of(suite)
    cache = cache_path(config, suite) if config and remember else None
    return Judges(config, mode, cache, progress, new_redactor=partial(redactor_of, suite))


def redactor_of(suite: Suite) -> Redactor:
    """A redactor that hides what the suite says besides the usual secrets."""
    return Redactor(suite.redact.patterns, suite.redact.arguments)


def needs_one_process(suite: Suite, settings: Settings) -> bool:
    """Whether judges are asked live: their limits on time and money hold for a run as a whole."""
    return suite.judge_config is not None and settings.judge == "live" and suite.may_ask


def with_calibration(suite: Suite, settings: Settings) -> Settings:
    """The settings; `uncalibrated` says why judges can only warn, where a calibration is required and missing."""
    if suite.judge_config is None or not suite.may_ask or settings.judge == "off":
        return settings
    from passmuster.judges import calibration_path, config_of, why_invalid

    config = config_of(suite)
    if config is None or not config.require_calibration:
        return settings

    reason = why_invalid(calibration_path(config, suite.folder), config.members, settings.today)
    return replace(settings, uncalibrated=reason, uncalibrated_at=config.lines.get("require_calibration"))
