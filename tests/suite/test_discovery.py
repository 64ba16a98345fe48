"""Which file is the suite, and which folder is the root of what it may name."""

from __future__ import annotations

from pathlib import Path

import pytest

import passmuster
from passmuster._problems import SuiteError
from passmuster.suite._discovery import SUITE_NAMES, display, find_root, find_suite

SUITE = "tests: [{id: t, metric: args_valid, policy: ../policies/p.yaml}]\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git working tree with a suite in `evals/`, its policy in `policies/`."""
    for folder in (".git", "evals/deep/deeper", "policies"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "policies" / "p.yaml").write_text("tools: {a: {}}\n")
    (tmp_path / "evals" / "passmuster.yaml").write_text(SUITE)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["passmuster.yaml", "passmuster.yml", "passmuster.json", "mcp-eval.yaml", "agentci_spec.yaml"]
)
def test_a_folder_stands_for_the_suite_in_it(tmp_path: Path, name: str) -> None:
    assert name in SUITE_NAMES
    (tmp_path / name).write_text("{}")
    assert find_suite(".", tmp_path) == tmp_path / name
    assert find_suite(name, tmp_path) == tmp_path / name
    assert find_suite(None, tmp_path) == tmp_path / name


def test_of_several_suites_in_a_folder_our_own_name_wins(tmp_path: Path) -> None:
    for name in reversed(SUITE_NAMES):
        (tmp_path / name).write_text("{}")
        assert find_suite(".", tmp_path) == tmp_path / name


def test_without_a_name_the_nearest_suite_upwards_is_taken(repository: Path) -> None:
    here = repository / "evals" / "deep" / "deeper"
    assert find_suite(None, here) == repository / "evals" / "passmuster.yaml"
    (repository / "evals" / "deep" / "mcp-eval.yaml").write_text(SUITE)
    assert find_suite(None, here) == repository / "evals" / "deep" / "mcp-eval.yaml"


def test_the_search_upwards_ends_at_the_repository(repository: Path) -> None:
    inner = repository / "evals" / "deep"
    (inner / ".git").mkdir()
    message = r"no suite found here or above; looked for passmuster.yaml.*`passmuster init` writes one"
    with pytest.raises(SuiteError, match=message):
        find_suite(None, inner / "deeper")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("nowhere", "nowhere: there is no such suite file or folder"),
        ("policies", "policies: holds no suite; looked for passmuster.yaml, passmuster.yml, passmuster.json"),
    ],
)
def test_a_suite_that_is_not_there(repository: Path, given: str, problem: str) -> None:
    with pytest.raises(SuiteError) as caught:
        find_suite(given, repository)
    assert str(caught.value).startswith(problem)


def test_the_root_is_the_git_top_level(repository: Path) -> None:
    suite = passmuster.load_suite(repository / "evals")
    assert suite.root == repository
    assert suite.file == "evals/passmuster.yaml"


def test_a_git_worktree_has_a_file_in_place_of_a_folder(repository: Path) -> None:
    (repository / ".git").rmdir()
    (repository / ".git").write_text("gitdir: /elsewhere\n")
    assert passmuster.load_suite(repository / "evals").root == repository


def test_without_git_the_root_is_the_folder_of_the_suite(repository: Path) -> None:
    (repository / ".git").rmdir()
    with pytest.raises(SuiteError, match=r"is outside the root .*; move it inside or widen --root"):
        passmuster.load_suite(repository / "evals")
    assert find_root(None, repository / "evals" / "passmuster.yaml") == repository / "evals"


def test_a_root_that_is_given_wins(repository: Path) -> None:
    with pytest.raises(SuiteError, match="is outside the root"):
        passmuster.load_suite(repository / "evals", root=repository / "evals")
    (repository / ".git").rmdir()
    assert passmuster.load_suite(repository / "evals", root=repository).file == "evals/passmuster.yaml"


def test_a_root_has_to_be_a_folder(repository: Path) -> None:
    with pytest.raises(SuiteError, match="the root is not a folder"):
        passmuster.load_suite(repository / "evals", root=repository / "nowhere")


def test_a_link_to_a_folder_is_followed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(repository / "evals")
    suite = passmuster.load_suite(link)
    assert (suite.root, suite.file) == (repository, "evals/passmuster.yaml")


def test_a_link_to_a_suite_is_followed_and_its_names_are_relative_to_the_file_itself(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "current.yaml"
    link.symlink_to(repository / "evals" / "passmuster.yaml")
    suite = passmuster.load_suite(link)
    assert (suite.root, suite.folder, suite.file) == (repository, repository / "evals", "evals/passmuster.yaml")


def test_a_link_within_the_root_keeps_its_own_name(repository: Path) -> None:
    (repository / "evals" / "current.yaml").symlink_to("passmuster.yaml")
    assert passmuster.load_suite(repository / "evals" / "current.yaml").file == "evals/current.yaml"


def test_files_outside_the_root_are_named_in_full(tmp_path: Path) -> None:
    assert display(tmp_path / "a.yaml", tmp_path) == "a.yaml"
    assert display(tmp_path / "a.yaml", tmp_path / "inner") == (tmp_path / "a.yaml").as_posix()
