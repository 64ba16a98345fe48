"""Loads a suite file: a typed `Suite`, or every mistake in it with its line.

`SuiteFile` declares the top-level keys. Those that refer to other parts of the suite have a function
`(context, suite, node) -> suite` in `RESOLVED`, which adds to the suite what the key says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingOf
from pathlib import Path

from msgspec.structs import replace

from passmuster._digest import digest_of
from passmuster._problems import Problem, SuiteError, did_you_mean
from passmuster.suite import _scenarios as scenarios
from passmuster.suite import _tests as tests
from passmuster.suite._context import Context, FindKinds
from passmuster.suite._discovery import display, find_root, find_suite
from passmuster.suite._files import Documents
from passmuster.suite._model import Effects, StatesEffects, Suite
from passmuster.suite._stated import LayerValue, ResolvedKey
from passmuster.suite._suite_file import SuiteFile
from passmuster.suite.grammar._globs import escape_glob, glob_matcher
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import read_record
from passmuster.suite.grammar._values import Vocabulary
from passmuster.suite.text._nodes import Mapping, Node, Scalar


def _read_plugins(context: Context, suite: Suite, node: Node) -> Suite:
    """Modules that define checks; which kinds of check there are is known after this."""
    reader = context.reader
    context.plugins = [(name, item) for item in reader.one_or_more(node) if (name := reader.text(item, "plugins"))]
    _ = context.kinds  # imported now, so that a broken plugin is found even if no test uses it
    return suite


def _read_behaviors(context: Context, suite: Suite, node: Node) -> Suite:
    """Checks that scenarios can name; they are read after this."""
    return replace(suite, behaviors=context.reader.vocabulary["behaviors"].read(context.reader, node, "behaviors"))


GATE_KEYS = (
    *("classification", "weights", "thresholds", "required_scenarios", "optional_scenarios"),
    *("pass_criteria", "composite", "baseline"),
)
"""Keys about the suite as a whole, what feeds a metric before what names it."""


def _gate(key: str) -> Callable[[Context, Suite, Node], Suite]:
    def read(context: Context, suite: Suite, node: Node) -> Suite:
        value = context.reader.vocabulary[key]
        assert isinstance(value, ResolvedKey)
        return value.resolve(context.reader, suite, node)

    return read


RESOLVED: dict[str, Callable[[Context, Suite, Node], Suite]] = {
    "plugins": _read_plugins,
    "behaviors": _read_behaviors,
    "defaults": scenarios.read_defaults,
    "scenarios": scenarios.read_scenarios,
    "queries": scenarios.read_queries,
    "tests": tests.read_tests,
    **{key: _gate(key) for key in GATE_KEYS},
    "waivers": tests.read_waivers,
}
"""Keys that refer to other parts of the suite, in the order in which they need each other."""


_TRACE_ENDINGS = (".jsonl", ".ndjson", ".gz", ".zst", ".pb")
_TRACE_KEYS = {"trace_id", "steps", "messages", "resourceSpans", "spans"}
_OWN_KEYS = {"tests", "scenarios", "queries", "thresholds", "defaults", "behaviors"}
_NO_SUITE = (
    "this is a file of traces, where a suite is expected; name traces with --traces, and quote a pattern "
    "(--traces '*.jsonl'), or else the shell replaces it with the files and all but the first are taken for suites"
)


Adapt = Callable[[Node, Path, str], tuple[Node, list[Problem], list[Problem]]]
"""Makes a suite of another tool's file: its nodes, warnings, and remarks on what checks nothing."""


def load_suite(
    path: Path,
    find_kinds: FindKinds,
    vocabulary: Vocabulary,
    root: str | Path | None = None,
    documents: MappingOf[str, bytes] | None = None,
    adapt: Adapt | None = None,
) -> Suite:
    """The suite in a file, or in a folder that holds one; `adapt` translates the files of other tools.

    Raises `SuiteError` with all problems of the suite and its policies. A link to a suite is followed: what it names
    is looked for beside the file itself.
    """
    if path.is_dir():
        path = find_suite(str(path), Path.cwd())
    top = find_root(root, path)
    file = display(path, top)
    path = path.resolve()
    if path.name.lower().endswith(_TRACE_ENDINGS):
        raise SuiteError(Problem(_NO_SUITE, file))
    files = Documents(documents)
    node, content = files.read(path, file)
    keys = set(node.entries) if isinstance(node, Mapping) else set()
    if keys & _TRACE_KEYS and not keys & _OWN_KEYS:
        raise SuiteError(Problem(_NO_SUITE, file, node.line, node.column))
    schema = node.get("schema") if isinstance(node, Mapping) else None
    if isinstance(schema, Scalar) and str(schema.value).startswith("passmuster."):
        message = (
            f"this is '{schema.value}', which passmuster wrote, where a suite is expected; name the suite or its folder"
        )
        raise SuiteError(Problem(message, file, schema.line, schema.column))
    context = Context(file, path.parent, top, find_kinds, vocabulary, files)
    node, warnings, remarks = adapt(node, path, file) if adapt else (node, [], [])
    suite = _read(context, node, path, digest_of(content), files.by_path)
    suite = replace(suite, notices=(*warnings, *suite.notices), remarks=(*remarks, *context.reader.remarks))
    if context.reader.problems:
        problems = _told_once(context.reader.problems)
        raise SuiteError(sorted(problems, key=lambda p: (p.file != file, p.file or "", p.line or 0, p.column or 0)))
    return suite


def _read(context: Context, node: Node, path: Path, sha256: str, documents: dict[str, bytes]) -> Suite:
    reader = context.reader
    written = read_record(SuiteFile, reader, node, "", label="suite") or SuiteFile()
    suite = Suite(
        name=written.suite or path.parent.name,
        path=path,
        file=reader.file,
        root=context.root,
        sha256=sha256,
        documents=documents,
        agent=written.agent,
        traces=written.traces,
        effects=written.effects,
        tightened=frozenset(layer for layer in ("path", "cost") if getattr(written.layers, layer) == "block"),
        latency_budget_ms=written.latency_budget_ms,
        prices=written.prices,
        repeat_policy=written.repeat_policy,
        judge_config=written.judge_config,
        failed_when=written.failed_when,
        redact=written.redact,
        output=replace(written.output, formats=tuple(dict.fromkeys(written.output.formats))),
    )
    for key, read in RESOLVED.items():
        value = getattr(written, key)
        if value is not None:
            suite = read(context, suite, value)
    if suite.classification is None:
        _refuse_idle_labels(reader, suite)
    if context.defaults is not None and not suite.scenarios:
        reader.problem(context.defaults, "defaults: there is no scenario that they could apply to")
    suite = replace(suite, effects=_annotated(suite.effects, context.effects_in_files))
    suite = replace(suite, notices=(*suite.notices, *_lookalikes(suite), *_nearly_named(suite)))
    _refuse_idle_layers(reader, suite)
    stated = suite.tests or any(scenario.states_something for scenario in suite.scenarios)
    if isinstance(node, Mapping) and not stated and not reader.problems:
        reader.problem(node, "the suite checks nothing: it has no tests, and no scenario states an expectation")
    return suite


def _told_once(problems: Iterable[Problem]) -> list[Problem]:
    """Each mistake once: what is wrong in `defaults` is found with every scenario that they apply to."""
    found: dict[Problem, list[Problem]] = {}
    for problem in problems:
        shared = re.sub(r"^(?:scenarios|queries)\[\d+\]", "defaults", problem.message)
        same = found.setdefault(replace(problem, message=shared), [])
        if problem not in same:
            same.append(problem)
    return [same[0] if len(same) == 1 else shared for shared, same in found.items()]


def _refuse_idle_labels(reader: Reader, suite: Suite) -> None:
    """A label is compared with the one in the answer, and only `classification` says where that stands."""
    for scenario in suite.scenarios:
        if scenario.label is not None:
            message = f"scenario '{scenario.id}': 'label' means nothing without 'classification' in the suite"
            reader.problems.append(Problem(message, reader.file, scenario.line))


def _lookalikes(suite: Suite) -> Iterator[Problem]:
    """A notice where two categories or capabilities look like one, for rates, weights and criteria part them."""
    for kind in ("category", "capability"):
        seen = {"adversarial": "adversarial"} if kind == "category" else {}
        first = {name: one for one in reversed(suite.scenarios) if (name := getattr(one, kind)) is not None}
        for name, scenario in reversed(first.items()):
            known = seen.setdefault(" ".join(name.split()).casefold(), name)
            if known != name:
                message = f"scenario '{scenario.id}': the {kind} '{name}' is not '{known}', which it looks like"
                yield Problem(message, suite.file, scenario.line)


def _nearly_named(suite: Suite) -> Iterator[Problem]:
    """A notice where a behavior that only a trace or a judge can know has nearly the name of one that is defined."""
    for scenario in suite.scenarios if suite.behaviors else ():
        for behavior in (*scenario.expected_behaviors, *scenario.must_not):
            if behavior.check is None and (hint := did_you_mean(behavior.name, suite.behaviors)):
                message = f"scenario '{scenario.id}': 'behaviors' does not have '{behavior.name}'{hint}"
                yield Problem(message, suite.file, behavior.line)


def _annotated(effects: Effects, policies: list[StatesEffects]) -> Effects:
    """The effects with what policies say of tools that the suite itself does not speak of."""
    said = [glob_matcher(pattern) for pattern in (*effects.read, *effects.write, *effects.irreversible)]
    for policy in policies:
        for tool, effect in policy.effects.items():
            if not any(fits(tool) for fits in said):
                effects = replace(effects, **{effect: (*getattr(effects, effect), escape_glob(tool))})
    return effects


def _refuse_idle_layers(reader: Reader, suite: Suite) -> None:
    """Checks that lack something elsewhere in the suite would compare nothing."""
    for scenario in suite.scenarios:
        named = [(name, getattr(scenario, name)) for name in ("correctness", "path", "cost")]
        for name, layer in (*named, *(one for turn in scenario.turns for one in turn.layers)):
            value = reader.vocabulary[name]
            assert isinstance(value, LayerValue)
            for line, message in value.mistakes(layer, suite) if layer else ():
                reader.problems.append(Problem(message, reader.file, line))
