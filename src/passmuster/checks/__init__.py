"""Checks: each turns one trace into an `Outcome`. They touch no file, network or clock."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.checks._custom import MetricResult, metric
    from passmuster.checks._demands import Demand, covers, may_overlap
    from passmuster.checks._find_kinds import BuiltInKind, Kinds, describe_check
    from passmuster.checks._golden import Golden, RunShown, golden_of, shown_by
    from passmuster.checks._impossible_schema import fits_nothing, impossible_parts
    from passmuster.checks._named_tools import KnownTools, misspelt_tools, uncovered_tools
    from passmuster.checks._outcome import CALLS_UNKNOWN, LEVELS, Level, Neighbours, Outcome, Status, Violation, worst
    from passmuster.checks._plugins import plugin_files
    from passmuster.checks._question import Example, Inquiry, JudgeAnswer, JudgeFailure, Kind, Question, Verdict
    from passmuster.checks._reasoning import Ending, Reasoning
    from passmuster.checks._redact_violation import redact_violation
    from passmuster.checks._scenario_outcome import (
        Behaviors,
        CheckReport,
        LayerReport,
        Quadrant,
        RunReport,
        ScenarioOutcome,
        Way,
    )
    from passmuster.checks._secrets import secrets_of
    from passmuster.checks._selectors import Selector
    from passmuster.checks._spec import CheckError, spec_of
    from passmuster.checks._view import ToolIndex, View, Viewer
    from passmuster.checks._vocabulary import VOCABULARY
    from passmuster.checks.args import Argument, ToolEntry
    from passmuster.checks.args._anchors import nearest_anchor
    from passmuster.checks.args._assay_policy import (
        are_schemas,
        is_assay_policy,
        left_out,
        refuses_unconstrained,
        translated,
    )
    from passmuster.checks.kinds import KINDS
    from passmuster.checks.kinds.run_limits import LIMITS
    from passmuster.checks.layers._layer_map import LAYERS
    from passmuster.checks.layers._scenario import ScenarioCheck
    from passmuster.checks.layers.path.retrieval import Retrieval
    from passmuster.checks.matchers import MatcherWords
    from passmuster.checks.rules import RULES, rule_class
else:
    __getattr__ = lazy_exports(__name__)
