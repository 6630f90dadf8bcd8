"""Business logic scripting: a model that calls other models."""

from __future__ import annotations

from collections import deque

from .arguments import NATIVE, TritonModelException
from .batch import receive_frame
from .request import InferenceRequest, current_or_own
from .response import InferenceResponse, receive_response, response_of_error
from .session import Session
from .tensor import describe_tensor
from .wire import Outgoing, encode

_EMPTY = "Unexpected empty response."


class Answers:
    """The replies to one call, as they come."""

    __slots__ = ("_session", "call", "final", "on_reply", "queue")

    def __init__(self, session: Session) -> None:
        self._session = session
        self.call = 0
        #: Each with whether it is the last; a last one may be empty.
        self.queue: deque[tuple[InferenceResponse | None, bool]] = deque()
        self.final = False
        #: Called after each reply, by whichever thread reads.
        self.on_reply = None

    def take(self, header: dict, payload: bytearray) -> None:
        error, wire = header.get("error"), header.get("response")
        final = error is not None or header.get("final") is not False
        response = None
        if error is not None:
            response = response_of_error(error[1], error[0])
        elif wire is not None:
            received = receive_frame(self._session, wire.get("out") or [], payload)
            response = receive_response(wire, received)
        self.queue.append((response, final))
        self.final = final
        if self.on_reply is not None:
            self.on_reply()

    def is_final(self) -> bool:
        return self.final

    def has_news(self) -> bool:
        return len(self.queue) > 0

    def single(self) -> InferenceResponse:
        return self.queue[0][0] or response_of_error(_EMPTY)

    def wait(self, is_done) -> None:
        if not is_done():
            self._session.connection.wait_until(is_done)

    def cancel(self) -> None:
        if not self.final:
            self._session.connection.call(None, f'"what":"cancel","of":{self.call}}}')


class ResponseIterator:
    """
    The responses of a decoupled model, the last of which may be empty. Waits for the next one; once all have come, every
    `iter` starts again from the first.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._seen: list[InferenceResponse] = []
        self._at = 0
        self._finished = False

    def __iter__(self) -> ResponseIterator:
        if self._finished:
            self._at = 0
        return self

    def __next__(self) -> InferenceResponse:
        if self._at == len(self._seen):
            self._fetch()
        self._at += 1
        return self._seen[self._at - 1]

    def cancel(self) -> None:
        """Asks the called model to stop; a CANCELLED error ends the responses. Without effect after the last one."""
        self._answers.cancel()

    def _fetch(self) -> None:
        if self._finished:
            raise StopIteration
        self._answers.wait(self._answers.has_news)
        response, self._finished = self._answers.queue.popleft()
        self._seen.append(response or InferenceResponse([]))

    def __del__(self) -> None:
        if not self._answers.final:
            answers = self._answers
            answers._session.connection.post(f'{{"t":"call","c":0,"what":"cancel","of":{answers.call}}}')


ResponseIterator.__module__ = NATIVE


def run_request(request: InferenceRequest, decoupled: bool):
    """Blocks this thread, and no other."""
    answers = _send(request, decoupled, None)
    if decoupled:
        return ResponseIterator(answers)
    answers.wait(answers.is_final)
    return answers.single()


def start_request(request: InferenceRequest, decoupled: bool):
    """A future of the running loop; cancelling it cancels the call. A decoupled call is done when its first response is."""
    import asyncio

    from .async_reading import AsyncReading

    loop = asyncio.get_running_loop()
    future = loop.create_future()
    reading = AsyncReading(loop, current_or_own(request).connection)

    def settle(answers: Answers) -> None:
        if not future.done():
            future.set_result(ResponseIterator(answers) if decoupled else answers.single())

    def listen(answers: Answers):
        is_done = answers.has_news if decoupled else answers.is_final
        settled = False

        def on_reply() -> None:
            nonlocal settled
            if not settled and is_done():
                settled = True
                try:
                    loop.call_soon_threadsafe(settle, answers)
                except RuntimeError:
                    # The loop was closed meanwhile: nobody waits any more.
                    pass

        return on_reply

    answers = _send(request, decoupled, listen)

    def finish(done) -> None:
        reading.stop()
        if done.cancelled():
            answers.cancel()

    reading.start()
    future.add_done_callback(finish)
    return future


def _send(request: InferenceRequest, decoupled: bool, listen) -> Answers:
    session = current_or_own(request)
    if not session.serving:
        raise TritonModelException("BLS is only supported during the 'execute' function.")
    answers = Answers(session)
    if listen is not None:
        answers.on_reply = listen(answers)
    outgoing = Outgoing(session.connection.responses)
    try:
        tensors = ",".join([describe_tensor(tensor, outgoing) for tensor in request.inputs()])
        wire = {key: value for key, value in request._wire.items() if key not in ("q", "in")}
        wire.setdefault("model", session.model_name)
        fields = {"decoupled": bool(decoupled), "q": session.caller()}
        header = f'"what":"infer",{encode(fields)[1:-1]},"request":{encode(wire)[:-1]},"in":[{tensors}]}}}}'
        answers.call = session.connection.call(answers.take, header, outgoing)
    except BaseException:
        outgoing.discard()
        raise
    return answers
