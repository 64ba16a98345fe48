"""Chat stores of LlamaIndex: the messages of each conversation under its key."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from passmuster.traces._building import Fields, Reading, located_error
from passmuster.traces._conversations import conversation_trace, is_messages, losing, malformed
from passmuster.traces._messages import turns_of
from passmuster.traces._model import Place, Trace
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record

DESCRIPTION = "Chat stores of LlamaIndex (`SimpleChatStore`): a conversation per key."
SHAPE = '{"store": {"…": [{"role": …, "blocks": […]}]}, "class_name": "SimpleChatStore"}'
LACKS = ("errors", "agents", "handoffs", "tokens", "cost", "times")


def detect(record: Fields) -> float:
    """Sure of a store with messages of LlamaIndex."""
    store = bytes(record.get("store", b""))
    return 0.98 if store[:1] == b"{" and b'"role"' in store and b'"additional_kwargs"' in store else 0


def splittable(first: Fields) -> bool:
    """A store may hold several conversations, and others of the file the same keys."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The conversations of each store, named by their keys."""
    for record in records:
        try:
            yield from _conversations(record, reading)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
        except MALFORMED as error:
            reading.on_bad(malformed(record, error))


def _conversations(record: Record, reading: Reading) -> list[Trace]:
    fields = msgspec.json.decode(record.data)
    store = fields.get("store") if isinstance(fields, dict) else None
    if not isinstance(store, dict):
        raise BadRecord(record.offset, "is no chat store of LlamaIndex: expected an object 'store'")
    lose = losing(reading, record)
    place = Place(record.offset, record.line)
    traces = []
    for key, messages in store.items():
        if not is_messages(messages):
            lose(f"has a store whose '{key[:60]}' is no list of messages", bool(messages))
            continue
        turns = turns_of(messages, lambda index: lose, place)
        traces.append(conversation_trace(turns, reading, record, {"trace_id": key}, ""))
    return traces
