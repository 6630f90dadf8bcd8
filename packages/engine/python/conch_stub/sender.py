"""Answers that come when the model likes, one or many to a request."""

from __future__ import annotations

import threading

from .arguments import NATIVE, TritonModelException, is_integer, refuse_arguments
from .response import InferenceResponse, describe_response
from .session import Session
from .wire import Outgoing

COMPLETE_FINAL = 1

_SIGNATURE = "(self, response: c_python_backend_utils.InferenceResponse = None, flags: int = 0) -> None"
#: One for all senders: held for a few comparisons.
_lock = threading.Lock()


class ResponseSender:
    """Any thread may send. One that is collected before its final flag tells the server that no answer will come."""

    __slots__ = ("__weakref__", "_closed", "_sent", "_session", "_wire")

    def __init__(self, session: Session, wire: dict) -> None:
        self._session = session
        self._wire = wire
        self._sent = 0
        self._closed = False

    def send(self, response: InferenceResponse | None = None, flags: int = 0) -> None:
        if not (response is None or isinstance(response, InferenceResponse)) or not is_integer(flags):
            raise refuse_arguments("send", _SIGNATURE, (self, response, flags), "function")
        flags = int(flags)
        self._admit(response, flags)
        request = self._wire["q"]
        final = flags == COMPLETE_FINAL
        header = f'{{"t":"send","q":{request},"final":{"true" if final else "false"}'
        connection = self._session.connection
        if final:
            connection.close_request(request)
        if response is None:
            connection.send(header + "}")
            return
        outgoing = Outgoing(connection.responses)
        try:
            connection.send(f'{header},"response":{describe_response(response, self._wire["outs"], outgoing)}}}', outgoing)
        except BaseException:
            outgoing.discard()
            if final:
                drop_request(self._session, request)
            raise

    def is_cancelled(self) -> bool:
        return self._session.connection.is_cancelled(self._wire["q"])

    def close(self) -> bool:
        """For the batch: no more answers through this sender. False if it was closed before."""
        with _lock:
            was_open = not self._closed
            self._closed = True
        return was_open

    def _admit(self, response: InferenceResponse | None, flags: int) -> None:
        """Counts the response, or raises for what may not be sent."""
        if flags not in (0, COMPLETE_FINAL):
            raise TritonModelException("Unable to send response. Unsupported flag provided.")
        if response is None and flags == 0:
            raise TritonModelException(
                "Inference Response object must be provided when the response flags is set to zero."
            )
        with _lock:
            if not self._session.decoupled:
                self._check_single(response)
            if self._closed:
                raise TritonModelException("Unable to send response. Response sender has been closed.")
            if response is not None:
                self._sent += 1
            self._closed = flags == COMPLETE_FINAL

    def _check_single(self, response: InferenceResponse | None) -> None:
        if response is not None and self._sent > 0:
            raise TritonModelException(
                "Unable to send response. Non-decoupled model cannot send more than one response."
            )
        if response is None and self._sent == 0 and not self._closed:
            raise TritonModelException(
                "Unable to send response. Non-decoupled model cannot send complete final before sending a response."
            )

    def __del__(self) -> None:
        if not self._closed:
            self._closed = True
            drop_request(self._session, self._wire["q"])


ResponseSender.__module__ = NATIVE


def drop_request(session: Session, request: int) -> None:
    """Tells the server that nobody can answer the request any more. Never waits."""
    session.connection.close_request(request)
    session.connection.post(f'{{"t":"dropped","q":{request}}}')
