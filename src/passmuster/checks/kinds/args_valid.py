"""`args_valid`: the arguments of each call conform to the policy for its tool.

A tool known by its exact name has that schema alone; otherwise every pattern that fits it applies. A tool that the
policy does not know is counted, and with `strict` is a violation. All violations of a call are reported.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from passmuster.checks._json_schema import Schema, compile_schema
from passmuster.checks._outcome import status_of
from passmuster.checks.args import (
    ARGUMENTS,
    POLICY,
    ArgumentsSchema,
    CompiledTool,
    Policy,
    ToolPolicy,
)
from passmuster.checks.kinds import Check, CheckError, CheckSpec, Outcome, ToolIndex, View, Violation
from passmuster.suite import (
    BOOLEAN,
    TOOL_PATTERN,
    Key,
    Mapping,
    Mistake,
    OneOrMore,
    glob_matcher,
    is_literal,
)
from passmuster.traces import oversized_numbers

_REMEMBERED = 10_000


class ArgsValid(CheckSpec, frozen=True, kw_only=True):
    """The arguments of each call conform to the policy for its tool."""

    policy: Annotated[
        Policy | None, POLICY, Key("A policy file, relative to the suite.", example="policies/refunds.yaml")
    ] = None
    tool: Annotated[
        str | None, TOOL_PATTERN, Key("With `constraints`: the tool, or a glob, that this test checks.")
    ] = None
    constraints: Annotated[
        ArgumentsSchema | None,
        ARGUMENTS,
        Key("With `tool`: its arguments, as in a policy.", example={"amount": {"type": "number", "max": 200}}),
    ] = None
    tools: Annotated[
        tuple[str, ...],
        OneOrMore(TOOL_PATTERN),
        Key("Only calls of these tools. Each entry has to match a tool of the policy.", example=["refund_*"]),
    ] = ()
    strict: Annotated[
        bool,
        BOOLEAN,
        Key("A tool that the policy does not know is a violation; else it is counted in `stats.unknown_tools`."),
    ] = False
    file: str
    lines: dict[str, int]

    schema_extra = {"oneOf": [{"required": ["policy"]}, {"required": ["tool", "constraints"]}]}  # noqa: RUF012

    mistakes_about = ("tool", "tools")

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        inline = "tool" in map_ and "constraints" in map_
        if "policy" not in map_ and not inline:
            yield map_, "needs 'policy' (a file), or 'tool' and 'constraints'"
            return
        if "policy" in map_ and ("tool" in map_ or "constraints" in map_):
            yield map_, "'policy' cannot be combined with 'tool' and 'constraints'"
        elif inline and self.constraints == ArgumentsSchema({"type": "object"}):
            yield map_.entries["constraints"].value, "'constraints' states nothing, so no argument would be checked"
        node = map_.get("tools")
        if node is None or (self.policy is None and self.constraints is None):
            return
        known = [one.pattern for one in self.effective_policy.tools]
        for pattern, item in zip(self.tools, getattr(node, "items", [node]), strict=True):
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
        return Policy(self.file, line, (ToolPolicy(self.tool, self.constraints, line),))

    def compile(self, tools: ToolIndex) -> Check:
        policy = self.effective_policy
        known = _KnownTools(policy, self.tools)
        passed = _Passed()

        def check(view: View) -> Outcome:
            names = view.names
            try:
                results = [
                    is_valid(call.arguments)
                    for is_valid, call in zip(map(known.__getitem__, names), view.calls, strict=True)
                ]
            except ValueError as error:  # the validator refuses what nests too deep
                raise CheckError(f"the arguments of a call cannot be checked: {error}") from error
            if view.trace.has_oversized_number:
                results = [
                    ok and not any(True for _ in oversized_numbers(call.arguments))
                    for ok, call in zip(results, view.calls, strict=True)
                ]
            if False not in results and not self.tools:
                return passed[len(names)]
            return self._look_closer(view, policy, known, results)

        return check

    def _look_closer(self, view: View, policy: Policy, known: "_KnownTools", results: list[bool]) -> Outcome:
        """The outcome where not every call is simply valid."""
        from passmuster.checks.args._violations import violations_of_call  # late, for most runs break nothing

        violations: list[Violation] = []
        unknown: dict[str, int] = {}
        checked = 0
        for call, name in enumerate(view.names):
            compiled = known.compiled(name)
            if compiled is None:
                continue
            if not compiled:
                unknown[name] = unknown.get(name, 0) + 1
                if self.strict:
                    violations.append(_unknown_tool(view, policy, call))
                continue
            checked += 1
            if not results[call]:
                for one in compiled:
                    violations += violations_of_call(view, call, one)
        exercised = checked > 0 or (self.strict and bool(unknown))
        stats = {"unknown_tools": unknown} if unknown else None
        return Outcome(status_of(violations), exercised, tuple(violations), checked=checked, stats=stats)


def _unknown_tool(view: View, policy: Policy, call: int) -> Violation:
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


Valid = Callable[[Any], bool]


class _Passed(dict[int, Outcome]):
    """The outcome where so many calls are all valid: one object for all traces, so that it is counted quickly."""

    def __missing__(self, calls: int) -> Outcome:
        self[calls] = outcome = Outcome("pass", calls > 0, checked=calls)
        return outcome


class _KnownTools(dict[str, Valid]):
    """Tool name → whether arguments are valid for it: never for an unknown tool, always for one not asked about."""

    def __init__(self, policy: Policy, only: tuple[str, ...]) -> None:
        super().__init__()
        compiled = [
            CompiledTool(compile_schema(_of_a_map(one.arguments.schema)), one, policy.file) for one in policy.tools
        ]
        self._exact = {one.policy.pattern: one for one in compiled if is_literal(one.policy.pattern)}
        self._globs = [(glob_matcher(one.policy.pattern), one) for one in compiled]
        self._only = [glob_matcher(pattern) for pattern in only]

    def compiled(self, tool: str) -> list[CompiledTool] | None:
        """What a tool's arguments have to meet: nothing for an unknown tool, None for one not asked about."""
        if self._only and not any(fits(tool) for fits in self._only):
            return None
        if tool in self._exact:
            return [self._exact[tool]]
        return [one for fits, one in self._globs if fits(tool)]

    def __missing__(self, tool: str) -> Valid:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[tool] = valid = _validity(self.compiled(tool))
        return valid


def _validity(compiled: list[CompiledTool] | None) -> Valid:
    if compiled is None:
        return lambda arguments: True
    if len(compiled) == 1:
        return compiled[0].validator.is_valid
    return lambda arguments: bool(compiled) and all(one.validator.is_valid(arguments) for one in compiled)


def _of_a_map(schema: Schema) -> Schema:
    """The schema, asking for a map where it does not say so itself: JSON Schema lets a list pass any `properties`."""
    if schema is False or (isinstance(schema, dict) and "type" in schema):
        return schema
    return {"type": "object", **(schema if isinstance(schema, dict) else {})}
