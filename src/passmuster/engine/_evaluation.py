"""Evaluating traces one after the other, and counting the outcomes in a tally."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from passmuster.engine._judge_questions import QuestionQueue, open_judges
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.scoring import PartRead, Tally
from passmuster.traces import BadLines, Trace, read_source

_STRIDE = 64
"""Traces between two reports of progress."""


class Evaluator:
    """`trace` evaluates one trace, `part` those of one part of the input; `tally` has what was counted."""

    def __init__(self, tally: Tally, trace: Callable[[Trace], None], *, skip_bad_lines: bool, figures: bool) -> None:
        self.tally, self.trace = tally, trace
        self._skip_bad_lines, self._figures = skip_bad_lines, figures

    def part(self, part: Part, progress: Progress) -> None:
        """Evaluate the traces of one part."""
        source, evaluate = part.source, self.trace
        bad = BadLines(source, self._skip_bad_lines)
        span = None if part.end is None else (part.start, part.end)

        def part_ends(lines: int) -> None:
            self.tally.parts.append(PartRead(source.name, part.start, lines))

        number = 0
        for trace in read_source(source, bad, span, part_ends, figures=self._figures):
            evaluate(trace)
            if number % _STRIDE == 0:
                progress.evaluated(part, trace.origin.offset - part.start)
            number += 1  # noqa: SIM113 - `enumerate` would hold on to the trace
            del trace  # so that a long one makes room before the next is decoded
        self.tally.bad_lines += bad.count
        self.tally.settle()


@contextlib.contextmanager
def evaluator(job: Job, progress: Progress) -> Iterator[Evaluator]:
    """An evaluator with an empty tally; when the context ends, no trace waits for a judge any more."""
    plan = job.plan()
    tally = plan.tally()
    skip_bad_lines, figures = job.settings.skip_bad_lines, plan.asks_figures
    if not plan.may_ask:
        evaluate, add = plan.evaluate, tally.add
        yield Evaluator(tally, lambda trace: add(evaluate(trace)), skip_bad_lines=skip_bad_lines, figures=figures)
        return
    with open_judges(job.suite, job.settings.judge, progress.asked) as judges:
        queue = QuestionQueue(judges.ask, tally.add)
        yield Evaluator(
            tally, lambda trace: queue.put(plan.begin(trace)), skip_bad_lines=skip_bad_lines, figures=figures
        )
        queue.finish()
