"""Questions to judges: evaluations that wait for one are kept in batches, each asked in rounds until it is decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError
from passmuster.engine._plan import Pending
from passmuster.redaction import Redactor
from passmuster.scoring import Evaluation, Settings
from passmuster.suite import Suite

if TYPE_CHECKING:
    from passmuster.checks import Heard, Question
    from passmuster.judges import JudgeConfig, Judges, Mode

__all__ = ["QuestionQueue", "judge_config", "needs_one_process", "open_judges", "redactor_of", "with_calibration"]

_BATCH = 256
"""Traces that wait together. Their questions are asked at once, as many as `concurrency` allows."""


class QuestionQueue:
    """Counts evaluations; those that wait for a judge are asked in batches first."""

    def __init__(self, ask: Callable[[Sequence[Question]], Sequence[Heard]], add: Callable[[Evaluation], None]) -> None:
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
    from passmuster.judges import Judges

    config = judge_config(suite)
    cache = suite.folder / config.cache if config and config.cache and remember else None
    return Judges(config, mode, cache, progress, new_redactor=partial(redactor_of, suite))


def redactor_of(suite: Suite) -> Redactor:
    """A redactor that hides what the suite says besides the usual secrets."""
    return Redactor(suite.redact.patterns, suite.redact.arguments)


def needs_one_process(suite: Suite, settings: Settings) -> bool:
    """Whether judges are asked live: their limits on time and money hold for a run as a whole."""
    return suite.judging is not None and settings.judge == "live" and suite.may_ask


def judge_config(suite: Suite) -> JudgeConfig | None:
    """What `judge_config` says, or a `SuiteError` with every mistake in it."""
    if suite.judging is None:
        return None
    from passmuster.judges import JudgeConfig

    judging = suite.judging
    try:
        config = JudgeConfig.from_mapping(judging.config)
    except ValueError as error:
        raise SuiteError(
            [Problem(f"judge_config: {text}", suite.file, _line(text, suite)) for text in str(error).splitlines()]
        ) from None
    for key, path in (("cache", config.cache), ("calibration", config.calibration)):
        if path and not (suite.folder / path).resolve().is_relative_to(suite.root):
            message = f"judge_config: the {key} '{path}' lies outside the root ({suite.root})"
            raise SuiteError(Problem(message, suite.file, judging.lines[key]))
    return config


def with_calibration(suite: Suite, settings: Settings) -> Settings:
    """The settings; `uncalibrated` says why judges can only warn, where a calibration is required and missing."""
    config = judge_config(suite) if suite.may_ask and settings.judge != "off" else None
    if config is None or not config.require_calibration:
        return settings
    from passmuster.judges import calibration_path, why_invalid

    reason = why_invalid(calibration_path(config, suite.folder), config.members, settings.today)
    return replace(settings, uncalibrated=reason)


def _line(text: str, suite: Suite) -> int:
    """The line of the key that a message speaks of."""
    assert suite.judging is not None
    lines = suite.judging.lines
    named = [*re.findall(r"'(\w+)'", text), *re.findall(r"^\w+", text)]
    return next((lines[key] for key in named if key in lines), suite.judging.line)
