"""Files that commands write: written whole or not at all, and refused early where they cannot be."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from passmuster._atomic_write import create_file, replace_file
from passmuster._problems import OutsideError, Problem, UsageError


def write_file(
    path: str | Path, data: bytes | Iterable[bytes], *, make_folders: bool = False, what: str = "report"
) -> None:
    """Write a file so that nobody ever sees half of it; what was there stays if anything goes wrong.

    Raises `OutsideError`, for what can be known beforehand is refused by `check_writable`.
    """
    # Following links keeps a link a link: the file it points at is replaced.
    target = Path(os.path.realpath(path))
    try:
        if _is_special(path):
            with open(path, "wb") as special:
                special.writelines((data,) if isinstance(data, bytes) else data)
            return
        if make_folders:
            target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, data)
    except OSError as problem:
        raise OutsideError(Problem(f"cannot write this {what}: {_reason(problem)}", str(path))) from problem


def create_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write new files below a folder, in this order. Raises `UsageError` where one exists; then none is written."""
    in_the_way = [name for name in contents if os.path.lexists(folder / name)]
    if in_the_way:
        message = "there is such a file already, and nothing is overwritten"
        raise UsageError([Problem(message, str(folder / name)) for name in in_the_way])
    for name, data in contents.items():
        target = folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            create_file(target, data)
        except FileExistsError:
            raise UsageError(Problem("there is such a file already, and nothing is overwritten", str(target))) from None
        except OSError as problem:
            raise OutsideError(Problem(f"cannot write this file: {_reason(problem)}", str(target))) from problem


def check_writable(
    paths: Iterable[str | Path],
    *,
    inputs: Iterable[str | Path] = (),
    make_folders: bool = False,
    what: str = "report",
) -> None:
    """Refuse paths that cannot or must not be written, all in one go, before a run has spent time on evaluating.

    What a run reads, its `inputs`, it does not overwrite.
    """
    problems: list[Problem] = []
    taken: set[str] = set()
    read = {os.path.realpath(path) for path in inputs}
    for path in paths:
        if _is_special(path):
            continue
        target = os.path.realpath(path)
        if target in taken:
            problems.append(Problem("two reports would be written to this file", str(path)))
        taken.add(target)
        if target in read:
            problems.append(Problem(f"this {what} would overwrite what the run reads", str(path)))
        if reason := _obstacle(Path(target), make_folders):
            problems.append(Problem(f"cannot write this {what}: {reason}", str(path)))
    if problems:
        raise UsageError(problems)


def _obstacle(target: Path, make_folders: bool) -> str | None:
    if target.is_dir():
        return "it is a folder"
    if target.exists() and not os.access(target, os.W_OK):
        return "the file is read-only"
    folder = target.parent
    if not folder.exists() and not make_folders:
        return f"there is no folder {folder}"
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is not a folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"files may not be created in {folder}"


def _is_special(path: str | Path) -> bool:
    """Whether this is a pipe or a device, which is written to and must not be replaced by a file."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _reason(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError):
        return "its folder does not exist"
    if isinstance(problem, (FileExistsError, NotADirectoryError)):
        return "something in its path is not a folder"
    if isinstance(problem, PermissionError):
        return "permission denied"
    text = problem.strerror or str(problem)
    return text[:1].lower() + text[1:]
