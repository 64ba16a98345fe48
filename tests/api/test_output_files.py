"""A report is on the disk whole or not at all, and a path that cannot be written is refused with its name."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from passmuster._problems import OutsideError, UsageError
from passmuster.api._output_files import check_writable, write_file


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_file(path, b"one")
    write_file(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["report.json"]


def test_its_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_file(tmp_path / "whole", b"")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "whole").chmod(0o640)
    write_file(tmp_path / "whole", b"again")
    assert stat.S_IMODE((tmp_path / "whole").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "report.json")
    write_file(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.json").read_bytes() == b"x"


def test_folders_are_made_only_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "report.json"
    with pytest.raises(OutsideError, match="its folder does not exist"):
        write_file(path, b"x")
    write_file(path, b"x", make_folders=True)
    assert path.read_bytes() == b"x"


def test_a_device_is_written_to_and_left_in_place() -> None:
    write_file("/dev/null", b"x")
    assert Path("/dev/null").is_char_device()
    check_writable(["/dev/null", "/dev/null"])


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_nothing_is_left_behind_when_writing_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"old")

    def broken(handle: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises((OutsideError, KeyboardInterrupt, MemoryError)) as raised:
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.json"]
    if isinstance(error, OSError):
        assert str(path) in str(raised.value)
        assert "no space left" in str(raised.value)


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from passmuster.api._output_files import write_file
from passmuster._problems import OutsideError
try:
    write_file(sys.argv[1], b"x" * 100_000)
except OutsideError as problem:
    print(problem)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are a thing of Unix")
def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"old")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.startswith(f"{path}: cannot write this report: ")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_bad_paths_are_refused_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    good, twice = tmp_path / "good", tmp_path / "twice"
    with pytest.raises(UsageError) as raised:
        check_writable([good, tmp_path, tmp_path / "no" / "x", tmp_path / "file" / "x", twice, twice])
    assert [problem.message for problem in raised.value.problems] == [
        "cannot write this report: it is a folder",
        f"cannot write this report: there is no folder {tmp_path / 'no'}",
        f"cannot write this report: {tmp_path / 'file'} is not a folder",
        "two reports would be written to this file",
    ]
    assert str(tmp_path) in str(raised.value)
    check_writable([tmp_path / "no" / "x"], make_folders=True)
    assert not (tmp_path / "no").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_what_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageError, match="files may not be created"):
            check_writable([tmp_path / "x"])
        with pytest.raises(OutsideError, match="permission denied"):
            write_file(tmp_path / "x", b"")
    finally:
        tmp_path.chmod(0o700)


def test_what_a_run_reads_is_not_overwritten(tmp_path: Path) -> None:
    suite, link = tmp_path / "suite.yaml", tmp_path / "link"
    suite.write_text("tests: []")
    link.symlink_to(suite)
    with pytest.raises(UsageError, match="would overwrite what the run reads"):
        check_writable([link], inputs=[suite])
    check_writable([tmp_path / "other"], inputs=[suite])


def test_writing_onto_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="it is a folder"):
        write_file(tmp_path, b"x")
