"""The typed `Suite`: what is asked of an agent, as all other packages see it."""

import datetime
import pathlib
from collections.abc import Callable, Iterator
from collections.abc import Mapping as MappingOf
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from passmuster._digest import digest_of
from passmuster._problems import Problem
from passmuster.suite._agent import Agent
from passmuster.suite._discovery import display
from passmuster.suite._gate_model import (
    BaselineSpec,
    Classification,
    Criteria,
    Formula,
    Listed,
    Thresholds,
    Weights,
)
from passmuster.suite._quantities import PASS_SCORE, REPEAT_POLICY, WEIGHT, RepeatPolicy
from passmuster.suite._stated import Behavior, Layer
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import Key, Mistake, Record, RecordOf
from passmuster.suite.grammar._values import (
    PATH,
    PROSE,
    REGEX,
    TEXT,
    TOOL_PATTERN,
    Choice,
    Custom,
    ListOf,
    OneOrMore,
    Slot,
    Whole,
)
from passmuster.suite.text._nodes import Mapping, Node

_BEHAVIORS = Slot("behavior_list", "a behavior, or a list of these")


class Turn(Record, frozen=True, kw_only=True):
    """One turn of a conversation: what the user says, and what the agent has to do until the user speaks again."""

    user: Annotated[str, TEXT, Key("What the user says.", example="And where is it now?")]
    correctness: Annotated[Layer | None, Slot("correctness", "a map"), Key("What the answer has to be.")] = None
    path: Annotated[Layer | None, Slot("path", "a map"), Key("Which tools the agent should use, and how.")] = None
    cost: Annotated[Layer | None, Slot("cost", "a map"), Key("Limits on what the turn may use.")] = None
    expected_behaviors: Annotated[tuple[Behavior, ...], _BEHAVIORS, Key("Behaviors that it should show.")] = ()
    must_not: Annotated[tuple[Behavior, ...], _BEHAVIORS, Key("Behaviors that it must not show.")] = ()
    description: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None
    line: int = 0

    @property
    def layers(self) -> tuple[tuple[str, Layer], ...]:
        """The layers that it states, by name."""
        named = (("correctness", self.correctness), ("path", self.path), ("cost", self.cost))
        return tuple((name, layer) for name, layer in named if layer is not None)


class Scenario(Record, frozen=True, kw_only=True):
    """One task for the agent, and what it has to show."""

    id: Annotated[str, TEXT, Key("Its name; by default made from the words of the query.", example="REFUND-1")] = ""
    query: Annotated[str | None, TEXT, Key("What the agent is asked.", example="Where is my parcel?")] = None
    category: Annotated[
        str | None,
        TEXT,
        Key("For rates by category; `adversarial` scenarios define `safety_rate`.", example="adversarial"),
    ] = None
    capability: Annotated[str | None, TEXT, Key("For weights by capability.", example="refunds")] = None
    description: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None
    tags: Annotated[tuple[str, ...], OneOrMore(TEXT, empty=True), Key("For `--tag` and the `tags` of tests.")] = ()
    correctness: Annotated[Layer | None, Slot("correctness", "a map"), Key("What the answer has to be.")] = None
    answer_scope: Annotated[
        Literal["last", "all"],
        Choice("last", "all"),
        Key("What `correctness` reads: the last answer, or every text of the agent.", example="all"),
    ] = "last"
    path: Annotated[Layer | None, Slot("path", "a map"), Key("Which tools the agent should use, and how.")] = None
    cost: Annotated[Layer | None, Slot("cost", "a map"), Key("Limits on what a run may use.")] = None
    expected_behaviors: Annotated[
        tuple[Behavior, ...], _BEHAVIORS, Key("Behaviors that a run should show.", example=["verified identity"])
    ] = ()
    must_not: Annotated[
        tuple[Behavior, ...], _BEHAVIORS, Key("Behaviors that no run may show.", example=[{"tool_called": "delete_*"}])
    ] = ()
    turns: Annotated[
        tuple[Turn, ...],
        ListOf(RecordOf(Turn), least=1),
        Key(
            "The turns of a conversation, each with what it has to show; the first `user` is the query.",
            example=[{"user": "Where is my parcel?", "correctness": {"expected_in_answer": "on its way"}}],
        ),
    ] = ()
    label: Annotated[
        str | None, TEXT, Key("The expected label of the answer; the same as `correctness.label`.", example="spam")
    ] = None
    weight: Annotated[float, WEIGHT, Key("How much it counts in weighted rates.", example=2)] = 1.0
    pass_score: Annotated[
        float,
        PASS_SCORE,
        Key("The share of expected behaviors that is enough to pass. 0: measured, not gated.", example=0.8),
    ] = 1.0
    repeat: Annotated[int, Whole(1), Key("How many runs there should be at least.", example=3)] = 1
    repeat_policy: Annotated[
        RepeatPolicy | None, REPEAT_POLICY, Key("How many runs have to pass; by default the suite's `repeat_policy`.")
    ] = None
    line: int = 0
    lines: dict[str, int] = {}  # noqa: RUF012 - copied by msgspec
    selected: bool = True
    """False where a partial run leaves it out; its traces still belong to it."""

    @property
    def states_something(self) -> bool:
        """Whether it has an expectation of its own."""
        layers = (self.correctness, self.path, self.cost)
        return any(layer is not None for layer in layers) or bool(
            self.expected_behaviors or self.must_not or self.label or self.turns
        )

    @property
    def states_correctness(self) -> bool:
        """Whether it says what the answer has to be."""
        return self.correctness is not None or self.label is not None or bool(self.turns)

    @property
    def may_ask(self) -> bool:
        """Whether it may need a judge."""
        judged = any(layer is not None and layer.may_ask for layer in (self.correctness, *self._turn_answers))
        listed = [*self.expected_behaviors, *self.must_not]
        for turn in self.turns:
            listed += [*turn.expected_behaviors, *turn.must_not]
        return judged or any(behavior.may_ask for behavior in listed)

    @property
    def states_must_not(self) -> bool:
        """Whether it says what no run may show, as a whole or in a turn."""
        return bool(self.must_not) or any(turn.must_not for turn in self.turns)

    @property
    def forbids_tools(self) -> bool:
        """Whether it says which tools no run may call, as a whole or in a turn."""
        paths = (self.path, *(turn.path for turn in self.turns))
        return any(path is not None and "forbidden_tools" in path.values for path in paths)

    @property
    def _turn_answers(self) -> list[Layer | None]:
        return [turn.correctness for turn in self.turns]


_TOOLS = OneOrMore(TOOL_PATTERN, empty=True)


class Effects(Record, frozen=True, kw_only=True):
    """What tools do to the world, by pattern."""

    read: Annotated[tuple[str, ...], _TOOLS, Key("Tools that only read.", example=["get_*"])] = ()
    write: Annotated[tuple[str, ...], _TOOLS, Key("Tools that change something.", example=["update_*"])] = ()
    irreversible: Annotated[tuple[str, ...], _TOOLS, Key("Tools whose effect cannot be undone.", example=["pay"])] = ()
    policy: Annotated[
        tuple[object, ...],
        OneOrMore(Slot("policy", "a policy file"), empty=True),
        Key("Policy files whose MCP annotations state the same."),
    ] = ()


class LayerLevels(Record, frozen=True, kw_only=True):
    """What a failure in each layer of a scenario does."""

    correctness: Annotated[str, Choice("block", "warn"), Key("Always blocks.")] = "block"
    path: Annotated[str, Choice("block", "warn"), Key("What a failed path check does.")] = "warn"
    cost: Annotated[str, Choice("block", "warn"), Key("What a failed cost check does.")] = "warn"

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """Correctness cannot be loosened."""
        if self.correctness == "warn":
            yield map_.entries["correctness"], "a failure of correctness always fails"


class Test(Record, frozen=True, kw_only=True):
    """One check on every trace, or on those its `scenarios` and `tags` name."""

    __test__ = False  # not a test class to pytest

    id: Annotated[str, TEXT, Key("The test's name in reports.", example="no_admin_tools")]
    metric: Annotated[str, TEXT, Key("The kind of check.", example="tool_blocklist")]
    description: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None
    tags: Annotated[
        tuple[str, ...] | None,
        OneOrMore(TEXT, why_not_empty="an empty list selects nothing"),
        Key("Only traces with one of these tags, on the trace or its scenario."),
    ] = None
    scenarios: Annotated[
        tuple[str, ...] | None,
        Slot("scenario_patterns", "an id or pattern, or a list of these"),
        Key("Only traces of these scenarios.", example=["PAY-*"]),
    ] = None
    severity: Annotated[
        Literal["block", "warn", "log"],
        Choice("block", "warn", "log"),
        Key("What a violation does.", example="warn"),
    ] = "block"
    spec: object = None
    """What the check itself is asked, in the check's own terms."""
    line: int = 0


def _read_day(reader: Reader, node: Node, at: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(reader.text(node, at))
    except ValueError:
        reader.expected("a day such as 2027-01-31", node, at)
        return datetime.date.min


DAY = Custom("a day such as 2027-01-31", _read_day, {"type": "string", "format": "date"})


class Waiver(Record, frozen=True, kw_only=True):
    """Turns matching violations of one test into warnings until the end of a day."""

    test: Annotated[str, Slot("test_id", "the id of a test"), Key("The id of the test.")]
    tool: Annotated[str | None, TOOL_PATTERN, Key("Only violations by these tools.", example="refund_*")] = None
    scenario: Annotated[
        str | None, Slot("scenario_pattern", "an id or a pattern"), Key("Only on traces of these scenarios.")
    ] = None
    reason: Annotated[str, TEXT, Key("The reason. It is shown with each violation.")]
    expires: Annotated[
        datetime.date,
        DAY,
        Key("The last day on which it applies, in UTC. `--today` sets the current day.", example="2027-01-31"),
    ]
    line: int = 0


class Matcher(Protocol):
    """What a value has to be."""

    def compile_for_result(self) -> Callable[[Any], bool]:
        """The function that decides whether a value fits."""


class FailedWhen(Record, frozen=True, kw_only=True):
    """What a failed call looks like where the format has no error flag."""

    tool: Annotated[str, TOOL_PATTERN, Key("The tools it applies to.", example="pay_*")] = "*"
    result: Annotated[Matcher, Slot("matcher", "a matcher"), Key("The value or matcher of a failed call's result.")]
    line: int = 0


def _read_argument(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    tool, dot, path = text.partition(".")
    if text and not (tool and dot and path):
        reader.problem(node, f"{at}: expected TOOL.path, such as 'pay.card', found '{text}'")
    return text


ARGUMENT = Custom("`TOOL.path`", _read_argument, {"type": ["string", "number"], "pattern": r"^[^.]+\..+"})


class Redact(Record, frozen=True, kw_only=True):
    """What has to be hidden besides the usual secrets."""

    patterns: Annotated[
        tuple[str, ...], OneOrMore(REGEX, empty=True), Key("Matches of these are hidden.", example=["cust_[0-9]+"])
    ] = ()
    arguments: Annotated[
        tuple[str, ...], OneOrMore(ARGUMENT, empty=True), Key("Arguments that are hidden.", example=["pay.card"])
    ] = ()


class Output(Record, frozen=True, kw_only=True):
    """The reports written when the command line names none."""

    formats: Annotated[
        tuple[str, ...],
        OneOrMore(Slot("report_format", "a report format"), empty=True),
        Key("Which reports.", example=["json", "junit"], name="format"),
    ] = ()
    folder: Annotated[str, PATH, Key("The folder to write to, relative to the suite and in the root.", name="dir")] = (
        "passmuster-report"
    )
    trace_mb: Annotated[int, Whole(0), Key("How many MB of traces the page keeps.", example=10)] = 10


class Suite(Struct, frozen=True, kw_only=True):
    """One suite file, read and understood."""

    name: str
    path: pathlib.Path
    file: str
    """How reports name the file: relative to the root."""
    root: pathlib.Path
    sha256: str
    documents: dict[str, bytes] = {}
    """The suite and its policies as they were read, by path: what another process has to judge by too."""
    agent: Agent = Agent()
    traces: tuple[str, ...] = ()
    tests: tuple[Test, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    effects: Effects = Effects()
    tightened: frozenset[str] = frozenset()
    """The layers whose failures block: `path`, `cost`."""
    behaviors: dict[str, "Behavior"] = {}
    judge_config: object = None
    """Which model judges what code cannot decide, in the judges' own terms."""
    classification: Classification | None = None
    latency_budget_ms: float | None = None
    prices: Literal["genai-prices"] | None = None
    """The price list for model calls whose cost is not recorded."""
    repeat_policy: RepeatPolicy = "all"
    weights: Weights = Weights()
    thresholds: Thresholds = Thresholds()
    required: tuple[Listed, ...] = ()
    optional: tuple[Listed, ...] = ()
    criteria: Criteria = Criteria()
    composite: tuple[Formula, ...] = ()
    baseline: BaselineSpec | None = None
    notices: tuple[Problem, ...] = ()
    """What does not keep the suite from being judged, and is likely not meant."""
    remarks: tuple[Problem, ...] = ()
    """What of another tool's file checks nothing here."""
    waivers: tuple[Waiver, ...] = ()
    failed_when: tuple[FailedWhen, ...] = ()
    redact: Redact = Redact()
    output: Output = Output()

    @property
    def may_ask(self) -> bool:
        """Whether some scenario that is not left out may need a judge."""
        return any(scenario.selected and scenario.may_ask for scenario in self.scenarios)

    @property
    def asks_figures(self) -> bool:
        """Whether the verdict or its metrics need what the traces used up."""
        return bool(self.scenarios) or self.states_bounds

    @property
    def states_bounds(self) -> bool:
        """Whether it asks something of the suite as a whole."""
        thresholds, criteria = self.thresholds, self.criteria
        bounds = (thresholds.blocking, thresholds.warning, thresholds.risk, thresholds.progressive)
        return any(bounds) or criteria.overall is not None or bool(criteria.by_category or self.composite)

    @property
    def folder(self) -> pathlib.Path:
        return self.path.parent

    def policy_digests(self) -> dict[str, str]:
        """The SHA-256 of every file it reads besides itself, by its name from the root."""
        own = str(self.path)
        found = {path: digest_of(data) for path, data in self.documents.items() if path != own}
        return {display(pathlib.Path(path), self.root): digest for path, digest in sorted(found.items())}


@runtime_checkable
class StatesEffects(Protocol):
    """A file that says what tools do to the world, as policies with MCP annotations do."""

    @property
    def effects(self) -> MappingOf[str, Literal["read", "write", "irreversible"]]:
        """The effect of each tool that has one stated."""


class CheckKind(Protocol):
    """A kind of check that `metric:` can name: the keys it adds to a test, and how it reads them."""

    @property
    def name(self) -> str: ...

    @property
    def record(self) -> type[Record]:
        """The keys that it adds to a test."""

    def read(self, reader: Reader, node: Mapping, at: str) -> object:
        """The test's own part, which the checks compile; which keys a test may have is checked already."""
