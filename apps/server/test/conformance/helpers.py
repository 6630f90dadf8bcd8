"""What the tests share: server processes, plain HTTP, gRPC messages, tensors, metrics and the small amount of threading they need."""
import contextlib
import http.client
import json
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
from tritonclient.grpc import service_pb2 as pb, service_pb2_grpc

# name -> numpy type, config type, typed field of InferTensorContents, may be sent as JSON
DTYPES = {
    "BOOL": (np.bool_, "TYPE_BOOL", "bool_contents", True),
    "INT8": (np.int8, "TYPE_INT8", "int_contents", True),
    "INT16": (np.int16, "TYPE_INT16", "int_contents", True),
    "INT32": (np.int32, "TYPE_INT32", "int_contents", True),
    "INT64": (np.int64, "TYPE_INT64", "int64_contents", True),
    "UINT8": (np.uint8, "TYPE_UINT8", "uint_contents", True),
    "UINT16": (np.uint16, "TYPE_UINT16", "uint_contents", True),
    "UINT32": (np.uint32, "TYPE_UINT32", "uint_contents", True),
    "UINT64": (np.uint64, "TYPE_UINT64", "uint64_contents", True),
    "FP16": (np.float16, "TYPE_FP16", None, False),
    "FP32": (np.float32, "TYPE_FP32", "fp32_contents", True),
    "FP64": (np.float64, "TYPE_FP64", "fp64_contents", True),
    "BYTES": (np.object_, "TYPE_STRING", "bytes_contents", True),
}

# values at the edges of each type: what a server in another language loses first
EDGES = {
    "BOOL": [True, False, True],
    "INT8": [-128, -1, 0, 127],
    "INT16": [-32768, -1, 0, 32767],
    "INT32": [-2147483648, -1, 0, 2147483647],
    "INT64": [-9223372036854775808, -9007199254740993, 0, 9007199254740993, 9223372036854775807],
    "UINT8": [0, 1, 128, 255],
    "UINT16": [0, 1, 32768, 65535],
    "UINT32": [0, 1, 2147483648, 4294967295],
    "UINT64": [0, 9007199254740993, 9223372036854775808, 18446744073709551615],
    "FP16": [0.0, 1.0, -2.5, 65504.0, 6e-8, float("inf")],
    "FP32": [0.0, 1.5, -0.1, 3.4028234663852886e38, 1.401298464324817e-45, 16777217.0],
    "FP64": [0.0, 0.1, -1e300, 1.7976931348623157e308, 5e-324, 9007199254740993.0],
    "BYTES": [b"", b"a", "\u00e9\u4e16\U0001f600".encode(), b" spaced \n\t\"quoted\" \\ "],
}


def pack_bytes(items):
    """BYTES elements as they travel in binary form: 4-byte little-endian length, then the bytes"""
    return b"".join(struct.pack("<I", len(i)) + i for i in items)


def unpack_bytes(raw):
    out, at = [], 0
    while at < len(raw):
        (n,) = struct.unpack_from("<I", raw, at)
        assert at + 4 + n <= len(raw), "BYTES element is longer than the buffer"
        out.append(raw[at + 4:at + 4 + n])
        at += 4 + n
    return out


def to_raw(dtype, values):
    if isinstance(values, bytes):
        return values
    if dtype == "BYTES":
        return pack_bytes([v if isinstance(v, bytes) else str(v).encode() for v in np.asarray(values, dtype=object).reshape(-1)])
    return np.ascontiguousarray(np.asarray(values, dtype=DTYPES[dtype][0])).tobytes()


def from_raw(dtype, raw):
    if dtype == "BYTES":
        return unpack_bytes(raw)
    if dtype == "BF16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(raw, DTYPES[dtype][0])


def tensor(name, dtype, shape, data=None, **parameters):
    t = {"name": name, "shape": list(shape), "datatype": dtype}
    if data is not None:
        t["data"] = data.tolist() if isinstance(data, np.ndarray) else data
    if parameters:
        t["parameters"] = parameters
    return t


# ------------------------------------------------------------------------------------------------ HTTP
class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def header(self, name, default=None):
        return next((v for k, v in self.headers if k.lower() == name.lower()), default)

    def json(self):
        return json.loads(self.body.decode("utf-8", "surrogateescape"))

    @property
    def error(self):
        """the text of an error answer; a KServe server always sends {"error": text}"""
        assert self.status >= 400, f"expected an error, got {self.status} {self.body[:300]!r}"
        v = self.json()
        assert set(v) == {"error"} and isinstance(v["error"], str) and v["error"], v
        return v["error"]

    def outputs(self):
        """{name: (datatype, shape, data)}; binary tensors are decoded to numpy arrays (lists of bytes for BYTES)"""
        assert self.status == 200, f"{self.status} {self.body[:500]!r}"
        n = self.header("Inference-Header-Content-Length")
        head, blob = (self.body, b"") if n is None else (self.body[:int(n)], self.body[int(n):])
        self.meta = json.loads(head.decode("utf-8", "surrogateescape"))
        out, at = {}, 0
        for o in self.meta["outputs"]:
            size = o.get("parameters", {}).get("binary_data_size")
            if size is not None:
                assert "data" not in o, o
                data, at = from_raw(o["datatype"], blob[at:at + size]), at + size
            else:
                data = o.get("data")
            assert o["name"] not in out, "output sent twice: " + o["name"]
            out[o["name"]] = (o["datatype"], o["shape"], data)
        assert at == len(blob), f"{len(blob) - at} bytes after the last binary tensor"
        return out

    def values(self, name):
        d = self.outputs()[name][2]
        return list(d) if isinstance(d, (list, tuple)) else d.tolist()

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


def http_call(address, method, path, body=None, headers=None, timeout=30):
    host, port = address.rsplit(":", 1)
    c = http.client.HTTPConnection(host, int(port), timeout=timeout)
    try:
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        elif isinstance(body, str):
            body = body.encode()
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        return Reply(r.status, r.getheaders(), r.read())
    finally:
        c.close()


def raw_http(address, data, timeout=10, shut=False, until_close=False):
    """sends bytes over a fresh connection and returns everything received until the first complete answer, a close or the time limit"""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=timeout) as s:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    return got
                got += part
                if not until_close and complete(got):
                    return got
        except (socket.timeout, ConnectionResetError):
            return got


def complete(got):
    while got.startswith(b"HTTP/1.1 100"):
        if b"\r\n\r\n" not in got:
            return False
        got = got.split(b"\r\n\r\n", 1)[1]
    if b"\r\n\r\n" not in got:
        return False
    head, body = got.split(b"\r\n\r\n", 1)
    m = re.search(rb"content-length: *(\d+)", head, re.I)
    if m:
        return len(body) >= int(m.group(1))
    if re.search(rb"transfer-encoding: *chunked", head, re.I):
        return body.endswith(b"0\r\n\r\n")
    return False


def status_of(answer):
    m = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return int(m.group(1)) if m else None


def binary_body(inputs, outputs=None, parameters=None, id=None):
    """inputs: (name, dtype, shape, values or bytes) -> (body, headers) of a request with every input in binary form"""
    meta, blob = [], b""
    for name, dtype, shape, values in inputs:
        raw = to_raw(dtype, values)
        meta.append(tensor(name, dtype, shape, binary_data_size=len(raw)))
        blob += raw
    head = {"inputs": meta}
    if id is not None:
        head["id"] = id
    if outputs is not None:
        head["outputs"] = outputs
    if parameters is not None:
        head["parameters"] = parameters
    head = json.dumps(head).encode()
    return head + blob, {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"}


def events(body):
    """server-sent events -> list of decoded JSON objects"""
    text = body.decode()
    assert text == "" or text.endswith("\n\n"), text[-40:]
    out = []
    for block in text.split("\n\n")[:-1]:
        lines = block.split("\n")
        assert all(x.startswith("data: ") for x in lines), block
        out.append(json.loads("".join(x[6:] for x in lines)))
    return out


# ------------------------------------------------------------------------------------------------ gRPC
def param(v):
    p = pb.InferParameter()
    if isinstance(v, bool):
        p.bool_param = v
    elif isinstance(v, int):
        p.int64_param = v
    elif isinstance(v, float):
        p.double_param = v
    elif isinstance(v, str):
        p.string_param = v
    else:
        p.CopyFrom(v)
    return p


def grpc_request(model, inputs, outputs=(), version="", id="", parameters=None, typed=False):
    """inputs: (name, dtype, shape, values or bytes[, input parameters]); typed: use `contents` instead of raw_input_contents"""
    r = pb.ModelInferRequest(model_name=model, model_version=version, id=id)
    for k, v in (parameters or {}).items():
        r.parameters[k].CopyFrom(param(v))
    for name, dtype, shape, values, *more in inputs:
        t = r.inputs.add(name=name, datatype=dtype, shape=shape)
        for k, v in (more[0] if more else {}).items():
            t.parameters[k].CopyFrom(param(v))
        if values is None:
            continue
        if typed:
            field = DTYPES[dtype][2]
            flat = np.asarray(values, dtype=DTYPES[dtype][0]).reshape(-1)
            getattr(t.contents, field).extend(list(flat) if dtype == "BYTES" else flat.tolist())
        else:
            r.raw_input_contents.append(to_raw(dtype, values))
    for o in outputs:
        name, ps = (o, {}) if isinstance(o, str) else o
        t = r.outputs.add(name=name)
        for k, v in ps.items():
            t.parameters[k].CopyFrom(param(v))
    return r


def grpc_outputs(response):
    """{name: (datatype, shape, data)}"""
    assert len(response.raw_output_contents) == len(response.outputs), "one raw_output_contents entry per output is what clients rely on"
    return {o.name: (o.datatype, list(o.shape), from_raw(o.datatype, raw) if raw or o.datatype != "BYTES" else [])
            for o, raw in zip(response.outputs, response.raw_output_contents)}


def grpc_error(call, *codes):
    """runs call(), expects it to fail with one of the codes, returns the text"""
    try:
        got = call()
    except grpc.RpcError as e:
        assert e.code() in codes, f"expected {[c.name for c in codes]}, got {e.code().name}: {e.details()}"
        return e.details() or ""
    raise AssertionError(f"expected {[c.name for c in codes]}, got an answer: {str(got)[:300]}")


C = grpc.StatusCode


# ------------------------------------------------------------------------------------------------ metrics
class Metrics:
    LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")

    def __init__(self, text):
        self.text, self.samples, self.types, self.help = text, {}, {}, {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, n, t = line.split(" ", 3)
                self.types[n] = t
            elif line.startswith("# HELP "):
                _, _, n, t = line.split(" ", 3)
                self.help[n] = t
            elif line.strip():
                m = self.LINE.match(line)
                assert m, "not Prometheus text: " + line
                labels = tuple(sorted(re.findall(r'([\w]+)="((?:[^"\\]|\\.)*)"', m.group(2) or "")))
                assert (m.group(1), labels) not in self.samples, "series printed twice: " + line
                self.samples[m.group(1), labels] = float(m.group(3))

    def all(self, name, **labels):
        want = set(labels.items())
        return {l: v for (n, l), v in self.samples.items() if n == name and want <= set(l)}

    def get(self, name, default=None, **labels):
        found = self.all(name, **labels)
        assert len(found) <= 1, f"{name} {labels} is not one series: {sorted(found)}"
        return next(iter(found.values()), default)

    def names(self):
        return {n for n, _ in self.samples}


# ------------------------------------------------------------------------------------------------ time and threads
def wait_for(condition, seconds=10, step=0.02, what="condition"):
    end = time.monotonic() + seconds
    while True:
        v = condition()
        if v:
            return v
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not become true within {seconds} s (last value {v!r})")
        time.sleep(step)


class Together:
    """starts calls in threads; `with Together() as t: a = t.go(f, x)`; a.result() afterwards; results carry the time they took"""

    def __init__(self, workers=40):
        self.pool = ThreadPoolExecutor(workers)

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.pool.shutdown(wait=True)

    def go(self, f, *a, **k):
        def timed():
            start = time.monotonic()
            value = f(*a, **k)
            return Done(value, start, time.monotonic())
        return self.pool.submit(timed)


class Done:
    def __init__(self, value, start, end):
        self.value, self.start, self.end, self.seconds = value, start, end, end - start


# ------------------------------------------------------------------------------------------------ servers
class ServerExited(Exception):
    def __init__(self, code, log):
        super().__init__(f"the server ended with code {code}; last lines of its output:\n" + "\n".join(l[:300] for l in log.splitlines()[-12:]))
        self.code, self.log = code, log


def free_ports(n):
    socks = [socket.socket() for _ in range(n)]
    try:
        for s in socks:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in socks]
    finally:
        for s in socks:
            s.close()


def listens(address):
    host, port = address.rsplit(":", 1)
    with socket.socket() as s:
        return s.connect_ex((host, int(port))) == 0


class Server:
    """a running server: one that was started here, or one that was running already"""

    def __init__(self, http, grpc_, metrics, process=None, log_path=None, repository=None, ports=None):
        self.http, self.grpc, self.metrics_address = http, grpc_, metrics
        self.process, self.log_path, self.repository, self.ports = process, log_path, repository, ports or {}
        self._channel = self._stub = None
        self.stopped = False

    # -- HTTP
    def call(self, method, path, body=None, headers=None, timeout=30):
        return http_call(self.http, method, path, body, headers, timeout)

    def get(self, path, **k):
        return self.call("GET", path, **k)

    def post(self, path, body=None, **k):
        return self.call("POST", path, body, **k)

    def infer(self, model, inputs, outputs=None, parameters=None, id=None, version=None, headers=None, timeout=30):
        """JSON in, JSON out; inputs: (name, dtype, shape, data) or ready-made dicts"""
        body = {"inputs": [tensor(*i) if isinstance(i, tuple) else i for i in inputs]}
        if outputs is not None:
            body["outputs"] = [{"name": o} if isinstance(o, str) else o for o in outputs]
        if parameters is not None:
            body["parameters"] = parameters
        if id is not None:
            body["id"] = id
        path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
        return self.call("POST", path, body, headers, timeout)

    def infer_binary(self, model, inputs, outputs=None, parameters=None, id=None, version=None, headers=None, every=True):
        parameters = dict(parameters or {})
        if every and outputs is None:
            parameters["binary_data_output"] = True
        body, h = binary_body(inputs, outputs, parameters or None, id)
        path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
        return self.call("POST", path, body, {**h, **(headers or {})})

    # -- gRPC
    @property
    def stub(self):
        if self._stub is None:
            self._channel = grpc.insecure_channel(self.grpc, options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
                                                                      ("grpc.enable_http_proxy", 0)])
            self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        return self._stub

    @property
    def channel(self):
        self.stub
        return self._channel

    def ginfer(self, *a, timeout=30, metadata=None, **k):
        return self.stub.ModelInfer(grpc_request(*a, **k), timeout=timeout, metadata=metadata)

    def stream(self, requests, timeout=30, metadata=None):
        return list(self.stub.ModelStreamInfer(iter(requests), timeout=timeout, metadata=metadata))

    # -- official clients
    @contextlib.contextmanager
    def http_client(self, **k):
        import tritonclient.http as h
        c = h.InferenceServerClient(self.http, **k)
        try:
            yield c
        finally:
            c.close()

    @contextlib.contextmanager
    def grpc_client(self, **k):
        import tritonclient.grpc as g
        c = g.InferenceServerClient(self.grpc, **k)
        try:
            yield c
        finally:
            c.close()

    # -- repository, statistics, metrics
    def load(self, model, **parameters):
        return self.post(f"/v2/repository/models/{model}/load", {"parameters": parameters} if parameters else None)

    def unload(self, model, **parameters):
        return self.post(f"/v2/repository/models/{model}/unload", {"parameters": parameters} if parameters else None)

    def index(self, **body):
        r = self.post("/v2/repository/index", body or None)
        assert r.status == 200, r
        return r.json()

    def state(self, model, version="1"):
        """(state, reason) of one model version as the index shows it; ("", "") when it has none"""
        for m in self.index():
            if m["name"] == model and m.get("version", version) == version:
                return m.get("state", ""), m.get("reason", "")
        return None, None

    def ready(self, model, version=None):
        return self.get(f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/ready").status == 200

    def stats(self, model, version="1"):
        r = self.get(f"/v2/models/{model}/versions/{version}/stats")
        assert r.status == 200, r
        (one,) = r.json()["model_stats"]
        return one

    def batch_stats(self, model):
        return {b["batch_size"]: b["compute_infer"]["count"] for b in self.stats(model)["batch_stats"]}

    def metrics(self):
        r = http_call(self.metrics_address, "GET", "/metrics")
        assert r.status == 200, r
        return Metrics(r.body.decode())

    def log(self):
        if self.log_path is None:
            return ""
        with open(self.log_path, errors="replace") as f:
            return f.read()

    # -- the process
    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process is None or self.process.poll() is None

    def terminate(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)

    def wait(self, seconds=30):
        return self.process.wait(seconds)

    def stop(self, seconds=15):
        """SIGTERM to the pid that was started; SIGKILL to its process group when it does not end in time"""
        if self.stopped or self.process is None:
            return
        self.stopped = True
        if self._channel is not None:
            self._channel.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)      # the group holds only what this server started
        self.process.wait()


class Launcher:
    """starts servers with tritonserver-style flags on free loopback ports"""

    def __init__(self, command, tmp, python_only, start_timeout, env=(), tries=1):
        self.command, self.tmp, self.python_only, self.start_timeout, self.tries = shlex.split(command), tmp, python_only, start_timeout, tries
        self.env = dict(e.split("=", 1) for e in env)
        self.count, self.running, self.reapers, self._flags = 0, [], [], None
        self.lock = threading.Lock()

    def folder(self, name):
        with self.lock:
            self.count += 1
            d = os.path.join(self.tmp, "%03d-%s" % (self.count, name))
        os.makedirs(d)
        return d

    def supports(self, flag):
        """does the server's --help name this flag?"""
        if self._flags is None:
            r = subprocess.run(self.command + ["--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self._flags = set(re.findall(r"--[a-z][\w-]+", r.stdout.decode(errors="replace")))
        return flag.split("=")[0] in self._flags

    def arguments(self, repository, flags):
        """-> (argument list, addresses, extra ports by flag); a flag value of {port} is replaced by a free port"""
        http_port, grpc_port, metrics_port, *more = free_ports(3 + sum("{port}" in f for f in flags))
        out, extra = [], {}
        for f in flags:
            if "{port}" in f:
                p = more.pop(0)
                extra[f.split("=")[0]] = p
                f = f.replace("{port}", str(p))
            out.append(f)
        given = dict(f.split("=", 1) for f in out if "=" in f)
        base, doors = [], []
        for r in ([repository] if isinstance(repository, str) else repository or []):
            base.append("--model-repository=" + r)
        for kind, port in (("http", http_port), ("grpc", grpc_port), ("metrics", metrics_port)):
            if f"--{kind}-address" not in given:
                base.append(f"--{kind}-address=127.0.0.1")
            if f"--{kind}-port" not in given:
                base.append(f"--{kind}-port={port}")
            chosen = given.get(f"--{kind}-port", "")
            doors.append("127.0.0.1:" + (chosen if chosen.isdigit() else str(port)))
        return base + out, doors, extra

    def start(self, *a, **k):
        for last in range(self.tries - 1, -1, -1):
            try:
                return self._start(*a, **k)
            except ServerExited as e:
                if e.code >= 0 or not last:      # only a crash is tried again
                    raise

    def _start(self, repository, flags=(), env=None, wait="ready", name="server", timeout=None):
        d = self.folder(name)
        args, (h, g, m), extra = self.arguments(repository, list(flags))
        log_path = os.path.join(d, "server.log")
        with open(log_path, "wb") as log:
            p = subprocess.Popen(self.command + args, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=d,
                                 env={**os.environ, **self.env, **(env or {})}, start_new_session=True)
        s = Server(h, g, m, p, log_path, repository, extra)
        self.running.append(s)
        if wait:
            path, address = ("/v2/health/" + wait, h) if isinstance(wait, str) else wait
            end = time.monotonic() + (timeout or self.start_timeout)
            while True:
                if p.poll() is not None:
                    raise ServerExited(p.returncode, s.log())
                with contextlib.suppress(OSError, http.client.HTTPException):
                    if http_call(address, "GET", path, timeout=5).status == 200:
                        break
                if time.monotonic() > end:
                    s.stop(2)
                    raise AssertionError(f"the server did not answer {path} within {timeout or self.start_timeout} s\n" + "\n".join(s.log().splitlines()[-60:]))
                time.sleep(0.03)
            # the other front doors open a moment later
            for kind, door in [("grpc", g), ("metrics", m), *(("", f"127.0.0.1:{port}") for port in extra.values())]:
                if f"--allow-{kind}=false" not in [*flags, *self.command]:
                    end = time.monotonic() + 10
                    while not listens(door) and time.monotonic() < end and p.poll() is None:
                        time.sleep(0.02)
        return s

    def run(self, args, timeout=30):
        """runs the command with exactly these arguments until it ends -> (code, output)"""
        r = subprocess.run(self.command + list(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                           timeout=timeout, env={**os.environ, **self.env}, cwd=self.tmp, start_new_session=True)
        return r.returncode, r.stdout.decode(errors="replace")

    def release(self, server):
        """ends a server in the background"""
        if server in self.running:
            self.running.remove(server)
        t = threading.Thread(target=server.stop)
        t.start()
        self.reapers.append(t)

    def close(self):
        for s in list(self.running):
            self.release(s)
        for t in self.reapers:
            t.join()


__all__ = [n for n in dir() if not n.startswith("_")]
