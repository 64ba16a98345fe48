"""What all sequence rules have in common: their record, how one is read by its `type`, and their JSON Schema."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from passmuster._problems import did_you_mean
from passmuster._registry import Registry
from passmuster.checks._demands import Demand
from passmuster.checks._outcome import Violation
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import (
    BOOLEAN,
    PROSE,
    Definitions,
    JsonSchema,
    Key,
    Mapping,
    Node,
    Reader,
    Record,
    Scalar,
    Value,
    object_schema,
    read_record,
)

RULES = Registry(__package__)

Decision = tuple[bool, Sequence[Violation]]
"""Whether the rule was exercised, and how it was broken."""
HELD: Decision = (True, ())
IDLE: Decision = (False, ())
Decide = Callable[[View], Decision]


class Rule(Record, frozen=True, kw_only=True):
    """One rule of a `sequence_valid` test, and where it stands."""

    description: Annotated[
        str | None, PROSE, Key("What the rule is for, in words of your own; explanations quote it.")
    ] = None
    allow_unexercised: Annotated[
        bool, BOOLEAN, Key("No warning if no trace exercises the rule: an agent that never deletes is no news.")
    ] = False
    file: str
    line: int

    @property
    def type(self) -> str:
        """The rule's name: that of its module."""
        return self.__module__.rpartition(".")[2]

    @abstractmethod
    def compile(self, tools: ToolIndex) -> Decide:
        """The function that evaluates the rule on one trace."""

    def demands(self) -> Iterable[Demand]:
        """What the rule asks of the calls of a run, for comparison with other rules."""
        return ()

    def broken(
        self, view: View, call: int | None, *, expected: str, actual: str, suggestion: str, **fields: Any
    ) -> Violation:
        """The violation of the rule, at the call that broke it where there is one."""
        return view.violation(
            call,
            message=f"Expected {expected}; {actual}",
            rule=self.type,
            expected=expected,
            actual=actual,
            description=self.description or None,
            policy_file=self.file,
            policy_line=self.line,
            suggestion=suggestion,
            **fields,
        )


def rule_class(name: str) -> type[Rule]:
    """The record of the rule with this `type`."""
    return RULES.declared(name, Rule)  # type: ignore[type-abstract]


def _read_rule(reader: Reader, node: Node, at: str, also: Iterable[str] = ()) -> Rule | None:
    """The rule that a map spells; None, with a problem noted, where it spells none. `also` are further keys."""
    map_ = reader.mapping(node, at)
    type_node = map_.get("type")
    if type_node is None:
        if isinstance(node, Mapping):
            reader.problem(node, f"{at}: 'type' is missing; one of {', '.join(RULES)}")
        return None
    name = type_node.value if isinstance(type_node, Scalar) else None
    if not isinstance(name, str) or name not in RULES:
        hint = _meant(str(name)) or did_you_mean(str(name), RULES) or f"; known: {', '.join(RULES)}"
        reader.problem(type_node, f"{at}: unknown rule type '{name}'{hint}")
        return None
    return read_record(rule_class(name), reader, map_, at, also=("type", *also), label=f"{at} ({name})")


_MEANT = {
    **dict.fromkeys(("not_after", "no_after", "forbidden_after", "not_following", "nothing_after"), "never_after"),
    **dict.fromkeys(("forbid", "forbidden", "block", "deny", "denylist", "never", "not_called"), "blocklist"),
    **dict.fromkeys(("allow", "only", "whitelist", "allowed"), "allowlist"),
    **dict.fromkeys(("required", "must_call", "called", "at_least_once"), "require"),
    **dict.fromkeys(("directly_before", "just_before", "immediately_after"), "immediately_before"),
    **dict.fromkeys(("limit", "at_most", "max", "max_count"), "max_calls"),
    **dict.fromkeys(("min_calls", "exactly", "min", "at_least", "times"), "count"),
    **dict.fromkeys(("order", "ordered", "in_order"), "sequence"),
    **dict.fromkeys(("followed_by", "then"), "after"),
}
"""What rules are called elsewhere, where the nearest spelling would be another rule."""


def _meant(name: str) -> str:
    meant = _MEANT.get(name.lower().replace("-", "_"))
    return f"; did you mean '{meant}'?" if meant else ""


class AnyRule(Value[Rule]):
    """A rule of any type; `also` are further keys, which somebody else reads, and their value types."""

    words = "a rule"

    def __init__(self, **also: Value[Any]) -> None:
        self._also = also

    def read(self, reader: Reader, node: Node, at: str) -> Rule:
        return _read_rule(reader, node, at, self._also)  # type: ignore[return-value]  # containers leave None out

    def schema(self, definitions: Definitions) -> JsonSchema:
        return {"oneOf": [self._schema_of(name, definitions) for name in RULES]}

    def _schema_of(self, name: str, definitions: Definitions) -> JsonSchema:
        def make() -> JsonSchema:
            schema = object_schema(rule_class(name), definitions)
            also = {key: value.schema(definitions) for key, value in self._also.items()}
            properties = {"type": {"const": name}, **schema["properties"], **also}
            return {**schema, "properties": properties, "required": ["type", *schema.get("required", ())]}

        return definitions.ref("_with_".join([f"{name}_rule", *self._also]), make)


RULE = AnyRule()
