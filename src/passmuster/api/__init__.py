"""Use cases, one module each: all front ends call these and only these. Nothing they return holds a secret."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.api._audit_judges import AuditOptions, JudgeAudit, audit_judges
    from passmuster.api._baseline_files import read_baseline
    from passmuster.api._check_suite import SuiteCheck, check_suite
    from passmuster.api._compare import compare_runs
    from passmuster.api._compare_traces import (
        CallStep,
        RunDivergence,
        TraceComparison,
        compare_traces,
        names_traces,
    )
    from passmuster.api._crash_report import describe_failure, save_crash_report, without_tokens
    from passmuster.api._diff_policy import ChangedRule, PolicyDiff, diff_policy
    from passmuster.api._evaluate import evaluate
    from passmuster.api._evaluate_runs import evaluate_runs
    from passmuster.api._explain import Why, WhyPart, WhyTest, WhyTrace, explain
    from passmuster.api._help import explain_word, topics
    from passmuster.api._history import read_history
    from passmuster.api._import_traces import Imported, import_traces
    from passmuster.api._init_suite import Initialized, init_suite
    from passmuster.api._inputs import StandardInput, executors, trace_formats
    from passmuster.api._keys_within import KeyHelp, Topic
    from passmuster.api._lint_finding import LINTS, LintFinding
    from passmuster.api._live_session import LiveOptions, LiveProgress, OnLive
    from passmuster.api._load_suite import load_suite
    from passmuster.api._migrate import MigratedFile, migrate, write_migrated
    from passmuster.api._options import Destination, RunOptions
    from passmuster.api._promote import Promoted, promote
    from passmuster.api._record import Recorded, RecordOptions, record_runs
    from passmuster.api._reference import reference_tables
    from passmuster.api._run import RenderedReport, Run, add_to_history, run, write_report
    from passmuster.api._run_live import run_live
    from passmuster.api._save_baseline import SavedBaseline, save_baseline
    from passmuster.api._schema import SchemaOf, json_schema
    from passmuster.api._show_traces import Shown, ShownTrace, SourceOptions, show_trace, show_traces
    from passmuster.api._stated_cases import StatedCase, stated_cases
    from passmuster.api._suite_from_dict import suite_from_dict
    from passmuster.api._thresholds import Suggestion, Tightening, suggest_thresholds, tighten_thresholds
    from passmuster.api._view import ReportViewer, report_viewer
    from passmuster.api._view_server import ViewServer
    from passmuster.engine import OnProgress, ViolationFormat
    from passmuster.scoring import JudgeMode, Report
    from passmuster.suite import Suite, share
    from passmuster.traces import Overview, RunSummary, TraceFormat, describe_formats, read_traces
else:
    __getattr__ = lazy_exports(__name__)
