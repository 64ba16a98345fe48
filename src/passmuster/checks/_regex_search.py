"""Regular expressions of a suite, run with a time limit."""

from collections.abc import Callable
from typing import Any, TypeVar

REGEX_SECONDS = 1.0

T = TypeVar("T")


class LimitedPattern:
    """A pattern that cannot hang: past a second it raises `TimeoutError`, which names it.

    One that ran out of time is not tried again: it would take a second on every trace of a run.
    """

    def __init__(self, pattern: str) -> None:
        import regex  # late, for most suites have no pattern

        self._pattern = pattern
        self._compiled: Any = regex.compile(pattern)
        self._gave_up = False

    def run(self, find: Callable[[Any], T]) -> T:
        """What `find` makes of the compiled pattern; it passes `timeout=REGEX_SECONDS` on to each search."""
        if not self._gave_up:
            try:
                return find(self._compiled)
            except TimeoutError:
                self._gave_up = True
        raise TimeoutError(
            f"the pattern '{self._pattern}' took longer than a second and is not tried again in this run; "
            "write it without nested repetition"
        )


def search_within_limit(pattern: str) -> Callable[[str], bool]:
    """A search within a text that cannot hang."""
    limited = LimitedPattern(pattern)
    return lambda text: limited.run(lambda compiled: compiled.search(text, timeout=REGEX_SECONDS)) is not None
