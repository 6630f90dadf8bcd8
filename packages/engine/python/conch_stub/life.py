"""From the first frame to the last: loads the model, runs batches, finalizes."""

from __future__ import annotations

import gc
import os
import sys
import time

from .batch import run_batch
from .connection import Connection
from .error_text import describe_exception, print_exception
from .model_file import import_model
from .process import flush_streams, leave
from .session import Session, open_session
from .wire import encode

#: Seconds that requests with a sender have to be answered when the model is to end.
_PATIENCE = 10


def live(connection: Connection) -> None:
    """Works off frames until `stop`. Does not return."""
    session = open_session(connection)
    while True:
        header, payload = connection.next_work()
        kind = header["t"]
        if kind == "run":
            run_batch(session, header, payload)
        elif kind == "is_ready":
            _tell_ready(session, header["c"])
        elif kind == "init":
            _initialize(session, header)
        elif kind == "complete":
            _complete(session, header)
        elif kind == "stop":
            _finalize(session)
        del header, payload


def _open_model(session: Session, header: dict):
    """The class in the model's file."""
    args = header["args"]
    session.file = header.get("file") or os.path.join(args["model_repository"], args["model_version"], "model.py")
    session.version_directory = header.get("version_dir") or os.path.dirname(session.file)
    session.model_name = args.get("model_name", "")
    session.instance = header.get("name") or args.get("model_instance_name", session.model_name)
    session.verbose = bool(header.get("verbose"))
    session.decoupled = bool(header.get("decoupled"))
    module = import_model(session.file, session.version_directory, header.get("python_path") or [])
    return module.TritonPythonModel


def _initialize(session: Session, header: dict) -> None:
    try:
        model = _open_model(session, header)()
        if hasattr(model, "initialize"):
            model.initialize(header["args"])
    except BaseException as error:  # noqa: BLE001 - SystemExit included
        _tell_failed(session, error)
        return
    session.model = model
    session.serving = True
    # What was imported stays: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    flush_streams()
    session.connection.send(f'{{"t":"ready","is_ready":{"true" if hasattr(model, "is_ready") else "false"}}}')


def _complete(session: Session, header: dict) -> None:
    try:
        model_class = _open_model(session, header)
        config = header["config"]
        if hasattr(model_class, "auto_complete_config"):
            from triton_python_backend_utils import ModelConfig

            returned = model_class.auto_complete_config(ModelConfig(config))
            if not isinstance(returned, ModelConfig):
                raise ReturnedNoConfig(session.model_name)
            config = returned.as_dict()
        reply = f'{{"t":"completed","config":{encode(config)}}}'
    except BaseException as error:  # noqa: BLE001 - SystemExit included
        _tell_failed(session, error)
        return
    flush_streams()
    session.connection.send(reply)


class ReturnedNoConfig(Exception):
    def __init__(self, model: str) -> None:
        super().__init__(f"auto_complete_config function in model '{model}' must return a valid pb.ModelConfig object.")


def _tell_failed(session: Session, error: BaseException) -> None:
    bare = isinstance(error, ReturnedNoConfig) or (error.__traceback__ is not None and _is_missing_file(error))
    text = str(error) if bare else describe_exception(error)
    print_exception(error)
    flush_streams()
    session.connection.send(f'{{"t":"failed","message":{encode(text)}}}')


def _is_missing_file(error: BaseException) -> bool:
    """Whether this process, not the model's code, found no file it can use."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return isinstance(error, (FileNotFoundError, ImportError)) and trace.tb_frame.f_code is import_model.__code__


def _tell_ready(session: Session, call: int) -> None:
    from types import CoroutineType

    try:
        ready = session.model.is_ready()
        if type(ready) is CoroutineType:
            from .background import run_coroutine

            ready = run_coroutine(ready)
        if not isinstance(ready, bool):
            raise TypeError("is_ready() must return a boolean value")
        reply = f'"value":{"true" if ready else "false"}'
    except BaseException as error:  # noqa: BLE001 - SystemExit included
        print_exception(error)
        text = str(error) if type(error) is TypeError and "is_ready()" in str(error) else describe_exception(error)
        reply = f'"error":{encode(["INTERNAL", text])}'
    flush_streams()
    session.connection.send(f'{{"t":"reply","c":{call},{reply}}}')


def _await_senders(connection: Connection) -> None:
    """Threads of the model may still be answering."""
    end = time.monotonic() + _PATIENCE
    while connection.open and time.monotonic() < end:
        connection.poll()
        time.sleep(0.005)


def _finalize(session: Session) -> None:
    # Only a model with coroutines has made its module known; importing it takes a while.
    background = sys.modules.get("conch_stub.background")
    if background is not None:
        background.stop_loop()
    _await_senders(session.connection)
    session.serving = False
    try:
        if hasattr(session.model, "finalize"):
            session.model.finalize()
    except BaseException as error:  # noqa: BLE001 - only told
        print_exception(error)
    session.model = None
    flush_streams()
    session.connection.send('{"t":"bye"}')
    leave(0)
