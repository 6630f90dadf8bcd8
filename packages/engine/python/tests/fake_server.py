"""The server's side of docs/python-wire.md, just enough to run a model's process in a test."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import numpy as np

PYTHON_ROOT = Path(__file__).resolve().parent.parent
MODELS = Path(__file__).resolve().parent / "models"
DATATYPES = {
    np.dtype(np.bool_): "BOOL",
    np.dtype(np.float16): "FP16",
    np.dtype(np.float32): "FP32",
    np.dtype(np.float64): "FP64",
    **{np.dtype(f"int{w}"): f"INT{w}" for w in (8, 16, 32, 64)},
    **{np.dtype(f"uint{w}"): f"UINT{w}" for w in (8, 16, 32, 64)},
}
DTYPES = {name: dtype for dtype, name in DATATYPES.items()}
INLINE = 64 * 1024


def pack_strings(values) -> bytes:
    parts = [v if isinstance(v, bytes) else str(v).encode() for v in values]
    return b"".join(struct.pack("<I", len(p)) + p for p in parts)


def unpack_strings(data: bytes) -> list[bytes]:
    out, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        out.append(bytes(data[at + 4 : at + 4 + size]))
        at += 4 + size
    return out


class Ended(Exception):
    """The process closed its socket."""


class Process:
    """One model's process and the memory it shares with this test."""

    def __init__(self, python: str = sys.executable, env: dict | None = None, cwd: str | None = None) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock = ours
        self.request_file = os.memfd_create("requests")
        self.response_file = os.memfd_create("responses")
        self.request_size = 1 << 20
        os.ftruncate(self.request_file, self.request_size)
        self.next_block = 64
        self.lent: dict[int, int] = {}
        self.freed: list[int] = []
        self.frames: deque = deque()
        self.calls: list[dict] = []
        self.logs: list[dict] = []
        self.buffer = b""
        self.batches = 0
        self.requests = 0
        self.on_call = lambda server, header, payload: None
        sources = [theirs.fileno(), self.request_file, self.response_file]

        def place_descriptors() -> None:
            high = [fcntl.fcntl(source, fcntl.F_DUPFD, 50) for source in sources]
            for target, source in zip((3, 4, 5), high):
                os.dup2(source, target)

        self.popen = subprocess.Popen(
            [python, "-m", "conch_stub"],
            env={**os.environ, "PYTHONPATH": str(PYTHON_ROOT), "PYTHONDONTWRITEBYTECODE": "", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=place_descriptors,
            pass_fds=(3, 4, 5),
            start_new_session=True,
            cwd=cwd or "/",
        )
        theirs.close()
        self.printed = b""
        self.drain = threading.Thread(target=self.read_output, daemon=True)
        self.drain.start()

    def read_output(self) -> None:
        for chunk in iter(lambda: self.popen.stdout.read1(65536), b""):
            self.printed += chunk

    def wait_for_output(self, text: bytes, timeout: float = 10) -> bool:
        end = time.monotonic() + timeout
        while text not in self.printed and time.monotonic() < end:
            time.sleep(0.005)
        return text in self.printed

    # frames

    def send(self, header: dict, parts=()) -> None:
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        payload = b""
        for part in parts:
            payload += b"\0" * (-len(payload) % 8) + part
        self.sock.sendall(struct.pack("<II", 4 + len(text) + len(payload), len(text)) + text + payload)

    def receive(self, timeout: float = 20) -> tuple[dict, bytes]:
        """The next frame, whatever it is."""
        while True:
            if len(self.buffer) >= 8:
                size, head = struct.unpack_from("<II", self.buffer)
                if len(self.buffer) >= 4 + size:
                    header = json.loads(self.buffer[8 : 8 + head])
                    payload = self.buffer[8 + head : 4 + size]
                    assert (8 + head) % 8 == 0
                    self.buffer = self.buffer[4 + size :]
                    return header, payload
            self.sock.settimeout(timeout)
            try:
                data = self.sock.recv(1 << 20)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Ended
            self.buffer += data

    def expect(self, *kinds: str, timeout: float = 20) -> tuple[dict, bytes]:
        """The next frame of one of these kinds; calls are answered, notices kept, others kept for later."""
        for index, (header, payload) in enumerate(self.frames):
            if header["t"] in kinds:
                del self.frames[index]
                return header, payload
        end = time.monotonic() + timeout
        while True:
            header, payload = self.receive(max(0.01, end - time.monotonic()))
            kind = header["t"]
            if kind == "free":
                for offset in header["o"]:
                    self.lent.pop(offset, None)
                self.freed += header["o"]
            elif kind == "log":
                self.logs.append(header)
            elif kind == "call":
                self.calls.append(header)
                self.on_call(self, header, payload)
            if kind in kinds:
                return header, payload
            if kind not in ("free", "log", "call"):
                self.frames.append((header, payload))

    # tensors

    def lend(self, data: bytes) -> int:
        offset = self.next_block
        self.next_block += len(data) + -len(data) % 64
        if self.next_block > self.request_size:
            self.request_size = self.next_block + -self.next_block % 4096
            os.ftruncate(self.request_file, self.request_size)
        with mmap.mmap(self.request_file, self.request_size) as memory:
            memory[offset : offset + len(data)] = data
        self.lent[offset] = len(data)
        return offset

    def encode_tensors(self, tensors: dict, parts: list, force_arena: bool = False) -> list:
        entries = []
        for name, value in tensors.items():
            shape = None
            if isinstance(value, tuple):
                datatype, shape, data = value
            elif isinstance(value, list) and (not value or isinstance(value[0], (str, bytes))):
                datatype, shape, data = "BYTES", [len(value)], pack_strings(value)
            else:
                array = np.ascontiguousarray(value)
                datatype, shape, data = DATATYPES[array.dtype], list(np.shape(value)), array.tobytes()
            if len(data) > INLINE or force_arena:
                entries.append([name, datatype, shape, 1, self.lend(data), len(data)])
            else:
                used = 0
                for part in parts:
                    used += -used % 8 + len(part)
                used += -used % 8
                parts.append(data)
                entries.append([name, datatype, shape, 0, used, len(data)])
        return entries

    def decode_tensors(self, entries: list, payload: bytes) -> dict:
        out = {}
        for name, datatype, shape, place, offset, size in entries:
            if place == 0:
                assert offset % 8 == 0 and offset + size <= len(payload)
                data = payload[offset : offset + size]
            else:
                assert offset % 64 == 0 and offset >= 64
                data = os.pread(self.response_file, size, offset)
                self.send({"t": "free", "o": [offset]})
            assert len(data) == size
            if datatype == "BYTES":
                out[name] = unpack_strings(data)
                assert len(out[name]) == int(np.prod(shape))
            elif datatype == "BF16":
                out[name] = np.frombuffer(data, np.uint16).reshape(shape)
            else:
                out[name] = np.frombuffer(data, DTYPES[datatype]).reshape(shape)
        return out

    # the life of a model

    def start(self) -> dict:
        return self.expect("up")[0]

    def arguments(self, directory, config: dict | None = None, version: str = "1") -> dict:
        directory = Path(directory)
        return {
            "model_config": json.dumps(config if config is not None else {"name": directory.name}),
            "model_instance_kind": "CPU",
            "model_instance_name": f"{directory.name}_0_0",
            "model_instance_device_id": "0",
            "model_repository": str(directory),
            "model_version": version,
            "model_name": directory.name,
        }

    def init(self, directory, config: dict | None = None, **fields) -> dict:
        """Loads a model; answers `ready` or `failed`."""
        args = self.arguments(directory, config)
        header = {
            "t": "init",
            "args": args,
            "file": str(Path(directory) / "1" / "model.py"),
            "version_dir": str(Path(directory) / "1"),
            "name": args["model_instance_name"],
            "python_path": [],
            "decoupled": False,
            "outputs": [],
            "verbose": False,
        }
        self.send({**header, **fields})
        return self.expect("ready", "failed")[0]

    def request(self, inputs: dict, parts: list, outs=None, arena: bool = False, **fields) -> dict:
        self.requests += 1
        return {
            "q": self.requests,
            "id": "",
            "seq": "0",
            "flags": 0,
            "timeout": 0,
            "params": "{}",
            "outs": outs if outs is not None else ["OUTPUT0", "OUTPUT1", "OUT"],
            "in": self.encode_tensors(inputs, parts, arena),
            **fields,
        }

    def run(self, *batch: dict, **fields) -> int:
        """Starts a batch of requests, each given by its inputs; answers the batch's number."""
        parts: list = []
        requests = [self.request(inputs, parts, **fields) for inputs in batch]
        self.batches += 1
        self.send({"t": "run", "b": self.batches, "r": requests}, parts)
        return self.batches

    def answer(self, timeout: float = 20) -> list:
        """The `done` of a batch: for each request its tensors, or the entry itself; for a failed batch its text."""
        header, payload = self.expect("done", timeout=timeout)
        if "error" in header:
            return header["error"]
        return [self.decode_response(entry, payload) for entry in header["r"]]

    def decode_response(self, entry, payload: bytes):
        if entry is None or "again" in entry or "error" in entry:
            return entry
        return self.decode_tensors(entry["out"], payload)

    def infer(self, inputs: dict, timeout: float = 20, **fields):
        self.run(inputs, **fields)
        answer = self.answer(timeout)
        return answer if isinstance(answer, str) else answer[0]

    def sent(self, timeout: float = 20) -> tuple:
        """The next `send`: request, decoded response (None without), final."""
        header, payload = self.expect("send", timeout=timeout)
        response = header.get("response")
        return header["q"], None if response is None else self.decode_response(response, payload), header["final"]

    def stop(self, timeout: float = 20) -> int:
        self.send({"t": "stop"})
        self.expect("bye", timeout=timeout)
        return self.popen.wait(timeout)

    def output(self) -> str:
        """All that was printed, once the process has ended."""
        self.drain.join(10)
        return self.printed.decode("utf-8", "replace")

    def close(self) -> None:
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait()
        self.drain.join(10)
        self.popen.stdout.close()
        self.sock.close()
        os.close(self.request_file)
        os.close(self.response_file)
