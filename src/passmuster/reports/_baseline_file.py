"""A baseline as the file that is kept and reviewed: secrets hidden, and short lists on one line."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from passmuster.redaction import Redactor
from passmuster.reports.formats.json import encoded
from passmuster.scoring import Baseline, RecordedScenario

__all__ = ["encoded_baseline"]

_NAME_LIMIT = 10_000
# A list of plain values, one a line. No string holds a raw line break, so that what follows `[` is no part of one.
_LIST = re.compile(rb"\[\n[^\[\]{}]*\]")
_BREAK = re.compile(rb"\n *")


def encoded_baseline(baseline: Baseline, redactor: Redactor) -> bytes:
    """The file's bytes."""
    safe = replace(
        baseline,
        agent_version=None if baseline.agent_version is None else redactor.text(baseline.agent_version),
        scenarios={id_: _scenario(one, redactor) for id_, one in baseline.scenarios.items()},
    )
    document = {"schema": safe.schema, **msgspec.to_builtins(safe)}
    return _LIST.sub(_on_one_line, encoded(document))


def _scenario(scenario: RecordedScenario, redactor: Redactor) -> RecordedScenario:
    """Tools are named by traces; whoever hides one cannot compare by its name."""
    golden = scenario.golden
    if golden is None:
        return scenario
    sequences = tuple(tuple(redactor.text(tool, _NAME_LIMIT) for tool in one) for one in golden.sequences)
    return replace(scenario, golden=replace(golden, sequences=sequences))


def _on_one_line(found: re.Match[bytes]) -> bytes:
    return b"[" + _BREAK.sub(b" ", found[0][1:-1]).strip() + b"]"
