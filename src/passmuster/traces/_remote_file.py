"""A file in a store, read by ranges of bytes.

Where reading begins, a small range is asked for. Where it goes on, ranges are large and the next ones are on their way
while this one is evaluated, up to the end of the part that is wanted. A range that fails or comes back short is asked
for again. The beginning of a file is kept, because each part of it is opened again to find out its format.
"""

from __future__ import annotations

import io
from collections import OrderedDict, deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from passmuster.traces._remote import Asking, name_of, stat, store_of

_SMALL = 1 << 18
_BLOCK = 8 << 20
_AHEAD = 3
"""Ranges on their way: one connection to a store is slower than one core evaluates."""
_HEADS = 16
_heads: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
"""The beginnings of the files that were opened last."""


class RemoteFile(io.RawIOBase):
    """A file in a store, to be read from any byte on, mostly up to `end`."""

    def __init__(self, address: str, stated: tuple[int, str] | None = None, end: int | None = None) -> None:
        name = name_of(address)
        self._store, self._path = store_of(address, name)
        self._ask = Asking(name)
        if stated is None:
            found = stat(address)
            stated = found.size, found.mark
        self._size, self._key = stated[0], (address, *stated)
        # The last record of a part ends after the part.
        self._end = self._size if end is None else min(end + _SMALL, self._size)
        self._place = 0
        self._block, self._begin = b"", -1
        self._ahead: deque[tuple[int, Future[bytes]]] = deque()
        self._threads: ThreadPoolExecutor | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def readinto(self, room: Any) -> int:
        if self._place >= self._size:
            return 0
        if not self._begin <= self._place < self._begin + len(self._block):
            self._block, self._begin = self._from(self._place, len(room)), self._place
        start = self._place - self._begin
        piece = memoryview(self._block)[start : start + len(room)]
        room[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _from(self, begin: int, wanted: int) -> bytes:
        """The block that begins here."""
        if begin != self._begin + len(self._block):
            self._ahead.clear()
            return self._head() if begin == 0 else self._get(begin, begin + max(wanted, _SMALL))
        if begin >= self._end:  # the rest of a long record
            return self._get(begin, begin + min(2 * len(self._block), _BLOCK))
        self._ask_ahead(begin)
        block = self._ahead.popleft()[1].result()
        self._ask_ahead(begin + len(block))
        return block

    def _ask_ahead(self, begin: int) -> None:
        """Have the ranges from here on their way."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_AHEAD, thread_name_prefix="passmuster-read-ahead")
        begin = max(begin, self._ahead[-1][0] if self._ahead else 0)
        while len(self._ahead) < _AHEAD and begin < self._end:
            end = min(begin + _BLOCK, self._end)
            self._ahead.append((end, self._threads.submit(self._get, begin, end)))
            begin = end

    def _head(self) -> bytes:
        if (kept := _heads.get(self._key)) is not None:
            return kept
        head = self._get(0, _SMALL)
        if self._key[2].count("|"):  # more is known than its size
            _heads[self._key] = head
            while len(_heads) > _HEADS:
                _heads.popitem(last=False)
        return head

    def _get(self, begin: int, end: int) -> bytes:
        end = min(end, self._size)

        def get() -> bytes:
            data: bytes = self._store.cat_file(self._path, start=begin, end=end)
            if len(data) != end - begin:
                raise OSError(f"{len(data)} bytes came back where {end - begin} were asked for")
            return data

        return self._ask(get)
