"""The engine: a suite compiled into a plan, and the executors that run it over traces."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.engine._audit_cases import AuditCases, audit_cases
    from passmuster.engine._judge_questions import open_judges, redactor_of
    from passmuster.engine._load_suite import load_suite, vocabulary
    from passmuster.engine._parts import worker_count
    from passmuster.engine._progress import OnProgress, Stage
    from passmuster.engine._run import evaluate_sources, evaluate_traces, record
else:
    __getattr__ = lazy_exports(__name__)
