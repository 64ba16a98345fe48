"""What all tests share: reproducible examples, and suites compared with their JSON Schema.

Every suite that any test loads conforms to the schema that `passmuster schema suite` prints.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import settings

from passmuster import api
from passmuster.checks import KINDS
from passmuster.suite import _load, plain

# The same examples in every run: tests fail for a change, not by chance. `--hypothesis-profile=search` draws new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, print_blob=True, deadline=None)
settings.load_profile("fixed")

# What is printed does not depend on the job or the terminal that runs the tests.
for _name in ("GITHUB_ACTIONS", "COLUMNS", "FORCE_COLOR", "NO_COLOR"):
    os.environ.pop(_name, None)

# A shell starts commands in the background with SIGINT ignored, and nohup ignores SIGHUP. Processes that tests end by
# these signals would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# pytest-xdist states a width for its workers, which the console report would take for that of a person's terminal.
os.environ.pop("COLUMNS", None)


@cache
def suite_validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(api.json_schema("suite"))


@pytest.fixture(autouse=True, scope="session")
def _loaded_suites_conform() -> Iterator[None]:
    read = _load._read
    names = KINDS.names

    def read_and_compare(context: Any, node: Any, *arguments: Any) -> Any:
        suite = read(context, node, *arguments)
        if not context.reader.problems and names == KINDS.names:  # else a test has added a kind of check
            for error in suite_validator().iter_errors(plain(node)):
                raise AssertionError(f"the suite loads, and its JSON Schema refuses it: {error}")
        return suite

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_load, "_read", read_and_compare)
        yield
