"""Decide whether an AI agent may ship: what it did, judged by what was asked, with reasons that point at a line."""

from __future__ import annotations

from passmuster._version import __version__

TYPE_CHECKING = False  # type checkers take it for true; importing it from `typing` would cost every start

if TYPE_CHECKING:
    from passmuster.checks.custom import MetricResult, metric
    from passmuster.checks.outcome import Violation
    from passmuster.engine.loading import load_suite
    from passmuster.engine.run import evaluate
    from passmuster.problems import InputError, SuiteError, TraceError, UsageError
    from passmuster.scoring.report import Report
    from passmuster.suite.model import Suite
    from passmuster.traces.model import ToolCall, Trace
    from passmuster.traces.reading import read_traces

__all__ = [
    "InputError",
    "MetricResult",
    "Report",
    "Suite",
    "SuiteError",
    "ToolCall",
    "Trace",
    "TraceError",
    "UsageError",
    "Violation",
    "__version__",
    "evaluate",
    "load_suite",
    "metric",
    "read_traces",
]

_HOMES = {
    "InputError": "problems",
    "MetricResult": "checks.custom",
    "Report": "scoring.report",
    "Suite": "suite.model",
    "SuiteError": "problems",
    "ToolCall": "traces.model",
    "Trace": "traces.model",
    "TraceError": "problems",
    "UsageError": "problems",
    "Violation": "checks.outcome",
    "evaluate": "engine.run",
    "load_suite": "engine.loading",
    "metric": "checks.custom",
    "read_traces": "traces.reading",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for, so that starting the command costs little."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'passmuster' has no attribute '{name}'")
    value: object = getattr(import_module(f"passmuster.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
