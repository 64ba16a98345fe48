"""What the suite as a whole has to reach: the values behind `thresholds`, `weights`, `composite` and their like.

Every run imports these, so they are values and nothing else; how they are read stands in `gate_keys`, `bounds` and
`formulas`, which a suite without such keys never loads.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = [
    "BaselineSpec",
    "Bound",
    "Classification",
    "Criteria",
    "Expression",
    "Formula",
    "Listed",
    "Name",
    "Number",
    "Operation",
    "Operator",
    "Prefix",
    "Progressive",
    "RepeatPolicy",
    "Risk",
    "RiskBound",
    "Stage",
    "Step",
    "Thresholds",
    "Weights",
    "compare",
]

Operator = Literal[">=", "<=", ">", "<", "="]
Risk = Literal["critical", "high", "medium", "low"]
RepeatPolicy = Literal["all", "any", "majority"] | float
"""How many of a scenario's runs have to pass; a number is the fraction of them."""

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


class Thresholds(Struct, frozen=True):
    """Bounds on metrics of the whole suite."""

    blocking: tuple[Bound, ...] = ()
    warning: tuple[Bound, ...] = ()
    risk: tuple[RiskBound, ...] = ()
    progressive: tuple[Progressive, ...] = ()

    def plain_bounds(self) -> tuple[Bound, ...]:
        """The bounds that hold for every version of the agent."""
        return (*self.blocking, *self.warning, *(one.bound for one in self.risk))


class Weights(Struct, frozen=True):
    """How much scenarios count in weighted rates, and metrics in `weighted_score`."""

    by_category: dict[str, float] = {}
    by_capability: dict[str, float] = {}
    metrics: dict[str, float] = {}


class Listed(Struct, frozen=True):
    """A scenario that `required_scenarios` or `optional_scenarios` names."""

    id: str
    line: int


class Criteria(Struct, frozen=True):
    """The pass rates that are asked of all scenarios, and of those of a category."""

    overall: Bound | None = None
    by_category: dict[str, Bound] = {}


class BaselineSpec(Struct, frozen=True, kw_only=True):
    """What is compared with a recorded run, and how much worse it may be."""

    file: str | None = None
    max_drop: float = 0.0
    confidence: float = 0.95
    metrics: tuple[str, ...] = ("pass_rate",)
    on_regression: Literal["warn", "block"] = "warn"
    line: int = 0


class Classification(Struct, frozen=True, kw_only=True):
    """Where the label stands in an answer (one of three ways), and which label is the positive one."""

    positive: str
    json_path: tuple[str | int, ...] | None = None
    regex: str | None = None
    words: tuple[str, ...] | None = None


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
    operand: Expression


class Step(Struct, frozen=True):
    """One operator and what stands to its right."""

    operator: Literal["+", "-", "*", "/", ">=", "<=", ">", "<", "=", "!=", "and", "or"]
    operand: Expression


class Operation(Struct, frozen=True, tag="operation"):
    """Operators of one rank, worked off from left to right. A sum of any length is one level deep."""

    first: Expression
    steps: tuple[Step, ...]


Expression = Number | Name | Prefix | Operation


class Formula(Struct, frozen=True):
    """One line of `composite`: a name and what it stands for."""

    name: str
    text: str
    """The right-hand side as it was written, white space folded."""
    tree: Expression
    line: int
