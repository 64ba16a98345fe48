"""The files of each part: what was counted in it (`--checkpoint`), and its violations (`--violations`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import plural
from passmuster.engine._checkpoint import Checkpoint, job_digest, part_name
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._violation_files import (
    PartViolations,
    clear_violations,
    finish_violations,
    prepare_violations,
)
from passmuster.scoring import Evaluation, Tally, merge
from passmuster.traces import mark_of

if TYPE_CHECKING:
    from passmuster.engine._evaluation import Evaluator


def evaluate_with_files(evaluate: Evaluator, job: Job, part: Part, read: Callable[[], None]) -> None:
    """Evaluate one part alone, leaving its tally in the evaluator, and write its files when it is finished."""
    mark = mark_of(part.source)
    evaluate.begin()
    tally = evaluate.tally
    if job.files.violations is None:
        read()
        evaluate.finish()
    else:
        violations = PartViolations(job.files, part, part_name(job.files.job, part), job.suite)

        def count(evaluation: Evaluation) -> None:
            tally.add(evaluation)
            violations.add(evaluation)

        evaluate.count_with(count)
        with violations:
            read()
            evaluate.finish()
        tally.written.append(violations.written)
    tally.settle()
    if job.files.checkpoint is not None and mark_of(part.source, now=True) == mark:
        Checkpoint(job.files).keep(part, mark, tally)


def tally_with_files(
    job: Job, parts: Sequence[Part], run: Callable[[Job, Sequence[Part]], Tally], tell: Callable[[str], None]
) -> Tally:
    """What a job counts in parts, those of its checkpoint among them; `run` evaluates the others."""
    files = replace(job.files, job=job_digest(job))
    job = replace(job, files=files)
    prepare_violations(files)
    missing, tallies = list(parts), []
    if files.checkpoint is not None:
        restored = Checkpoint(files).restore(parts)
        missing, tallies = restored.missing, [restored.tally] if restored.tally else []
        if tallies:
            tell(f"from the checkpoint: {len(parts) - len(missing)} of {plural(len(parts), 'part')}")
        if restored.changed:
            changed = f"{', '.join(restored.changed[:5])}{' and more' if len(restored.changed) > 5 else ''}"
            tell(f"changed since the checkpoint, and read again: {changed}")
    try:
        tally = merge([*tallies, *([run(job, missing)] if missing else [])])
        if files.violations is not None:
            tell(finish_violations(files, sorted(tally.written)))
    except BaseException:
        clear_violations(files)
        raise
    return tally
