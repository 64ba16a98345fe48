"""How words of a command line are read: arguments, options, mistakes, and what a shell completes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests.cli_runner import CliRunner

from passmuster.cli._command_line import (
    CommandLineError,
    Group,
    argument,
    cli_command,
    cli_group,
    decimal_number,
    option,
    whole_number,
)
from passmuster.cli._completing import SCRIPTS, completion_lines
from passmuster.cli._main import command as top

SEEN: list[dict[str, Any]] = []


@cli_command("copy")
@argument("target", metavar="TARGET")
@argument("sources", metavar="[SOURCE]...", many=True)
@option("-o", "--output", metavar="FILE", help="Where to.")
@option("--tag", "tags", multiple=True, metavar="TAG", help="Tags.")
@option("--mode", choices=("fast", "safe"), default="safe", help="How.")
@option("--most", convert=whole_number(1, 9), default=3, metavar="N", help="How many.")
@option("--share", convert=decimal_number, metavar="SHARE", help="How much.")
@option("-n", "--dry-run", is_flag=True, help="Write nothing.")
@option("--links", is_flag=True, off_name="--no-links", help="Follow links.")
@option("-v", "detail", count=True, help="Say more.")
def copy(**given: Any) -> None:
    """Copy files. This is more about it.

    Example:
      files copy a b
    """
    SEEN.append(given)


@cli_command("label")
@option("--name", required=True, metavar="NAME", help="The label.")
def label(name: str) -> None:
    """Label it."""


@cli_group("files")
def files() -> None:
    """Work with files."""


GROUP = Group("files", "Work with files.", {"copy": copy, "label": label})
DEFAULTS: dict[str, Any] = {
    "target": "t",
    "sources": (),
    "output": None,
    "tags": (),
    "mode": "safe",
    "most": 3,
    "share": None,
    "dry_run": False,
    "links": False,
    "detail": 0,
}


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["t"], {}),
        (["t", "a", "b"], {"sources": ("a", "b")}),
        (["-o", "x", "t", "a"], {"output": "x", "sources": ("a",)}),
        (["t", "-ox", "a"], {"output": "x", "sources": ("a",)}),
        (["t", "a", "--output=x"], {"output": "x", "sources": ("a",)}),
        (["t", "--output", "--mode"], {"output": "--mode"}),
        (["t", "--output="], {"output": ""}),
        (["t", "--output", "x", "--output", "y"], {"output": "y"}),
        (["t", "--tag", "a", "b", "--tag=c"], {"tags": ("a", "c"), "sources": ("b",)}),
        (["t", "--mode", "fast"], {"mode": "fast"}),
        (["t", "--most", "9"], {"most": 9}),
        (["t", "--share", "0.5"], {"share": 0.5}),
        (["t", "--dry-run"], {"dry_run": True}),
        (["t", "-nvv"], {"dry_run": True, "detail": 2}),
        (["t", "-nox"], {"dry_run": True, "output": "x"}),
        (["t", "--links"], {"links": True}),
        (["t", "--links", "--no-links"], {"links": False}),
        (["t", "-v", "-v", "-v"], {"detail": 3}),
        (["t", "-"], {"sources": ("-",)}),
        (["t", "--", "--mode", "-x"], {"sources": ("--mode", "-x")}),
        (["--", "t"], {}),
        (["t", ""], {"sources": ("",)}),
    ],
)
def test_words_are_read(words: list[str], changes: dict[str, Any]) -> None:
    assert copy.parse(words, "files copy") == {**DEFAULTS, **changes}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["copi"], "No such command 'copi'; did you mean 'copy'?"),
        (["--modes"], "No such option '--modes'"),
        (["--"], "Missing command"),
        (["copy"], "Missing argument 'TARGET'"),
        (["label", "a"], "Missing option '--name'"),
        (["label", "--name", "a", "b"], "Got unexpected extra argument (b)"),
        (["label", "--name", "a", "b", "c"], "Got unexpected extra arguments (b c)"),
        (["copy", "t", "--modes", "x"], "No such option '--modes'; did you mean '--mode'?"),
        (["copy", "t", "--mode"], "Option '--mode' requires an argument"),
        (["copy", "t", "-o"], "Option '-o' requires an argument"),
        (["copy", "t", "-nx"], "No such option '-x'"),
        (["copy", "t", "--dry-run=yes"], "Option '--dry-run' does not take a value"),
        (["copy", "t", "--mode", "slow"], "Invalid value for '--mode': expected fast or safe, found 'slow'"),
        (["copy", "t", "--most", "0"], "Invalid value for '--most': expected a number from 1 to 9, found '0'"),
        (["copy", "t", "--most", "-1"], "Invalid value for '--most': expected a number from 1 to 9, found '-1'"),
        (["copy", "t", "--most", "1.5"], "Invalid value for '--most': expected a number from 1 to 9, found '1.5'"),
        (["copy", "t", "--most", "²"], "Invalid value for '--most': expected a number from 1 to 9, found '²'"),
        (["copy", "t", "--share", "much"], "Invalid value for '--share': expected a number, found 'much'"),
    ],
)
def test_mistakes_are_told_with_the_usage(words: list[str], message: str) -> None:
    with pytest.raises(CommandLineError) as raised:
        GROUP.run(words, "files")
    assert str(raised.value) == message
    path = " ".join(["files", *(word for word in words[:1] if word in GROUP.commands)])
    ended = CliRunner().invoke(GROUP, words)
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"Usage: {path.replace('files', 'passmuster', 1)} [OPTIONS]")


def test_help_is_shown_before_values_are_converted() -> None:
    ended = CliRunner(env={"COLUMNS": "60"}).invoke(GROUP, ["copy", "--mode", "slow", "--help"])
    assert ended.exit_code == 0
    assert ended.output == (
        "Usage: passmuster copy [OPTIONS] TARGET [SOURCE]...\n"
        "\n"
        "  Copy files. This is more about it.\n"
        "\n"
        "  Example:\n"
        "    files copy a b\n"
        "\n"
        "Options:\n"
        "  -o, --output FILE     Where to.\n"
        "  --tag TAG             Tags.\n"
        "  --mode [fast|safe]    How.\n"
        "  --most N              How many.\n"
        "  --share SHARE         How much.\n"
        "  -n, --dry-run         Write nothing.\n"
        "  --links / --no-links  Follow links.\n"
        "  -v                    Say more.\n"
        "  -h, --help            Show this message and exit.\n"
    )


def test_the_help_of_a_group_lists_its_commands() -> None:
    listed = CliRunner().invoke(GROUP, ["-h"]).output.split("Commands:\n")[1]
    assert listed == "  copy   Copy files.\n  label  Label it.\n"
    assert files.summary == "Work with files."


def test_a_command_runs_with_what_was_given() -> None:
    SEEN.clear()
    assert CliRunner().invoke(GROUP, ["copy", "a", "-n"]).exit_code == 0
    assert SEEN == [{**DEFAULTS, "target": "a", "dry_run": True}]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("files ", ["copy", "label"]),
        ("files l", ["label"]),
        ("files copy --mo", ["--mode", "--most"]),
        ("files copy --mode ", ["fast", "safe"]),
        ("files copy --mode f", ["fast"]),
        ("files copy --mode=s", ["safe"]),
        ("files copy --mode fast --mo", ["--most"]),
        ("files copy --tag a --t", ["--tag"]),
        ("files copy --no", ["--no-links"]),
        ("files copy --output ", []),
        ("files copy t ", []),
        ("files nothing --", ["--help"]),
        ("files copy 'open --mod", ["--mode"]),
        ("passmuster schema ", ["suite", "trace", "report"]),
        ("passmuster baseline ratchet --to ", ["prediction", "value"]),
    ],
)
@pytest.mark.parametrize("shell", SCRIPTS)
def test_words_are_completed(words: str, found: list[str], shell: str) -> None:
    parts = words.split(" ")
    begun = parts[-1] if shell == "fish" else str(len(parts) - 1)
    group = GROUP if words.startswith("files") else top
    with mock.patch.dict(os.environ, {"COMP_WORDS": words, "COMP_CWORD": begun}):
        lines = list(completion_lines(group, f"{shell}_complete"))
    if shell == "zsh":
        assert lines[::3] == ["plain"] * len(found)
        assert lines[1::3] == found
    else:
        assert [line.partition("\t")[0] for line in lines] == [f"plain,{name}" for name in found]


@pytest.mark.parametrize("number", ["", "0", "x"])
def test_odd_questions_of_a_shell_are_answered(number: str) -> None:
    with mock.patch.dict(os.environ, {"COMP_WORDS": "files", "COMP_CWORD": number}):
        assert list(completion_lines(GROUP, "bash_complete")) == ["plain,copy", "plain,label"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_completes_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "passmuster"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m passmuster "$@"\n')
    program.chmod(0o755)
    asked = f"{SCRIPTS['bash']}\nCOMP_WORDS=(passmuster run --judge ''); COMP_CWORD=3\n"
    done = subprocess.run(
        ["bash", "-c", f'{asked}_passmuster_completion {program}; printf "%s\\n" "${{COMPREPLY[@]}}"; complete -p'],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == [
        *("live", "cached", "off"),
        "complete -o default -F _passmuster_completion passmuster",
    ]
