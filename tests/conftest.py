"""Every suite that any test loads conforms to the JSON Schema that `passmuster schema suite` prints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

from passmuster import api
from passmuster.checks import KINDS
from passmuster.suite import _load, plain


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
