"""The documents say what the program does: every example in them is executed, in the order of the page.

Each page has a folder of its own, with the examples of the repository in it. A fenced block whose first line names
a file (```yaml passmuster.yaml) is written there. One without a name has to be valid: a suite, or a part of one. A
`console` block is a session: each line that begins with `$ ` is run and has to print what stands below it; a line
`…` stands for any lines. A block `part-of FILE` has to be found in a file that the page wrote, times aside.

`python tests/test_docs.py [PAGE]...` writes what the commands print now into the pages, or into these.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.cli_runner import CliRunner

import passmuster
from passmuster import api, metrics
from passmuster.checks._schema_words import FORMATS
from passmuster.checks.layers.path.expected_calls import ExpectedCalls
from passmuster.cli._command_line import Command, Group
from passmuster.cli._main import command as group
from passmuster.scoring import declared_metrics
from passmuster.suite import fields_of

REPOSITORY = Path(__file__).parent.parent
PAGES = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *(
        f"docs/{name}.md"
        for name in (
            "README",
            "start",
            "suite",
            "checks",
            "layers",
            "traces",
            "capture",
            "reports",
            "cli",
            "api",
            "baselines",
            "history",
            "scale",
            "github",
            "other-ci",
            "migrating",
            "concepts",
            "live",
            "tutorial",
            "howto",
            "policies",
            "flaky",
            "errors",
        )
    ),
]
FENCE = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r'time="[\d.]+"')


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    title: str
    text: str
    span: tuple[int, int]


def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    return [Block(found[1], found[2] or "", found[3], found.span(3)) for found in FENCE.finditer(text_of(page))]


# ── Running a page ──────────────────────────────────────────────────────────────────────────────────────────


class Sandbox:
    """A folder in which one page comes true."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder = folder / "project"  # a suite without a name has that of its folder
        self.code = 0
        (folder / ".git").mkdir(parents=True)
        shutil.copytree(
            REPOSITORY / "examples", folder / "examples", ignore=shutil.ignore_patterns("passmuster-report")
        )

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, line: str) -> str:
        """What one command prints, both streams together."""
        if line == "echo $?":
            return f"{self.code}\n"
        words = shlex.split(line)
        assert words[0] == "passmuster", f"the tests cannot run: {line}"
        given = b""
        if "<" in words:
            given = (self.folder / words.pop()).read_bytes()
            words.pop()
        with contextlib.chdir(self.folder):
            result = CliRunner().invoke(group, words[1:], input=given)
        self.code = result.exit_code
        return result.output


def session(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what is printed below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield line, printed


def assert_prints(expected: str, found: str, line: str) -> None:
    pieces = re.split(r"^…\n", expected, flags=re.MULTILINE)
    if len(pieces) == 1:
        assert found.strip() == expected.strip(), f"$ {line}"
        return
    at = 0
    for piece in pieces:
        place = found.find(piece.strip("\n"), at)
        assert place >= 0, f"$ {line}\nprints no\n{piece}\nbut\n{found}"
        at = place + len(piece.strip("\n"))


def assert_part(part: Any, whole: Any, at: str = "report") -> None:
    """Everything that the part says is in the whole; a time only has to be there."""
    if isinstance(part, dict):
        assert part.keys() <= whole.keys(), f"{at} has no {sorted(part.keys() - whole.keys())}"
        for key, value in part.items():
            if key != "duration_ms":
                assert_part(value, whole[key], f"{at}.{key}")
    elif isinstance(part, list):
        assert len(part) <= len(whole), at
        for place, (inner, other) in enumerate(zip(part, whole, strict=False)):
            assert_part(inner, other, f"{at}[{place}]")
    else:
        assert part == whole, at


def assert_loads(sandbox: Sandbox, text: str) -> None:
    """The text is a suite, or a part of one that a single test completes."""
    least = "" if "tests:" in text else "tests: [{id: any, metric: tool_blocklist, blocklist: [x]}]\n"
    sandbox.write("fragment/passmuster.yaml", least + text)
    assert passmuster.load_suite(sandbox.folder / "fragment").tests


@contextlib.contextmanager
def installed(sandbox: Sandbox) -> Iterator[None]:
    """The modules that CONTRIBUTING.md adds, each in a folder that its package is extended by."""
    with pytest.MonkeyPatch.context() as patch:
        added = {}
        for block in blocks("CONTRIBUTING.md"):
            if block.language == "python":
                *folders, name = Path(block.title).with_suffix("").parts[1:]
                package = importlib.import_module(".".join(folders))
                sandbox.write(block.title, block.text)
                patch.setattr(package, "__path__", [*package.__path__, str((sandbox.folder / block.title).parent)])
                added[name] = f"{package.__name__}.{name}"
        importlib.invalidate_caches()
        declared_metrics.cache_clear()
        try:
            yield
        finally:
            declared_metrics.cache_clear()
            for name in added.values():
                sys.modules.pop(name, None)


def perform(page: str, sandbox: Sandbox) -> Iterator[tuple[Block, str]]:
    """Bring the page's blocks about in their order; gives each console block with what it prints now."""
    for block in blocks(page):
        match block.language, block.title:
            case "console", _:
                yield block, "".join(f"$ {line}\n{sandbox.run(line)}" for line, _ in session(block.text))
            case _, title if title.startswith("part-of "):
                written = (sandbox.folder / title.removeprefix("part-of ")).read_text(encoding="utf-8")
                if block.language == "json":
                    assert_part(json.loads(block.text), json.loads(written))
                else:
                    lines = [line.strip() for line in TIME.sub("", written).splitlines()]
                    assert all(TIME.sub("", line.strip()) in lines for line in block.text.splitlines())
            case (("yaml" | "json" | "jsonl" | "python"), title) if "." in title:
                sandbox.write(title, block.text)
            case "python", "":
                with contextlib.chdir(sandbox.folder):
                    exec(compile(block.text, page, "exec"), {})
            case "yaml", "":
                assert_loads(sandbox, block.text)
            case (("yaml" | "groovy"), "ci"):
                assert_commands_exist(re.findall(r"passmuster run [^'\n]*", block.text))
            case "yaml", "action":
                assert_inputs_exist(block.text)
            case "yaml", "hooks":
                assert_hooks_exist(block.text)
            case "sh", "":
                assert_targets_exist(re.findall(r"^make ([\w-]+)", block.text, re.MULTILINE))
            case _:
                raise AssertionError(
                    f"{page}: the tests know nothing to do with a block ```{block.language} {block.title}"
                )


def assert_commands_exist(lines: list[str]) -> None:
    assert lines
    for line in lines:
        COMMANDS["run"].parse(shlex.split(line)[2:], "passmuster run")


def assert_inputs_exist(workflow: str) -> None:
    action = yaml.safe_load(text_of("action.yml"))
    steps = [step for job in yaml.safe_load(workflow)["jobs"].values() for step in job["steps"]]
    (own,) = [step for step in steps if "/passmuster@" in step.get("uses", "")]
    assert own["with"].keys() <= action["inputs"].keys()


def assert_hooks_exist(config: str) -> None:
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    used = {hook["id"]: hook.get("args", []) for repo in yaml.safe_load(config)["repos"] for hook in repo["hooks"]}
    assert used.keys() == {hook["id"] for hook in hooks}
    for hook in hooks:
        program, name, *given = shlex.split(hook["entry"])
        assert program == "passmuster"
        COMMANDS[name].parse([*given, *used[hook["id"]]], f"passmuster {name}")


def assert_targets_exist(targets: list[str]) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@contextlib.contextmanager
def stage(page: str, folder: Path) -> Iterator[Sandbox]:
    sandbox = Sandbox(folder)
    with installed(sandbox) if page == "CONTRIBUTING.md" else contextlib.nullcontext():
        yield sandbox


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_happens(page: str, tmp_path: Path) -> None:
    with stage(page, tmp_path) as sandbox:
        for block, printed in perform(page, sandbox):
            for (line, expected), (_, found) in zip(session(block.text), session(printed), strict=True):
                assert_prints(expected, found, line)


@pytest.mark.parametrize(
    "name", ["policies/shop.yaml", "policies/schema.yaml", "policies/mcp.json", "policies/tools.json"]
)
def test_every_form_of_a_policy_on_the_page_loads(name: str, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    (block,) = [block for block in blocks("docs/checks.md") if block.title == name]
    sandbox.write(f"fragment/{name}", block.text)
    assert_loads(sandbox, f"tests: [{{id: t, metric: args_valid, policy: {name}}}]\n")


# ── Every word on a page exists, and every word there is stands on a page ───────────────────────────────────


def words(page: str, heading: str, column: int = 0) -> list[str]:
    """The code words in one column of the first table below a heading."""
    section = f"\n{text_of(page)}".split(f"\n{heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table, f"{page} has no table below {heading}"
    rows = table[0].splitlines()[2:]
    return [word for row in rows for word in re.findall(r"`([^`]+)`", re.split(r"(?<!\\)\|", row)[column + 1])]


LISTED: list[tuple[str, str, int, set[str]]] = [
    ("docs/checks.md", "## Severity", 0, {"block", "warn", "log"}),
    ("docs/layers.md", "### expected_calls", 0, set(fields_of(ExpectedCalls))),
    ("docs/api.md", "# Python API", 0, set(passmuster.__all__)),
    ("docs/layers.md", "## The formulas in Python", 0, set(metrics.__all__) - {"MATCH_MODES"}),
]


@pytest.mark.parametrize(("page", "heading", "column", "known"), LISTED, ids=[f"{row[0]} {row[1]}" for row in LISTED])
def test_a_table_lists_what_there_is(page: str, heading: str, column: int, known: set[str]) -> None:
    found = words(page, heading, column)
    assert sorted(found) == sorted(known)


@pytest.mark.parametrize(
    ("page", "begins", "known"),
    [
        ("docs/checks.md", "Formats: ", set(FORMATS)),
    ],
)
def test_a_sentence_lists_what_there_is(page: str, begins: str, known: set[str]) -> None:
    paragraph = text_of(page).split(f"\n{begins}", 1)[1].split("\n\n", 1)[0]
    assert set(re.findall(r"`([^`]+)`", paragraph)) == known


def _commands(group: Group, before: str = "") -> Iterator[tuple[str, Command]]:
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMANDS = dict(_commands(group))


def options(*commands: str) -> set[str]:
    return {name for command in commands for option in COMMANDS[command].options for name in option.all_names}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_on_the_page_of_the_command_line(command: str) -> None:
    listed = {word.split()[0] for word in words("docs/cli.md", f"## passmuster {command}")}
    assert listed == options(command)


@pytest.mark.parametrize("page", PAGES)
def test_every_option_on_a_page_exists(page: str) -> None:
    found = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(page)))
    assert found <= options(*COMMANDS) | {"--version"}


def test_the_keys_of_the_json_report_are_on_its_page(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    broken = "examples/support-agent/traces/broken.jsonl"
    sandbox.run(f"passmuster run examples/support-agent --traces {broken} --quiet --report json=report.json")
    report = json.loads((sandbox.folder / "report.json").read_bytes())
    assert set(words("docs/reports.md", "## JSON")) >= report.keys()
    violations = {key for test in report["tests"] for violation in test["violations"] for key in violation}
    fields = set(passmuster.Violation.__struct_fields__) - {"has_value"}
    assert violations <= fields == set(words("docs/reports.md", "### A violation"))


def test_every_public_name_has_a_section_with_an_example() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text_of("docs/api.md"), re.MULTILINE | re.DOTALL))
    assert sections.keys() == set(passmuster.__all__)
    assert [name for name, text in sections.items() if "```python" not in text or name not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", FENCE.sub("", text_of(page))):
        name, _, anchor = target.partition("#")
        if name.startswith("https://"):
            continue
        path = (REPOSITORY / page).parent / name if name else REPOSITORY / page
        assert path.exists(), f"{page} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings]
            assert anchor in anchors, f"{page} links to {target}"


GENERATED = re.compile(r"^<!-- generated: (.+) -->\n\n((?:\|.*\n)+)", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/") and page != "docs/README.md"])
def test_no_page_is_a_dead_end(page: str) -> None:
    last = text_of(page).rstrip().rpartition("\n\n")[2]
    assert re.search(r"\]\([\w-]+\.md", last), f"{page} should end with where to go next"


def with_tables(text: str) -> str:
    """The text of a page with its reference tables as the declarations have them."""
    tables = api.reference_tables()
    return GENERATED.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{tables[found[1]]}", text)


@pytest.mark.parametrize("page", [*PAGES, "docs/judges.md"])
def test_reference_tables_are_those_of_the_declarations(page: str) -> None:
    assert text_of(page) == with_tables(text_of(page))


def test_every_reference_table_is_on_a_page() -> None:
    shown = {name for page in (*PAGES, "docs/judges.md") for name, _ in GENERATED.findall(text_of(page))}
    assert shown == api.reference_tables().keys() - {"checks"}  # listed with links there


def update(page: str) -> None:
    """Write what the page's commands print now, and its reference tables, into the page."""
    with tempfile.TemporaryDirectory() as folder, stage(page, Path(folder).resolve()) as sandbox:
        text = text_of(page)
        for block, printed in reversed(list(perform(page, sandbox))):
            if "\n…\n" not in block.text:
                start, end = block.span
                text = text[:start] + printed.rstrip("\n") + "\n" + text[end:]
    (REPOSITORY / page).write_text(with_tables(text), encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:] or PAGES:
        update(each)
