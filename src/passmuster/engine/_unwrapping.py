"""Arguments of calls by their names, where frameworks wrap them and nothing in the suite says that this is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, TraceError
from passmuster.checks import spec_of
from passmuster.suite import Suite, glob_matcher
from passmuster.traces import Loss, PositionalError, Trace, lines_of, plain_arguments, spot_of_call

_ADVICE = "with --accept-loss they are unknown"
_Names = tuple[Callable[[str], bool], frozenset[str]]
"""Whether a tool is meant, and the names of arguments that the suite knows of it."""


class Unwrapper:
    """Unwraps the arguments of traces for one suite, or where there is none yet."""

    def __init__(self, suite: Suite | None, accept_loss: bool) -> None:
        self._accept_loss = accept_loss
        self._known: list[_Names] = []
        if suite is not None:
            self._known = [*_of_policies(suite), *_of_selectors(suite), *_of_redaction(suite)]

    def __call__(self, trace: Trace, losses: list[Loss]) -> Trace:
        """The trace with plain arguments. Raises `TraceError` where they have no names, unless that is accepted."""
        steps: list[Any] = list(trace.steps)
        for call, index in enumerate(trace.call_steps):
            step = steps[index]
            if isinstance(step.arguments, dict):
                try:
                    arguments = plain_arguments(step.arguments, self._names(step.tool))
                except PositionalError as error:
                    found = f"the call of '{step.tool[:60]}' has arguments without names in '{error}'"
                    spot = spot_of_call(trace, call)
                    if not self._accept_loss:
                        found += f": give each its name, or declare '{error}' in a policy ({_ADVICE})"
                        raise TraceError(Problem(found, spot.file or None, lines_of([spot]).get(spot))) from None
                    losses.append(Loss(spot, found, True))
                    arguments = None
                steps[index] = replace(step, arguments=arguments)
        return replace(trace, steps=tuple(steps), wrapped=False)

    def _names(self, tool: str) -> frozenset[str]:
        return frozenset(name for fits, names in self._known if fits(tool) for name in names)


def _of_policies(suite: Suite) -> Iterator[_Names]:
    for test in suite.tests:
        policy = getattr(spec_of(test), "effective_policy", None)
        for tool in policy.tools if policy is not None else ():
            yield glob_matcher(tool.pattern), frozenset(_declared(tool.arguments.schema))


def _of_selectors(suite: Suite) -> Iterator[_Names]:
    """What selectors and expected calls ask of arguments, wherever in the suite they stand."""
    waiting: list[Any] = [suite]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Struct):
            tools, args = getattr(value, "tool", None), getattr(value, "args", None)
            if isinstance(args, dict):
                names = frozenset(_first_name(path) for path in args)
                for pattern in (tools,) if isinstance(tools, str) else tools or ():
                    yield glob_matcher(pattern), names
            waiting += [getattr(value, name) for name in value.__struct_fields__]
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value


def _of_redaction(suite: Suite) -> Iterator[_Names]:
    for argument in suite.redact.arguments:
        tool, _, path = argument.partition(".")
        yield glob_matcher(tool), frozenset({_first_name(path)})


def _first_name(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _declared(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for key in ("allOf", "anyOf", "oneOf"):
            for one in schema.get(key, ()):
                yield from _declared(one)
