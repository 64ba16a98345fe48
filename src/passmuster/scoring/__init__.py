"""Scoring: outcomes become scenario results, metrics, gate lines and the `Report`."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.scoring._agreement import cohens_kappa, kappa_interval
    from passmuster.scoring._baseline import BASELINE_SCHEMA, Baseline, RecordedScenario, baseline_of
    from passmuster.scoring._comparison import (
        CaseChange,
        Comparison,
        CountChange,
        GateChange,
        MetricChange,
        ViolationChange,
        compare,
    )
    from passmuster.scoring._gate_vocabulary import gate_vocabulary
    from passmuster.scoring._intervals import more_to_settle, rate_interval, wilson
    from passmuster.scoring._metric_words import between, change, number, written
    from passmuster.scoring._metrics import declared_metrics
    from passmuster.scoring._repeats import pass_at_k, pass_hat_k
    from passmuster.scoring._report import (
        REPORT_SCHEMA,
        Attempt,
        Flip,
        GateLine,
        Metric,
        Report,
        ScenarioReport,
        TestReport,
    )
    from passmuster.scoring._report_documents import Figure, Side
    from passmuster.scoring._resampling import drop_p_value, holm, mean_interval
    from passmuster.scoring._scenario_runs import scenario_runs
    from passmuster.scoring._scenario_tally import Figures, ScenarioTally
    from passmuster.scoring._settings import JudgeMode, Settings
    from passmuster.scoring._severity import SeverityPolicy
    from passmuster.scoring._tally import Evaluation, PartRead, Tally, TestResult, TestTally, merge
    from passmuster.scoring._targets import Kept, Target, Tightened, targets, tightened
    from passmuster.scoring._verdict import conclude
else:
    __getattr__ = lazy_exports(__name__)
