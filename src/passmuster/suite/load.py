"""A suite file, read in one go: a typed `Suite`, or every mistake in it with its line."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from pathlib import Path
from typing import Literal, cast

from passmuster.problems import SuiteError, did_you_mean
from passmuster.suite import globs
from passmuster.suite.discovery import display, find_root
from passmuster.suite.files import read_document
from passmuster.suite.matchers import read_matcher
from passmuster.suite.model import CheckKind, FailedWhen, Output, Redact, Scenario, Suite, Test, Waiver
from passmuster.suite.nodes import Mapping, Node, Scalar
from passmuster.suite.policy import Policy, read_policy
from passmuster.suite.reading import Reader

__all__ = ["FindKinds", "load_suite"]

FindKinds = Callable[[Path, list[tuple[str, Node]], Reader], MappingOf[str, CheckKind]]
"""Tells the kinds of check a suite can name, given its folder and the plugins it lists."""

_TOP = (
    "version",
    "suite",
    "description",
    "agent",
    "traces",
    "plugins",
    "tests",
    "scenarios",
    "waivers",
    "failed_when",
    "redact",
    "output",
)
_TOP_LATER = (
    "queries",
    "defaults",
    "behaviors",
    "effects",
    "layers",
    "classification",
    "judge_config",
    "thresholds",
    "weights",
    "required_scenarios",
    "optional_scenarios",
    "pass_criteria",
    "composite",
    "latency_budget_ms",
    "repeat_policy",
    "baseline",
)
_SCENARIO = ("id", "query", "category", "capability", "description", "tags")
_SCENARIO_LATER = (
    "correctness",
    "path",
    "cost",
    "expected_behaviors",
    "must_not",
    "label",
    "weight",
    "pass_score",
    "repeat",
    "repeat_policy",
)
_LEVELS = ("block", "warn", "log")
Level = Literal["block", "warn", "log"]
_TEST = ("id", "metric", "description", "tags", "scenarios", "severity")
_FORMATS = ("console", "json", "junit", "sarif")
_FORMATS_LATER = ("markdown", "html")


def load_suite(path: Path, find_kinds: FindKinds, root: str | Path | None = None) -> Suite:
    """The suite in a file. Raises `SuiteError` with all problems of the suite and its policies."""
    top = find_root(root, path)
    file = display(path, top)
    node, data = read_document(path, file)
    loader = _Loader(Reader(file), path, top)
    suite = loader.read(node, hashlib.sha256(data).hexdigest(), find_kinds)
    if loader.reader.problems:
        raise SuiteError(sorted(loader.reader.problems, key=lambda p: (p.file != file, p.file or "", p.line or 0)))
    return suite


class _Loader:
    """Reads one suite; a `CheckContext` for the checks it meets."""

    def __init__(self, reader: Reader, path: Path, root: Path) -> None:
        self.reader, self.path, self.root = reader, path, root
        self.policies: dict[Path, Policy | None] = {}

    def read(self, node: Node, sha256: str, find_kinds: FindKinds) -> Suite:
        reader = self.reader
        top = reader.mapping(node, "suite", _TOP, _TOP_LATER)
        version = top.get("version")
        if version is not None and reader.text(version, "version") not in ("1", "1.0"):
            reader.problem(version, "version: this program reads version 1")
        plugins = [(reader.text(item, "plugins"), item) for item in self.listed(top, "plugins")]
        kinds = find_kinds(self.path.parent, plugins, reader)
        scenarios = self.scenarios(top)
        tests = self.tests(top, kinds, scenarios)
        if isinstance(node, Mapping) and not tests and not reader.problems:
            reader.problem(node, "the suite asks nothing: it has no tests, and no scenario states an expectation")
        agent_name, agent_version = self.agent(top)
        return Suite(
            name=self.text(top, "suite") or self.path.resolve().parent.name,
            path=self.path,
            file=reader.file,
            root=self.root,
            sha256=sha256,
            agent_name=agent_name,
            agent_version=agent_version,
            traces=tuple(reader.text(item, "traces") for item in self.listed(top, "traces")),
            tests=tuple(tests),
            scenarios=tuple(scenarios),
            waivers=tuple(self.waivers(top, tests, scenarios)),
            failed_when=tuple(self.failed_when(top)),
            redact=self.redact(top),
            output=self.output(top),
        )

    def listed(self, map_: Mapping, key: str) -> list[Node]:
        node = map_.get(key)
        return [] if node is None else self.reader.one_or_more(node)

    def text(self, map_: Mapping, key: str) -> str | None:
        node = map_.get(key)
        return None if node is None else self.reader.text(node, key)

    def agent(self, top: Mapping) -> tuple[str | None, str | None]:
        node = top.get("agent")
        if node is None:
            return None, None
        if isinstance(node, Scalar):
            return self.reader.text(node, "agent"), None
        map_ = self.reader.mapping(node, "agent", ("name", "version", "description"))
        return self.text(map_, "name"), self.text(map_, "version")

    def scenarios(self, top: Mapping) -> list[Scenario]:
        node = top.get("scenarios")
        found: dict[str, Scenario] = {}
        unnamed: dict[str, int] = {}
        for place, item in enumerate(self.reader.items(node, "scenarios") if node is not None else []):
            at = f"scenarios[{place}]"
            if not isinstance(item, Mapping):
                self.reader.expected("a map", item, at)
                continue
            map_ = self.reader.mapping(item, at, _SCENARIO, _SCENARIO_LATER)
            id_node, query = map_.get("id"), self.text(map_, "query")
            if id_node is not None:
                id_ = self.reader.text(id_node, f"{at}.id")
            elif query:
                id_ = self.unnamed(query, unnamed, found, map_, at)
            else:
                self.reader.problem(item, f"{at}: needs an 'id' or a 'query'")
                continue
            if id_ in found:
                self.reader.problem(id_node or item, f"{at}: the id '{id_}' is taken on line {found[id_].line}")
            found[id_] = Scenario(
                id=id_,
                query=query,
                category=self.text(map_, "category"),
                capability=self.text(map_, "capability"),
                tags=tuple(self.reader.text(tag, f"{at}.tags") for tag in self.listed(map_, "tags")),
                line=item.line,
            )
        return list(found.values())

    def unnamed(self, query: str, seen: dict[str, int], found: dict[str, Scenario], map_: Mapping, at: str) -> str:
        """An id made from a query's words."""
        folded = " ".join(query.split())
        if folded in seen:
            self.reader.problem(
                map_, f"{at}: has the same query as the scenario on line {seen[folded]}; give each an 'id'"
            )
        seen[folded] = map_.line
        slug = "-".join(re.findall(r"\w+", folded.lower()))[:60].rstrip("-") or "query"
        id_, number = slug, 1
        while id_ in found and folded not in list(seen)[:-1]:
            number += 1
            id_ = f"{slug}-{number}"
        return id_

    def tests(self, top: Mapping, kinds: MappingOf[str, CheckKind], scenarios: list[Scenario]) -> list[Test]:
        node = top.get("tests")
        tests: dict[str, Test] = {}
        for place, item in enumerate(self.reader.items(node, "tests") if node is not None else []):
            at = f"tests[{place}]"
            if not isinstance(item, Mapping):
                self.reader.expected("a map", item, at)
                continue
            test = self.test(item, at, kinds, scenarios)
            if test is None:
                continue
            if test.id in tests:
                id_node = item.get("id") or item
                self.reader.problem(id_node, f"{at}: the id '{test.id}' is taken on line {tests[test.id].line}")
            tests[test.id] = test
        return list(tests.values())

    def test(self, node: Mapping, at: str, kinds: MappingOf[str, CheckKind], scenarios: list[Scenario]) -> Test | None:
        reader = self.reader
        id_node = reader.required(node, "id", at)
        id_ = reader.text(id_node, f"{at}.id") if id_node is not None else ""
        at = f"tests.{id_}" if id_ else at
        metric_node = reader.required(node, "metric", at)
        if metric_node is None:
            return None
        metric = reader.text(metric_node, f"{at}.metric")
        kind = kinds.get(metric)
        if kind is None:
            hint = did_you_mean(metric, kinds) or f"; known: {', '.join(sorted(kinds))}"
            reader.problem(metric_node, f"{at}: unknown metric '{metric}'{hint}")
            return None
        reader.mapping(node, f"{at} ({metric})", (*_TEST, *kind.keys))
        severity = node.get("severity")
        return Test(
            id=id_,
            metric=metric,
            severity=cast("Level", reader.choice(severity, f"{at}.severity", _LEVELS)) if severity else "block",
            scenarios=self.selected(node, at, scenarios),
            tags=tuple(reader.text(tag, f"{at}.tags") for tag in self.listed(node, "tags")) or None,
            spec=kind.read(self, node, at),
            line=node.line,
        )

    def selected(self, node: Mapping, at: str, scenarios: list[Scenario]) -> tuple[str, ...] | None:
        """The ids of the scenarios that a test names, by id or glob."""
        if "scenarios" not in node:
            return None
        ids = [scenario.id for scenario in scenarios]
        chosen: list[str] = []
        for item in self.listed(node, "scenarios"):
            pattern = self.reader.text(item, f"{at}.scenarios")
            matches = [pattern] if pattern in ids else [id_ for id_ in ids if globs.glob_matcher(pattern)(id_)]
            if not matches:
                hint = did_you_mean(pattern, ids)
                self.reader.problem(item, f"{at}.scenarios: '{pattern}' selects no scenario{hint}")
            chosen += matches
        if not self.listed(node, "scenarios"):
            self.reader.problem(node, f"{at}.scenarios: an empty list selects no scenario")
        return tuple(dict.fromkeys(chosen))

    def policy(self, node: Node, at: str) -> Policy | None:
        """The policy file that a node names, read once a suite."""
        name = self.reader.text(node, f"{at}.policy")
        if not name:
            return None
        path = (self.path.parent / name).resolve()
        if not path.is_relative_to(self.root):
            message = f"{at}.policy: '{name}' lies outside the root ({self.root}); move it inside or widen --root"
            self.reader.problem(node, message)
            return None
        if not path.is_file():
            self.reader.problem(node, f"{at}.policy: there is no file '{name}' (looked for {path})")
            return None
        if path not in self.policies:
            self.policies[path] = self.read_policy(path)
        return self.policies[path]

    def read_policy(self, path: Path) -> Policy | None:
        file = display(path, self.root)
        try:
            node, _ = read_document(path, file)
        except SuiteError as error:
            self.reader.problems += error.problems
            return None
        return read_policy(Reader(file, self.reader.problems), node)

    def waivers(self, top: Mapping, tests: list[Test], scenarios: list[Scenario]) -> list[Waiver]:
        node = top.get("waivers")
        found: list[Waiver] = []
        for place, item in enumerate(self.reader.items(node, "waivers") if node is not None else []):
            at = f"waivers[{place}]"
            map_ = self.reader.mapping(item, at, ("test", "tool", "scenario", "reason", "expires"))
            parts = [self.reader.required(map_, key, at) for key in ("test", "reason", "expires")]
            tool, scenario = map_.get("tool"), self.text(map_, "scenario")
            if any(part is None for part in parts):
                continue
            test, reason, expires = (self.reader.text(cast("Node", part), at) for part in parts)
            ids = [known.id for known in tests]
            if test not in ids:
                self.reader.problem(cast("Node", parts[0]), f"{at}.test: no test '{test}'{did_you_mean(test, ids)}")
            known_scenarios = [known.id for known in scenarios]
            if scenario is not None and not any(globs.glob_matcher(scenario)(known) for known in known_scenarios):
                hint = did_you_mean(scenario, known_scenarios)
                self.reader.problem(
                    cast("Node", map_.get("scenario")), f"{at}.scenario: no scenario '{scenario}'{hint}"
                )
            try:
                last_day = datetime.date.fromisoformat(expires)
            except ValueError:
                self.reader.expected("a day such as 2027-01-31", cast("Node", parts[2]), f"{at}.expires")
                continue
            found.append(
                Waiver(
                    test=test,
                    reason=reason,
                    expires=last_day,
                    tool=self.reader.pattern(tool, f"{at}.tool") if tool is not None else None,
                    scenario=scenario,
                    line=item.line,
                )
            )
        return found

    def failed_when(self, top: Mapping) -> list[FailedWhen]:
        node = top.get("failed_when")
        found: list[FailedWhen] = []
        for place, item in enumerate(self.reader.items(node, "failed_when") if node is not None else []):
            at = f"failed_when[{place}]"
            map_ = self.reader.mapping(item, at, ("tool", "result"))
            tool, result = map_.get("tool"), self.reader.required(map_, "result", at)
            if result is not None:
                pattern = self.reader.pattern(tool, f"{at}.tool") if tool is not None else "*"
                found.append(FailedWhen(pattern, read_matcher(self.reader, result, f"{at}.result")))
        return found

    def redact(self, top: Mapping) -> Redact:
        node = top.get("redact")
        if node is None:
            return Redact()
        map_ = self.reader.mapping(node, "redact", ("patterns", "arguments"))
        arguments = []
        for item in self.listed(map_, "arguments"):
            text = self.reader.text(item, "redact.arguments")
            if text and not re.fullmatch(r"[^.]+\..+", text):
                self.reader.problem(item, f"redact.arguments: expected TOOL.path, such as 'pay.card', found '{text}'")
            arguments.append(text)
        patterns = [self.reader.regex(item, "redact.patterns") for item in self.listed(map_, "patterns")]
        return Redact(tuple(patterns), tuple(arguments))

    def output(self, top: Mapping) -> Output:
        node = top.get("output")
        if node is None:
            return Output()
        map_ = self.reader.mapping(node, "output", ("format", "dir"))
        formats: list[str] = []
        for item in self.listed(map_, "format"):
            if isinstance(item, Scalar) and item.value in _FORMATS_LATER:
                self.reader.problem(item, f"output.format: '{item.value}' is not yet supported by this version")
            else:
                formats.append(self.reader.choice(item, "output.format", _FORMATS))
        return Output(tuple(formats), self.text(map_, "dir") or "passmuster-report")
