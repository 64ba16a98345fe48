"""The short top-level keys of a suite, one function each, in the order a suite is written in."""

from __future__ import annotations

import re

from msgspec.structs import replace

from passmuster.suite._context import Context
from passmuster.suite._matchers import read_matcher
from passmuster.suite._model import Effects, FailedWhen, Judging, Output, Redact, Suite
from passmuster.suite.text._nodes import Node, Scalar, plain

__all__ = [
    "read_agent",
    "read_behaviors",
    "read_description",
    "read_effects",
    "read_failed_when",
    "read_judge_config",
    "read_layers",
    "read_output",
    "read_plugins",
    "read_redact",
    "read_suite",
    "read_traces",
    "read_version",
]

_VERSIONS = ("1", "1.0")
_FORMATS = ("console", "json", "junit", "sarif")
_FORMATS_LATER = ("markdown", "html")


def read_version(context: Context, suite: Suite, node: Node) -> Suite:
    """The version of the suite language; there is one so far."""
    text = context.reader.text(node, "version")
    if text and text not in _VERSIONS:
        context.reader.problem(node, f"version: this program reads version 1, found '{text}'")
    return suite


def read_suite(context: Context, suite: Suite, node: Node) -> Suite:
    """The suite's name; without one it is that of its folder."""
    return replace(suite, name=context.reader.text(node, "suite"))


def read_description(context: Context, suite: Suite, node: Node) -> Suite:
    """For people; it has to be text, and says nothing to the gate."""
    context.reader.text(node, "description", empty=True)
    return suite


def read_agent(context: Context, suite: Suite, node: Node) -> Suite:
    """The agent's name, or a map with its name and version."""
    reader = context.reader
    if isinstance(node, Scalar):
        return replace(suite, agent_name=reader.text(node, "agent"))
    map_ = reader.mapping(node, "agent", ("name", "version", "description"))
    reader.optional_text(map_, "description", "agent")
    return replace(
        suite,
        agent_name=reader.optional_text(map_, "name", "agent"),
        agent_version=reader.optional_text(map_, "version", "agent"),
    )


def read_traces(context: Context, suite: Suite, node: Node) -> Suite:
    """Where the traces are when the command line does not say."""
    return replace(suite, traces=tuple(context.reader.texts(node, "traces")))


def read_plugins(context: Context, suite: Suite, node: Node) -> Suite:
    """Modules that define metrics; which kinds of check there are is known after this."""
    reader = context.reader
    context.plugins = [(name, item) for item in reader.one_or_more(node) if (name := reader.text(item, "plugins"))]
    _ = context.kinds  # imported now, so that a plugin nobody uses is still found wanting
    return suite


def read_failed_when(context: Context, suite: Suite, node: Node) -> Suite:
    """What a failed call looks like where the traces do not say."""
    reader = context.reader
    found: list[FailedWhen] = []
    for place, item in enumerate(reader.items(node, "failed_when")):
        at = f"failed_when[{place}]"
        map_ = reader.mapping(item, at, ("tool", "result"))
        tool, result = map_.get("tool"), reader.required(map_, "result", at)
        if result is not None:
            pattern = reader.pattern(tool, f"{at}.tool") if tool is not None else "*"
            found.append(FailedWhen(pattern, read_matcher(reader, result, f"{at}.result")))
    return replace(suite, failed_when=tuple(found))


def read_behaviors(context: Context, suite: Suite, node: Node) -> Suite:
    """Checks that scenarios can name; they are read after this."""
    from passmuster.suite._behaviors import read_library  # late, for most suites name none

    return replace(suite, behaviors=read_library(context.reader, node))


def read_judge_config(context: Context, suite: Suite, node: Node) -> Suite:
    """Who is asked what code cannot decide. Its keys are the judges' own, and are looked at there."""
    map_ = context.reader.mapping(node, "judge_config")
    config = {entry.key: plain(entry.value) for entry in map_ if not entry.key.startswith("x-")}
    return replace(suite, judging=Judging(config, {entry.key: entry.line for entry in map_}, node.line))


def read_effects(context: Context, suite: Suite, node: Node) -> Suite:
    """Which tools only look, which change something, and which cannot be undone.

    Annotations in policies say so too; they are looked at once all policies are read.
    """
    reader = context.reader
    map_ = reader.mapping(node, "effects", ("read", "write", "irreversible", "policy"))
    for item in reader.listed(map_, "policy"):
        context.policy(item, "effects")
    patterns = {
        entry.key: tuple(reader.pattern(item, f"effects.{entry.key}") for item in reader.one_or_more(entry.value))
        for entry in map_
        if entry.key in ("read", "write", "irreversible")
    }
    return replace(suite, effects=Effects(**patterns))


def read_layers(context: Context, suite: Suite, node: Node) -> Suite:
    """Which layers block. Correctness always does, and cannot be loosened."""
    reader = context.reader
    map_ = reader.mapping(node, "layers", ("correctness", "path", "cost"))
    words = {
        entry.key: reader.choice(entry.value, f"layers.{entry.key}", ("block", "warn"))
        for entry in map_
        if entry.key in ("correctness", "path", "cost")
    }
    if words.get("correctness") == "warn":
        reader.problem(map_.entries["correctness"], "layers.correctness: a failure of correctness always fails")
    return replace(suite, tightened=frozenset(key for key, word in words.items() if word == "block"))


def read_redact(context: Context, suite: Suite, node: Node) -> Suite:
    """What reports hide besides the usual secrets."""
    reader = context.reader
    map_ = reader.mapping(node, "redact", ("patterns", "arguments"))
    arguments = []
    for item in reader.listed(map_, "arguments"):
        text = reader.text(item, "redact.arguments")
        if text and not re.fullmatch(r"[^.]+\..+", text):
            reader.problem(item, f"redact.arguments: expected TOOL.path, such as 'pay.card', found '{text}'")
        arguments.append(text)
    patterns = [reader.regex(item, "redact.patterns") for item in reader.listed(map_, "patterns")]
    return replace(suite, redact=Redact(tuple(patterns), tuple(arguments)))


def read_output(context: Context, suite: Suite, node: Node) -> Suite:
    """The reports that are written when the command line names none."""
    reader = context.reader
    map_ = reader.mapping(node, "output", ("format", "dir"))
    formats: list[str] = []
    for item in reader.listed(map_, "format"):
        if isinstance(item, Scalar) and item.value in _FORMATS_LATER:
            reader.problem(item, f"output.format: '{item.value}' is not yet supported by this version")
        else:
            formats.append(reader.choice(item, "output.format", _FORMATS))
    folder = reader.optional_text(map_, "dir", "output") or suite.output.folder
    return replace(suite, output=Output(tuple(dict.fromkeys(formats)), folder))
