"""The top level of a suite file: every key, its value type and what it means.

Keys that refer to other parts of the suite (tests to scenarios, thresholds to metrics) are kept as nodes here and are
resolved by the loader, when what they refer to is known.
"""

from typing import Annotated, Literal

from passmuster.suite._agent import Agent
from passmuster.suite._model import Effects, FailedWhen, LayerLevels, Output, Redact, Waiver
from passmuster.suite._quantities import MILLISECONDS, REPEAT_POLICY, RepeatPolicy
from passmuster.suite._scenarios import DEFAULTS, SCENARIOS
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import Key, Record, RecordOf
from passmuster.suite.grammar._values import (
    PROSE,
    TEXT,
    Choice,
    Custom,
    ListOf,
    OneOrMore,
    Slot,
    Unread,
)
from passmuster.suite.text._nodes import Node

_VERSIONS = ("1", "1.0")


def _read_version(reader: Reader, node: Node, at: str) -> str:
    text = reader.text(node, at)
    if text and text not in _VERSIONS:
        reader.problem(node, f"{at}: this program reads version 1, found '{text}'")
    return text


VERSION = Custom("`1`", _read_version, {"enum": [*_VERSIONS, 1]})
AGENT = RecordOf(Agent, "a name, or a map", short="name")


class SuiteFile(Record, frozen=True, kw_only=True):
    """A passmuster suite: what is asked of an AI agent before it may ship."""

    version: Annotated[str | None, VERSION, Key("The version of the suite language.", example="1")] = None
    suite: Annotated[str | None, TEXT, Key("The suite's name; by default that of its folder.")] = None
    description: Annotated[str | None, PROSE, Key("A comment; ignored.")] = None
    agent: Annotated[
        Agent,
        AGENT,
        Key(
            "The agent: its name, or `name` and `version` (`2.10` is not `2.1`), and how it is run live.",
            example={"name": "support", "version": "2.1"},
        ),
    ] = Agent()
    traces: Annotated[
        tuple[str, ...],
        OneOrMore(TEXT, empty=True),
        Key("Paths, folders and globs of traces, relative to the suite; used without `--traces`."),
    ] = ()
    plugins: Annotated[
        Node | None,
        Unread(OneOrMore(TEXT)),
        Key("Python modules with custom checks; the suite's folder is importable."),
    ] = None
    tests: Annotated[
        Node | None,
        Unread(Slot("tests", "a list of tests")),
        Key("Checks on every trace, or on those that a test selects."),
    ] = None
    defaults: Annotated[Node | None, Unread(DEFAULTS), Key("Default keys of every scenario.")] = None
    scenarios: Annotated[
        Node | None,
        Unread(SCENARIOS),
        Key("Tasks for the agent, each with its own expectations; each must have run."),
    ] = None
    queries: Annotated[Node | None, Unread(SCENARIOS), Key("The same as `scenarios`; a suite may have both.")] = None
    behaviors: Annotated[
        Node | None,
        Unread(Slot("behaviors", "a map of names to checks")),
        Key("Behaviors by name, which scenarios expect or forbid."),
    ] = None
    effects: Annotated[Effects, RecordOf(Effects), Key("Which tools read, write or act irreversibly.")] = Effects()
    layers: Annotated[
        LayerLevels,
        RecordOf(LayerLevels),
        Key("What a failure in the path or cost of a scenario does; both warn by default."),
    ] = LayerLevels()
    judge_config: Annotated[
        object, Slot("judge_config", "a map"), Key("The LLM judge for what code cannot decide.")
    ] = None
    classification: Annotated[
        Node | None, Unread(Slot("classification", "a map")), Key("How the label is extracted from an answer.")
    ] = None
    latency_budget_ms: Annotated[
        float | None, MILLISECONDS, Key("The latency budget that `normalized_latency` is relative to.", example=5000)
    ] = None
    prices: Annotated[
        Literal["genai-prices"] | None,
        Choice("genai-prices"),
        Key("The price list for model calls whose cost is not recorded; needs the extra `prices`."),
    ] = None
    repeat_policy: Annotated[RepeatPolicy, REPEAT_POLICY, Key("How many runs of a scenario have to pass.")] = "all"
    weights: Annotated[Node | None, Unread(Slot("weights", "a map")), Key("How much scenarios and metrics count.")] = (
        None
    )
    thresholds: Annotated[
        Node | None,
        Unread(Slot("thresholds", "a map")),
        Key("Bounds on metrics that block or warn.", example={"blocking": {"pass_rate": ">= 90%"}}),
    ] = None
    required_scenarios: Annotated[
        Node | None, Unread(Slot("required_scenarios", "a list of ids")), Key("Scenarios that have to pass.")
    ] = None
    optional_scenarios: Annotated[
        Node | None, Unread(Slot("optional_scenarios", "a list of ids")), Key("Scenarios that count but never block.")
    ] = None
    pass_criteria: Annotated[
        Node | None, Unread(Slot("pass_criteria", "a map")), Key("Pass rates to reach, overall and by category.")
    ] = None
    composite: Annotated[
        Node | None,
        Unread(Slot("composite", "formulas")),
        Key("Formulas over metrics; `pass` decides whether the gate passes."),
    ] = None
    baseline: Annotated[Node | None, Unread(Slot("baseline", "a map")), Key("An earlier run to compare with.")] = None
    waivers: Annotated[
        Node | None, Unread(ListOf(RecordOf(Waiver))), Key("Violations that only warn, until a stated day.")
    ] = None
    failed_when: Annotated[
        tuple[FailedWhen, ...],
        ListOf(RecordOf(FailedWhen)),
        Key("What a failed call looks like, for traces without an error flag."),
    ] = ()
    redact: Annotated[Redact, RecordOf(Redact), Key("What reports hide in addition to common secrets.")] = Redact()
    output: Annotated[Output, RecordOf(Output), Key("Reports to write when `--report` is not given.")] = Output()
