"""The recorded request that is most like one that is not on the tape, and in what they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from passmuster.agents.capture._cassette import Cassette, Entry, Place, comparable

_MOST_COMPARED = 1_000
_LONGEST = 20_000
_MOST_SHOWN = 3
_MOST_CHARACTERS = 60
_ABSENT = object()


def not_on_tape(asked: Entry, cassette: Cassette) -> str:
    """What to tell of a request that the tape does not have."""
    what = f"a request ({asked.method} {asked.path}) is not on the tape {cassette.name}"
    advice = "record it again with 'tape: record', or what is missing with 'tape: replay-or-record'"
    found = nearest(asked, cassette.entries())
    if found is None:
        return f"{what}, which has no request like it; {advice}"
    place, entry = found
    there = f"{cassette.name}:{place.line}, request {place.number} of run {place.run}"
    told = "; ".join(islice(differences(comparable(entry), comparable(asked)), _MOST_SHOWN))
    return f"{what}. The nearest one ({there}) differs: {told}; {advice}"


def nearest(asked: Entry, recorded: Iterable[tuple[Place, Entry]]) -> tuple[Place, Entry] | None:
    """The entry whose request is most like this one, of those to the same path."""
    from rapidfuzz import fuzz  # late, for it is needed where a run has failed

    text = _text(asked)
    best: tuple[float, tuple[Place, Entry] | None] = (-1.0, None)
    same_path = (one for one in recorded if (one[1].method, one[1].path) == (asked.method, asked.path))
    for placed in islice(same_path, _MOST_COMPARED):
        likeness = fuzz.ratio(text, _text(placed[1]), score_cutoff=max(best[0], 0))
        if likeness > best[0]:
            best = likeness, placed
    return best[1]


def _text(entry: Entry) -> str:
    return msgspec.json.encode(comparable(entry), order="deterministic").decode()[-_LONGEST:]


def differences(recorded: Any, found: Any, at: str = "") -> Iterator[str]:
    """Where two JSON values differ, each with what it is on the tape and now."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*recorded, *found)):
            inner = f"{at}.{key}" if at else str(key)
            yield from differences(recorded.get(key, _ABSENT), found.get(key, _ABSENT), inner)
    elif isinstance(recorded, list) and isinstance(found, list):
        for index in range(max(len(recorded), len(found))):
            one = recorded[index] if index < len(recorded) else _ABSENT
            other = found[index] if index < len(found) else _ABSENT
            yield from differences(one, other, f"{at}[{index}]")
    elif type(recorded) is not type(found) or recorded != found:
        start = 0
        if isinstance(recorded, str) and isinstance(found, str):
            same = next((i for i, pair in enumerate(zip(recorded, found, strict=False)) if pair[0] != pair[1]), None)
            start = max(0, (min(len(recorded), len(found)) if same is None else same) - _MOST_CHARACTERS // 2)
        yield f"{at or 'the body'} is {_shown(recorded, start)} on the tape and {_shown(found, start)} now"


def _shown(value: Any, start: int) -> str:
    if value is _ABSENT:
        return "absent"
    if isinstance(value, str):
        cut = value[start : start + _MOST_CHARACTERS]
        text = msgspec.json.encode(cut).decode()[1:-1]
        return f'"{"…" if start else ""}{text}{"…" if start + _MOST_CHARACTERS < len(value) else ""}"'
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
