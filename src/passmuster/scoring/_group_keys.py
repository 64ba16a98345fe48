"""What traces can be grouped by (`--group-by`): the value that a trace has for a key."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.traces import trace_day

if TYPE_CHECKING:
    from passmuster.scoring._tally import Evaluation

Value = Callable[["Evaluation"], str | None]

_METADATA = "metadata."
_LONGEST = 200
_VALUES: dict[str, Value] = {
    "day": lambda evaluation: trace_day(evaluation.trace),
    "agent.version": lambda evaluation: evaluation.trace.agent_version,
    "agent.name": lambda evaluation: evaluation.trace.agent_name,
    "scenario": lambda evaluation: evaluation.scenario or evaluation.trace.scenario,
}


def check_group_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys. Raises `UsageError` for one that traces cannot be grouped by, or that is given twice."""
    problems = []
    for number, key in enumerate(keys):
        if key not in _VALUES and not (key.startswith(_METADATA) and len(key) > len(_METADATA)):
            known = f"{', '.join(_VALUES)} or metadata.KEY"
            problems.append(Problem(f"--group-by: expected {known}, found '{key}'{did_you_mean(key, _VALUES)}"))
        elif key in keys[:number]:
            problems.append(Problem(f"--group-by: '{key}' is given twice"))
    if problems:
        raise UsageError(problems)
    return keys


@cache
def values_of(keys: tuple[str, ...]) -> tuple[Value, ...]:
    """The functions that read the values of these keys; None is the value of a trace that does not say."""
    return tuple(_VALUES.get(key) or partial(_metadata, key.removeprefix(_METADATA)) for key in keys)


def _metadata(key: str, evaluation: Evaluation) -> str | None:
    """A value under a key, or at a dotted path if there is no such key."""
    held: Any = evaluation.trace.metadata
    if isinstance(held, dict) and key in held:
        return _text(held[key])
    for name in key.split("."):
        if not isinstance(held, dict) or name not in held:
            return None
        held = held[name]
    return _text(held)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    import json  # late, for most values are text

    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def shortened(value: str | None) -> str | None:
    """The value as it is kept: a trace can make it as long as it likes."""
    return value if value is None or len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
