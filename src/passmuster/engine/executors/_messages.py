"""Messages between the parent process and its workers: length-prefixed JSON over pipes."""

from __future__ import annotations

import json
from typing import BinaryIO, TypeVar

import msgspec
from msgspec import Struct

from passmuster._problems import Problem
from passmuster.checks import Golden
from passmuster.engine._parts import Part
from passmuster.scoring import Settings, Tally


class Setup(Struct, frozen=True, tag=True):
    """The first order: the suite to compile."""

    suite: str
    root: str
    documents: dict[str, bytes]
    """The suite and its policies as the parent read them, so that both evaluate the same suite."""
    plugins: bool
    settings: Settings
    golden: dict[str, Golden]


class EvaluatePart(Struct, frozen=True, tag=True):
    """Evaluate a part."""

    number: int
    part: Part


class Finish(Struct, frozen=True, tag=True):
    """There are no more parts: hand over the tally."""


class PartDone(Struct, frozen=True, tag=True):
    """A part is evaluated and counted."""

    number: int


class PartRefused(Struct, frozen=True, tag=True):
    """A part has a record that cannot be evaluated."""

    number: int
    problems: list[Problem]
    of_suite: bool = False


class WorkerTally(Struct, frozen=True, tag=True):
    """Everything a worker counted."""

    tally: Tally


Order = Setup | EvaluatePart | Finish
Answer = PartDone | PartRefused | WorkerTally

_encoder = msgspec.json.Encoder()
_orders: msgspec.json.Decoder[Order] = msgspec.json.Decoder(Order)
_answers: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
T = TypeVar("T")


def send(pipe: BinaryIO, message: Order | Answer) -> None:
    """Write one message."""
    try:
        data = _encoder.encode(message)
    except UnicodeEncodeError:  # half of a surrogate pair, in the name of a file or in what a plugin says
        data = json.dumps(msgspec.to_builtins(message, str_keys=True)).encode()
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def _read(pipe: BinaryIO) -> bytes | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "big")
    data = pipe.read(size)
    return data if len(data) == size else None


def _receive(pipe: BinaryIO, decoder: msgspec.json.Decoder[T]) -> T | None:
    data = _read(pipe)
    if data is None:
        return None
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError):
            raise
        return msgspec.convert(json.loads(data), type=decoder.type, str_keys=True)


def receive_order(pipe: BinaryIO) -> Order | None:
    """The parent's next order; None when the parent is gone."""
    return _receive(pipe, _orders)


def receive_answer(pipe: BinaryIO) -> Answer | None:
    """A worker's next answer; None when the worker is gone."""
    return _receive(pipe, _answers)
