"""
What a request costs in a model's process: `python packages/engine/python/tests/bench.py [requests]`. It lies here because
whatever lies beside `conch_stub` hides the models' own modules of that name.

Runs add_sub on 16 floats over the real socket and prints microseconds of the process's own CPU per request, and with the
same work in plain numpy taken off; then how long a process takes to start beside `python -c "import numpy"`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from fake_server import MODELS, Process

CONFIG = {
    "name": "add_sub",
    "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32"}, {"name": "OUTPUT1", "data_type": "TYPE_FP32"}],
}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(fields[0]) / 1e9


def measure_requests(count: int, size: int, at_once: int = 1) -> tuple[float, float]:
    """CPU of the process and time on the wall, microseconds per request."""
    process = Process()
    process.start()
    assert process.init(MODELS / "add_sub", CONFIG)["t"] == "ready"
    x = np.arange(size, dtype=np.float32)
    for _ in range(200):
        process.infer({"INPUT0": x, "INPUT1": x})
    before, began = cpu_seconds(process.popen.pid), time.perf_counter()
    for _ in range(count // at_once):
        for _ in range(at_once):
            process.run({"INPUT0": x, "INPUT1": x})
        for _ in range(at_once):
            process.answer()
    took, used = time.perf_counter() - began, cpu_seconds(process.popen.pid) - before
    process.close()
    return used / count * 1e6, took / count * 1e6


def measure_numpy(count: int, size: int) -> float:
    """The model's own arithmetic, microseconds a request."""
    a = np.arange(size, dtype=np.float32)
    began = time.process_time()
    for _ in range(count):
        total, difference = a + a, a - a
        total.astype(np.float32), difference.astype(np.float32)
    return (time.process_time() - began) / count * 1e6


def measure_start() -> tuple[float, float]:
    """Medians of seconds: until `up`, and of `python -c "import numpy"`."""
    ours, theirs = [], []
    for _ in range(7):
        began = time.perf_counter()
        process = Process()
        process.start()
        ours.append(time.perf_counter() - began)
        process.close()
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy"], check=True)
        theirs.append(time.perf_counter() - began)
    return statistics.median(ours), statistics.median(theirs)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    own = measure_numpy(count, 16)
    for at_once in (1, 8):
        cpu, wall = measure_requests(count, 16, at_once)
        print(
            f"16 floats, {at_once} at once: {cpu:.1f} us of CPU a request, {cpu - own:.1f} us without numpy's "
            f"{own:.1f} us; {wall:.1f} us on the wall, this test included"
        )
    cpu, wall = measure_requests(200, 1_250_000)
    print(f"2 x 5 MB in, 2 x 5 MB out: {cpu / 1000:.2f} ms of CPU a request")
    ours, theirs = measure_start()
    print(f"start: {ours * 1000:.0f} ms, `import numpy`: {theirs * 1000:.0f} ms, {ours / theirs:.2f} times")


if __name__ == "__main__":
    main()
