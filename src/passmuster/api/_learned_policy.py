"""The policies of a learned suite as commented text: what fails a run, and what too few traces bear out."""

from __future__ import annotations

import re

from passmuster._problems import plural
from passmuster.api._learned_rules import Learned, LearnedArgument, LearnedTool
from passmuster.api._observed_traces import ArgumentFacts, Observed
from passmuster.api._yaml_text import comment, yaml_list, yaml_scalar
from passmuster.checks import Argument, BuiltInKind, ToolEntry
from passmuster.redaction import Redactor, is_secret_name
from passmuster.suite import escape_glob, fields_of, first_line, why_bad_glob, why_no_tool

POLICY = "policies/tools.yaml"
LIKELY_POLICY = "policies/likely.yaml"
_LONGEST_NAME = 500
"""Of a tool or an argument; YAML takes keys of up to 1,024 characters."""


class PolicyText:
    """The text of the policies."""

    def __init__(self, observed: Observed, learned: Learned, redactor: Redactor) -> None:
        self._observed, self._learned, self._redactor = observed, learned, redactor

    def documents(self) -> dict[str, str]:
        """The policy files by their path: what fails a run, and what only warns; neither where there is none."""
        likely = [
            tool for tool in self._learned.tools if _unclear(tool) is None and self._arguments(tool, blocks=False)
        ]
        sure = any(self._arguments(tool, blocks=True) for tool in self._learned.tools if _unclear(tool) is None)
        clear = any(_unclear(tool) is None for tool in self._learned.tools)
        found = {POLICY: self._policy()} if clear and (sure or not likely) else {}
        return {**found, LIKELY_POLICY: self._likely_policy(likely)} if likely else found

    def _policy(self) -> str:
        found = comment(
            f"{first_line(BuiltInKind('args_valid').record.__doc__)} Types and what is required were learned from "
            f"{plural(self._observed.traces, 'trace')}; values in comments were seen and are not required."
        )
        closed = fields_of(ToolEntry)["additional_arguments"].key.description
        found += comment(f"`additional_arguments`: {closed} By default they are.")
        for key in ("type", "required", "min", "max", "enum"):
            found += comment(f"`{key}`: {fields_of(Argument)[key].key.description}")
        return found + "\ntools:\n" + "\n".join(self._tool(tool) for tool in self._learned.tools)

    def _likely_policy(self, tools: list[LearnedTool]) -> str:
        found = comment(
            f"What {plural(self._observed.traces, 'trace')} agree on, but too few of them call these tools to fail a "
            f"run for it: it warns. Move what is meant to {POLICY}."
        )
        return found + "\ntools:\n" + "\n".join(self._likely_tool(tool) for tool in tools)

    def _tool(self, tool: LearnedTool) -> str:
        name = yaml_scalar(tool_pattern(tool.name))
        calls = f"in {plural(tool.facts.traces, 'trace')}"
        if (unclear := _unclear(tool)) is not None:
            return comment(f"{name}: not checked, because {unclear}", "  ")
        if not tool.arguments:
            return f"  {name}: {{}} # called without arguments, {calls}\n"
        asked = self._arguments(tool, blocks=True)
        found = f"  {name}: # {calls}\n    # additional_arguments: false\n"
        found += "    arguments:\n" if asked else "    arguments: {}\n"
        return found + "".join(f"      {one}\n" for one in asked)

    def _likely_tool(self, tool: LearnedTool) -> str:
        found = f"  {yaml_scalar(tool_pattern(tool.name))}: # in {plural(tool.facts.traces, 'trace')}\n    arguments:\n"
        return found + "".join(f"      {one}\n" for one in self._arguments(tool, blocks=False))

    def _arguments(self, tool: LearnedTool, *, blocks: bool) -> list[str]:
        """What is asked of the arguments, to fail a run or to warn of it."""
        found = []
        for one in tool.arguments:
            asked = []
            if one.typed == blocks:
                asked.append(f"type: {yaml_scalar(one.types[0]) if len(one.types) == 1 else yaml_list(one.types)}")
            if one.always and one.required == blocks:
                asked.append("required: true")
            if asked:
                seen = self._seen(one) if blocks or not one.typed else ""
                found.append(f"{yaml_scalar(one.name)}: {{ {', '.join(asked)} }}{seen}")
        return found

    def _seen(self, argument: LearnedArgument) -> str:
        """What was seen of the values, as a comment: a range, or the few strings there were."""
        facts, found = argument.facts, []
        if is_secret_name(argument.name):
            facts = ArgumentFacts()
        if facts.low is not None and facts.high is not None:
            found.append(f"min: {yaml_scalar(facts.low)}, max: {yaml_scalar(facts.high)}")
        texts = sorted(facts.texts or ())
        if texts and len(texts) < facts.given and all(self._redactor.hide(text) == text for text in texts):
            found.append(f"enum: {yaml_list(texts)}")
        return f" # seen: {', '.join(found)}" if found else ""


def _unclear(tool: LearnedTool) -> str | None:
    """Why the arguments of a tool cannot be checked; None where they can."""
    if not is_nameable(tool.name):
        return "no pattern fits its name alone"
    if any(len(argument.name) > _LONGEST_NAME for argument in tool.arguments):
        return f"an argument has a name of more than {_LONGEST_NAME} characters"
    return tool.facts.unclear


def is_nameable(name: str) -> bool:
    """Whether a pattern fits a tool of this name and no other; some names a suite refuses, for they look like slips."""
    pattern = escape_glob(name)
    return len(name) <= _LONGEST_NAME and not (why_bad_glob(pattern) or why_no_tool(pattern))


def tool_pattern(name: str) -> str:
    """A pattern that fits a tool of this name, and as little else as can be."""
    return escape_glob(name) if is_nameable(name) else re.sub(r"[^\w.:/-]", "?", name)
