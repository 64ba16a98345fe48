"""Decide whether an AI agent may ship: evaluate its traces by a suite, with located reasons."""

from __future__ import annotations

from passmuster._lazy import lazy_exports
from passmuster._version import __version__

TYPE_CHECKING = False  # type checkers take it for true; importing it from `typing` would cost every start

if TYPE_CHECKING:
    from passmuster._problems import InputError, OutsideError, SuiteError, TraceError, UsageError
    from passmuster.api import evaluate, load_suite, read_traces, suite_from_dict
    from passmuster.checks import MetricResult, Violation, metric
    from passmuster.scoring import Report
    from passmuster.suite import Suite
    from passmuster.traces import ToolCall, Trace
else:
    __getattr__ = lazy_exports(__name__)


__all__ = [
    "InputError",
    "MetricResult",
    "OutsideError",
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
    "suite_from_dict",
]


def __dir__() -> list[str]:
    return __all__
