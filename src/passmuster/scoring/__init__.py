"""Scoring: outcomes become scenario results, metrics, gate lines and the `Report`."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.scoring._agreement import cohens_kappa as cohens_kappa
    from passmuster.scoring._agreement import kappa_interval as kappa_interval
    from passmuster.scoring._baseline import BASELINE_SCHEMA as BASELINE_SCHEMA
    from passmuster.scoring._baseline import Baseline as Baseline
    from passmuster.scoring._baseline import RecordedScenario as RecordedScenario
    from passmuster.scoring._baseline import baseline_of as baseline_of
    from passmuster.scoring._comparison import CaseChange as CaseChange
    from passmuster.scoring._comparison import Comparison as Comparison
    from passmuster.scoring._comparison import CountChange as CountChange
    from passmuster.scoring._comparison import GateChange as GateChange
    from passmuster.scoring._comparison import MetricChange as MetricChange
    from passmuster.scoring._comparison import ViolationChange as ViolationChange
    from passmuster.scoring._comparison import compare as compare
    from passmuster.scoring._gate_vocabulary import gate_vocabulary as gate_vocabulary
    from passmuster.scoring._intervals import wilson as wilson
    from passmuster.scoring._metric_words import between as between
    from passmuster.scoring._metric_words import change as change
    from passmuster.scoring._metric_words import number as number
    from passmuster.scoring._metric_words import written as written
    from passmuster.scoring._metrics import declared_metrics as declared_metrics
    from passmuster.scoring._report import REPORT_SCHEMA as REPORT_SCHEMA
    from passmuster.scoring._report import Attempt as Attempt
    from passmuster.scoring._report import Flip as Flip
    from passmuster.scoring._report import GateLine as GateLine
    from passmuster.scoring._report import Metric as Metric
    from passmuster.scoring._report import Report as Report
    from passmuster.scoring._report import RuleReport as RuleReport
    from passmuster.scoring._report import ScenarioReport as ScenarioReport
    from passmuster.scoring._report import TestReport as TestReport
    from passmuster.scoring._report_documents import Figure as Figure
    from passmuster.scoring._report_documents import Side as Side
    from passmuster.scoring._scenario_runs import scenario_runs as scenario_runs
    from passmuster.scoring._scenario_tally import Figures as Figures
    from passmuster.scoring._scenario_tally import ScenarioTally as ScenarioTally
    from passmuster.scoring._settings import JudgeMode as JudgeMode
    from passmuster.scoring._settings import Settings as Settings
    from passmuster.scoring._severity import Leniency as Leniency
    from passmuster.scoring._tally import Evaluation as Evaluation
    from passmuster.scoring._tally import PartRead as PartRead
    from passmuster.scoring._tally import Tally as Tally
    from passmuster.scoring._tally import TestResult as TestResult
    from passmuster.scoring._tally import TestTally as TestTally
    from passmuster.scoring._tally import merge as merge
    from passmuster.scoring._targets import Kept as Kept
    from passmuster.scoring._targets import Target as Target
    from passmuster.scoring._targets import Tightened as Tightened
    from passmuster.scoring._targets import targets as targets
    from passmuster.scoring._targets import tightened as tightened
    from passmuster.scoring._verdict import conclude as conclude
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_agreement": ("cohens_kappa", "kappa_interval"),
            "_baseline": ("BASELINE_SCHEMA", "Baseline", "RecordedScenario", "baseline_of"),
            "_comparison": (
                "CaseChange",
                "Comparison",
                "CountChange",
                "GateChange",
                "MetricChange",
                "ViolationChange",
                "compare",
            ),
            "_gate_vocabulary": ("gate_vocabulary",),
            "_intervals": ("wilson",),
            "_metric_words": ("between", "change", "number", "written"),
            "_report": (
                "Attempt",
                "Flip",
                "GateLine",
                "Metric",
                "REPORT_SCHEMA",
                "Report",
                "RuleReport",
                "ScenarioReport",
                "TestReport",
            ),
            "_report_documents": ("Figure", "Side"),
            "_metrics": ("declared_metrics",),
            "_scenario_runs": ("scenario_runs",),
            "_scenario_tally": ("Figures", "ScenarioTally"),
            "_settings": ("JudgeMode", "Settings"),
            "_severity": ("Leniency",),
            "_tally": ("Evaluation", "PartRead", "Tally", "TestResult", "TestTally", "merge"),
            "_targets": ("Kept", "Target", "Tightened", "targets", "tightened"),
            "_verdict": ("conclude",),
        },
    )
