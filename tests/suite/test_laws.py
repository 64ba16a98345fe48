"""What holds for every suite: YAML and JSON say the same, and a broken one is refused, never crashed on."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.suite.suite_files import POLICY, VALID, write

import passmuster
from passmuster._problems import Problem, SuiteError
from passmuster.suite._model import Suite


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name).resolve()


_SPELLING = ("line", "lines", "column", "file", "root", "sha256", "documents")


def content(suite: Suite) -> Any:
    """All that a suite says, apart from where it stands and how it is spelled."""

    def without(value: Any) -> Any:
        if isinstance(value, msgspec.Struct):
            names = (
                name for name in value.__struct_fields__ if name not in _SPELLING and (value, name) != (suite, "path")
            )
            return type(value).__name__, {name: without(getattr(value, name)) for name in names}
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items()}
        return [without(item) for item in value] if isinstance(value, list | tuple) else value

    return without(suite)


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), min_size=1).filter(str.strip)
tools = st.from_regex(r"[a-z*?]{1,6}", fullmatch=True)
numbers = st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
matchers = st.one_of(
    numbers,
    names.map(lambda text: {"$eq": text}),
    numbers.map(lambda number: {"$gt": number}),
    tools.map(lambda glob: {"$glob": glob}),
    st.just({"$any": True}),
    st.lists(numbers, min_size=1).map(lambda options: {"$one_of": options}),
)
selectors = st.one_of(
    tools,
    st.lists(tools, min_size=1, max_size=3),
    st.builds(lambda tool, matcher: {"tool": tool, "args": {"n": matcher}}, tools, matchers),
)
rules = st.one_of(
    selectors.map(lambda tool: {"type": "require", "tool": tool}),
    st.builds(lambda a, b: {"type": "before", "first": a, "then": b}, selectors, selectors),
    st.builds(lambda a, n: {"type": "count", "tool": a, "max": n}, selectors, st.integers(0, 9)),
)
# Whole numbers are spelled alike in both; a violation quotes the spelling.
constraints = st.fixed_dictionaries({"min": st.integers(-9, 9)}, optional={"required": st.booleans()})
bodies = st.one_of(
    st.lists(rules, min_size=1, max_size=3).map(lambda some: {"metric": "sequence_valid", "rules": some}),
    st.lists(tools, min_size=1, max_size=3).map(lambda some: {"metric": "tool_blocklist", "blocklist": some}),
    st.builds(
        lambda tool, name, said: {"metric": "args_valid", "tool": tool, "constraints": {name: said}},
        tools,
        names,
        constraints,
    ),
)
suites = st.builds(
    lambda name, tests, scenarios, severities: {
        "suite": name,
        "scenarios": [{"id": id_, "query": id_, "tags": ["x"]} for id_ in scenarios],
        "tests": [
            {"id": f"t{place}", "severity": severity, **body}
            for place, (body, severity) in enumerate(zip(tests, severities, strict=False))
        ],
    },
    names,
    st.lists(bodies, min_size=1, max_size=3),
    st.lists(names, unique_by=lambda text: " ".join(text.split()), max_size=3),
    st.lists(st.sampled_from(["block", "warn", "log"]), min_size=3, max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(suites, st.booleans(), st.booleans())
def test_a_suite_in_json_says_what_it_says_in_yaml(suite: dict[str, Any], flow: bool, escaped: bool) -> None:
    as_yaml = yaml.safe_dump(suite, allow_unicode=True, default_flow_style=flow, width=10_000)
    with folder() as here:
        (here / "a.yaml").write_text(as_yaml, encoding="utf-8")
        (here / "a.json").write_text(json.dumps(suite, ensure_ascii=escaped), encoding="utf-8")
        read = [content(passmuster.load_suite(here / name)) for name in ("a.yaml", "a.json")]
    assert read[0] == read[1]


def test_the_whole_language_in_json_says_what_it_says_in_yaml(tmp_path: Path) -> None:
    write(tmp_path, yaml.safe_dump(VALID, sort_keys=False), "a.yaml")
    write(tmp_path, json.dumps(VALID, indent=1), "a.json")
    assert content(passmuster.load_suite(tmp_path / "a.yaml")) == content(passmuster.load_suite(tmp_path / "a.json"))


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every part of some data."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


WHOLE: dict[str, Any] = {"suite": VALID, "policy": yaml.safe_load(POLICY)}
WHOLE["policy"]["tools"]["more"] = {
    "additional_arguments": False,
    "arguments": {
        "text": {"type": "string", "pattern": "^a+$", "format": "email", "minLength": 1},
        "list": {"type": "array", "items": {"enum": [1, "a", None]}, "uniqueItems": True},
        "map": {"type": "object", "properties": {"x": {"const": 1}}, "additionalProperties": False},
        "step": {"multipleOf": 0.5, "exclusiveMinimum": 0, "on_violation": "warn"},
    },
}
WHOLE["policy"]["tools"]["full"] = {"schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}}
WHOLE["policy"]["$defs"] = {"n": {"type": "number"}}

junk: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 1e308, float("inf"), float("nan"), 10**40, "", " ", "*", "[", "a[", "(", "x-", "$", "\0"]),
    st.sampled_from(["2030-01-31", "../p.yaml", "/", "tests", "args_valid", "#/$defs/n", "http://a/b", "number"]),
    st.text(max_size=5),
    st.sampled_from([[], {}, [[]], [{}], {"a": {}}, {"$ref": "#"}, {"type": "string"}, {"tool": []}, {"$not": {}}]),
    st.sampled_from(["drop", "twice"]).map(lambda deed: (deed,)),
)
everywhere = sorted((path for path in places(WHOLE) if len(path) > 1), key=str)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(everywhere), junk), min_size=1, max_size=3))
def test_a_mutated_suite_loads_or_is_refused_and_never_crashes(
    mutations: list[tuple[tuple[str | int, ...], Any]],
) -> None:
    whole = copy.deepcopy(WHOLE)
    for path, value in mutations:
        mutate(whole, path, value)
    with folder() as here:
        suite = write(here, yaml.dump(whole["suite"], allow_unicode=True), policy=yaml.dump(whole["policy"]))
        refused = attempt(suite)
    assert all(problem.message and problem.file and problem.line for problem in refused)


def attempt(path: Path) -> list[Problem]:
    """What is wrong with a suite; where nothing is, it can be judged by, so that nothing is left to go wrong."""
    try:
        suite = passmuster.load_suite(path)
        tags = tuple(tag for test in suite.tests for tag in test.tags or ())
        passmuster.evaluate(suite, [passmuster.Trace(steps=(passmuster.ToolCall(tool="pay"),), tags=tags)])
    except SuiteError as error:
        return error.problems
    return []


def mutate(data: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Replace, drop or double what stands at a path, if an earlier mutation has left it there."""
    holder: Any = None
    last: Any = None
    for step in path:
        holder, last = data, step
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(holder, str):
        return
    if value == ("drop",):
        del holder[last]
    elif value == ("twice",) and isinstance(holder, list):
        holder.insert(last, data)
    elif value == ("twice",):
        holder[f"{last}s"] = data
    else:
        holder[last] = value
