"""Runs `execute` for one batch and tells the server what came of it."""

from __future__ import annotations

import os
from types import CoroutineType

from .arena import Lease
from .error_text import cut_text, describe_exception, print_exception
from .process import flush_streams
from .request import RELEASE_RESCHEDULE, InferenceRequest, receive_request
from .response import InferenceResponse, describe_error, describe_response
from .sender import ResponseSender
from .session import Session
from .tensor import Received
from .wire import Outgoing, encode

_TWICE = "Unable to send response. Non-decoupled model cannot send more than one response."
_AGAIN = '{"again":true}'


class WrongReturn(Exception):
    """`execute` returned what it may not; the message is the whole text."""


def run_batch(session: Session, header: dict, payload: bytearray) -> None:
    """One `run` frame, one `done` frame. Nothing that a model does is raised here."""
    received = receive_frame(session, [entry for request in header["r"] for entry in request["in"]], payload)
    requests = [receive_request(session, request, received) for request in header["r"]]
    session.batch_request = header["r"][0]["q"] if header["r"] else None
    outgoing = Outgoing(session.connection.responses)
    try:
        try:
            returned = _execute(session, requests)
        finally:
            if session.connection.is_forked:
                # The other side of a model's fork: the answer is its parent's.
                flush_streams()
                os._exit(0)
        entries = _describe_returned(session, requests, returned, outgoing)
        del returned
        session.connection.send(f'{{"t":"done","b":{header["b"]},"r":[{",".join(entries)}]}}', outgoing)
    except BaseException as error:  # noqa: BLE001 - SystemExit included: one request does not end the model
        outgoing.discard()
        _fail_batch(session, header, requests, error)
    flush_streams()


def receive_frame(session: Session, entries: list[list], payload: bytearray) -> Received:
    """What the tensors of a frame look at; its blocks of the arena are freed when the last of them is collected."""
    connection = session.connection
    offsets = [entry[4] for entry in entries if entry[3] == 1]
    lease = Lease(offsets, connection.release) if offsets else None
    return Received(payload, connection.requests, lease)


def _execute(session: Session, requests: list[InferenceRequest]):
    execute = getattr(session.model, "execute", None)
    if execute is None:
        raise WrongReturn(f"Python model {session.file} does not implement `execute` method.")
    returned = execute(requests)
    if type(returned) is CoroutineType:
        from .background import run_coroutine, start_coroutine

        if not session.decoupled:
            return run_coroutine(returned)
        start_coroutine(session, returned, requests)
        return None
    return returned


def _describe_returned(session: Session, requests: list[InferenceRequest], returned, outgoing: Outgoing) -> list[str]:
    if returned is None:
        return [_leave_open(request) for request in requests]
    if session.decoupled:
        raise WrongReturn(
            f"Python model '{session.instance}' is using the decoupled mode and the execute function must return None."
        )
    if not isinstance(returned, list):
        raise WrongReturn(f"Expected a list in the execute return, found type '{type(returned)}'.")
    if len(returned) != len(requests):
        raise WrongReturn(
            "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
            f"InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size is:{len(returned)}\n"
        )
    for request, response in zip(requests, returned):
        if type(response) is not InferenceResponse or request._release == RELEASE_RESCHEDULE:
            _check_returned(request, response)
    return [_describe_one(request, response, outgoing) for request, response in zip(requests, returned)]


def _check_returned(request: InferenceRequest, response: object) -> None:
    if response is None:
        return
    if request._release == RELEASE_RESCHEDULE:
        raise WrongReturn(
            "Expected a None object in the execute function return list for reschduled request, "
            f"found type '{type(response)}'."
        )
    if not isinstance(response, InferenceResponse):
        raise WrongReturn(
            "Expected an 'InferenceResponse' object in the execute function return list, "
            f"found type '{type(response)}'."
        )


def _describe_one(request: InferenceRequest, response: InferenceResponse | None, outgoing: Outgoing) -> str:
    if response is None:
        return _leave_open(request)
    sender = request._sender
    if sender is None:
        request._session.connection.close_request(request._wire["q"])
        # A sender that is taken from now on is closed at birth.
        request._session = None
        return describe_response(response, request._wire["outs"], outgoing)
    return _describe_beside_sender(request, sender, response, outgoing)


def _describe_beside_sender(
    request: InferenceRequest, sender: ResponseSender, response: InferenceResponse, outgoing: Outgoing
) -> str:
    """A returned response of a request whose sender the model has taken too."""
    sent, was_open = sender._sent, sender.close()
    request._session.connection.close_request(request._wire["q"])
    if sent == 0:
        return describe_response(response, request._wire["outs"], outgoing)
    print_exception(WrongReturn(_TWICE))
    return describe_error("INTERNAL", _TWICE) if was_open else "null"


def _leave_open(request: InferenceRequest) -> str:
    """The answer comes later or from another batch. Without a sender that is taken, one that tells when it is dropped."""
    sender = request.get_response_sender()
    if request._release != RELEASE_RESCHEDULE:
        return "null"
    sender.close()
    request._session.connection.close_request(request._wire["q"])
    return _AGAIN


def _fail_batch(session: Session, header: dict, requests: list[InferenceRequest], error: BaseException) -> None:
    for request in requests:
        if request._sender is not None:
            request._sender.close()
        session.connection.close_request(request._wire["q"])
    if isinstance(error, WrongReturn):
        text = cut_text(str(error))
    else:
        print_exception(error)
        text = describe_exception(error)
    # The traceback would keep the requests and their memory alive.
    error.__traceback__ = None
    session.connection.send(f'{{"t":"done","b":{header["b"]},"error":{encode(text)}}}')
