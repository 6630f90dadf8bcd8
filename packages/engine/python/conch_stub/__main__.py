"""`python3 -m conch_stub`: descriptor 3 is the server's socket, 4 and 5 are the two arenas."""

from __future__ import annotations

import os
import socket
import sys

from .process import DESCRIPTORS, lead_group, prepare_process


def main() -> None:
    lead_group()
    # `-m` puts the working directory before everything that is installed.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    prepare_process()
    sock = socket.socket(fileno=DESCRIPTORS[0])

    import numpy

    from .arena import RequestArena, ResponseArena
    from .connection import Connection
    from .wire import encode

    connection = Connection(sock, RequestArena(DESCRIPTORS[1]), ResponseArena(DESCRIPTORS[2]))
    python = sys.version.split()[0]
    connection.send(f'{{"t":"up","python":{encode(python)},"numpy":{encode(numpy.__version__)}}}')

    from .heartbeat import start_heartbeat
    from .life import live
    from .process import leave_conversation_after_fork

    start_heartbeat(connection)
    leave_conversation_after_fork(connection)
    live(connection)


# Not in a helper that a model starts with `multiprocessing`, which imports this module under another name.
if __name__ == "__main__":
    main()
