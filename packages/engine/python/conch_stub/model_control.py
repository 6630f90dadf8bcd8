"""Loading and unloading of models by a model."""

from __future__ import annotations

import re

from .arguments import TritonModelException, refuse_arguments
from .engine_call import ask_engine
from .session import current_session
from .wire import Outgoing

_INTEGER = re.compile(r"\s*[+-]?\d+")


def load_model(model_name: str, config: str = "", files: dict[str, bytes] | None = None) -> None:
    """Loads or reloads it, with another config or other files (`file:<path>` → bytes) if given. Waits until it is done."""
    if not isinstance(model_name, str) or not isinstance(config, str):
        signature = "(model_name: str, config: str = '', files: object = None) -> None"
        raise refuse_arguments("load_model", signature, (model_name, config, files), "function")
    connection = current_session().connection
    outgoing, entries, size = Outgoing(connection.responses), [], 0
    for path, content in _check_files(model_name, files).items():
        padding = -size % 8
        outgoing.parts += (b"\0" * padding, content)
        entries.append([path, size + padding, len(content)])
        size += padding + len(content)
    outgoing.size = size
    ask_engine(
        connection,
        "load",
        {"model": model_name, "config": config, "files": entries},
        "Failed to load model: ",
        outgoing,
    )


def unload_model(model_name: str, unload_dependents: bool = False) -> None:
    """Asks for it; the model may go on serving for a while."""
    if not isinstance(model_name, str) or not isinstance(unload_dependents, bool):
        signature = "(model_name: str, unload_dependents: bool = False) -> None"
        raise refuse_arguments("unload_model", signature, (model_name, unload_dependents), "function")
    fields = {"model": model_name, "dependents": unload_dependents}
    ask_engine(current_session().connection, "unload", fields, "Failed to unload model: ")


def is_model_ready(model_name: str, model_version: str = "") -> bool:
    """False for a model that does not exist."""
    if not isinstance(model_name, str) or not isinstance(model_version, str):
        signature = "(model_name: str, model_version: str = '') -> bool"
        raise refuse_arguments("is_model_ready", signature, (model_name, model_version), "function")
    _check_version(model_version)
    fields = {"model": model_name, "version": model_version}
    return bool(
        ask_engine(current_session().connection, "ready", fields, "Failed to check model readiness: ")
    )


def _check_files(model_name: str, files: object) -> dict[str, bytes]:
    if files is None:
        return {}
    if not isinstance(files, dict) or not all(isinstance(path, str) for path in files):
        raise TritonModelException(
            f"failed to load model '{model_name}', files should be a dictionary of file paths and file contents"
        )
    contents = {}
    for path, content in files.items():
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogateescape")
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TritonModelException(
                f"failed to load model '{model_name}', files should be a dictionary of file paths and file contents"
            )
        contents[path] = bytes(content)
    return contents


def _check_version(text: str) -> None:
    if text == "":
        return
    about = f"failed to get model version from specified version string '{text}'"
    number = _INTEGER.match(text)
    if number is None:
        raise TritonModelException(f"{about} (details: stol), version should be an integral value > 0")
    if int(number.group()) <= 0:
        raise TritonModelException(f"{about}, version should be an integral value > 0")
