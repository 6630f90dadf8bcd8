"""Calls to the server that are answered by one value."""

from __future__ import annotations

from .arguments import TritonModelException
from .connection import Connection
from .wire import Outgoing, encode


def ask_engine(connection: Connection, what: str, fields: dict, failure: str, outgoing: Outgoing | None = None):
    """Waits for the value. An error is raised as TritonModelException, its text after `failure`."""
    replies: list[dict] = []
    header = f'"what":"{what}",{encode(fields)[1:]}'
    connection.call(lambda reply, _: replies.append(reply), header, outgoing)
    connection.wait_until(lambda: len(replies) > 0)
    error = replies[0].get("error")
    if error is not None:
        raise TritonModelException(f"{failure}{error[1]}")
    return replies[0].get("value")

