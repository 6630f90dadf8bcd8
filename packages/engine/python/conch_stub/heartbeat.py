"""Shows the server that this process lives, and notices when the server does not."""

from __future__ import annotations

import gc
import os
import select
import threading

from .connection import Connection

#: Milliseconds.
_INTERVAL = 500
#: Beats without a word to the server after which forgotten senders are looked for.
_SILENCE = 4


def start_heartbeat(connection: Connection) -> None:
    """A daemon thread. It beats while Python code of the model runs, not while compiled code keeps the interpreter's lock."""
    threading.Thread(target=_beat, args=(connection, os.getppid()), name="conch-heartbeat", daemon=True).start()


def _beat(connection: Connection, parent: int) -> None:
    closed = select.poll()
    # No events: the end of the other side is reported always.
    closed.register(connection.sock.fileno(), 0)
    count, writes, silent = 0, 0, 0
    while True:
        count += 1
        connection.responses.beat(count)
        if closed.poll(_INTERVAL) or os.getppid() != parent:
            connection.end()
        silent = silent + 1 if connection.writes == writes else 0
        writes = connection.writes
        if silent == _SILENCE and connection.open:
            # A sender in a circle of garbage is collected only when something makes the collector run.
            gc.collect()
