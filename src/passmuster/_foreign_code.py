"""The code of plugins, kept from ending the process that runs it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

_ENDINGS = ("_exit", "execv", "execve")
"""What ends a process without a word, perhaps with exit code 0; `os.execlp` and the like call these."""


@contextlib.contextmanager
def foreign_code() -> Iterator[None]:
    """Code of a plugin runs inside. It cannot end this process: that would look like a verdict.

    A process that it forks off may end as it likes.
    """
    kept = {name: getattr(os, name) for name in _ENDINGS if hasattr(os, name)}
    for name, function in kept.items():
        setattr(os, name, _refusal(name, function, os.getpid()))
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(os, name, function)


def _refusal(name: str, function: Callable[..., Any], process: int) -> Callable[..., Any]:
    def refuse(*arguments: Any) -> Any:
        if os.getpid() == process:
            raise SystemExit(f"a plugin called os.{name}, which would have ended the run without a verdict")
        return function(*arguments)

    return refuse
