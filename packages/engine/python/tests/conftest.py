"""Processes for tests; each is ended, with everything it started, when its test is over."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from fake_server import Process  # noqa: E402

#: Runs the text of its input CODE as the body of execute; decoupled or not is the process's choice.
SCRIPTED = """
import json, threading, time, os, sys
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def initialize(self, args):
        self.args = args
        self.kept = {}

    def execute(self, requests):
        code = pb_utils.get_input_tensor_by_name(requests[0], "CODE").as_numpy()[0].decode()
        scope = {**globals(), "self": self, "requests": requests, "request": requests[0]}
        exec(compile(code, "code.py", "exec"), scope)
        return scope.get("result")

def respond(**tensors):
    return pb_utils.InferenceResponse([pb_utils.Tensor(k, v) for k, v in tensors.items()])

def text(value):
    return np.array([value if isinstance(value, (str, bytes)) else repr(value)], dtype=np.object_)
"""


def write_model(folder: Path, code: str, name: str = "m") -> Path:
    directory = folder / name
    (directory / "1").mkdir(parents=True, exist_ok=True)
    (directory / "1" / "model.py").write_text(textwrap.dedent(code))
    return directory


class Scripted:
    """One loaded model that does what each test says."""

    def __init__(self, process: Process) -> None:
        self.process = process

    def run(self, code: str, inputs: dict | None = None, others=(), **fields):
        """Runs the code as execute; answers what `Process.answer` does, for one request without the list."""
        inputs = {"CODE": [textwrap.dedent(code)], **(inputs or {})}
        self.process.run(inputs, *others, **fields)
        answer = self.process.answer()
        return answer if isinstance(answer, str) or others else answer[0]

    def tell(self, expression: str, inputs: dict | None = None, **fields) -> str:
        """The value of an expression, as text."""
        answer = self.run(f"result = [respond(OUT=text({expression}))]", inputs, **fields)
        assert isinstance(answer, dict) and "OUT" in answer, answer
        return answer["OUT"][0].decode()


#: The next process imports numpy while a test runs.
_spare: list[Process] = []


@pytest.fixture(scope="session", autouse=True)
def _close_spare():
    yield
    while _spare:
        _spare.pop().close()


def take_process() -> Process:
    process = _spare.pop() if _spare else Process()
    _spare.append(Process())
    process.start()
    return process


@pytest.fixture
def start():
    """Starts processes: `start()` answers one that is up."""
    processes = []

    def begin(**options) -> Process:
        if not options:
            processes.append(take_process())
            return processes[-1]
        process = Process(**options)
        processes.append(process)
        process.start()
        return process

    yield begin
    for process in processes:
        process.close()


@pytest.fixture
def load(start, tmp_path):
    """Starts a process and loads a model given by its code or its directory; it has to become ready."""

    def begin(model, config: dict | None = None, **fields) -> Process:
        process = start()
        directory = write_model(tmp_path, model) if isinstance(model, str) else model
        told = process.init(directory, config, **fields)
        assert told["t"] == "ready", told
        return process

    return begin


def _scripted(tmp_path_factory, decoupled: bool):
    process = take_process()
    directory = write_model(tmp_path_factory.mktemp("scripted"), SCRIPTED)
    assert process.init(directory, decoupled=decoupled)["t"] == "ready"
    return process


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    process = _scripted(tmp_path_factory, decoupled=False)
    yield Scripted(process)
    process.close()


@pytest.fixture(scope="module")
def decoupled(tmp_path_factory):
    process = _scripted(tmp_path_factory, decoupled=True)
    yield Scripted(process)
    process.close()
