"""The engine: a suite compiled into a plan, and the executors that run it over traces."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.engine._audit_cases import AuditCases, audit_cases
    from passmuster.engine._early_stop import NeededRuns, StopEarly, needed_runs, stop_early
    from passmuster.engine._evidence import Gathered, evaluate_for_page
    from passmuster.engine._execution import Execution, PartFiles, ViolationFormat
    from passmuster.engine._explain import ExplainedTest, ExplainedTrace, Explainer
    from passmuster.engine._judge_questions import open_judges, redactor_of
    from passmuster.engine._load_suite import load_suite, vocabulary
    from passmuster.engine._parts import worker_count
    from passmuster.engine._prices import price_list
    from passmuster.engine._progress import OnProgress, Stage
    from passmuster.engine._run import Counted, evaluate_sources, evaluate_traces, policy_changes, record, scenarios_of
    from passmuster.engine._select import select
    from passmuster.engine._unwrapping import Unwrapper
    from passmuster.engine.executors import EXECUTORS
else:
    __getattr__ = lazy_exports(__name__)
