"""The short form of the fuzz campaign (`tests/fuzzing`): a result or a located refusal for every input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.fuzzing.targets import TARGETS, Bench

SEED = "ci"
INPUTS = 60


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    here = Path.cwd()
    yield Bench(tmp_path_factory.mktemp("fuzz"))
    os.chdir(here)


@pytest.mark.parametrize("name", list(TARGETS))
def test_every_input_has_an_answer(name: str, bench: Bench) -> None:
    for number in range(INPUTS):
        TARGETS[name][0](bench, Random(f"{SEED}-{name}-{number}"))
