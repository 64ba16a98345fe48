"""Saving a run as a baseline."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import OutsideError, Problem, UsageError
from passmuster.api._baseline_files import baseline_path
from passmuster.api._inputs import StandardInput, trace_files
from passmuster.api._load_suite import load_suite
from passmuster.api._options import RunOptions
from passmuster.api._output_files import check_writable, write_file
from passmuster.api._redact_report import redact_report
from passmuster.engine import Execution, OnProgress, record, redactor_of, worker_count
from passmuster.redaction import Redactor
from passmuster.reports import encoded_baseline
from passmuster.scoring import Baseline, RecordedScenario, Report
from passmuster.suite import Suite

_NAME_LIMIT = 10_000


class SavedBaseline(Struct, frozen=True):
    """A baseline, the file it was written to, and the report of its run. Secrets are hidden in all of it."""

    path: str
    baseline: Baseline
    report: Report
    without_judges: bool
    """Whether the suite asks judges and they were off."""


def save_baseline(
    path: str | None,
    options: RunOptions,
    stdin: StandardInput,
    *,
    output: str | None = None,
    on_progress: OnProgress | None = None,
) -> SavedBaseline:
    """Evaluate traces by a suite and write what came out to `output`, else to the suite's `baseline.file`.

    Raises `InputError` for mistakes in the input and `OutsideError` where a part outside this program failed; then
    nothing was written. The day is recorded if `options.today` is given.
    """
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    target = output if output is not None else _named_by(suite)
    sources = trace_files(suite, options.traces, stdin, options.trace_format)
    check_writable([target], inputs=[*suite.documents, *(source.path for source in sources)], what="baseline")
    baseline, report = record(
        suite,
        sources,
        options.settings,
        day=None if options.today is None else options.today.isoformat(),
        execution=Execution(workers=worker_count(options.workers, sources)),
        plugins=options.plugins,
        on_progress=on_progress,
    )
    if report.exit_code == 3:
        raise OutsideError(Problem("the gate could not be decided; run 'passmuster run' to see why", suite.file))
    safe = redact_baseline(baseline, redactor_of(suite))
    write_file(target, encoded_baseline(safe), what="baseline")
    without_judges = options.judge == "off" and suite.may_ask
    return SavedBaseline(target, safe, redact_report(report, redactor_of(suite)), without_judges)


def _named_by(suite: Suite) -> str:
    if suite.baseline is None or suite.baseline.file is None:
        message = "no output file: give -o FILE, or state 'baseline.file' in the suite"
        raise UsageError(Problem(message, suite.file))
    return str(baseline_path(suite))


def redact_baseline(baseline: Baseline, redactor: Redactor) -> Baseline:
    """The baseline with secrets hidden. A tool whose name is hidden cannot be compared by its name."""

    def safe(scenario: RecordedScenario) -> RecordedScenario:
        golden = scenario.golden
        if golden is None:
            return scenario
        sequences = tuple(tuple(redactor.text(tool, _NAME_LIMIT) for tool in one) for one in golden.sequences)
        return replace(scenario, golden=replace(golden, sequences=sequences))

    version = baseline.agent_version
    return replace(
        baseline,
        agent_version=None if version is None else redactor.text(version),
        scenarios={id_: safe(one) for id_, one in baseline.scenarios.items()},
    )
