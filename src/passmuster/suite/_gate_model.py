"""What the suite as a whole has to reach: `thresholds`, `weights`, `pass_criteria`, `composite`, `baseline`.

The keys are declared here. Value types that depend on metrics are contributed by scoring, under the names of the slots.
"""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import Struct, field

from passmuster._problems import did_you_mean
from passmuster.suite._quantities import CONFIDENCE, MAX_DROP
from passmuster.suite.grammar._records import Key, Mistake, Record, RecordOf
from passmuster.suite.grammar._values import PROSE, REGEX, TEXT, Choice, JsonSchema, Slot, Whole
from passmuster.suite.text._nodes import Mapping

Operator = Literal[">=", "<=", ">", "<", "="]
Risk = Literal["critical", "high", "medium", "low"]
Comment = Annotated[str | None, PROSE, Key("A comment; ignored.")]

_SLACK = 1e-9


def compare(left: float, operator: str, right: float) -> bool:
    """Whether the comparison holds. What may be equal is equal within 1e-9; what may not has to differ by more."""
    match operator:
        case ">=":
            return left - right >= -_SLACK
        case "<=":
            return left - right <= _SLACK
        case ">":
            return left - right > _SLACK
        case "<":
            return left - right < -_SLACK
        case "!=":
            return not compare(left, "=", right)
        case _:
            return abs(left - right) <= _SLACK


class Bound(Struct, frozen=True, kw_only=True):
    """One limit on one metric."""

    metric: str
    operator: Operator
    value: float
    """A rate as a fraction, a latency in milliseconds."""
    text: str
    """As reports show it: `>= 85%`, `< 5000 ms`, `>= 2 per 1,000 tokens`."""
    line: int
    column: int
    """Where the number stands, which is not where its map begins."""
    rate: bool = False
    """Whether its metric lies in 0 to 1."""
    confidence: float | None = None
    undecided_blocks: bool = False

    def holds(self, value: float) -> bool:
        """Whether a metric of this value is within the bound."""
        return compare(value, self.operator, self.value)

    @property
    def full(self) -> bool:
        """Whether it asks all of a rate, and so tolerates nothing."""
        return self.rate and self.operator in (">=", "=") and compare(self.value, ">=", 1.0)


class Stage(Struct, frozen=True):
    """What is asked from one version of the agent on."""

    version: str
    bound: Bound


class Progressive(Struct, frozen=True):
    """A bound that rises with the agent's version; stages from the lowest version to the highest."""

    metric: str
    stages: tuple[Stage, ...]
    target: Bound | None
    line: int


class RiskBound(Struct, frozen=True):
    """A bound whose risk says whether it blocks: `critical` and `high` do."""

    risk: Risk
    bound: Bound


class Stated(Record, frozen=True, kw_only=True):
    """A map that has to state something."""

    schema_extra: ClassVar[JsonSchema] = {"minProperties": 1}

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """A map of comments asks nothing."""
        if all(entry.key == "description" or entry.key.startswith("x-") for entry in map_):
            yield map_, "states nothing"


_BOUNDS = Slot("bounds", "a map of metrics to bounds")


class Thresholds(Stated, frozen=True, kw_only=True):
    """Bounds on metrics of the whole suite."""

    blocking: Annotated[tuple[Bound, ...], _BOUNDS, Key("Bounds that fail the gate.", example={"pass_rate": 90})] = ()
    warning: Annotated[tuple[Bound, ...], _BOUNDS, Key("Bounds that warn.", example={"latency_p95": "< 5s"})] = ()
    risk: Annotated[
        tuple[RiskBound, ...],
        Slot("risk_bounds", "a map of risks to bounds"),
        Key("Bounds by risk: `critical` and `high` block, `medium` and `low` warn."),
    ] = ()
    progressive: Annotated[
        tuple[Progressive, ...],
        Slot("progressive_bounds", "a map of metrics to stages"),
        Key("Bounds by the agent's version.", example={"accuracy": {"1.0": 80, "2.0": 85, "target": 95}}),
    ] = ()
    description: Comment = None

    def plain_bounds(self) -> list[tuple[str, Bound]]:
        """The bounds that hold for every version of the agent, each with its section: `blocking`, `risk.high`."""
        plain = [("blocking", bound) for bound in self.blocking] + [("warning", bound) for bound in self.warning]
        return plain + [(f"risk.{one.risk}", one.bound) for one in self.risk]


class Weights(Stated, frozen=True, kw_only=True):
    """How much scenarios count in weighted rates, and metrics in `weighted_score`."""

    by_category: Annotated[
        dict[str, float], Slot("category_weights", "a map of categories to weights"), Key("Weights of categories.")
    ] = field(default_factory=dict)
    by_capability: Annotated[
        dict[str, float],
        Slot("capability_weights", "a map of capabilities to weights"),
        Key("Weights of capabilities."),
    ] = field(default_factory=dict)
    metrics: Annotated[
        dict[str, float],
        Slot("metric_weights", "a map of metrics to weights"),
        Key("Weights of metrics in `weighted_score`.", example={"accuracy": 0.7, "safety_rate": 0.3}),
    ] = field(default_factory=dict)
    description: Comment = None


class Listed(Struct, frozen=True):
    """A scenario that `required_scenarios` or `optional_scenarios` names."""

    id: str
    line: int


class Criteria(Stated, frozen=True, kw_only=True):
    """The pass rates that are asked of all scenarios, and of those of a category."""

    overall: Annotated[
        Bound | None, Slot("pass_rate_bound", "a bound"), Key("The pass rate of all scenarios.", example="90%")
    ] = None
    by_category: Annotated[
        dict[str, Bound],
        Slot("category_bounds", "a map of categories to bounds"),
        Key("The pass rates of categories.", example={"adversarial": "100%"}),
    ] = field(default_factory=dict)
    description: Comment = None


class BaselineSpec(Record, frozen=True, kw_only=True):
    """What is compared with a recorded run, and how much worse it may be."""

    file: Annotated[
        str | None,
        TEXT,
        Key("The recorded run, relative to the suite and within the root: a baseline file, or golden traces."),
    ] = None
    max_drop: Annotated[
        float, MAX_DROP, Key("How much worse a metric may be: points for rates, relative for the rest.", example="1%")
    ] = 0.0
    confidence: Annotated[
        float, CONFIDENCE, Key("The confidence level at which a drop is significant.", example="95%")
    ] = 0.95
    method: Annotated[
        Literal["runs", "scenarios"],
        Choice("runs", "scenarios"),
        Key("What the test exchanges between then and now: the runs of each scenario, or whole scenarios."),
    ] = "runs"
    metrics: Annotated[
        tuple[str, ...], Slot("compared_metrics", "metrics"), Key("The metrics to compare.", example=["pass_rate"])
    ] = ("pass_rate",)
    pool: Annotated[
        int | None,
        Whole(2, 200),
        Key(
            "Compare with the last so many runs of the history that passed, sharing out `confidence` over as many.",
            example=20,
        ),
    ] = None
    on_regression: Annotated[
        Literal["warn", "block"],
        Choice("warn", "block"),
        Key("What a single scenario that passed and now fails does."),
    ] = "warn"
    description: Comment = None
    line: int = 0


class LabelSource(Record, frozen=True, kw_only=True):
    """Where an answer has its label: one of three ways."""

    schema_extra: ClassVar[JsonSchema] = {"oneOf": [{"required": [way]} for way in ("json", "regex", "words")]}

    json: Annotated[
        tuple[str | int, ...] | None,
        Slot("json_path", "a path such as $.label"),
        Key("The path to it in a JSON answer.", example="$.label"),
    ] = None
    regex: Annotated[str | None, REGEX, Key("Group 1 of this, else the whole match.", example=r"label: (\w+)")] = None
    words: Annotated[
        tuple[str, ...] | None,
        Slot("label_words", "two or more words"),
        Key("The one of these words that the answer contains, ignoring case.", example=["spam", "ham"]),
    ] = None
    description: Comment = None

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """Exactly one way."""
        found = sum(way in map_ for way in ("json", "regex", "words"))
        if found != 1:
            yield map_, f"needs one of 'json', 'regex' and 'words', found {found or 'none'}"

    def why_foreign(self, label: str) -> str | None:
        """Why an answer can never have this label."""
        words = self.words or ()
        if not label or not words or label.casefold() in (word.casefold() for word in words):
            return None
        return f"'{label}' is not among the words of 'classification'{did_you_mean(label, words)}"


class Classification(Record, frozen=True, kw_only=True):
    """Where the label stands in an answer, and which label is the positive one."""

    positive: Annotated[str, TEXT, Key("The label that counts as positive.", example="spam")]
    source: Annotated[
        LabelSource,
        RecordOf(LabelSource),
        Key("How the label is extracted from an answer.", name="from", example={"json": "$.label"}),
    ]
    description: Comment = None


# ── Formulas ────────────────────────────────────────────────────────────────────────────────────────────────


class Number(Struct, frozen=True, tag="number"):
    """A number as it stands."""

    value: float


class Name(Struct, frozen=True, tag="name"):
    """A metric, or a formula defined above."""

    name: str


class Prefix(Struct, frozen=True, tag="prefix"):
    """`-` or `not` before something."""

    operator: Literal["-", "not"]
    operand: "Expression"


class Step(Struct, frozen=True):
    """One operator and what stands to its right."""

    operator: Literal["+", "-", "*", "/", ">=", "<=", ">", "<", "=", "!=", "and", "or"]
    operand: "Expression"


class Operation(Struct, frozen=True, tag="operation"):
    """Operators of one rank, worked off from left to right. A sum of any length is one level deep."""

    first: "Expression"
    steps: tuple[Step, ...]


Expression = Number | Name | Prefix | Operation


class Formula(Struct, frozen=True):
    """One line of `composite`: a name and what it stands for."""

    name: str
    text: str
    """The right-hand side as it was written, white space folded."""
    tree: Expression
    line: int
