"""Traces of any format written in the native form, with a report of what was lost and what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from passmuster._problems import Problem, UsageError
from passmuster.api._output_files import check_writable, write_file
from passmuster.api._show_traces import SourceOptions, hidden, trace_sources
from passmuster.redaction import Redactor, shaped_spans
from passmuster.traces import BadLines, Overview, Source, lines_of, native_line, plain_record, read_source, record_line

_CONSEQUENCES = {
    "tool calls": "checks on calls are undecided",
    "arguments": (
        "args_valid cannot run: record them (for OpenTelemetry set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)"
    ),
    "results": "hallucination_check will be skipped, and a `result` in a rule fits no call",
    "query": "a scenario is found by its id only",
    "answer": "checks of the answer will be skipped",
    "model calls": "max_llm_calls will be skipped",
    "tokens": "max_total_tokens will be skipped",
    "cost": "max_cost_usd will be skipped, unless a suite works it out (`prices: genai-prices`)",
    "times": "max_latency_ms will be skipped",
}
"""What a suite lacks with traces that do not have a fact."""


class Lacking(Struct, frozen=True):
    """A fact that some traces do not have, and what that means for checks."""

    fact: str
    traces: int
    consequence: str


class Imported(Struct):
    """What was written, lost and not found."""

    output: str
    files: tuple[str, ...] = ()
    traces: int = 0
    bad_lines: int = 0
    inferred: int = 0
    """Traces of which the source did not say that they are one run."""
    lost: list[str] = field(default_factory=list)
    """What the sources have and the traces do not, each with its file and line."""
    lacking: list[Lacking] = field(default_factory=list)
    secrets: int = 0
    """Traces that hold what looks like a secret."""


def import_traces(paths: Sequence[str], output: str, options: SourceOptions, *, redact: bool = False) -> Imported:
    """Write the traces of these files to `output`, one per line, or as Parquet one per row, whole or not at all."""
    imported = Imported(output)
    overview = Overview()
    with trace_sources(paths, options.format) as sources:
        check_writable([output], inputs=[source.path for source in sources], what="file")
        imported.files = tuple(source.name for source in sources)
        lines = _lines(sources, options, imported, overview, redact)
        write_file(output, _parquet(lines) if output.lower().endswith(".parquet") else lines, what="file")
    imported.lacking = [
        Lacking(fact, count, _CONSEQUENCES[fact]) for fact in _CONSEQUENCES if (count := overview.lacking.get(fact))
    ]
    return imported


def _parquet(lines: Iterator[bytes]) -> Iterator[bytes]:
    from passmuster.traces import parquet_pieces  # late, as it needs an extra

    try:
        yield from parquet_pieces(line.rstrip(b"\n") for line in lines)
    except ImportError as error:
        message = "-o: Parquet needs another package: pip install 'passmuster[parquet]'"
        raise UsageError(Problem(message)) from error


def _lines(
    sources: list[Source], options: SourceOptions, imported: Imported, overview: Overview, redact: bool
) -> Iterator[bytes]:
    redactor = Redactor()
    for source in sources:
        bad = BadLines(source, options.skip_bad_lines, options.accept_loss)
        for trace in read_source(source, bad):
            overview.add(trace)
            imported.traces += 1
            imported.inferred += "run" in trace.inferred
            line = record_line(hidden(plain_record(trace), redactor)) if redact else native_line(trace)
            if not redact:
                imported.secrets += bool(shaped_spans(line.decode()))
            yield line + b"\n"
        imported.bad_lines += bad.count
        lines = lines_of([loss.spot for loss in bad.losses])
        for loss in bad.losses:
            at = f":{lines[loss.spot]}" if loss.spot in lines else ""
            imported.lost.append(f"{source.name}{at}: {redactor.text(loss.found)}")
    if not imported.traces:  # said here, so that no empty file is left
        raise UsageError(Problem("holds no trace to import", ", ".join(imported.files)))
