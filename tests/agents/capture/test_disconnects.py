"""Clients that hang up are noticed, and those that are silent hold nobody up."""

from __future__ import annotations

import socket
import threading

from passmuster.agents.capture._disconnects import Disconnects


def test_an_event_of_an_earlier_request_is_not_waited_for() -> None:
    """The selector may report a connection from which the request has been read since."""
    hung_up = threading.Event()
    disconnects = Disconnects()
    server, client = socket.socketpair()
    server.settimeout(30)
    with server, client, disconnects.watched(server, hung_up.set):
        looking = threading.Thread(
            target=disconnects._look_at, args=(server.fileno(), server, hung_up.set), daemon=True
        )
        looking.start()
        looking.join(10)
        assert not looking.is_alive()
        assert not hung_up.is_set()
        client.close()
        assert hung_up.wait(10)  # it is still watched
    disconnects.close()
