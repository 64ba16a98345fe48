"""What `docs/judges.md` says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from passmuster.checks.layers.answer._judged import BuiltInRubric, Rubric
from passmuster.cli.judge import audit_command
from passmuster.cli.run import command as run_command
from passmuster.engine._load_suite import load_suite
from passmuster.judges import _audit as audit
from passmuster.judges import _labels as labels
from passmuster.judges._cache import Entry
from passmuster.judges._canaries import CANARIES, FAMILIES
from passmuster.judges._config import JudgeConfig
from passmuster.metrics import judge_threshold
from passmuster.suite import fields_of

PAGE = (Path(__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")


def section(heading: str) -> str:
    """What stands below a heading, up to the next one."""
    return PAGE.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]


def first_column(heading: str, head: str) -> list[str]:
    """The code words in the first column of the table with this head."""
    rows = section(heading).split(f"\n| {head} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])]


YAML: list[str] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", YAML)
def test_every_example_is_read(text: str, tmp_path: Path) -> None:
    given: dict[str, Any] = yaml.safe_load(text)
    assert JudgeConfig.from_mapping(given["judge_config"]).members
    (tmp_path / "s.yaml").write_text(f"tests: [{{id: t, metric: tool_blocklist, blocklist: [x]}}]\n{text}")
    assert load_suite(tmp_path / "s.yaml", root=tmp_path).judge_config


def test_the_tables_list_what_there_is() -> None:
    assert first_column("## What is asked", "key of a rubric") == list(fields_of(Rubric))
    assert first_column("## What is asked", "`--judge`") == ["live", "cached", "off"]
    assert first_column("## Checking a judge", "key of a label") == list(fields_of(labels.Label))


def test_thresholds_are_what_they_are_said_to_be() -> None:
    head, _, row = section("## What is asked").split("| threshold |", 1)[1].split("\n\n", 1)[0].splitlines()
    written = [[float(word) for word in re.findall(r"[\d.]+", cell)] for cell in head.strip("|").split("|")]
    least = [int(cell) for cell in row.split("|")[2:-1]]
    assert [{judge_threshold(one) for one in cell} for cell in written] == [{one} for one in least]
    assert (
        f"{Rubric(rule='', line=0).threshold} for `llm_judge`, {BuiltInRubric(line=0).threshold} for the other two"
        in PAGE
    )


def test_the_bars_are_the_real_ones() -> None:
    said = section("## Checking a judge")
    assert (
        f"at least {audit.ENOUGH_LABELS} labels got a verdict, and at most {audit.MOST_UNANSWERED:.0%}".replace(
            "%", " %"
        )
        in said
    )
    assert f"κ is at least {audit.GOOD_KAPPA}, or the lower end of" in said
    assert f"interval is at least {audit.GOOD_AGREEMENT:.0%}".replace("%", " %") in said
    assert f"at most {audit.MOST_FALSE_PASSES:.0%} false passes".replace("%", " %") in said
    assert f"at most {audit.MOST_FLIPS:.0%} of the questions".replace("%", " %") in said


def test_the_labels_on_the_page_are_read(tmp_path: Path) -> None:
    (block,) = [text for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) if '"label"' in text]
    (tmp_path / "labels.jsonl").write_text(block)
    assert [label.passes for label in labels.read_labels(tmp_path / "labels.jsonl", "labels.jsonl")] == [False, True]


def test_every_option_on_the_page_exists() -> None:
    known = {name for one in (run_command, audit_command) for option in one.options for name in option.all_names}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known


def test_the_line_of_the_cache_has_its_form() -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith('{"key"'))
    assert list(json.loads(line)) == list(Entry.__struct_fields__)


def test_the_canaries_are_counted_right() -> None:
    assert f"about {len(CANARIES)} clearly bad answers" in PAGE
    assert ", ".join(f"`{family}`" for family in FAMILIES) in " ".join(PAGE.split())


def test_the_python_example_compiles_and_imports() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    compile(code, "docs/judges.md", "exec")
    imports = "\n".join(line for line in code.splitlines() if line.startswith("from "))
    found: dict[str, Any] = {}
    exec(imports, found)
    assert {"ask_all", "sway", "JudgeConfig"} <= found.keys()
