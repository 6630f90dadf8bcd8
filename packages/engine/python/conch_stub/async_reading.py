"""Lets an asyncio loop read the socket while it waits for replies."""

from __future__ import annotations

from .connection import Connection

#: How many calls each loop waits for; its own thread alone touches its entry.
_waiting: dict[int, int] = {}


class AsyncReading:
    """Between `start` and `stop` the loop takes what arrives. To be used in the loop's thread."""

    def __init__(self, loop, connection: Connection) -> None:
        self._loop = loop
        self._connection = connection

    def start(self) -> None:
        key = id(self._loop)
        _waiting[key] = _waiting.get(key, 0) + 1
        if _waiting[key] == 1:
            self._loop.add_reader(self._connection.sock.fileno(), self._connection.poll)

    def stop(self) -> None:
        key = id(self._loop)
        _waiting[key] -= 1
        if _waiting[key] == 0:
            del _waiting[key]
            self._loop.remove_reader(self._connection.sock.fileno())
