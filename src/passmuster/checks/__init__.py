"""Checks: each turns one trace into an `Outcome`. They touch no file, network or clock."""

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.checks._behavior import BehaviorsSeen as BehaviorsSeen
    from passmuster.checks._custom import MetricResult as MetricResult
    from passmuster.checks._custom import metric as metric
    from passmuster.checks._find_kinds import BuiltInKind as BuiltInKind
    from passmuster.checks._find_kinds import Kinds as Kinds
    from passmuster.checks._golden import Golden as Golden
    from passmuster.checks._golden import RunShown as RunShown
    from passmuster.checks._golden import golden_of as golden_of
    from passmuster.checks._golden import shown_by as shown_by
    from passmuster.checks._layer import Explained as Explained
    from passmuster.checks._layer import Quadrant as Quadrant
    from passmuster.checks._layer import ScenarioSeen as ScenarioSeen
    from passmuster.checks._layer import Way as Way
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
    from passmuster.checks._scenario import ScenarioCheck as ScenarioCheck
    from passmuster.checks._scenario import open_ways as open_ways
    from passmuster.checks._selectors import SELECTORS as SELECTORS
    from passmuster.checks._spec import CheckError as CheckError
    from passmuster.checks._spec import spec_of as spec_of
    from passmuster.checks._view import View as View
    from passmuster.checks._view import Viewer as Viewer
    from passmuster.checks._vocabulary import VOCABULARY as VOCABULARY
    from passmuster.checks.kinds import KINDS as KINDS
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
            "_behavior": ("BehaviorsSeen",),
            "_custom": ("MetricResult", "metric"),
            "_find_kinds": ("BuiltInKind", "Kinds"),
            "_golden": ("Golden", "RunShown", "golden_of", "shown_by"),
            "_layer": ("Explained", "Quadrant", "ScenarioSeen", "Way"),
            "_outcome": ("LEVELS", "Level", "Neighbours", "Outcome", "Status", "Violation", "worst"),
            "_question": ("Example", "Heard", "Inquiry", "JudgeFailure", "Kind", "Question", "Verdict"),
            "_scenario": ("ScenarioCheck", "open_ways"),
            "_spec": ("CheckError", "spec_of"),
            "_selectors": ("SELECTORS",),
            "_view": ("View", "Viewer"),
            "_vocabulary": ("VOCABULARY",),
            "kinds": ("KINDS",),
            "matchers": ("MATCHER", "MatcherWords"),
            "rules": ("RULE", "RULES", "AnyRule", "rule_class"),
        },
    )
