"""Scoring: outcomes become scenario results, metrics, gate lines and the `Report`."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.scoring._agreement import cohens_kappa, kappa_interval
    from passmuster.scoring._baseline import BASELINE_SCHEMA, Baseline, RecordedScenario, baseline_of
    from passmuster.scoring._bounds import bounded, bounded_violation
    from passmuster.scoring._category_rates import CategoryRate, category_rates
    from passmuster.scoring._comparison import (
        CaseChange,
        Comparison,
        CountChange,
        GateChange,
        MetricChange,
        ViolationChange,
        compare,
    )
    from passmuster.scoring._confidence_sequence import settled_side
    from passmuster.scoring._curtailment import Curtailment, LineKey, Outlook, line_key
    from passmuster.scoring._distribution import distribution
    from passmuster.scoring._drops import holm, mean_rise_p_value, percentile_rise_p_value, rate_drop_p_value
    from passmuster.scoring._early_stop import EarlyStop, SettledLine
    from passmuster.scoring._evidence import (
        Changes,
        ChosenRun,
        Distribution,
        Evidence,
        KeptStep,
        KeptTrace,
        MetricShift,
        PastMetric,
        PastRun,
        Viewer,
        WhatIf,
    )
    from passmuster.scoring._gate_vocabulary import gate_vocabulary
    from passmuster.scoring._group_keys import check_group_keys
    from passmuster.scoring._group_tally import groups_by
    from passmuster.scoring._intervals import RateSample, f1_interval, rate_interval, ratio_interval, wilson
    from passmuster.scoring._left_out import LeftOut
    from passmuster.scoring._live_runs import CAPTURE, LiveNote, LiveRuns
    from passmuster.scoring._means import mean_interval
    from passmuster.scoring._metric_words import between, change, number, written
    from passmuster.scoring._metrics import declared_metrics, metric_named
    from passmuster.scoring._policy_changes import Direction, Example, PolicyChanges, RuleChange
    from passmuster.scoring._pool import Pool, pool_of
    from passmuster.scoring._rate_lines import RateLine, rate_lines
    from passmuster.scoring._repeats import pass_at_k, pass_hat_k
    from passmuster.scoring._report import (
        REPORT_SCHEMA,
        Attempt,
        Flip,
        GateLine,
        GroupReport,
        LineBound,
        Metric,
        Report,
        ScenarioReport,
        TestReport,
    )
    from passmuster.scoring._report_documents import Figure, Side
    from passmuster.scoring._sample_size import more_to_settle
    from passmuster.scoring._scenario_report import place_of
    from passmuster.scoring._scenario_runs import scenario_runs
    from passmuster.scoring._scenario_tally import Figures, ScenarioTally
    from passmuster.scoring._settings import JudgeMode, Settings
    from passmuster.scoring._severity import SeverityPolicy
    from passmuster.scoring._stored_report import stored_report
    from passmuster.scoring._tally import (
        Evaluation,
        JudgeTally,
        PartRead,
        Tally,
        TestResult,
        TestTally,
        ViolationFile,
        merge,
    )
    from passmuster.scoring._tally_tree import TallyTree
    from passmuster.scoring._targets import Kept, Target, Tightened, targets, tightened
    from passmuster.scoring._verdict import conclude
    from passmuster.scoring._what_if import verdict_with, what_if
else:
    __getattr__ = lazy_exports(__name__)
