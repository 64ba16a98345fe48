"""What `docs/judges.md` says is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from passmuster.judges.cache import Entry
from passmuster.judges.canaries import CANARIES, FAMILIES
from passmuster.judges.config import JudgeConfig

PAGE = (Path(__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")
YAML: list[str] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
ROWS: list[tuple[str, str]] = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE)


def test_every_key_is_described_and_no_other() -> None:
    assert sorted(key for key, _ in ROWS) == sorted(JudgeConfig.__struct_fields__)


@pytest.mark.parametrize(("key", "default"), ROWS)
def test_the_defaults_are_the_real_ones(key: str, default: str) -> None:
    field = next(field for field in msgspec.structs.fields(JudgeConfig) if field.name == key)
    if default == "required":
        assert field.required
    elif default.startswith("`") and key != "api_key_env":
        assert field.default == yaml.safe_load(default.strip("`"))
    else:
        assert field.default in (None, ())


@pytest.mark.parametrize("text", YAML)
def test_every_example_is_read(text: str) -> None:
    given: dict[str, Any] = yaml.safe_load(text)
    assert JudgeConfig.from_mapping(given["judge_config"]).members


def test_the_line_of_the_cache_has_its_form() -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith('{"key"'))
    assert list(json.loads(line)) == list(Entry.__struct_fields__)


def test_the_canaries_are_counted_right() -> None:
    assert f"about {len(CANARIES)} plainly bad answers" in PAGE
    assert ", ".join(f"`{family}`" for family in FAMILIES) in PAGE


def test_the_python_example_compiles_and_imports() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    compile(code, "docs/judges.md", "exec")
    imports = "\n".join(line for line in code.splitlines() if line.startswith("from "))
    found: dict[str, Any] = {}
    exec(imports, found)
    assert {"ask_all", "sway", "JudgeConfig"} <= found.keys()
