"""Regular expressions of a suite, run with a time limit."""

from collections.abc import Callable

REGEX_SECONDS = 1.0


def search_within_limit(pattern: str) -> Callable[[str], bool]:
    """A search that cannot hang: past a second it raises `TimeoutError`, which names the pattern."""
    import regex  # late, for most suites have no pattern

    search = regex.compile(pattern).search

    def found(text: str) -> bool:
        try:
            return search(text, timeout=REGEX_SECONDS) is not None
        except TimeoutError:
            raise TimeoutError(
                f"the pattern '{pattern}' took longer than a second; write it without nested repetition"
            ) from None

    return found
