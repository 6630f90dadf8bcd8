"""A server on the example models and on those zoo models that could be fetched."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]
CONCH = str(ROOT / "bin" / "conch")
# Fetched models stay here between runs.
ZOO = ROOT / ".cache" / "zoo"
# One that hangs is given up and asked again: the next connection is answered as a rule. All of it has an end.
ATTEMPTS = 4
ATTEMPT_SECONDS = 60
FETCH_SECONDS = 300
FETCHES_AT_ONCE = 3


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(name, end):
    """None, or why the model could not be had. A registry that hangs must not fail what is tested here."""
    why = f"no turn within {FETCH_SECONDS} s"
    for _ in range(ATTEMPTS):
        left = end - time.monotonic()
        if left <= 0:
            break
        why = fetch_once(name, min(left, ATTEMPT_SECONDS))
        if why is None:
            break
    return why


def fetch_once(name, seconds):
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([CONCH, "zoo", "add", name, f"--model-repository={ZOO}"], stdout=output, stderr=output, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"no answer from the registry within {seconds:.0f} s, the last of {ATTEMPTS} times"
        output.seek(0)
        return None if code == 0 else output.read().strip()[-300:]


FAILED = pytest.StashKey[dict]()


def pytest_collection_finish(session):
    """Fetches what the chosen tests need, before the first of them: their time limits are about the server."""
    named = {item.callspec.params.get("name") for item in session.items if hasattr(item, "callspec")}
    zoo = {param for item in session.items for param in getattr(item.module, "ZOO_MODELS", {})}
    missing = sorted(name for name in named & zoo if not (ZOO / name).exists())
    session.config.stash[FAILED] = {}
    if not missing or session.config.option.collectonly:
        return
    ZOO.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + FETCH_SECONDS
    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        session.config.stash[FAILED] = dict(zip(missing, pool.map(lambda name: fetch(name, end), missing)))


@pytest.fixture(scope="session")
def zoo_model(pytestconfig):
    """zoo_model(name) -> folder of the model; skips where it could not be fetched."""
    failed = pytestconfig.stash[FAILED]

    def get(name):
        if failed.get(name):
            pytest.skip(f"zoo model {name} could not be fetched: {failed[name]}")
        return ZOO / name

    return get


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """server(name, folder) loads a model into the one running server and answers its address."""
    repository = tmp_path_factory.mktemp("models")
    http, metrics = free_port(), free_port()
    log = open(tmp_path_factory.mktemp("log") / "server.log", "w+")
    process = subprocess.Popen(
        [CONCH, "serve", f"--model-repository={repository}", "--model-control-mode=explicit", "--http-address=127.0.0.1", f"--http-port={http}",
         "--allow-grpc=false", "--metrics-address=127.0.0.1", f"--metrics-port={metrics}"], stdout=log, stderr=subprocess.STDOUT,
        # Python models get the Python that runs this: it has numpy.
        env={**os.environ, "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"})
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
