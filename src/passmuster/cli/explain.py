"""`passmuster explain`: why a suite judges a trace as it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passmuster import api, reports
from passmuster._problems import plural
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import print_document, print_lines, refusing

SCHEMA = "passmuster.explanation/1"
_MOST_CALLS = 200


@cli_command("explain")
@argument("suite", metavar="SUITE")
@argument("source", many=True, metavar="SOURCE...")
@option("--trace", "trace_id", metavar="ID", help="Only this trace, by its id or number (#3).")
@option("--rule", metavar="TEST[:N]", help="Only this test or scenario, or its rule of this number.")
@options.trace_format
@options.accept_loss
@options.skip_bad_lines
@options.root
@options.no_plugins
@options.as_json
def command(
    suite: str,
    source: tuple[str, ...],
    trace_id: str | None,
    rule: str | None,
    trace_format: str | None,
    accept_loss: bool,
    skip_bad_lines: bool,
    root: str | None,
    no_plugins: bool,
    as_json: bool,
) -> None:
    """Show step by step why each rule held or broke on a trace.

    SOURCE is a file, a folder or a glob of traces; - is standard input. Judges are not asked.

    Exit codes: 0 it was explained, 2 the input is wrong.

    Example:
      passmuster explain evals traces/monday.jsonl --trace t-17 --rule refunds:2
    """
    with refusing():
        how = api.SourceOptions(format=trace_format, accept_loss=accept_loss, skip_bad_lines=skip_bad_lines)
        why = api.explain(suite, source, how, trace_id=trace_id, rule=rule, root=root, plugins=not no_plugins)
    if as_json:
        print_document(SCHEMA, why)
    else:
        print_lines(map(reports.one_line, _lines(why)))


def _lines(why: api.Why) -> Iterator[str]:
    for trace in why.traces:
        place = reports.near_place(trace.file if trace.line is None else f"{trace.file}:{trace.line}")
        scenario = f", scenario {trace.scenario}" if trace.scenario else ""
        yield f"Trace {trace.trace_id or f'#{trace.number}'} ({place}){scenario}"
        yield from _calls(trace)
        for test in trace.tests:
            yield ""
            idle = "" if test.exercised or test.status == "skip" else ", not exercised"
            yield f"{test.status.upper()}{idle}: {test.kind} ({test.name})"
            if test.message:
                yield f"   {test.message}"
            yield from _parts(test.parts)
        yield ""
    if why.more:
        yield f"{plural(why.more, 'more trace')} not shown; choose one with --trace ID or --trace '#1'."
    if why.asks_judges:
        yield "Judges were not asked: what only they can decide is undecided here."


def _calls(trace: api.WhyTrace) -> Iterator[str]:
    if trace.calls_unknown:
        yield "   The trace does not record its calls."
    for number, call in enumerate(trace.calls[:_MOST_CALLS], 1):
        yield f"   call {number}: {call}"
    if len(trace.calls) > _MOST_CALLS:
        yield f"   and {plural(len(trace.calls) - _MOST_CALLS, 'more call')}"
    if not trace.calls and not trace.calls_unknown:
        yield "   no call"


def _parts(parts: Sequence[api.WhyPart]) -> Iterator[str]:
    """What a test consists of; calls that it does not look at for the same reason are one line, after the others."""
    idle: dict[tuple[str, ...], list[str]] = {}
    for part in parts:
        if part.status == "not exercised" and not part.place and part.steps:
            idle.setdefault(tuple(part.steps), []).append(part.name)
        else:
            yield from _part(part)
    for steps, names in idle.items():
        yield f"   not exercised, {'; '.join(steps)}: {', '.join(names)}"


def _part(part: api.WhyPart) -> Iterator[str]:
    place = f" ({part.place})" if part.place else ""
    yield f"   {part.name}: {part.status}{place}"
    for step in part.steps:
        yield f"      {step}"
    for violation in part.violations:
        call = f"call {violation.call_index}: " if violation.call_index is not None else ""
        argument = f"{violation.argument} = {violation.value!r}: " if violation.argument and violation.has_value else ""
        waived = f" (waived: {violation.waived})" if violation.waived else ""
        yield f"      {call}{argument}{violation.message}{waived}"
