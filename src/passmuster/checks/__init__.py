"""Checks: each turns one trace into an `Outcome`. They touch no file, network or clock."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.checks._custom import MetricResult as MetricResult
    from passmuster.checks._custom import metric as metric
    from passmuster.checks._descriptions import describe_check as describe_check
    from passmuster.checks._find_kinds import BuiltInKind as BuiltInKind
    from passmuster.checks._find_kinds import Kinds as Kinds
    from passmuster.checks._golden import Golden as Golden
    from passmuster.checks._golden import RunShown as RunShown
    from passmuster.checks._golden import golden_of as golden_of
    from passmuster.checks._golden import shown_by as shown_by
    from passmuster.checks._outcome import LEVELS as LEVELS
    from passmuster.checks._outcome import Level as Level
    from passmuster.checks._outcome import Neighbours as Neighbours
    from passmuster.checks._outcome import Outcome as Outcome
    from passmuster.checks._outcome import Status as Status
    from passmuster.checks._outcome import Violation as Violation
    from passmuster.checks._outcome import worst as worst
    from passmuster.checks._question import Example as Example
    from passmuster.checks._question import Heard as Heard
    from passmuster.checks._question import Inquiry as Inquiry
    from passmuster.checks._question import JudgeFailure as JudgeFailure
    from passmuster.checks._question import Kind as Kind
    from passmuster.checks._question import Question as Question
    from passmuster.checks._question import Verdict as Verdict
    from passmuster.checks._scenario_outcome import Behaviors as Behaviors
    from passmuster.checks._scenario_outcome import CheckReport as CheckReport
    from passmuster.checks._scenario_outcome import LayerReport as LayerReport
    from passmuster.checks._scenario_outcome import Quadrant as Quadrant
    from passmuster.checks._scenario_outcome import RunReport as RunReport
    from passmuster.checks._scenario_outcome import ScenarioOutcome as ScenarioOutcome
    from passmuster.checks._scenario_outcome import Way as Way
    from passmuster.checks._selectors import SELECTORS as SELECTORS
    from passmuster.checks._spec import CheckError as CheckError
    from passmuster.checks._spec import spec_of as spec_of
    from passmuster.checks._view import View as View
    from passmuster.checks._view import Viewer as Viewer
    from passmuster.checks._vocabulary import VOCABULARY as VOCABULARY
    from passmuster.checks.kinds import KINDS as KINDS
    from passmuster.checks.layers._scenario import ScenarioCheck as ScenarioCheck
    from passmuster.checks.matchers import MATCHER as MATCHER
    from passmuster.checks.matchers import MatcherWords as MatcherWords
    from passmuster.checks.rules import RULE as RULE
    from passmuster.checks.rules import RULES as RULES
    from passmuster.checks.rules import AnyRule as AnyRule
    from passmuster.checks.rules import rule_class as rule_class
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_custom": ("MetricResult", "metric"),
            "_descriptions": ("describe_check",),
            "_find_kinds": ("BuiltInKind", "Kinds"),
            "_golden": ("Golden", "RunShown", "golden_of", "shown_by"),
            "_outcome": ("LEVELS", "Level", "Neighbours", "Outcome", "Status", "Violation", "worst"),
            "_question": ("Example", "Heard", "Inquiry", "JudgeFailure", "Kind", "Question", "Verdict"),
            "_scenario_outcome": (
                "Behaviors",
                "CheckReport",
                "LayerReport",
                "Quadrant",
                "RunReport",
                "ScenarioOutcome",
                "Way",
            ),
            "_spec": ("CheckError", "spec_of"),
            "_selectors": ("SELECTORS",),
            "_view": ("View", "Viewer"),
            "layers._scenario": ("ScenarioCheck",),
            "_vocabulary": ("VOCABULARY",),
            "kinds": ("KINDS",),
            "matchers": ("MATCHER", "MatcherWords"),
            "rules": ("RULE", "RULES", "AnyRule", "rule_class"),
        },
    )
