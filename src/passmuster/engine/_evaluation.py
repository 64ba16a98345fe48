"""Evaluating traces one after the other, and counting the outcomes in a tally."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from passmuster._problems import TraceError
from passmuster.engine._judge_questions import QuestionQueue, open_judges
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job, Plan
from passmuster.engine._progress import Progress
from passmuster.scoring import Evaluation, JudgeTally, PartRead
from passmuster.traces import BadLines, Loss, Source, Spot, Trace, read_source

if TYPE_CHECKING:
    from passmuster.engine._unwrapping import Unwrapper
    from passmuster.judges import Judges

_STRIDE = 64
"""Traces between two reports of progress."""


class Evaluator:
    """`trace` evaluates one trace, `part` those of one part of the input; `tally` has what was counted."""

    def __init__(self, job: Job, plan: Plan, judges: Judges | None = None) -> None:
        self._job, self._plan, self._settings = job, plan, job.settings
        self._is_wanted = None
        if job.settings.some_traces:
            from passmuster.engine._trace_filter import trace_filter  # late, for most runs evaluate all traces

            self._is_wanted = trace_filter(job.settings)
        self._queue = None if judges is None else QuestionQueue(judges.ask, lambda evaluation: self._count(evaluation))
        self._before = None
        if job.before is not None:
            self._before = Plan(job.before, job.settings.today, accept_loss=job.settings.accept_loss)
        self.begin()

    def begin(self) -> None:
        """Begin a new tally, which holds nothing of what was evaluated before."""
        self._plan.forget_tools()
        self.tally = self._plan.tally(self._settings.group_by)
        self.count_with(self.tally.add if self._before is None else self._with_changes(self._before))

    def _with_changes(self, before: Plan) -> Callable[[Evaluation], None]:
        from passmuster.engine._policy_changes import counting_changes  # late, for few runs compare suites
        from passmuster.scoring import PolicyChanges

        add, self.tally.changes = self.tally.add, PolicyChanges()
        compare = counting_changes(before, self._job.suite, self.tally.changes)

        def count(evaluation: Evaluation) -> None:
            add(evaluation)
            compare(evaluation)

        return count

    def count_with(self, count: Callable[[Evaluation], None]) -> None:
        """Hand every evaluation to this function."""
        self._count = count
        plan, queue = self._plan, self._queue
        if queue is not None:
            self.trace: Callable[[Trace], None] = lambda trace: queue.put(plan.begin(trace))
        else:
            evaluate = plan.evaluate
            self.trace = lambda trace: count(evaluate(trace))

    def finish(self) -> None:
        """Wait until no trace waits for a judge."""
        if self._queue is not None:
            self._queue.finish()

    @cached_property
    def unwrap(self) -> Unwrapper:
        """Gives the arguments of a trace by their names."""
        from passmuster.engine._unwrapping import Unwrapper  # late, for few runs need it

        return Unwrapper(self._job.suite, self._settings.accept_loss)

    def part(self, part: Part, progress: Progress) -> None:
        """Evaluate the traces of one part."""
        if not self._job.files:
            self._read(part, progress)
            return
        from passmuster.engine._part_files import evaluate_with_files  # late, for few runs write them

        before = self.tally
        evaluate_with_files(self, self._job, part, lambda: self._read(part, progress))
        before.merge(self.tally)
        self.tally = before

    def _read(self, part: Part, progress: Progress) -> None:
        source, evaluate, tally = part.source, self.trace, self.tally
        bad = BadLines(source, self._settings.skip_bad_lines, self._settings.accept_loss)
        span = None if part.end is None else (part.start, part.end)

        def part_ends(lines: int) -> None:
            tally.parts.append(PartRead(source.name, part.start, lines))

        number = 0
        wanted, left_out = self._is_wanted, tally.left_out
        for trace in self._readable(read_source(source, bad, span, part_ends), source, bad):
            if wanted is not None and not wanted(trace, left_out):
                continue
            plain = self._unwrapped(trace, bad) if trace.wrapped else trace
            if plain is None:
                continue
            evaluate(plain)
            if number % _STRIDE == 0:
                progress.evaluated(part, trace.origin.offset - part.start)
            number += 1
            del trace, plain  # so that a long one makes room before the next is decoded
        tally.bad_lines += bad.count
        tally.losses.add(bad.losses)
        tally.settle()

    def _unwrapped(self, trace: Trace, bad: BadLines) -> Trace | None:
        try:
            return self.unwrap(trace, bad.losses)
        except TraceError:
            if not self._settings.skip_bad_lines:
                raise
            bad.count += 1
            return None

    def _readable(self, traces: Iterator[Trace], source: Source, bad: BadLines) -> Iterator[Trace]:
        """The traces up to where the rest of the file cannot be read, if that may be passed over."""
        try:
            yield from traces
        except TraceError as error:
            if not self._settings.skip_bad_lines:
                raise
            bad.losses += [Loss(Spot(source.name, 0), problem.message, True) for problem in error.problems]


@contextlib.contextmanager
def evaluator(job: Job, progress: Progress) -> Iterator[Evaluator]:
    """An evaluator with an empty tally; when the context ends, no trace waits for a judge any more."""
    plan = job.plan()
    if not plan.may_ask:
        yield Evaluator(job, plan)
        return
    with open_judges(job.suite, job.settings.judge, progress.asked) as judges:
        evaluate = Evaluator(job, plan, judges)
        yield evaluate
        evaluate.finish()
        use = judges.use
        evaluate.tally.judging = JudgeTally(use.questions, use.calls, unpriced=use.unpriced)
        evaluate.tally.judging.spent.add(use.spent_usd)
