"""A file on disk becomes nodes, or a message that names it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from passmuster._problems import SuiteError
from passmuster.suite._files import Documents
from passmuster.suite.text import _limits as limits
from passmuster.suite.text._limits import MAX_DIGITS, Places, number
from passmuster.suite.text._nodes import plain


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("suite.yaml", b"a: no\n", {"a": "no"}),
        ("suite.yml", b"a: [1, 2]\n", {"a": [1, 2]}),
        ("suite", b"a: 1\n", {"a": 1}),
        ("suite.json", b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        ("suite.JSON", b'{"a": 1}', {"a": 1}),
        ("mark.yaml", b"\xef\xbb\xbfa: 1\n", {"a": 1}),
        ("mark.json", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ("crlf.yaml", b"a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ],
)
def test_the_ending_chooses_the_reader_and_the_bytes_come_back(
    tmp_path: Path, name: str, content: bytes, expected: object
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    node, seen = Documents().read(path, name)
    assert plain(node) == expected
    assert seen == content


@pytest.mark.parametrize(
    ("name", "content", "line", "column", "fragment"),
    [
        ("a.yaml", b"a: 1\nb: \xe9t\xe9\n", 2, 4, "0xe9"),
        ("a.json", b'{\r\n "\xc3\xa9\xff": 1}', 2, 4, "0xff"),
        ("mark.yaml", b"\xef\xbb\xbfab\xff", 1, 3, "UTF-8"),
        ("wide.yaml", "a: 1\n".encode("utf-16"), 1, 1, "UTF-16"),
        ("a.yaml", b"", 1, 1, "is empty"),
        ("a.json", b"", 1, 1, "is empty"),
        ("a.yaml", b"\xef\xbb\xbf", 1, 1, "is empty"),
        ("a.yaml", b"# only a remark\n", 1, 1, "is empty"),
        ("a.json", b" \n ", 1, 1, "is empty"),
    ],
)
def test_a_text_that_cannot_be_read_is_located(
    tmp_path: Path, name: str, content: bytes, line: int, column: int, fragment: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SuiteError) as caught:
        Documents().read(path, "shown/" + name)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column) == ("shown/" + name, line, column)
    assert fragment in problem.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a: 1")
    for path in (tmp_path / "gone.yaml", tmp_path / "plain" / "below.yaml"):
        with pytest.raises(SuiteError, match=r"gone\.yaml: there is no such file"):
            Documents().read(path, "gone.yaml")


def test_a_folder_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="suites: this is a folder"):
        Documents().read(tmp_path, "suites")


@pytest.mark.parametrize(("name", "fragment"), [("x" * 5000, "cannot be read"), ("a\0b", "not a path")])
def test_a_name_no_file_can_have(tmp_path: Path, name: str, fragment: str) -> None:
    with pytest.raises(SuiteError, match=fragment):
        Documents().read(tmp_path / name, "odd")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text("a: 1")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the owner of the machine reads everything
        monkeypatch.setattr(Path, "open", _refuse)
    with pytest.raises(SuiteError, match=r"secret\.yaml: the file may not be read"):
        Documents().read(path, "secret.yaml")


def _refuse(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("name", ["big.yaml", "big.json"])
def test_a_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES", 10)
    (tmp_path / name).write_bytes(b" " * 11)
    with pytest.raises(SuiteError, match="larger than"):
        Documents().read(tmp_path / name, name)


def test_yaml_is_imported_only_for_a_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    program = (
        "import sys, pathlib; from passmuster.suite._files import Documents;"
        f"Documents().read(pathlib.Path({str(path)!r}), 'a.json'); sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_places_count_lines_as_editors_do() -> None:
    text = "a\nb\r\nc\rd\u2028e"
    places = Places(text)
    assert [places.of(text.index(letter)) for letter in "abcde"] == [(1, 1), (2, 1), (3, 1), (4, 1), (4, 3)]
    assert places.of(len(text)) == (4, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("007", 7), ("+1", 1), ("-12", -12), ("0x1F", 31), ("0o17", 15), (".5", 0.5), ("1e3", 1000.0)],
)
def test_numbers(text: str, expected: float) -> None:
    assert number(text) == expected
    assert type(number(text)) is type(expected)


@pytest.mark.parametrize("text", ["9" * (MAX_DIGITS + 1), "0x" + "f" * MAX_DIGITS, "1e999", "-1e999"])
def test_numbers_that_cannot_be_kept(text: str) -> None:
    with pytest.raises(ValueError, match="too l"):
        number(text)


def test_the_longest_number_can_be_printed_and_made_a_float() -> None:
    longest = number("9" * MAX_DIGITS)
    assert float(str(longest)) == float(longest)
