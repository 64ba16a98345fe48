"""A trace of production as a regression scenario of a suite; the suite's text stays as it is but for that scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passmuster import engine
from passmuster._problems import InputError, Problem, UsageError
from passmuster.api._learned_policy import is_nameable
from passmuster.api._load_suite import load_suite
from passmuster.api._options import RunOptions
from passmuster.api._output_files import write_file
from passmuster.api._show_traces import SourceOptions, TraceWanted, trace_sources
from passmuster.api._yaml_text import comment, yaml_flow, yaml_scalar
from passmuster.redaction import Redactor, is_secret_name
from passmuster.reports import FORMATS
from passmuster.suite import Documents, Suite, add_scenario, escape_glob, glob_matcher, plain
from passmuster.traces import BadLines, ToolCall, Trace, positions_of, read_source

_LONGEST = 200
"""Longer arguments are not compared."""
_MOST_CALLS = 200


class Promoted(Struct, frozen=True):
    """The scenario that was added."""

    id: str
    suite_file: str
    text: str
    """The scenario as it was written."""
    calls: int
    has_traces: bool
    """Whether the suite names traces, which then have to have a run of it."""


def promote(
    sources: Sequence[str],
    options: SourceOptions,
    *,
    suite: str | None,
    trace_id: str | None = None,
    id_: str | None = None,
    dry_run: bool = False,
    root: str | None = None,
    plugins: bool = True,
) -> Promoted:
    """Add a trace to a suite as a scenario that the trace passes; with `dry_run` nothing is written.

    Raises `UsageError` where several traces could be meant, or where the trace cannot be told by its query or scenario.
    """
    loaded = load_suite(suite, root=root, plugins=plugins)
    trace = _only_trace(sources, options, trace_id)
    if trace.wrapped:
        trace = engine.Unwrapper(loaded, options.accept_loss)(trace, [])
    scenario = _Scenario(loaded, trace, _id_of(loaded, trace, id_))
    after = _edited(loaded, scenario, plugins)
    if not dry_run:
        write_file(loaded.path, after, what="suite")
    calls = len(scenario.calls)
    return Promoted(scenario.id, loaded.file, scenario.block(2), calls, bool(loaded.traces))


def _only_trace(sources: Sequence[str], options: SourceOptions, trace_id: str | None) -> Trace:
    wanted = TraceWanted(trace_id)
    with trace_sources(sources, options.format) as opened:
        found: Trace | None = None
        for source in opened:
            for trace in read_source(source, BadLines(source, options.skip_bad_lines, options.accept_loss)):
                if wanted.takes(trace):
                    found = trace
        wanted.refuse_if_none()
    if wanted.taken > 1 or found is None:
        named = f"{wanted.taken} traces have the id '{trace_id}'" if trace_id else f"there are {wanted.taken} traces"
        raise UsageError(Problem(f"{named}; choose one with --trace ID or --trace '#1'"))
    return found


def _id_of(suite: Suite, trace: Trace, given: str | None) -> str:
    """The id of the new scenario: that of the trace, for it is matched by it, else the one given, else a free one."""
    taken = {one.id for one in suite.scenarios}
    if trace.error is not None:
        raise UsageError(Problem("the agent failed on this trace, so it cannot be what is expected"))
    if trace.calls_unknown:
        raise UsageError(Problem("this trace does not record its calls, so there is nothing to expect"))
    if trace.scenario is not None and given not in (None, trace.scenario):
        raise UsageError(
            Problem(f"--id: the trace names the scenario '{trace.scenario}', so its scenario has to have that id")
        )
    wanted = trace.scenario or given
    if wanted in taken:
        line = next(one.line for one in suite.scenarios if one.id == wanted)
        raise UsageError(Problem(f"the suite has a scenario '{wanted}' already; edit it there", suite.file, line))
    if trace.scenario is None:
        _refuse_query(suite, trace)
    if wanted is not None:
        return wanted
    return next(id_ for number in range(1, len(taken) + 2) if (id_ := f"REG-{number:03}") not in taken)


def _refuse_query(suite: Suite, trace: Trace) -> None:
    """A trace without a scenario is found by its query alone."""
    advice = "give it a 'scenario' to be matched by"
    if not trace.query:
        raise UsageError(Problem(f"the trace has neither a query nor a scenario; {advice}"))
    if Redactor().hide(trace.query) != trace.query:
        raise UsageError(Problem(f"the query of the trace holds what looks like a secret; {advice}"))
    folded = " ".join(trace.query.split())
    for one in suite.scenarios:
        if one.query is not None and " ".join(one.query.split()) == folded:
            raise UsageError(Problem(f"scenario '{one.id}' has this query already", suite.file, one.line))


class _Scenario:
    """The scenario of a trace: its query, the calls it made, and what that says about effects."""

    def __init__(self, suite: Suite, trace: Trace, id_: str) -> None:
        self.id, self._trace, self._suite = id_, trace, suite
        self._redactor = Redactor()
        self.with_arguments = True
        effects = (*suite.effects.write, *suite.effects.irreversible)
        self._effects = effects
        """Patterns of tools that change something; where the suite states some, only their calls are expected."""
        pairs = zip(trace.tool_calls, positions_of(trace), strict=True)
        counted = [(call, at) for call, at in pairs if not effects or _fits(effects, call.tool)]
        self._attempts = len(counted)
        self.calls = [(call, at) for call, at in counted if not call.failed][:_MOST_CALLS]

    def block(self, indent: int) -> str:
        """The scenario as an item of a list."""
        margin = " " * (indent + 2)
        document = self._document()
        found = f"{' ' * indent}- id: {yaml_scalar(self.id)}\n"
        found += comment("Promoted from a trace. Where an argument may vary, write a matcher: {$any: true}.", margin)
        for key, value in document.items():
            if key == "id":
                continue
            if isinstance(value, list):
                found += f"{margin}{key}:\n" + "".join(f"{margin}  - {yaml_flow(one)}\n" for one in value)
            elif isinstance(value, dict):
                found += f"{margin}{key}:\n" + "".join(
                    _nested(name, inner, f"{margin}  ") for name, inner in value.items()
                )
            else:
                found += f"{margin}{key}: {yaml_flow(value)}\n"
        if self._trace.answer:
            answer = " ".join(self._redactor.text(self._trace.answer, 100).split())
            found += comment(f"correctness: {{ expected_in_answer: [] }} # answered: {yaml_scalar(answer)}", margin)
        return found

    def flow(self, is_json: bool) -> str:
        """The scenario on one line."""
        return json.dumps(self._document(), ensure_ascii=False) if is_json else yaml_flow(self._document())

    def _document(self) -> dict[str, Any]:
        found: dict[str, Any] = {"id": self.id, "category": "regression"}
        if self._trace.query and self._redactor.hide(self._trace.query) == self._trace.query:
            found["query"] = self._trace.query
        calls = [self._call(call) for call, _ in self.calls]
        if calls:
            expected: dict[str, Any] = {"mode": "in_order", "failed": "ignore"}
            expected |= {"scope": "effects", "extras": "forbid"} if self._effects else {}
            found["path"] = {"expected_calls": {**expected, "calls": calls}}
        elif not self._attempts:
            found["path"] = {"forbidden_tools": list(self._effects) or ["*"]}
        if self._attempts and not (calls and "path" in self._suite.tightened):
            found["expected_behaviors"] = list(self._behaviors())
        return found

    def _behaviors(self) -> Iterator[dict[str, Any]]:
        """The same calls as behaviors, whose absence fails the scenario where a path only warns."""
        in_line: list[dict[str, Any]] = []
        beside: list[dict[str, Any]] = []
        seen: set[int] = set()
        for call, position in self.calls:
            (beside if position in seen else in_line).append(self._call(call))
            seen.add(position)
        if in_line:
            yield {"name": "makes the recorded calls in their order", "type": "sequence", "tools": in_line}
        for place, one in enumerate(beside, 1):
            yield {"name": f"makes the recorded parallel call {place}", "tool_called": one}
        counted = list(self._effects) or ["*"]
        words = "with effects " if self._effects else ""
        yield {
            "name": f"makes no more calls {words}than recorded",
            "type": "max_calls",
            "tool": counted,
            "max": self._attempts,
        }

    def _call(self, call: ToolCall) -> dict[str, Any]:
        found: dict[str, Any] = {"tool": escape_glob(call.tool)}
        if self.with_arguments and isinstance(call.arguments, dict):
            args = {name: _matcher(value) for name, value in call.arguments.items() if self._is_compared(name, value)}
            if args:
                found["args"] = args
        return found

    def _is_compared(self, name: str, value: Any) -> bool:
        """Whether an argument is short, simple, and no secret."""
        if is_secret_name(name) or not name or any(sign in name for sign in ".[]$*") or name != name.strip():
            return False
        if isinstance(value, str):
            return len(value) <= _LONGEST and self._redactor.hide(value) == value
        return isinstance(value, bool | int | float)


def _fits(patterns: Sequence[str], tool: str) -> bool:
    return any(glob_matcher(pattern)(tool) for pattern in patterns)


def _matcher(value: Any) -> Any:
    """The value itself, or, for a text that could be read as something else, exactly this value."""
    plain_text = not isinstance(value, str) or (value[:1].isalnum() and "$" not in value)
    return value if plain_text else {"$eq": value}


def _nested(key: str, value: Any, margin: str) -> str:
    """A key with a map whose `calls` are listed line by line."""
    if not isinstance(value, dict):
        return f"{margin}{key}: {yaml_flow(value)}\n"
    found = f"{margin}{key}:\n"
    for name, inner in value.items():
        if isinstance(inner, list):
            found += f"{margin}  {name}:\n" + "".join(f"{margin}    - {yaml_flow(one)}\n" for one in inner)
        else:
            found += f"{margin}  {name}: {yaml_flow(inner)}\n"
    return found


def _edited(suite: Suite, scenario: _Scenario, plugins: bool) -> bytes:
    """The suite's bytes with the scenario, which the trace passes; without its arguments where these do not do."""
    if not all(is_nameable(call.tool) for call, _ in scenario.calls):
        raise UsageError(Problem("the trace calls a tool by a name that no pattern of a suite can have"))
    text = suite.documents[str(suite.path)].decode("utf-8")
    is_json = suite.path.suffix.lower() == ".json"
    for with_arguments in (True, False):
        scenario.with_arguments = with_arguments

        def write(indent: int | None) -> str:
            return scenario.flow(is_json) if indent is None else scenario.block(indent)

        edited = add_scenario(text, write)
        if edited is None:
            raise UsageError(Problem("'scenarios' is no list that a scenario could be added to", suite.file))
        if _passes(suite, edited.encode(), scenario, plugins, last=not with_arguments):
            return edited.encode()
    raise UsageError(Problem("no scenario could be made that the trace passes; write it by hand", suite.file))


def _passes(suite: Suite, after: bytes, scenario: _Scenario, plugins: bool, *, last: bool) -> bool:
    """Whether the edited suite is the same but for the scenario, and the trace passes it."""
    documents = {**suite.documents, str(suite.path): after}
    try:
        edited = engine.load_suite(
            suite.path, root=suite.root, plugins=plugins, documents=documents, report_formats=FORMATS
        )
        old, new = (plain(Documents(one).read(Path(suite.path), suite.file)[0]) for one in (suite.documents, documents))
    except InputError:
        return False
    listed = new.get("scenarios") or [None]
    if {**new, "scenarios": listed[:-1]} != {**old, "scenarios": old.get("scenarios") or []}:
        return False
    settings = RunOptions(only=(escape_glob(scenario.id),), judge="off").settings
    report = engine.evaluate_traces(edited, [scenario._trace], settings)
    (found,) = (one for one in report.scenarios if one.id == scenario.id)
    return found.status == "pass" or (last and found.status == "warn")
