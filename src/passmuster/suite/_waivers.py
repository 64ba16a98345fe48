"""`waivers:`, violations of a test that only warn until the end of a day."""

from __future__ import annotations

from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.suite._context import Context
from passmuster.suite._model import Suite, Waiver
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._records import RecordOf
from passmuster.suite.grammar._values import TEXT, Custom, ListOf
from passmuster.suite.text._nodes import Node

WAIVERS = ListOf(RecordOf(Waiver))


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
    return replace(suite, waivers=WAIVERS.read(reader, node, "waivers"))
