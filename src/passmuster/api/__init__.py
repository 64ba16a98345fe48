"""Use cases, one module each: all front ends call these and only these. Nothing they return holds a secret."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.api._audit_judges import AuditOptions as AuditOptions
    from passmuster.api._audit_judges import JudgeAudit as JudgeAudit
    from passmuster.api._audit_judges import audit_judges as audit_judges
    from passmuster.api._baseline_files import read_baseline as read_baseline
    from passmuster.api._compare import compare_runs as compare_runs
    from passmuster.api._evaluate import evaluate as evaluate
    from passmuster.api._history import read_history as read_history
    from passmuster.api._load_suite import load_suite as load_suite
    from passmuster.api._options import Destination as Destination
    from passmuster.api._options import RunOptions as RunOptions
    from passmuster.api._run import RenderedReport as RenderedReport
    from passmuster.api._run import Run as Run
    from passmuster.api._run import add_to_history as add_to_history
    from passmuster.api._run import run as run
    from passmuster.api._run import write_report as write_report
    from passmuster.api._save_baseline import SavedBaseline as SavedBaseline
    from passmuster.api._save_baseline import save_baseline as save_baseline
    from passmuster.api._schema import SchemaOf as SchemaOf
    from passmuster.api._schema import json_schema as json_schema
    from passmuster.api._suite_from_dict import suite_from_dict as suite_from_dict
    from passmuster.api._thresholds import Suggestion as Suggestion
    from passmuster.api._thresholds import Tightening as Tightening
    from passmuster.api._thresholds import suggest_thresholds as suggest_thresholds
    from passmuster.api._thresholds import tighten_thresholds as tighten_thresholds
    from passmuster.api._trace_files import StandardInput as StandardInput
    from passmuster.api._trace_files import trace_formats as trace_formats
    from passmuster.engine import OnProgress as OnProgress
    from passmuster.scoring import JudgeMode as JudgeMode
    from passmuster.scoring import Report as Report
    from passmuster.suite import share as share
    from passmuster.traces import read_traces as read_traces
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_audit_judges": ("AuditOptions", "JudgeAudit", "audit_judges"),
            "_baseline_files": ("read_baseline",),
            "_compare": ("compare_runs",),
            "_evaluate": ("evaluate",),
            "_history": ("read_history",),
            "_load_suite": ("load_suite",),
            "_options": ("Destination", "JudgeMode", "RunOptions"),
            "_run": ("OnProgress", "RenderedReport", "Report", "Run", "add_to_history", "run", "write_report"),
            "_save_baseline": ("SavedBaseline", "save_baseline"),
            "_schema": ("SchemaOf", "json_schema"),
            "_suite_from_dict": ("suite_from_dict",),
            "_thresholds": ("Suggestion", "Tightening", "share", "suggest_thresholds", "tighten_thresholds"),
            "_trace_files": ("StandardInput", "read_traces", "trace_formats"),
        },
    )
