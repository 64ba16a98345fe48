"""`args_valid`: the arguments of each call conform to the policy for its tool.

A tool known by its exact name has that schema alone; otherwise every pattern that fits it applies. A tool that the
policy does not know is counted, and with `strict` is a violation. All violations of a call are reported.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from passmuster._problems import plural
from passmuster.checks._json_schema import compile_checked, of_a_map
from passmuster.checks._outcome import status_of
from passmuster.checks._reasoning import Ending, Reasoning, Reasons
from passmuster.checks._spec import PatternLimit
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

    def named_tools(self) -> Iterator[tuple[str, int, str]]:
        """The tool of a test without a policy file."""
        if self.tool is not None:
            yield self.tool, self.lines["tool"], "the test"

    def known_tools(self) -> Iterator[str]:
        """The tools of the policy file."""
        return (one.pattern for one in self.policy.tools) if self.policy is not None else iter(())

    def reasons(self, tools: ToolIndex) -> Reasons:
        """Call by call: which part of the policy it is held against."""
        known = _KnownTools(self.effective_policy, self.tools)

        def explain(view: View, outcome: Outcome) -> Iterator[Reasoning]:
            for call, name in enumerate(view.names):
                own = tuple(one for one in outcome.violations if one.call_index == call + 1)
                yield self._reason(known.compiled(name), view, call, own)

        return explain

    def _reason(
        self, compiled: list[CompiledTool] | None, view: View, call: int, own: tuple[Violation, ...]
    ) -> Reasoning:
        what = f"call {call + 1}: {view.names[call]}"
        if compiled is None:
            return Reasoning(what, "not exercised", steps=("`tools` of the test leaves this tool out",))
        if not compiled:
            absent = ("the policy does not have this tool",)
            return Reasoning(what, "broken" if own else "not exercised", steps=absent, violations=own)
        others = [f"{one.file}:{one.policy.line}" for one in compiled[1:]]
        ending: Ending = "broken" if own else "held"
        if view.calls[call].arguments is None:
            return Reasoning(what, "undecided", steps=("the trace does not record its arguments",))
        first = compiled[0]
        steps = (f"and held against {', '.join(others)}",) if others else ()
        return Reasoning(what, ending, first.policy.line, first.file, steps, own)

    def compile(self, tools: ToolIndex) -> Check:
        policy = self.effective_policy
        known = _KnownTools(policy, self.tools)
        passed = _Passed()
        given_up: dict[str, str] = {}
        """Tools with a pattern that reached its limit, and what was said: it would do so again on every trace."""

        def check(view: View) -> Outcome:
            names = view.names
            if given_up and (tool := next((name for name in names if name in given_up), None)):
                raise CheckError(f"{given_up[tool]} (it is not tried again in this run)")
            try:
                results = [known[call.tool](call.arguments) for call in view.calls]
            except ValueError as error:  # the validator refuses what nests too deep
                raise CheckError(f"the arguments of a call cannot be checked: {error}") from error
            if view.trace.has_oversized_number:
                results = [
                    ok and not any(True for _ in oversized_numbers(call.arguments))
                    for ok, call in zip(results, view.calls, strict=True)
                ]
            if False not in results and not self.tools:
                return passed[len(names)]
            try:
                return self._look_closer(view, policy, known, results)
            except PatternLimit as limit:
                given_up[limit.tool] = str(limit)
                raise

        return check

    def _look_closer(self, view: View, policy: Policy, known: "_KnownTools", results: list[bool]) -> Outcome:
        """The outcome where not every call is simply valid."""
        from passmuster.checks.args._violations import violations_of_call  # late, for most runs break nothing

        violations: list[Violation] = []
        unknown: dict[str, int] = {}
        undecided: list[str] = []
        checked = 0
        for call, name in enumerate(view.names):
            compiled = known.compiled(name)
            if compiled is None:
                continue
            if not compiled:
                unknown[name] = unknown.get(name, 0) + 1
                if self.strict or policy.strict:
                    violations.append(_unknown_tool(view, policy, call))
                continue
            if view.calls[call].arguments is None:
                undecided.append(name)
                continue
            checked += 1
            if not results[call]:
                for one in compiled:
                    violations += violations_of_call(view, call, one)
        exercised = checked > 0 or ((self.strict or policy.strict) and bool(unknown))
        stats = {"unknown_tools": unknown} if unknown else None
        if undecided and status_of(violations) != "fail":
            tools = ", ".join(dict.fromkeys(undecided))
            message = (
                f"the trace does not record the arguments of {plural(len(undecided), 'call')} ({tools}), so they "
                "cannot be checked; record them, or skip such traces with --accept-loss"
            )
            return Outcome(
                "error",
                exercised,
                tuple(violations),
                checked=checked,
                stats=stats,
                message=message,
                cause="unknown_arguments",
            )
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
            CompiledTool(compile_checked(of_a_map(one.arguments.schema)), one, policy.file) for one in policy.tools
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
        is_valid = compiled[0].validator.is_valid
        if is_valid(None):  # null stands for arguments that are not recorded, not for a value
            return lambda arguments: arguments is not None and is_valid(arguments)
        return is_valid
    return lambda arguments: (
        bool(compiled) and arguments is not None and all(one.validator.is_valid(arguments) for one in compiled)
    )
