"""A report says what it was made from: the suite, its policies and the trace files, as SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from passmuster import api
from passmuster.api import _input_digests
from passmuster.scoring import Report

SUITE = "tests: [{id: args, metric: args_valid, policy: policies/shop.yaml}]\n"
POLICY = "tools: {search: {}}\n"
TRACE = '{"trace_id": "%s", "steps": [{"type": "tool_call", "tool": "search"}]}\n'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "policies").mkdir()
    (tmp_path / "traces").mkdir()
    (tmp_path / "passmuster.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "policies" / "shop.yaml").write_text(POLICY, encoding="utf-8")
    for name in ("a", "b"):
        (tmp_path / "traces" / f"{name}.jsonl").write_text(TRACE % name, encoding="utf-8")
    return tmp_path


def reported(shop: Path) -> Report:
    with api.StandardInput() as stdin:
        return api.run(str(shop), api.RunOptions(traces=(str(shop / "traces"),)), stdin).report


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_suite_policies_and_inputs_are_digested(shop: Path) -> None:
    found = reported(shop).provenance
    inputs = {f"traces/{name}.jsonl": digest(TRACE % name) for name in ("a", "b")}
    assert found.suite_sha256 == digest(SUITE)
    assert found.policies == {"policies/shop.yaml": digest(POLICY)}
    assert found.inputs == inputs
    assert found.inputs_sha256 == digest("".join(f"{value}  {name}\n" for name, value in inputs.items()))


def test_a_change_of_any_of_them_shows(shop: Path) -> None:
    before = reported(shop).provenance
    (shop / "policies" / "shop.yaml").write_text(POLICY + "# changed\n", encoding="utf-8")
    (shop / "traces" / "b.jsonl").write_text(TRACE % "c", encoding="utf-8")
    after = reported(shop).provenance
    assert after.suite_sha256 == before.suite_sha256
    assert after.policies != before.policies
    assert after.inputs_sha256 != before.inputs_sha256
    assert [name for name in after.inputs if after.inputs[name] != before.inputs[name]] == ["traces/b.jsonl"]


def test_large_input_is_not_digested_and_many_files_are_listed_in_part(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_input_digests, "_MOST_FILES", 1)
    found = reported(shop).provenance
    assert list(found.inputs) == ["traces/a.jsonl"]
    assert found.inputs_sha256 is not None
    monkeypatch.setattr(_input_digests, "_MOST_BYTES", 10)
    found = reported(shop).provenance
    assert (found.inputs, found.inputs_sha256) == ({}, None)
