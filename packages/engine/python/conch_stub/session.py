"""The one model of this process, and how far it has come."""

from __future__ import annotations

from contextvars import ContextVar

from .arguments import NATIVE, TritonModelException
from .connection import Connection

#: The request on whose behalf a coroutine of a decoupled model runs.
task_request: ContextVar[int | None] = ContextVar("task_request", default=None)


class Session:
    """Filled in by `complete` or `init`; read by everything that a model calls."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.instance = ""
        self.model_name = ""
        self.file = ""
        self.version_directory = ""
        self.decoupled = False
        self.verbose = False
        #: Whether `exec` may be called: after initialize, until finalize.
        self.serving = False
        self.model: object | None = None
        #: First request of the newest batch.
        self.batch_request: int | None = None

    def caller(self) -> int | None:
        """Whose request a call of this thread belongs to, as far as that can be told."""
        own = task_request.get()
        return self.batch_request if own is None else own


_current: Session | None = None


def open_session(connection: Connection) -> Session:
    global _current
    _current = Session(connection)
    return _current


def current_session() -> Session:
    """Raises TritonModelException outside of a model's process, for example in a unit test of a model."""
    if _current is None:
        raise TritonModelException("this call needs a server: it works only in a model that is being served")
    return _current


class SharedMemory:
    """What tests of models ask about memory."""

    def free_memory(self) -> int:
        """Bytes of the response arena that hold nothing the server still needs."""
        responses = current_session().connection.responses
        return responses.size - responses.used


SharedMemory.__module__ = NATIVE
