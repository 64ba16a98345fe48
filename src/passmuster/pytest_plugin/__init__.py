"""The pytest plugin: collects `passmuster.yaml` files, and offers the fixture `passmuster`.

It is loaded by every pytest in an environment that has passmuster, so it imports nothing until it is needed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from passmuster._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from passmuster.pytest_plugin._checker import Checker
    from passmuster.pytest_plugin._collection import SuiteFile
else:
    __getattr__ = lazy_exports(__name__)

_NAMES = ("passmuster.yaml", "passmuster.yml", "passmuster.json")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options as for `passmuster run`."""
    group = parser.getgroup("passmuster", "passmuster: agents evaluated by their traces")
    group.addoption(
        "--passmuster-traces",
        action="append",
        default=[],
        metavar="PATH",
        help="Traces for the collected suites, instead of those that they name: file, folder or glob.",
    )
    group.addoption("--passmuster-strict", action="store_true", help="A warning fails the gate.")
    group.addoption(
        "--passmuster-judge",
        choices=("live", "cached", "off"),
        default="live",
        help="Ask judges (default), use cached verdicts only, or leave judges out.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """The suite in a file of that name."""
    if file_path.name not in _NAMES:
        return None
    from passmuster.pytest_plugin._collection import SuiteFile

    return SuiteFile.from_parent(parent, path=file_path)


@pytest.fixture
def passmuster(request: pytest.FixtureRequest) -> Checker:
    """Evaluates messages, spans and traces that a test has at hand: `passmuster.check(messages, scenario="PAY-1")`."""
    from passmuster.pytest_plugin._checker import Checker

    return Checker(request.path.parent)
