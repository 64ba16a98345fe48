"""`args_valid`: the arguments of each call conform to the policy for its tool.

A tool known by its exact name has that schema alone; otherwise every pattern that fits it applies. A tool
nobody knows is counted, and with `strict` is a violation. All violations of a call are reported.
"""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, cast

from jsonschema_rs import ValidationError, ValidationErrorKind, Validator
from msgspec import Struct

from passmuster.checks._argument_words import in_words
from passmuster.checks._outcome import Level
from passmuster.checks.kinds import Check, CheckError, CheckSpec, Outcome, ToolIndex, View, Violation
from passmuster.suite import (
    BOOLEAN,
    BOUNDS,
    TOOL_PATTERN,
    Anchor,
    Anchors,
    Custom,
    Key,
    Mapping,
    Mistake,
    OneOrMore,
    Policy,
    SchemaPath,
    Slot,
    ToolPolicy,
    compile_schema,
    glob_matcher,
    is_literal,
    plain,
    read_arguments,
)

_REMEMBERED = 10_000


class Governed(Struct, frozen=True):
    """One compiled tool policy."""

    validator: Validator
    policy: ToolPolicy


_CONSTRAINTS = Custom("a map of arguments", read_arguments, {"type": "object", "minProperties": 1})


class ArgsValid(CheckSpec, frozen=True, kw_only=True):
    """The arguments of each call conform to the policy for its tool."""

    policy: Annotated[
        Policy | None, Slot("policy", "a policy file"), Key("A policy file.", example="policies/refunds.yaml")
    ] = None
    tool: Annotated[str | None, TOOL_PATTERN, Key("Without a policy file: which tool.")] = None
    constraints: Annotated[
        tuple[dict[str, Any], Anchors] | None,
        _CONSTRAINTS,
        Key("What its arguments may be.", example={"amount": {"type": "number", "max": 200}}),
    ] = None
    tools: Annotated[
        tuple[str, ...], OneOrMore(TOOL_PATTERN), Key("Only these of the policy's tools.", example=["refund_*"])
    ] = ()
    strict: Annotated[bool, BOOLEAN, Key("A tool that the policy does not know is a violation.")] = False
    file: str
    lines: dict[str, int]

    schema_extra = {"oneOf": [{"required": ["policy"]}, {"required": ["tool", "constraints"]}]}  # noqa: RUF012

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        inline = self.tool is not None and self.constraints is not None
        if self.policy is None and not inline:
            yield map_, "needs 'policy' (a file), or 'tool' and 'constraints'"
            return
        if self.policy is not None and (self.tool is not None or self.constraints is not None):
            yield map_, "'policy' cannot stand beside 'tool' and 'constraints'"
        elif inline and not plain(map_.entries["constraints"].value):
            yield map_.entries["constraints"].value, "'constraints' states nothing, so no argument would be checked"
        node = map_.get("tools")
        known = [one.pattern for one in self.effective_policy.tools]
        for pattern, item in zip(self.tools, getattr(node, "items", [node]), strict=True) if node else ():
            if not any(glob_matcher(pattern)(tool) or glob_matcher(tool)(pattern) for tool in known):
                yield item, f"no tool in the policy matches '{pattern}'"

    @property
    def effective_policy(self) -> Policy:
        """The policy of the file, or the one that `tool` and `constraints` spell."""
        if self.policy is not None:
            return self.policy
        assert self.tool is not None
        assert self.constraints is not None
        line = self.lines["tool"]
        return Policy(self.file, line, [ToolPolicy(self.tool, *self.constraints, line)])

    def compile(self, tools: ToolIndex) -> Check:
        policy = self.effective_policy
        governing = _Governing(policy.tools, self.tools)

        def check(view: View) -> Outcome:
            names = view.names
            try:
                results = [
                    is_valid(call.arguments)
                    for is_valid, call in zip(map(governing.__getitem__, names), view.calls, strict=True)
                ]
            except ValueError as error:  # the validator refuses what nests too deep
                raise CheckError(f"the arguments of a call cannot be checked: {error}") from error
            if False not in results and not self.tools:
                return Outcome("pass", bool(names), checked=len(names))
            return self._look_closer(view, policy, governing, results)

        return check

    def _look_closer(self, view: View, policy: Policy, governing: "_Governing", results: list[bool]) -> Outcome:
        """The outcome where not every call is simply valid."""
        violations: list[Violation] = []
        unknown: dict[str, int] = {}
        checked = 0
        for call, tool in enumerate(view.names):
            schemas = governing.schemas(tool)
            if schemas is None:
                continue
            if not schemas:
                unknown[tool] = unknown.get(tool, 0) + 1
                if self.strict:
                    violations.append(self._unknown(view, policy, call))
                continue
            checked += 1
            if not results[call]:
                for governed in schemas:
                    violations += _violations(view, call, governed, policy.file)
        exercised = checked > 0 or (self.strict and bool(unknown))
        stats = {"unknown_tools": unknown} if unknown else None
        return Outcome(_status(violations), exercised, tuple(violations), checked=checked, stats=stats)

    def _unknown(self, view: View, policy: Policy, call: int) -> Violation:
        tool = view.names[call]
        return view.violation(
            call,
            message="Tool is not in the policy (strict: true)",
            tool=tool,
            constraint="strict: true",
            policy_file=policy.file,
            policy_line=policy.line,
            suggestion=f"Add {tool} to the policy, or take it out of the agent's tools.",
        )


def _status(violations: list[Violation]) -> Any:
    levels = {violation.level for violation in violations}
    return "fail" if "block" in levels else "warn" if "warn" in levels else "pass"


Valid = Callable[[Any], bool]


class _Governing(dict[str, Valid]):
    """Tool name → whether arguments are valid for it: never for a tool nobody knows, always for one not asked about."""

    def __init__(self, policies: list[ToolPolicy], only: tuple[str, ...]) -> None:
        super().__init__()
        compiled = [Governed(compile_schema(_of_a_map(policy.schema)), policy) for policy in policies]
        self._exact = {one.policy.pattern: one for one in compiled if is_literal(one.policy.pattern)}
        self._globs = [(glob_matcher(one.policy.pattern), one) for one in compiled]
        self._only = [glob_matcher(pattern) for pattern in only]

    def schemas(self, tool: str) -> list[Governed] | None:
        """What a tool's arguments have to meet: nothing for an unknown tool, None for one not asked about."""
        if self._only and not any(fits(tool) for fits in self._only):
            return None
        if tool in self._exact:
            return [self._exact[tool]]
        return [one for fits, one in self._globs if fits(tool)]

    def __missing__(self, tool: str) -> Valid:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[tool] = valid = _validity(self.schemas(tool))
        return valid


def _validity(schemas: list[Governed] | None) -> Valid:
    if schemas is None:
        return lambda arguments: True
    if len(schemas) == 1:
        return schemas[0].validator.is_valid
    return lambda arguments: bool(schemas) and all(one.validator.is_valid(arguments) for one in schemas)


def _of_a_map(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, asking for a map where it does not say so itself: JSON Schema lets a list pass any `properties`."""
    return schema if "type" in schema else {"type": "object", **schema}


def _violations(view: View, call: int, governed: Governed, file: str) -> list[Violation]:
    arguments = view.calls[call].arguments
    found: list[Violation] = []
    for error in governed.validator.iter_errors(arguments):
        if isinstance(error.kind, ValidationErrorKind.BacktrackLimitExceeded | ValidationErrorKind.RegexEngineFailure):
            raise CheckError(_limit_message(view.names[call], error, governed))
        found += [_violation(view, call, governed, file, error, extra) for extra in _unexpected(error)]
    return found


def _limit_message(tool: str, error: ValidationError, governed: Governed) -> str:
    anchor = _anchor(governed.policy, tuple(error.schema_path))
    place = f"{anchor.file}:{anchor.line}: " if anchor else ""
    return (
        f"{place}the pattern for {tool}.{_dotted(error.instance_path)} needs too much backtracking on this value; "
        "write it without nested repetition"
    )


def _unexpected(error: ValidationError) -> list[str | None]:
    """The names of arguments that should not be there, each a violation of its own; else one nameless entry."""
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.AdditionalProperties | ValidationErrorKind.UnevaluatedProperties):
        return list(kind.unexpected)
    return [None]


def _violation(
    view: View, call: int, governed: Governed, file: str, error: ValidationError, extra: str | None
) -> Violation:
    kind, path = error.kind, list(error.instance_path)
    schema_path: SchemaPath = tuple(error.schema_path)
    value: Any = error.instance
    has_value = True
    if isinstance(kind, ValidationErrorKind.Required):
        path.append(str(kind.property))
        schema_path = (*schema_path, str(kind.property))
        value, has_value = None, False
    elif extra is not None:
        path.append(extra)
        value = value.get(extra) if isinstance(value, dict) else None
    else:
        value = _found(view.calls[call].arguments, path)
    anchor = _anchor(governed.policy, schema_path) or Anchor(file, governed.policy.line, "type: object")
    sentence, advice = in_words(kind, value, anchor)
    return view.violation(
        call,
        level=cast("Level", anchor.level),
        message=f"{sentence} ({anchor.constraint})",
        tool=view.names[call],
        argument=_dotted(path) or None,
        value=value,
        has_value=has_value,
        constraint=anchor.constraint,
        policy_file=anchor.file,
        policy_line=anchor.line,
        suggestion=advice,
    )


def _found(arguments: Any, path: list[str | int]) -> Any:
    """The value at a path in the arguments as they were given, before any conversion."""
    for step in path:
        arguments = arguments[step]
    return arguments


def _anchor(policy: ToolPolicy, path: SchemaPath) -> Anchor | None:
    """The anchor of a place in the schema, or of the nearest one around it."""
    if path and path not in policy.anchors and path[-1] in ("maximum", "minimum", "type"):
        # A bound that every number has, or a type that everything with a bound has.
        beside = ((*path[:-1], word) for word in ("type", *BOUNDS))
        path = next((one for one in beside if one in policy.anchors), path)
    while path:
        if path in policy.anchors:
            return policy.anchors[path]
        path = path[:-1]
    return None


_PLAIN_NAME = re.compile(r"[^.\[\]]+")


def _dotted(path: list[str | int]) -> str:
    """`items[2].price`; a name that has dots of its own is quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
