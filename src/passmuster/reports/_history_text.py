"""The history of a suite for a person: a table of its runs, and the course that each metric took.

Both fit into 80 columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from passmuster._problems import plural
from passmuster.history import History, Run
from passmuster.reports._text import BLOCKS, aligned, cut, one_line
from passmuster.scoring import number, written

_WIDTH = 80
_MAIN = ("pass_rate", "accuracy", "safety_rate", "total_cost_usd", "latency_p95", "total_tokens")
"""The metrics of the table by default, as far as there is room."""
_LONGEST_VERSION = 12
_LONGEST_NAME = 28
_LEAST_COURSE = 8

Column = tuple[str, list[str], bool]
"""A heading, its cells, and whether they stand to the right."""


def history_lines(history: History, metrics: Sequence[str] = ()) -> list[str]:
    """The runs as lines of text; `metrics` are those asked for, by default all there are."""
    file = one_line(history.suite_file)
    if not history.runs:
        return [f"No run of {file} is stored yet; every full `passmuster run` is stored."]
    runs = history.runs
    found = list(dict.fromkeys(name for run in reversed(runs) for name in run.metrics))
    main = [name for name in _MAIN if name in found]
    shown = f"the last {len(runs)} of {history.total} runs" if history.total > len(runs) else plural(len(runs), "run")
    lines = [f"{one_line(runs[-1].suite)} ({file}): {shown}", "", *_table(runs, list(metrics) or main)]
    courses = _courses(runs, list(metrics) or list(dict.fromkeys((*main, *found))))
    return [*lines, "", *courses] if courses else lines


def course(values: Sequence[float | None]) -> str:
    """The values as blocks from the lowest to the highest of them; a gap where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return " " * len(values)
    low, top = min(known), len(BLOCKS) - 1
    span = max(known) / 2 - low / 2  # halved: the difference itself may overflow

    def block(value: float) -> str:
        return BLOCKS[round((value / 2 - low / 2) / span * top)] if span > 0 else BLOCKS[top // 2]

    return "".join(" " if value is None else block(value) for value in values)


def _table(runs: list[Run], metrics: list[str]) -> list[str]:
    columns: list[Column] = [
        ("run", [str(run.id) for run in runs], True),
        ("time (UTC)", [_moment(run.time) for run in runs], False),
        ("verdict", [one_line(run.verdict)[:10] for run in runs], False),
        ("passed", [str(run.passed) for run in runs], True),
        ("failed", [str(run.failed) for run in runs], True),
    ]
    if any(run.agent_version is not None for run in runs):
        versions = [cut(one_line(run.agent_version or "–"), _LONGEST_VERSION) for run in runs]
        columns.append(("agent", versions, False))
    room = _WIDTH - sum(_width(column) + 2 for column in columns) + 2
    for name in metrics:
        heading = cut(one_line(name), _LONGEST_NAME)
        column: Column = (heading, [_value(run, name) for run in runs], True)
        room -= _width(column) + 2
        if room < 0:
            break
        columns.append(column)
    rows = zip(*([heading, *cells] for heading, cells, _ in columns), strict=True)
    return aligned(rows, right={place for place, column in enumerate(columns) if column[2]})


def _width(column: Column) -> int:
    return max(len(column[0]), *map(len, column[1]))


def _courses(runs: list[Run], metrics: list[str]) -> list[str]:
    drawn: list[tuple[str, list[float | None], str]] = []
    for name in metrics:
        values = [_finite(run.metrics[name].value) if name in run.metrics else None for run in runs]
        drawn.append((one_line(name), values, _extent(name, values)))
    # One width for all, so that a run stands in the same column in each of them.
    rest = _WIDTH - 2 - max((len(told) for _, _, told in drawn), default=0)
    indent = min(rest - _LEAST_COURSE, max((len(name) for name, _, _ in drawn), default=0))
    return [
        f"{cut(name, indent).ljust(indent)}  {course(values[indent - rest :])}{told}" for name, values, told in drawn
    ]


def _extent(name: str, values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "  no value"
    return f"  min {number(name, min(known))}  max {number(name, max(known))}  last {_shown(name, values[-1])}"


def _value(run: Run, name: str) -> str:
    return _shown(name, run.metrics[name].value if name in run.metrics else None)


def _shown(name: str, value: float | None) -> str:
    return "–" if value is None else written(name, value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _moment(time: str) -> str:
    return one_line(time)[:16].replace("T", " ")
