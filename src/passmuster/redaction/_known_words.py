"""Words that were hidden in one place, found again in another.

A word that says little by itself is not looked for elsewhere: a hidden `5` would blot out half of every sentence.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from passmuster.redaction._token_shapes import Span

_LONG = 6
"""From this length on a word is hidden within others too, and in texts that it does not come from."""
_FEW = 100
"""So many are found faster one by one."""


def telling(words: Iterable[str]) -> list[str]:
    """The words that are long enough to be known again wherever they stand."""
    return [word for word in words if len(word) >= _LONG]


def found_in(text: str, words: Iterable[str]) -> list[Span]:
    """Where the words stand in the text; made for a few of them."""
    spans: list[Span] = []
    for word in words:
        at = text.find(word) if word else -1
        while at >= 0:
            stop = at + len(word)
            if _stands_alone(word, text, at):
                spans.append((at, stop))
            at = text.find(word, stop)
    return spans


class Words(Collection[str]):
    """Words to be found in many texts. A text is passed once, however many words there are."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted({word for word in words if word})

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def spans(self, text: str) -> list[Span]:
        """Where they stand in the text."""
        if len(self._words) <= _FEW:
            return found_in(text, self._words)
        spans: list[Span] = []
        for size, heads in self._heads.items():
            for at in [at for at in range(len(text) - size + 1) if text[at : at + size] in heads]:
                word = self._longest(text, at)
                if word is not None:
                    spans.append((at, at + len(word)))
        return spans

    def _longest(self, text: str, at: int) -> str | None:
        """The longest word that stands at a place.

        The last word in order that is not beyond the text from there on is it, or begins with it.
        """
        place = bisect_right(self._words, text[at : at + self._most])
        word = self._words[place - 1] if place else None
        while word is not None and not (text.startswith(word, at) and _stands_alone(word, text, at)):
            word = self._within[word]
        return word

    @cached_property
    def _most(self) -> int:
        return max(map(len, self._words))

    @cached_property
    def _heads(self) -> dict[int, set[str]]:
        """How words begin, by the length of the beginning."""
        heads: dict[int, set[str]] = {}
        for word in self._words:
            head = word[:_LONG]
            heads.setdefault(len(head), set()).add(head)
        return heads

    @cached_property
    def _within(self) -> dict[str, str | None]:
        """For each word, the longest other one that it begins with."""
        within: dict[str, str | None] = {}
        open_: list[str] = []
        for word in self._words:
            while open_ and not word.startswith(open_[-1]):
                open_.pop()
            within[word] = open_[-1] if open_ else None
            open_.append(word)
        return within


def _stands_alone(word: str, text: str, at: int) -> bool:
    """Whether it may be hidden there: a short one only as a whole word."""
    stop = at + len(word)
    return len(word) >= _LONG or not (text[at - 1 : at].isalnum() or text[stop : stop + 1].isalnum())
