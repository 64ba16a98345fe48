"""Values of the engine as JSON, for other processes and for files."""

from __future__ import annotations

import json
from typing import TypeVar

import msgspec

_encoder = msgspec.json.Encoder()
T = TypeVar("T")


def encoded(value: object) -> bytes:
    """The value as JSON."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair, in the name of a file or in what a plugin says
        return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def decoded(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """The value that was encoded."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), type=decoder.type, str_keys=True)
