"""Cassettes: the requests of earlier runs to models and what was answered, so that an agent runs without a model.

A cassette is a file of JSON lines: a first line that says so, then one line per run with its requests in order. A line
is added when its run is over, so that a run that was interrupted is not on the tape. A later line of a run replaces the
one before, unless it `adds` to it. Headers are never stored, nor is the credential of a request.
"""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from passmuster._atomic_write import replace_file
from passmuster._problems import InputError, OutsideError, Problem
from passmuster.agents.capture._config import Tape
from passmuster.agents.capture._exchange import Exchange

VERSION = 1
_UNFINISHED = ".part"
_ANSWERS = (400, 404, 413, 422)
"""Refusals that are answers to what was asked; others depend on who asks, and when."""
_OF_NO_ACCOUNT = ("metadata", "user", "prompt_cache_key", "safety_identifier")
"""Fields of a request that do not change what a model says."""
_decode = msgspec.json.Decoder().decode


class Entry(Struct, omit_defaults=True):
    """One request on a tape, and its answer."""

    method: str
    path: str
    """With the name of the vendor in front."""
    request: Any = None
    """The body: JSON, or its SHA-256 where it is something else."""
    status: Annotated[int, Meta(ge=200, le=599)] = 200
    kind: Annotated[str, Meta(pattern=r"^[ -~]*$")] = "application/json"
    response: Any = None
    """An answer that is JSON."""
    text: str | None = None
    """An answer that is a stream, or other text."""
    base64: str | None = None
    """Any other answer."""

    def body(self) -> bytes:
        """The answer as it is sent."""
        if self.text is not None:
            return self.text.encode()
        return base64.b64decode(self.base64) if self.base64 is not None else msgspec.json.encode(self.response)


class _Head(Struct, forbid_unknown_fields=True):
    passmuster_cassette: int


class _Line(Struct):
    run: str
    exchanges: list[Entry]
    adds: bool = False


class Place(Struct, frozen=True):
    """Where an entry is: the line of the file, its run, and its number there, from 1."""

    line: int
    run: str
    number: int


class Cassette:
    """A tape that is played, recorded, or both."""

    def __init__(self, path: Path, name: str, tape: Tape, resume: bool) -> None:
        """Raises `InputError` where the file is not there, is damaged, or cannot be written."""
        self.name = name
        """How messages call the file."""
        self.plays = tape != "record"
        self.records = tape != "replay"
        self._path = path
        self._target = path if self.plays else path.with_name(path.name + _UNFINISHED)
        self._lock = threading.Lock()
        self._recorded = 0
        self._lines: dict[str, list[tuple[Place, Entry]]] = {}
        self._by_print: dict[bytes, dict[str, list[Entry]]] = {}
        try:
            self._open(resume)
        except OSError as error:
            raise InputError(Problem(f"the cassette cannot be used: {error.strerror or error}", name)) from error
        for run, placed in self._lines.items():
            for _, entry in placed:
                self._by_print.setdefault(fingerprint(entry), {}).setdefault(run, []).append(entry)

    def find(self, asked: Entry, run: str, times: int) -> Entry | None:
        """The recorded answer to a request; `times` is how often this run has asked the same before.

        Those of a run of the same name come first. After the last one it is repeated.
        """
        known = self._by_print.get(fingerprint(asked))
        if not known:
            return None
        entries = known.get(run) or next(iter(known.values()))
        return entries[min(times, len(entries) - 1)]

    def entries(self) -> Iterable[tuple[Place, Entry]]:
        return (placed for line in self._lines.values() for placed in line)

    def add(self, run: str, entries: list[Entry]) -> None:
        """Record a run that is over. Raises `OutsideError` where the file cannot be written."""
        if not entries:
            return
        line = msgspec.json.encode(_Line(run, entries, adds=self.plays)) + b"\n"
        with self._lock:
            try:
                size = self._target.stat().st_size
                with open(self._target, "ab") as file:
                    file.write(line)
            except OSError as error:
                with suppress(OSError):
                    os.truncate(self._target, size)  # or half a line would be left
                why = error.strerror or error
                raise OutsideError(Problem(f"the cassette cannot be written: {why}", self.name)) from error
            self._recorded += 1

    def finish(self) -> None:
        """Put a new recording in its place. Until then, and if nothing was recorded, the one before is untouched."""
        if self.plays:
            return
        if self._recorded or not self._path.exists():
            os.replace(self._target, self._path)
        else:
            self._target.unlink()

    def _open(self, resume: bool) -> None:
        if not self.records and not self._path.exists():
            raise InputError(Problem("there is no such cassette; record it first, with 'tape: record'", self.name))
        if self.plays and self._path.exists():
            self._read(self._path, resume and self.records)
        if not self.records:
            return
        self._target.parent.mkdir(parents=True, exist_ok=True)
        if resume and not self.plays and self._path.exists() and not self._target.exists():
            replace_file(self._target, self._path.read_bytes())  # the recording came to its end before all runs had
        if resume and not self.plays and self._target.exists():
            self._read(self._target, resume)
            self._recorded = len(self._lines)
        elif not self.plays or not self._target.exists():
            self._target.write_bytes(msgspec.json.encode(_Head(VERSION)) + b"\n")
        with open(self._target, "ab"):  # to find out now whether it can be written
            pass

    def _read(self, path: Path, mend: bool) -> None:
        """Read what is on the tape. `mend` drops a last line that was cut off."""
        data = path.read_bytes()
        lines = data.split(b"\n")
        if mend and lines[-1]:
            os.truncate(path, len(data) - len(lines.pop()))
            lines.append(b"")
        if lines[-1]:
            raise InputError(Problem("the cassette is damaged: its last line is cut off", self.name, len(lines)))
        for number, line in enumerate(lines[:-1], 1):
            try:
                if number == 1:
                    self._check_head(line)
                else:
                    self._add_line(number, msgspec.json.decode(line, type=_Line))
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, ValueError) as error:
                raise InputError(Problem(f"the cassette is damaged: {error}", self.name, number)) from error
        if len(lines) == 1:
            raise InputError(Problem("is empty, and no cassette", self.name))

    def _check_head(self, line: bytes) -> None:
        try:
            version = msgspec.json.decode(line, type=_Head).passmuster_cassette
        except msgspec.MsgspecError:
            message = 'is no cassette: expected {"passmuster_cassette":1} in its first line'
            raise InputError(Problem(message, self.name, 1)) from None
        if version != VERSION:
            raise InputError(Problem(f"is a cassette of version {version}, and {VERSION} is known", self.name, 1))

    def _add_line(self, number: int, line: _Line) -> None:
        known = self._lines.get(line.run, []) if line.adds else []
        placed = [(Place(number, line.run, place), entry) for place, entry in enumerate(line.exchanges, 1)]
        for _, entry in placed:
            entry.body()  # to find out now whether it can be sent
        self._lines[line.run] = [*known, *placed]


def entry_of(exchange: Exchange) -> Entry:
    """A request as it stands on a tape, without its answer."""
    try:
        request = _decode(exchange.sent) if exchange.sent else None
    except (msgspec.MsgspecError, RecursionError):
        request = hashlib.sha256(exchange.sent).hexdigest()
    return Entry(exchange.method, exchange.vendor + exchange.path, request)


def answered(exchange: Exchange) -> Entry | None:
    """A request with its answer; None where the answer is none that a tape should have."""
    if exchange.ending == "cut" or exchange.too_large or exchange.encoding:
        return None
    if not (200 <= exchange.status < 300 or exchange.status in _ANSWERS):
        return None
    entry = entry_of(exchange)
    entry.status, entry.kind = exchange.status, exchange.kind
    data = bytes(exchange.received)
    try:
        if "json" in exchange.kind and exchange.ending == "whole":
            entry.response = _decode(data)
        else:
            entry.text = data.decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        entry.base64 = base64.b64encode(data).decode()
    return entry


def comparable(entry: Entry) -> Any:
    """What of a request has to be the same for its answer to fit."""
    if not isinstance(entry.request, dict):
        return entry.request
    return {name: value for name, value in entry.request.items() if name not in _OF_NO_ACCOUNT}


def fingerprint(entry: Entry) -> bytes:
    """The same for requests that get the same answer."""
    told = (entry.method, entry.path, comparable(entry))
    return hashlib.sha256(msgspec.json.encode(told, order="deterministic")).digest()
