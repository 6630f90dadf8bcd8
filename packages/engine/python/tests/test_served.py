"""The same models, unmodified, behind the whole server."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from fake_server import MODELS, PYTHON_ROOT

CONCH = PYTHON_ROOT.parent.parent.parent / "bin" / "conch"
VECTOR = ("FP32", [1, 4], [1, 2, 3, 4])
TWO = {"INPUT0": VECTOR, "INPUT1": VECTOR}
SUMS = {"OUTPUT0": [2, 4, 6, 8], "OUTPUT1": [0, 0, 0, 0]}


class Served:
    def __init__(self, repository: Path) -> None:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            self.port, self.metrics_port = one.getsockname()[1], two.getsockname()[1]
        self.log_path = repository.parent / "server.log"
        self.log = self.log_path.open("wb")
        ports = [f"--http-port={self.port}", f"--metrics-port={self.metrics_port}", "--allow-grpc=false"]
        command = [str(CONCH), "serve", f"--model-repository={repository}", "--http-address=127.0.0.1", *ports]
        # The models run on the Python that runs this test.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, "PATH": path}
        )

    def wait(self, seconds: float = 50) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/health/ready", timeout=5)
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(self.log_path.read_text()[-3000:])

    def get(self, path: str) -> str:
        return urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}{path}", timeout=10).read().decode()

    def post(self, path: str, body: dict) -> tuple[int, str]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v2/models/{path}", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def infer(self, model: str, inputs: dict, **more):
        """Outputs by name, or the text of the error."""
        entries = [{"name": n, "datatype": t, "shape": s, "data": d} for n, (t, s, d) in inputs.items()]
        _, text = self.post(f"{model}/infer", {"inputs": entries, **more})
        told = json.loads(text)
        return told["error"] if "error" in told else {o["name"]: o["data"] for o in told["outputs"]}

    def stream(self, model: str, body: dict) -> list[dict]:
        _, text = self.post(f"{model}/generate_stream", body)
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    if not (CONCH.parent.parent / "node_modules").exists():
        pytest.skip("the server's packages are not installed")
    repository = tmp_path_factory.mktemp("served") / "models"
    shutil.copytree(MODELS, repository)
    shutil.copytree(repository / "add_sub", repository / "sub_add")
    server = Served(repository)
    try:
        server.wait()
        yield server
    finally:
        server.close()


@pytest.mark.parametrize(
    "model, inputs, expected",
    [
        ("add_sub", TWO, SUMS),
        ("auto_complete", TWO, {"OUTPUT0": [2, 4, 6, 8]}),
        ("bls_sync", {"MODEL_NAME": ("BYTES", [1], ["add_sub"]), **TWO}, SUMS),
        ("bls_async", TWO, SUMS),
        ("bls_decoupled", {"IN": ("INT32", [1], [3])}, {"SUM": [9]}),
        ("bls_decoupled", {"IN": ("INT32", [1], [0])}, {"SUM": [0]}),
        (
            "preprocessing",
            {"TEXT": ("BYTES", [2], ["The grüne fern", "a"])},
            {"IDS": [1, 3, 2, 0, -1, -1], "LOWER": ["the grüne fern", "a"]},
        ),
        ("error_handling", {"IN": ("INT32", [2], [1, 2])}, {"OUT": [1, 2]}),
        ("dlpack", {"PROTOCOL": ("FP32", [2], [1, 2])}, {"PROTOCOL_OUT": [2, 4]}),
    ],
)
def test_models_answer(served, model, inputs, expected):
    assert served.infer(model, inputs) == expected


def test_an_iterative_sequence(served):
    parameters = {"sequence_id": 7, "sequence_start": True, "sequence_end": True}
    assert served.infer("iterative", {"IN": ("INT32", [1], [5])}, parameters=parameters) == {"OUT": [0]}


def test_streams(served):
    assert [(e["OUT"], e["INDEX"]) for e in served.stream("repeat", {"IN": [4, 5], "DELAY": [1, 2]})] == [(4, 0), (5, 1)]
    assert [e["OUT"] for e in served.stream("async_stream", {"IN": 3})] == [0, 1, 2]
    assert [e["OUT"] for e in served.stream("square", {"IN": 2})] == [2, 2]


def test_a_failed_call(served):
    told = served.infer("bls_sync", {"MODEL_NAME": ("BYTES", [1], ["nope"]), **TWO})
    assert "message: TritonModelException: Model nope - Error when running inference: " in told
    assert told.endswith("bls_sync/1/model.py(19): execute\n")


def test_metrics_and_log_lines(served):
    assert served.infer("custom_metrics", {"IN": ("FP32", [2, 2], [1, 2, 3, 4])}) == {"TOTAL": [1]}
    metrics = served.get("/metrics").splitlines()
    assert 'requests_seen{model="custom_metrics",version="1"} 1' in metrics
    assert 'sizes_bucket{model="custom_metrics",version="1",le="10"} 1' in metrics
    lines = [line for line in served.log_path.read_text().splitlines() if '"a warning"' in line]
    assert len(lines) == 1 and lines[0].startswith("W")
