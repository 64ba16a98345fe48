"""A suite file, read in one go: a typed `Suite`, or every mistake in it with its line.

Each top-level key has one function `(context, suite, node) -> suite`, which adds to the suite what the key says.
They stand in `KEYS`, in the order in which they need each other. A new key is a field of `Suite`, a function
(in `top_keys`, or in a module named after the key if it is long) and a line in `KEYS`.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from pathlib import Path

from msgspec.structs import replace

from passmuster.problems import Problem, SuiteError
from passmuster.suite import scenarios, tests, top_keys, waivers
from passmuster.suite.context import Context, FindKinds
from passmuster.suite.discovery import display, find_root, find_suite
from passmuster.suite.files import Shelf
from passmuster.suite.model import Suite
from passmuster.suite.nodes import Mapping, Node
from passmuster.suite.reading import Reader

try:  # `hashlib` would load OpenSSL, which costs every start more than reading most suites
    from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from hashlib import sha256

__all__ = ["KEYS", "KEYS_LATER", "FindKinds", "load_suite"]

KEYS: dict[str, Callable[[Context, Suite, Node], Suite]] = {
    "version": top_keys.read_version,
    "suite": top_keys.read_suite,
    "description": top_keys.read_description,
    "agent": top_keys.read_agent,
    "traces": top_keys.read_traces,
    "plugins": top_keys.read_plugins,
    "defaults": scenarios.read_defaults,
    "scenarios": scenarios.read_scenarios,
    "queries": scenarios.read_queries,
    "effects": top_keys.read_effects,
    "layers": top_keys.read_layers,
    "tests": tests.read_tests,
    "waivers": waivers.read_waivers,
    "failed_when": top_keys.read_failed_when,
    "redact": top_keys.read_redact,
    "output": top_keys.read_output,
}
KEYS_LATER = (
    *("behaviors", "classification", "judge_config"),
    *("thresholds", "weights", "required_scenarios", "optional_scenarios", "pass_criteria", "composite"),
    *("latency_budget_ms", "repeat_policy", "baseline"),
)
"""Keys of the language that this version refuses by name."""


def load_suite(
    path: Path, find_kinds: FindKinds, root: str | Path | None = None, documents: MappingOf[str, bytes] | None = None
) -> Suite:
    """The suite in a file, or in a folder that holds one.

    Raises `SuiteError` with all problems of the suite and its policies. A link to a suite is followed: what it names
    is looked for beside the file itself.
    """
    if path.is_dir():
        path = find_suite(str(path), Path.cwd())
    top = find_root(root, path)
    file = display(path, top)
    path = path.resolve()
    shelf = Shelf(documents)
    node, content = shelf.read(path, file)
    context = Context(Reader(file), path.parent, top, find_kinds, shelf)
    suite = replace(_read(context, node, path, sha256(content).hexdigest()), documents=shelf.documents)
    if context.reader.problems:
        problems = dict.fromkeys(context.reader.problems)
        raise SuiteError(sorted(problems, key=lambda p: (p.file != file, p.file or "", p.line or 0, p.column or 0)))
    return suite


def _read(context: Context, node: Node, path: Path, sha256: str) -> Suite:
    reader = context.reader
    top = reader.mapping(node, "suite", tuple(KEYS), KEYS_LATER)
    suite = Suite(name=path.parent.name, path=path, file=reader.file, root=context.root, sha256=sha256)
    for key, read in KEYS.items():
        value = top.get(key)
        if value is not None:
            suite = read(context, suite, value)
    if not (suite.effects.write or suite.effects.irreversible):
        _refuse_idle_scope(reader, suite)
    stated = suite.tests or any(scenario.states_something for scenario in suite.scenarios)
    if isinstance(node, Mapping) and not stated and not reader.problems:
        reader.problem(node, "the suite asks nothing: it has no tests, and no scenario states an expectation")
    return suite


def _refuse_idle_scope(reader: Reader, suite: Suite) -> None:
    """`scope: effects` compares nothing where no tool is said to have an effect."""
    for scenario in suite.scenarios:
        path = scenario.path
        if path and path.expected_calls and path.expected_calls.scope == "effects":
            message = (
                "path.expected_calls: 'scope: effects' needs 'effects.write' or 'effects.irreversible' in the suite"
            )
            reader.problems.append(Problem(message, reader.file, path.lines["expected_calls"]))
