"""Use cases, one module each: all front ends call these and only these. Nothing they return holds a secret."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.api._audit_judges import AuditOptions, JudgeAudit, audit_judges
    from passmuster.api._baseline_files import read_baseline
    from passmuster.api._compare import compare_runs
    from passmuster.api._evaluate import evaluate
    from passmuster.api._history import read_history
    from passmuster.api._inputs import StandardInput, trace_formats
    from passmuster.api._load_suite import load_suite
    from passmuster.api._options import Destination, RunOptions
    from passmuster.api._reference import reference_tables
    from passmuster.api._run import RenderedReport, Run, add_to_history, run, write_report
    from passmuster.api._save_baseline import SavedBaseline, save_baseline
    from passmuster.api._schema import SchemaOf, json_schema
    from passmuster.api._suite_from_dict import suite_from_dict
    from passmuster.api._thresholds import Suggestion, Tightening, suggest_thresholds, tighten_thresholds
    from passmuster.engine import OnProgress
    from passmuster.scoring import JudgeMode, Report
    from passmuster.suite import share
    from passmuster.traces import read_traces
else:
    __getattr__ = lazy_exports(__name__)
