"""Traces for a person: what files hold as tables, one run as a timeline, and the formats there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from passmuster._problems import plural
from passmuster.api import Imported, Overview, RunSummary, TraceFormat
from passmuster.reports import aligned, cut, cut_middle, near_place, one_line

_RUNS = 50
"""Runs that the table shows; the JSON has more."""
_TEXT = 160
_QUERY = 50
_LOSSES = 20


def format_lines(formats: Iterable[TraceFormat]) -> list[str]:
    """The formats as blocks of lines."""
    lines: list[str] = []
    for one in formats:
        lines += [
            one.name,
            f"  {one.description}",
            f"  Detected by: {one.record}",
            f"  Carries: {', '.join(one.carries)}",
        ]
        lines += [f"  Cannot carry: {', '.join(one.lacks)}"] if one.lacks else []
        lines.append("")
    return lines[:-1]


def overview_lines(
    overview: Overview, files: Sequence[str], bad_lines: int = 0, losses: Sequence[str] = (), width: int = 0
) -> list[str]:
    """What files hold: the runs, then tools, models and agents with counts, then what is missing.

    The table of runs is made to fit in `width` columns; 0 is any number.
    """
    tokens = "unknown tokens" if overview.tokens is None else f"{overview.tokens:,} tokens"
    lines = [f"{plural(overview.traces, 'run')} in {plural(len(files), 'file')}, {tokens}"]
    if overview.errors:
        lines.append(f"{plural(overview.errors, 'run')} did not finish")
    lines += ["", *_runs(overview.runs, overview.traces, width)]
    if overview.tools:
        rows = sorted(overview.tools.items(), key=lambda item: (-item[1].calls, item[0]))
        cells = [(one_line(name), str(count.calls), str(count.failed or "")) for name, count in rows]
        lines += ["", *aligned([("tool", "calls", "failed"), *cells], right=(1, 2))]
    for title, counted in (("model", overview.models), ("agent", overview.agents)):
        if counted:
            pairs = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
            lines += [
                "",
                *aligned([(title, "calls"), *((one_line(name), str(count)) for name, count in pairs)], right=(1,)),
            ]
    if overview.handoffs:
        lines += ["", plural(overview.handoffs, "handoff")]
    if overview.lacking:
        found = (f"{fact} in {count} of {overview.traces}" for fact, count in overview.lacking.items())
        lines += ["", f"Not recorded: {', '.join(found)}"]
    if bad_lines:
        lines += ["", f"{plural(bad_lines, 'bad line')} skipped"]
    return lines + _losses(losses)


def _runs(runs: Sequence[RunSummary], total: int, width: int) -> list[str]:
    rows: list[tuple[str, ...]] = [("#", "trace", "where", "calls", "failed", "model calls", "tokens", "query")]
    for number, run in enumerate(runs[:_RUNS], 1):
        where = near_place(f"{run.file}:{run.line}" if run.line else run.file)
        rows.append(
            (
                str(number),
                cut_middle(one_line(run.trace_id or ""), 36),
                one_line(where),
                "?" if run.tool_calls is None else str(run.tool_calls),
                str(run.failed_calls or ""),
                "?" if run.llm_calls is None else str(run.llm_calls),
                "?" if run.tokens is None else f"{run.tokens:,}",
                cut(one_line(run.query or ""), _QUERY),
            )
        )
    lines = _fitting(rows, width)
    return [*lines, f"… and {total - _RUNS} more"] if total > _RUNS else lines


def _fitting(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """The table of runs, with less of what is long: folders go first, then most of an id, then the end of a query."""

    def without_folder(cells: tuple[str, ...], _: int) -> tuple[str, ...]:
        return *cells[:2], cells[2].rpartition("/")[2], *cells[3:]

    def with_short_id(cells: tuple[str, ...], _: int) -> tuple[str, ...]:
        return cells[0], cut_middle(cells[1], 12), cut(cells[2], 24), *cells[3:]

    def with_short_query(cells: tuple[str, ...], most: int) -> tuple[str, ...]:
        return *cells[:-1], cut(cells[-1], most)

    lines = aligned(rows, right=_COUNTS)
    for narrower in (without_folder, with_short_id, with_short_query):
        excess = max(map(len, lines)) - width
        if not width or excess <= 0:
            break
        most = max(len("query"), max(len(cells[-1]) for cells in rows) - excess)
        rows = [rows[0], *(narrower(cells, most) for cells in rows[1:])]
        lines = aligned(rows, right=_COUNTS)
    return lines


_COUNTS = (0, 3, 4, 5, 6)
"""The columns of the table of runs that are numbers."""


def trace_lines(record: dict[str, Any], file: str, line: int | None, width: int = 0) -> list[str]:
    """One run as a timeline: a line per step, indented by the call it ran inside; `|` marks calls made in parallel.

    Lines of steps are cut to `width` columns; 0 is any number.
    """
    where = f"{file}:{line}" if line else file
    lines = [f"Trace {one_line(str(record.get('trace_id') or '(no id)'))} ({one_line(where)})"]
    for label in ("scenario", "run", "started_at"):
        if record.get(label) is not None:
            lines.append(f"{label.replace('_', ' ').capitalize()}: {one_line(str(record[label]))}")
    if record.get("inferred"):
        lines.append(f"Worked out, not read: {', '.join(map(str, record['inferred']))}")
    if record.get("query") is not None:
        lines.append(f"Query: {_short(record['query'])}")
    lines.append("")
    steps = record.get("steps")
    if steps is None:
        lines.append("The tool calls are not known.")
    depths: dict[Any, int] = {}
    for number, step in enumerate(steps or (), 1):
        depth = depths.get(step.get("parent"), -1) + 1 if step.get("parent") is not None else 0
        if step.get("id") is not None:
            depths[step["id"]] = depth
        for place, text in enumerate(_step(step)):
            shown = f"{'' if place else number:4}  {'   ' * min(depth, 8)}{text}"
            lines.append(cut(shown, width) if width else shown)
    lines.append("")
    if record.get("error"):
        lines.append(f"Error: {_short(record['error'])}")
    if record.get("answer") is not None:
        lines.append(f"Answer: {_short(record['answer'])}")
    return [*lines, _totals(record)]


def _step(step: dict[str, Any]) -> list[str]:
    who = f" ({one_line(str(step['agent']))})" if step.get("agent") else ""
    took = f"  {step['duration_ms']:,.0f} ms" if step.get("duration_ms") is not None else ""
    match step["type"]:
        case "tool_call":
            mark = "| " if step.get("group") is not None else ""
            given = step.get("arguments")
            lines = [
                f"{mark}{one_line(step['tool'])} {'(unknown arguments)' if given is None else _short(given)}{who}{took}"
            ]
            if step.get("error"):
                lines.append(f"{mark}  failed: {_short(step['error'])}")
            elif "result" in step:
                lines.append(f"{mark}  → {_short(step['result'])}")
            return lines
        case "llm_call":
            return [f"model {one_line(str(step.get('model') or ''))}{_usage(step)}{who}{took}".rstrip()]
        case "handoff":
            return [f"handoff {one_line(str(step.get('from') or '?'))} → {one_line(step['to'])}"]
        case _:
            return [f"{one_line(step['role'])}{who}: {_short(step.get('content'))}"]


def _usage(step: dict[str, Any]) -> str:
    parts = []
    if step.get("tokens_in") is not None:
        cached = f" ({step['tokens_cached']:,} cached)" if step.get("tokens_cached") else ""
        parts.append(f"{step['tokens_in']:,} in{cached}")
    if step.get("tokens_out") is not None:
        parts.append(f"{step['tokens_out']:,} out")
    if step.get("cost_usd") is not None:
        parts.append(f"${step['cost_usd']:.4f}")
    return f"  {', '.join(parts)}" if parts else ""


def _totals(record: dict[str, Any]) -> str:
    steps = record.get("steps") or ()
    calls = [step for step in steps if step["type"] == "tool_call"]
    models = [step for step in steps if step["type"] == "llm_call"]
    failed = sum(bool(step.get("error")) for step in calls)
    parts = [
        plural(record.get("total_llm_calls", len(models)), "model call"),
        plural(len(calls), "tool call") + (f" ({failed} failed)" if failed else ""),
    ]
    tokens = record.get("total_tokens", _sum([_tokens(step) for step in models]))
    cost = record.get("total_cost_usd", _sum([step.get("cost_usd") for step in models]))
    parts.append("unknown tokens" if tokens is None else f"{tokens:,.0f} tokens")
    parts.append("unknown cost" if cost is None else f"${cost:.4f}")
    if record.get("total_duration_ms") is not None:
        parts.append(f"{record['total_duration_ms'] / 1000:,.1f} s")
    return ", ".join(parts)


def _tokens(step: dict[str, Any]) -> int | None:
    given, made = step.get("tokens_in"), step.get("tokens_out")
    return None if given is None or made is None else given + made


def _sum(figures: Sequence[float | None]) -> float | None:
    return None if not figures or None in figures else sum(figure or 0 for figure in figures)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return cut(one_line(text), _TEXT)


def import_lines(imported: Imported) -> list[str]:
    """What was written, lost and not found."""
    written = f"{plural(imported.traces, 'trace')} of {plural(len(imported.files), 'file')}"
    lines = [f"Wrote {written} to {one_line(imported.output)}."]
    if imported.bad_lines:
        lines.append(f"{plural(imported.bad_lines, 'bad line')} skipped.")
    if imported.inferred:
        lines.append(f"Worked out which model calls are one run: {plural(imported.inferred, 'trace')}.")
    for lacking in imported.lacking:
        share = "" if lacking.traces == imported.traces else f" in {lacking.traces} of {imported.traces} traces"
        lines.append(f"No {lacking.fact}{share}: {lacking.consequence}.")
    if imported.secrets:
        lines.append(f"{plural(imported.secrets, 'trace')} may hold secrets; --redact hides them.")
    return lines + _losses(imported.lost)


def _losses(losses: Sequence[str]) -> list[str]:
    if not losses:
        return []
    shown = [f"  {one_line(loss)}" for loss in losses[:_LOSSES]]
    more = [f"  … and {len(losses) - _LOSSES} more"] if len(losses) > _LOSSES else []
    return ["", f"Lost ({len(losses)}):", *shown, *more]
