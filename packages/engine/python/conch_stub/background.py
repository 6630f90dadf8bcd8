"""The asyncio loop of the instance, in a thread of its own; it exists once a model needs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine

from .error_text import describe_exception, print_exception
from .request import InferenceRequest
from .response import describe_error
from .session import Session, task_request

_loop: asyncio.AbstractEventLoop | None = None
_tasks: set = set()


def run_coroutine(coroutine: Coroutine):
    """Waits for it; raises what it raises."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _open_loop())
    error = future.exception()
    if error is not None:
        # Not `result`, which would put its own lines into the traceback.
        raise error
    return future.result()


def start_coroutine(session: Session, coroutine: Coroutine, requests: list[InferenceRequest]) -> None:
    """Lets it run while the next batches come. If it fails, its requests that are still open get the error."""
    request = requests[0]._wire["q"] if requests else None
    task = asyncio.run_coroutine_threadsafe(_guard(session, coroutine, requests, request), _open_loop())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def stop_loop() -> None:
    """Waits for what was started, then ends the loop."""
    global _loop
    if _loop is None:
        return
    for task in list(_tasks):
        try:
            task.result()
        except BaseException as error:  # noqa: BLE001 - only told
            print_exception(error)
    _loop.call_soon_threadsafe(_loop.stop)
    _loop = None


def _open_loop() -> asyncio.AbstractEventLoop:
    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        threading.Thread(target=_run_loop, args=(_loop,), name="conch-asyncio", daemon=True).start()
    return _loop


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


async def _guard(session: Session, coroutine: Coroutine, requests: list[InferenceRequest], request: int | None) -> None:
    task_request.set(request)
    try:
        returned = await coroutine
        if returned is not None:
            raise TypeError(
                f"Python model '{session.instance}' is using the decoupled mode and the execute function must return None."
            )
    except BaseException as error:  # noqa: BLE001 - SystemExit included: it would end the loop
        print_exception(error)
        prefix = f"Failed to process the request(s) for model '{session.instance}', message: "
        _fail_requests(session, requests, prefix + describe_exception(error))
        error.__traceback__ = None


def _fail_requests(session: Session, requests: list[InferenceRequest], text: str) -> None:
    for request in requests:
        if request.get_response_sender().close():
            number = request._wire["q"]
            session.connection.close_request(number)
            response = describe_error("INTERNAL", text)
            session.connection.send(f'{{"t":"send","q":{number},"final":true,"response":{response}}}')
