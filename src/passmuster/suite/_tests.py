"""`tests:`, the checks on traces, and `waivers:`, whose violations only warn until the end of a day."""

from __future__ import annotations

from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.suite._context import Context
from passmuster.suite._model import CheckKind, Suite, Test, Waiver
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import RecordOf, fields_of, read_record
from passmuster.suite.grammar._values import TEXT, Custom, ListOf
from passmuster.suite.text._nodes import Mapping, Node


def read_tests(context: Context, suite: Suite, node: Node) -> Suite:
    """The tests in their order, each read by the kind of check that its `metric:` names."""
    reader = context.reader
    ids = [scenario.id for scenario in suite.scenarios]
    reader.vocabulary = {**reader.vocabulary, "scenario_patterns": _scenarios_among(ids)}
    lines: dict[str, int] = {}
    tests: list[Test] = []
    for place, item in enumerate(reader.items(node, "tests")):
        at = f"tests[{place}]"
        if not isinstance(item, Mapping):
            reader.expected("a map", item, at)
            continue
        id_ = _text_of(item.get("id"))
        if id_ in lines:
            reader.problem(item.entries["id"].value, f"{at}: the id '{id_}' is taken on line {lines[id_]}")
        elif id_:
            lines[id_] = item.line
        tests.append(_test(context, item, f"tests.{id_}" if id_ else at))
    return replace(suite, tests=tuple(tests))


def _test(context: Context, node: Mapping, at: str) -> Test:
    reader = context.reader
    kind = _kind(context, node, at)
    label = f"{at} ({kind.name})" if kind else at
    test = read_record(Test, reader, node, at, also=fields_of(kind.record) if kind else node.entries, label=label)
    spec = kind.read(reader, node, at) if kind else None
    return replace(test or Test(id=_text_of(node.get("id")), metric="", line=node.line), spec=spec)


def _kind(context: Context, node: Mapping, at: str) -> CheckKind | None:
    """The kind of check that a test names; None, with a problem noted, where there is none such."""
    name = _text_of(node.get("metric"))
    kind = context.kinds.get(name) if name else None
    if kind is None and name:
        hint = did_you_mean(name, context.kinds) or f"; known: {', '.join(sorted(context.kinds))}"
        context.reader.problem(node.entries["metric"].value, f"{at}: unknown metric '{name}'{hint}")
    return kind


def _text_of(node: Node | None) -> str:
    """The text of a node, empty where it has none; what is wrong with it is noted when the test is read."""
    text = TEXT.read(Reader(""), node, "") if node is not None else ""
    return text if text.strip() else ""


def _scenarios_among(ids: list[str]) -> Custom[tuple[str, ...]]:
    """The ids of the scenarios that a test names, by id or glob."""

    def read(reader: Reader, node: Node, at: str) -> tuple[str, ...]:
        chosen: list[str] = []
        items = reader.one_or_more(node)
        for item in items:
            pattern = reader.text(item, at)
            matches = [pattern] if pattern in ids else [id_ for id_ in ids if globs.glob_matcher(pattern)(id_)]
            if pattern and not matches:
                why = globs.why_bad_glob(pattern) or f"'{pattern}' selects no scenario{did_you_mean(pattern, ids)}"
                reader.problem(item, f"{at}: {why}")
            chosen += matches
        if not items:
            reader.problem(node, f"{at}: an empty list selects no scenario")
        return tuple(dict.fromkeys(chosen))

    return Custom("ids or patterns", read, {})


def read_waivers(context: Context, suite: Suite, node: Node) -> Suite:
    """The waivers; the tests and scenarios that they name have to be there."""
    reader = context.reader
    tests, scenarios = [test.id for test in suite.tests], [scenario.id for scenario in suite.scenarios]

    def test_id(reader: Reader, node: Node, at: str) -> str:
        id_ = reader.text(node, at)
        if id_ and id_ not in tests:
            reader.problem(node, f"{at}: no test '{id_}'{did_you_mean(id_, tests)}")
        return id_

    def scenario_pattern(reader: Reader, node: Node, at: str) -> str:
        """An id as it stands means just that scenario."""
        text = reader.text(node, at)
        if text in scenarios:
            return globs.escape_glob(text)
        if text and not any(map(globs.glob_matcher(text), scenarios)):
            why = globs.why_bad_glob(text) or f"no scenario '{text}'{did_you_mean(text, scenarios)}"
            reader.problem(node, f"{at}: {why}")
        return text

    names = {"test_id": test_id, "scenario_pattern": scenario_pattern}
    values = {name: Custom(name, read, TEXT.schema) for name, read in names.items()}
    reader.vocabulary = {**reader.vocabulary, **values}
    return replace(suite, waivers=ListOf(RecordOf(Waiver)).read(reader, node, "waivers"))
