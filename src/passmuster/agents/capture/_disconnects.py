"""Clients that hang up while they wait for an answer."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

OnHangUp = Callable[[], None]


class Disconnects:
    """Watches connections of clients in a thread of its own, which begins with the first."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[socket.socket, OnHangUp]] = {}
        """By file descriptor. One may be used again while an event of its former connection is on its way."""
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def watched(self, client: socket.socket, on_hang_up: OnHangUp) -> Iterator[None]:
        """A time in which `on_hang_up` is called, in another thread, if the client goes away."""
        number = client.fileno()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="passmuster-disconnects", daemon=True)
                self._thread.start()
            self._watched[number] = client, on_hang_up
            self._selector.register(number, selectors.EVENT_READ, self._watched[number])
            self._notify()
        try:
            yield
        finally:
            with self._lock:
                self._forget(number)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._notify()
        if self._thread is not None:
            self._thread.join()
        self._selector.close()
        self._wake.close()
        self._woken.close()

    def _notify(self) -> None:
        with suppress(BlockingIOError):  # it has enough to wake up for
            self._wake.send(b"\0")

    def _forget(self, number: int) -> None:
        if self._watched.pop(number, None) is not None and not self._closed:
            self._selector.unregister(number)

    def _watch(self) -> None:
        while True:
            ready = self._selector.select()
            with self._lock:
                if self._closed:
                    return
                for key, _ in ready:
                    if key.data is None:
                        self._woken.recv(4096)
                        continue
                    watched = self._watched.get(key.fd)
                    if watched is not None and watched is key.data:
                        self._look_at(key.fd, *watched)

    def _look_at(self, number: int, client: socket.socket, on_hang_up: OnHangUp) -> None:
        try:
            if not _is_readable(client):  # the event was that of a request which has been read since
                return
            gone = not client.recv(1, socket.MSG_PEEK)
        except OSError:
            gone = True
        self._forget(number)  # it is gone, or sends its next request already
        if gone:
            on_hang_up()


def _is_readable(client: socket.socket) -> bool:
    """Whether a read returns at once. The selector that reported an event may have looked up a newer connection."""
    with selectors.DefaultSelector() as now:
        now.register(client, selectors.EVENT_READ)
        return bool(now.select(0))
