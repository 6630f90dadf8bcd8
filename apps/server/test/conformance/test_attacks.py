"""Attacks: input that is made to harm. The server answers with an error, keeps its memory, and serves the next request."""
import glob
import gzip
import json
import os
import socket
import time
import uuid
import zlib
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from helpers import C, binary_body, grpc_error, grpc_request, http_call, param, pb, raw_http, status_of, tensor, wait_for

pytestmark = [pytest.mark.own_server, pytest.mark.superset(reason="the reference is not held to all of these")]
ONE = [("INPUT0", "FP32", [1, 16], [1.0] * 16), ("INPUT1", "FP32", [1, 16], [2.0] * 16)]
INFER = "/v2/models/add_sub/infer"
REFUSED = (400, 404, 405, 413, 414, 415, 417, 431, 500, 501, 503)
GREP = (C.INVALID_ARGUMENT, C.NOT_FOUND, C.INTERNAL)
MARKER = "/tmp/conch_marker_" + uuid.uuid4().hex[:8]


@pytest.fixture(scope="module")
def s(start_module):
    load = ["add_sub", "id_fp32", "id_bytes", "id_int64", "id_uint8", "scores", "slow_py"]
    flags = ["--model-control-mode=explicit", "--allow-client-shm=true", *(f"--load-model={m}" for m in load)]
    server = start_module(load + ["times2"], flags)
    for _ in range(20):                       # memory that a first request takes is not an attack's
        assert server.infer("add_sub", ONE).status == 200
    return server


def resident(s):
    """MB of the server's process"""
    with open(f"/proc/{s.pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.fixture(autouse=True)
def unharmed(request, s):
    """after every attack: alive within a second, serving, no file of the attacker's, memory back"""
    before = resident(s)
    yield
    begin = time.monotonic()
    assert s.get("/v2/health/live", timeout=5).status == 200 and time.monotonic() - begin < 1
    assert s.infer("add_sub", ONE).values("OUTPUT0") == [3.0] * 16
    assert not glob.glob(MARKER + "*"), "a file was written outside"
    most = 400 if request.node.get_closest_marker("limits") else 150
    wait_for(lambda: resident(s) - before < most, 15, 0.2, "memory given back")


def refused(reply, *words):
    assert reply.status in REFUSED, reply
    text = reply.body.decode(errors="replace")
    assert " at " not in text or "at 0" in text or "column" in text or ".ts:" not in text, text
    assert ".ts:" not in text and "/src/" not in text and "node_modules" not in text, text
    for w in words:
        assert w in text, reply


# ------------------------------------------------------------------------------------------------ 8.1 names, paths, files
NAMES = ["..", ".", "%2e%2e", "..%2Fx", "%2Fetc", "a%5Cb", "a%2F..%2F..%2Ftmp", "%00a", "a%0Ab", "%20%20", "a" * 300, "%252e%252e%252fx", "__proto__", "constructor", "toString", "hasOwnProperty"]


@pytest.mark.http
@pytest.mark.parametrize("name", NAMES)
def test_s01_names_in_paths(s, name):
    """Names that are paths, encoded once or twice, or properties of every object, load nothing and are unknown everywhere."""
    for method, path in (("POST", f"/v2/repository/models/{name}/load"), ("GET", f"/v2/models/{name}"), ("GET", f"/v2/models/{name}/config"), ("GET", f"/v2/models/{name}/stats"), ("POST", f"/v2/models/{name}/infer")):
        refused(s.call(method, path, "{}" if method == "POST" else None))
    assert s.get(f"/v2/models/{name}/ready").status in (400, 404)
    for label in s.metrics().names():
        assert not label.startswith("__")
    assert {m["name"] for m in s.index()} == {"add_sub", "id_fp32", "id_bytes", "id_int64", "id_uint8", "scores", "slow_py", "times2"}


@pytest.mark.http
@pytest.mark.parametrize("path", ["//v2/models/add_sub/infer", "/v2//models/add_sub/infer", "/v2/models//infer", "/v2/models/add_sub/infer/", "/V2/models/add_sub/infer", "/v2/models/add_sub%2finfer", "/v2/./models/add_sub/infer"])
def test_s01_paths_that_are_almost_right(s, path):
    """Doubled and trailing slashes, other cases and dots are no second way in."""
    assert s.post(path, {"inputs": [tensor(*i) for i in ONE]}).status in (400, 404, 405)


@pytest.mark.grpc
@pytest.mark.parametrize("name", ["../x", "/etc", "a\\b", "", "..", "a/b", "__proto__", "x" * 5000])
def test_s03_names_over_grpc(s, name):
    """The same names over gRPC: load, config, infer; unloading what is not there is no harm."""
    grpc_error(lambda: s.stub.RepositoryModelLoad(pb.RepositoryModelLoadRequest(model_name=name), timeout=5), *GREP)
    grpc_error(lambda: s.stub.ModelConfig(pb.ModelConfigRequest(name=name), timeout=5), *GREP)
    grpc_error(lambda: s.ginfer(name, ONE, timeout=5), *GREP)


@pytest.mark.http
@pytest.mark.parametrize("key", ["file:../.." + MARKER, "file:" + MARKER, "file:1/../.." + MARKER, "file:1/../../../../../.." + MARKER, "file:..\\..\\x", "file:", "file:1/", "file:1/\0x", "file:" + "a" * 300])
def test_s04_files_sent_with_a_load(s, key):
    """Nothing is written outside of the folder of the load."""
    refused(s.load("sent", **{"config": '{"backend":"python"}', key: "eA=="}))
    assert not s.ready("sent")


@pytest.mark.http
def test_s06_files_that_are_too_many(s):
    """Three thousand files, and content that is no base64."""
    refused(s.load("sent", **{"config": '{"backend":"python"}', **{f"file:1/f{i}": "eA==" for i in range(3000)}}))
    refused(s.load("sent", **{"config": '{"backend":"python"}', "file:1/model.py": "?!"}))
    assert not s.ready("sent")


# ------------------------------------------------------------------------------------------------ 8.3 shared memory
SHM = "/v2/systemsharedmemory/region/%s/%s"


@pytest.fixture
def shm():
    """a POSIX shared memory object of 64 bytes -> its key"""
    key = "/conf_" + uuid.uuid4().hex[:12]
    with open("/dev/shm" + key, "wb") as f:
        f.truncate(64)
    yield key
    if os.path.exists("/dev/shm" + key):
        os.unlink("/dev/shm" + key)


@pytest.mark.http
@pytest.mark.parametrize("key", ["/", "", "///", "/../x", "../x", "/a/b", "/triton_python_backend_shm_region_1", "//triton_python_backend_shm_region_1", "/x\0y", "/" + "k" * 300, ".", ".."])
def test_s46_keys_of_shared_memory(s, key):
    """Keys that are paths or belong to others are refused."""
    refused(s.post(SHM % ("a", "register"), {"key": key, "offset": 0, "byte_size": 64}))
    assert s.get("/v2/systemsharedmemory/status").json() == []


@pytest.mark.http
@pytest.mark.parametrize("offset,size", [("0", str(2**64 - 32)), (str(2**63), "64"), (str(2**64 - 32), "64"), ("-1", "64"), ("0", "-64"), ("0", "1e30"), ("0.5", "64"), ('"0"', "64"), ("0", "65"), ("64", "1"), ("0", "0")])
def test_s47_sizes_of_shared_memory(s, shm, offset, size):
    """Offset and size that overflow, are no integers, or lie outside of the object."""
    refused(s.post(SHM % ("a", "register"), '{"key":"%s","offset":%s,"byte_size":%s}' % (shm, offset, size)))
    assert s.get("/v2/systemsharedmemory/status").json() == []


@pytest.mark.http
def test_s48_memory_that_shrinks(s, shm):
    """An object that is cut off after it was registered fails requests and never ends the server."""
    assert s.post(SHM % ("a", "register"), {"key": shm, "offset": 0, "byte_size": 64}).status == 200
    at = {"shared_memory_region": "a", "shared_memory_byte_size": 64}
    inputs = [tensor("INPUT0", "FP32", [1, 16], **at), tensor("INPUT1", "FP32", [1, 16], **at)]
    assert s.infer("add_sub", inputs).status == 200
    os.truncate("/dev/shm" + shm, 8)
    refused(s.infer("add_sub", inputs))
    os.unlink("/dev/shm" + shm)
    refused(s.infer("add_sub", inputs))
    refused(s.post(INFER, {"inputs": [tensor(*i) for i in ONE], "outputs": [{"name": "OUTPUT0", "parameters": at}]}))
    assert s.post(SHM % ("a", "unregister")).status == 200


@pytest.mark.http
def test_s49_unregistered_while_in_use(s, shm):
    """Requests that use a region while it is unregistered end well or with an error."""
    at = {"shared_memory_region": "a", "shared_memory_byte_size": 64}
    inputs = [tensor("INPUT0", "FP32", [1, 16], **at), tensor("INPUT1", "FP32", [1, 16], **at)]
    register = {"key": shm, "offset": 0, "byte_size": 64}

    def ask(_):
        return s.infer("add_sub", inputs).status
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(ask, range(200))
        for _ in range(50):
            s.post(SHM % ("a", "register"), register)
            s.post("/v2/systemsharedmemory/unregister")
        assert set(answers) <= {200, 400, 404}
    assert s.get("/v2/systemsharedmemory/status").json() == []


@pytest.mark.http
def test_s50_keys_that_are_links(s, tmp_path):
    """A link in /dev/shm is not followed, a pipe does not block."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"s" * 64)
    link, pipe = ("conf_" + uuid.uuid4().hex[:12] for _ in range(2))
    os.symlink(secret, "/dev/shm/" + link)
    os.mkfifo("/dev/shm/" + pipe)
    try:
        for name in (link, pipe):
            refused(s.post(SHM % ("a", "register"), {"key": "/" + name, "offset": 0, "byte_size": 64}))
    finally:
        os.unlink("/dev/shm/" + link), os.unlink("/dev/shm/" + pipe)


@pytest.mark.grpc
def test_s53_registrations_without_end(s, shm):
    """Many regions of one object: there is an end, and all of them go with one call."""
    def register(i):
        return s.stub.SystemSharedMemoryRegister(pb.SystemSharedMemoryRegisterRequest(name=f"r{i}", key=shm, byte_size=64), timeout=10)
    done = 0
    try:
        for done in range(5000):
            register(done)
    except grpc.RpcError as e:
        assert e.code() in (C.UNAVAILABLE, C.RESOURCE_EXHAUSTED), e
    assert 100 < done < 4999
    s.stub.SystemSharedMemoryUnregister(pb.SystemSharedMemoryUnregisterRequest(), timeout=10)
    assert s.get("/v2/systemsharedmemory/status").json() == []


# ------------------------------------------------------------------------------------------------ 8.4 framing
HEAD = f"POST {INFER} HTTP/1.1\r\nHost: x\r\n"
SMUGGLED = "GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.http
@pytest.mark.parametrize("lines", ["Content-Length: 4\r\nTransfer-Encoding: chunked", "Content-Length: 4\r\nContent-Length: 5", "Content-Length: -1", "Content-Length: +5", "Content-Length: 0x10", "Content-Length: 5,5",
                                   "Content-Length: 18446744073709551616", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked\r\n , identity", "Content-Length : 4", "Content-Length: 4\n"])
def test_s56_framing_that_can_be_read_two_ways(s, lines):
    """Two lengths, lengths that are none, folded lines: refused and closed, and what follows is not taken for a request."""
    answer = raw_http(s.http, (HEAD + lines + "\r\n\r\n0\r\n\r\n" + SMUGGLED).encode(), until_close=True, timeout=3)
    assert b"server_metadata" not in answer and b'"extensions"' not in answer, answer
    assert answer == b"" or status_of(answer) in REFUSED, answer


@pytest.mark.http
@pytest.mark.parametrize("what", ["extension", "trailer", "size"])
def test_s57_chunks_without_end(s, what):
    """A chunk extension or a trailer of a megabyte, a chunk of 2^64 bytes."""
    chunk = {"extension": "1;" + "x" * 1_000_000 + "\r\nx\r\n0\r\n\r\n", "trailer": "1\r\nx\r\n0\r\nT: " + "x" * 1_000_000 + "\r\n\r\n", "size": "fffffffffffffffff\r\nx"}[what]
    answer = raw_http(s.http, (HEAD + "Transfer-Encoding: chunked\r\n\r\n" + chunk).encode(), timeout=5)
    assert answer == b"" or status_of(answer) in REFUSED, answer[:200]


@pytest.mark.http
@pytest.mark.limits
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_s59_compression_bombs(s, encoding):
    """A kilobyte that becomes a gigabyte is stopped at the limit, twenty at once as well."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    block = b" " * 2**20
    bomb = b"".join(packer.compress(block) for _ in range(256)) + packer.flush()
    with ThreadPoolExecutor(20) as pool:
        for r in pool.map(lambda _: s.post(INFER, bomb, headers={"Content-Encoding": encoding}, timeout=50), range(20)):
            refused(r)


@pytest.mark.http
@pytest.mark.parametrize("value", ["99999999999", "-1", "1e3", "5 5", "", "0x10", "18446744073709551615", "+4", "١"])
def test_s60_header_lengths(s, value):
    """A length of the JSON part that is none, or more than there is."""
    body, headers = binary_body(ONE)
    headers["Inference-Header-Content-Length"] = value.encode().decode("latin1")
    refused(s.call("POST", INFER, body, headers))
    refused(s.call("POST", INFER, gzip.compress(body), {**headers, "Content-Encoding": "gzip"}))


@pytest.mark.http
def test_s61_a_thousand_broken_bodies(s):
    """Compressed bodies with a wrong length leave nothing behind."""
    body, headers = binary_body(ONE)
    packed = gzip.compress(body)
    headers |= {"Inference-Header-Content-Length": "99999", "Content-Encoding": "gzip"}
    for _ in range(50):
        s.call("POST", INFER, packed, headers)
    before = resident(s)
    for _ in range(1000):
        assert s.call("POST", INFER, packed, headers).status in REFUSED
    assert resident(s) - before < 60


@pytest.mark.http
@pytest.mark.parametrize("case", ["url", "query", "header", "headers"])
def test_s64_heads_that_are_too_large(s, case):
    """A URL of 64 KB, a query of 100 000 pairs, a header of 64 KB, three thousand headers."""
    path = {"url": "/v2/" + "x" * 65536, "query": "/v2?" + "a=b&" * 100_000}.get(case, "/v2")
    more = {"header": "X: " + "y" * 65536 + "\r\n", "headers": "".join(f"X{i}: y\r\n" for i in range(3000))}.get(case, "")
    answer = raw_http(s.http, f"GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode(), timeout=5)
    assert answer == b"" or status_of(answer) in REFUSED, answer[:200]


@pytest.mark.http
@pytest.mark.parametrize("line", ["TRACE /v2 HTTP/1.1", "CONNECT x:80 HTTP/1.1", "OPTIONS * HTTP/1.1", "GET http://169.254.169.254/ HTTP/1.1", "GET http://x/v2 HTTP/1.1", "GET //host/v2 HTTP/1.1", "BREW /v2 HTTP/1.1", "GET /v2 HTTP/9.9"])
def test_s65_it_is_no_proxy(s, line):
    """Methods and targets for other kinds of server."""
    answer = raw_http(s.http, f"{line}\r\nHost: x\r\n\r\n".encode(), timeout=3)
    assert answer == b"" or status_of(answer) in REFUSED or line.startswith("GET http://x/v2"), answer


@pytest.mark.http
def test_s66_a_hundred_pipelined(s):
    """After a request that cannot be read nothing of the connection is answered, and no answer is another's."""
    good = "".join(f"GET /v2/models/{m} HTTP/1.1\r\nHost: x\r\n\r\n" for m in ("add_sub", "id_fp32") * 50)
    answer = raw_http(s.http, ("GARBAGE\r\n\r\n" + good).encode(), until_close=True, timeout=5)
    assert answer.count(b"HTTP/1.1 200") == 0
    answer = raw_http(s.http, good.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 0).encode(), until_close=True, timeout=2)
    names = [json.loads(part)["name"] for part in (b"{" + p.split(b"\r\n\r\n{", 1)[1] for p in answer.split(b"HTTP/1.1 200 OK")[1:])]
    assert names == ["add_sub", "id_fp32"] * 50


@pytest.mark.http
def test_s67_expectations(s):
    """A body that is announced too large is refused before it is sent; an unknown expectation is."""
    answer = raw_http(s.http, (HEAD + f"Content-Length: {2**40}\r\nExpect: 100-continue\r\n\r\n").encode(), timeout=3)
    assert status_of(answer) in (400, 413), answer
    assert status_of(raw_http(s.http, (HEAD + "Content-Length: 2\r\nExpect: x\r\n\r\n{}").encode(), timeout=3)) in (400, 417)


@pytest.mark.http
@pytest.mark.grpc
@pytest.mark.parametrize("door", ["http", "grpc"])
@pytest.mark.parametrize("what", ["http2", "tls", "http1", "noise"])
def test_s68_other_protocols(s, door, what):
    """HTTP/2, TLS, HTTP/1 and noise on either port end that connection alone."""
    data = {"http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "tls": bytes.fromhex("16030100a5010000a10303") + os.urandom(160), "http1": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "noise": os.urandom(65536)}[what]
    raw_http(getattr(s, door), data, timeout=2)


@pytest.mark.http
def test_s69_noise_on_every_route(s):
    """Eight methods, every route, mutated bodies: an answer each time, never with a trace of the inside."""
    paths = ["/", "/v2", "/v2/health/live", "/v2/models/add_sub", "/v2/models/add_sub/config", "/v2/models/add_sub/stats", INFER, "/v2/models/add_sub/generate", "/v2/models/add_sub/generate_stream", "/v2/models/stats",
             "/v2/repository/index", "/v2/repository/models/nope/load", "/v2/repository/models/nope/unload", "/v2/systemsharedmemory/status", "/v2/systemsharedmemory/region/x/register", "/v2/cudasharedmemory/region/x/register",
             "/v2/trace/setting", "/v2/models/add_sub/trace/setting", "/v2/logging"]
    good = json.dumps({"inputs": [tensor(*i) for i in ONE]}).encode()
    bodies = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 50, good[:40], good[::-1], good.replace(b"16", b"-16"), good.replace(b"FP32", b"FP99"), bytes(range(256)), b'{"parameters":{"config":[]}}']
    connection_errors = 0
    for path in paths:
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "SEARCH"):
            for body in bodies if method in ("POST", "PUT") else bodies[:2]:
                try:
                    r = s.call(method, path, body, timeout=10)
                except (OSError, ValueError):
                    connection_errors += 1
                    continue
                text = r.body.decode(errors="replace")
                assert ".ts:" not in text and "node_modules" not in text and "TypeError" not in text, (method, path, body, text)
    assert connection_errors == 0


@pytest.mark.http
def test_s70_line_breaks_in_names(s):
    """A name with an encoded line break does not become a header of the answer."""
    answer = raw_http(s.http, b"GET /v2/models/x%0d%0aX-Evil:%201/ready HTTP/1.1\r\nHost: x\r\n\r\n", timeout=3)
    assert b"\r\nX-Evil" not in answer.split(b"\r\n\r\n")[0] and status_of(answer) in REFUSED


# ------------------------------------------------------------------------------------------------ 8.5 JSON, tensors, numbers
@pytest.mark.http
@pytest.mark.parametrize("path", [INFER, "/v2/models/add_sub/generate", "/v2/repository/index", "/v2/repository/models/times2/load", "/v2/trace/setting", "/v2/logging"])
@pytest.mark.parametrize("depth", [200, 100_000, 1_000_000])
def test_s72_depth(s, path, depth):
    """JSON a million levels deep is refused wherever JSON is read, and nobody waits for it."""
    body = '{"x":' + "[" * depth + "]" * depth + "}"
    begin = time.monotonic()
    r = s.post(path, body)
    assert time.monotonic() - begin < 5 and (r.status in REFUSED or (depth == 200 and r.status == 200)), r


@pytest.mark.http
@pytest.mark.parametrize("shape", ["[16,1152921504606846978]", "[4,1152921504606846978]", "[9007199254740993]", "[-2]", "[1.5]", '["3"]', "[null]", "[]", "[" + ",".join(["1"] * 1000) + "]", "[0,4611686018427387904]", "[1e3]", "[18446744073709551615]", "[4294967296,4294967296]", "[true]", "{}"])
def test_s73_shapes(s, shape):
    """Shapes whose product overflows, is rounded or is none; with and without data, over both forms."""
    for data in ('"data":[]', '"data":[1,2,3]', '"parameters":{"binary_data_size":16}'):
        refused(s.post("/v2/models/id_fp32/infer", '{"inputs":[{"name":"IN","datatype":"FP32","shape":%s,%s}]}' % (shape, data)))


@pytest.mark.grpc
@pytest.mark.parametrize("shape", [[16, 2**60 + 2], [2**62, 4], [-2], [-1], [2**63 - 1], [2**32, 2**32], [1] * 2000])
def test_s73_shapes_over_grpc(s, shape):
    """The same over gRPC, raw and typed."""
    for typed in (False, True):
        grpc_error(lambda: s.stub.ModelInfer(grpc_request("id_fp32", [("IN", "FP32", shape, [1.0, 2.0])], typed=typed), timeout=10), C.INVALID_ARGUMENT)


@pytest.mark.http
@pytest.mark.parametrize("model,dtype,data", [("id_fp32", "FP32", "[[1,2],[3]]"), ("id_fp32", "FP32", '[1,"2"]'), ("id_fp32", "FP32", "[1,true]"), ("id_fp32", "FP32", "[1,null]"), ("id_fp32", "FP32", "[1,{}]"), ("id_int64", "INT64", "[9223372036854775808,1]"),
                                               ("id_int64", "INT64", "[1.5,1]"), ("id_int64", "INT64", "[1e400,1]"), ("id_bytes", "BYTES", "[1,2]")])
def test_s74_values(s, model, dtype, data):
    """Ragged, mixed and impossible values."""
    refused(s.post(f"/v2/models/{model}/infer", '{"inputs":[{"name":"IN","datatype":"%s","shape":[2],"data":%s}]}' % (dtype, data)))


@pytest.mark.http
@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7fabc", b"\x01\0\0", b"\0\0\0\0" * 3, b"\x02\0\0\0a"])
def test_s75_lengths_of_strings(s, raw):
    """String lengths beyond the data, cut off, or of another number of strings."""
    head = json.dumps({"inputs": [tensor("IN", "BYTES", [1], binary_data_size=len(raw))]}).encode()
    refused(s.call("POST", "/v2/models/id_bytes/infer", head + raw, {"Inference-Header-Content-Length": str(len(head))}))
    r = grpc_request("id_bytes", [("IN", "BYTES", [1], None)])
    r.raw_input_contents.append(raw)
    grpc_error(lambda: s.stub.ModelInfer(r, timeout=10), C.INVALID_ARGUMENT)


@pytest.mark.http
def test_s76_a_hundred_thousand_outputs(s):
    """Outputs and inputs beyond all reason, a thousand times the same, with line breaks in their names."""
    inputs = [tensor(*i) for i in ONE]
    begin = time.monotonic()
    refused(s.post(INFER, {"inputs": inputs, "outputs": [{"name": f"O{i}"} for i in range(100_000)]}))
    refused(s.post(INFER, {"inputs": inputs * 10_000}))
    twice = s.post(INFER, {"inputs": inputs, "outputs": [{"name": "OUTPUT0"}] * 1000})      # once is enough, as the reference
    assert twice.status in REFUSED or len(twice.json()["outputs"]) == 1
    refused(s.post(INFER, {"inputs": inputs, "outputs": [{"name": "OUT\nPUT0"}]}))
    assert time.monotonic() - begin < 5


@pytest.mark.http
@pytest.mark.parametrize("k", [1_000_001, -1, "5", 2**40, 1.5, True])
def test_s77_classes(s, k):
    """Numbers of classes that are none or too many."""
    r = s.infer("scores", [("IN", "FP32", [1, 5], [1, 2, 3, 4, 5])], outputs=[{"name": "OUT", "parameters": {"classification": k}}])
    assert r.status in REFUSED or (r.status == 200 and len(r.body) < 1000), r


@pytest.mark.http
def test_s79_names_of_every_object(s):
    """__proto__ and its like are ordinary words: in parameters, in settings, as members."""
    inputs = [tensor(*i) for i in ONE]
    for word in ("__proto__", "constructor", "prototype", "toString"):
        for value in (1, "x", {"polluted": True}):
            assert s.post(INFER, {"inputs": inputs, "parameters": {word: value}}).status in (200, *REFUSED)
            assert s.post(INFER, {"inputs": inputs, word: value}).status == 200
            for path in ("/v2/logging", "/v2/trace/setting"):
                r = s.post(path, {word: value})
                assert r.status in (200, *REFUSED) and "polluted" not in r.body.decode()
    assert "polluted" not in s.get("/v2").body.decode() + s.get("/v2/logging").body.decode()


@pytest.mark.http
@pytest.mark.parametrize("parameters", ['{"timeout":9223372036854775808}', '{"timeout":-1}', '{"priority":-1}', '{"priority":1e30}', '{"sequence_id":18446744073709551616}', '{"sequence_id":1.5}', '{"sequence_id":[]}', '{"sequence_id":"' + "x" * 10_000_000 + '"}'])
def test_s80_control_numbers(s, parameters):
    """Timeouts, priorities and sequence ids that do not fit."""
    r = s.post(INFER, '{"inputs":%s,"parameters":%s}' % (json.dumps([tensor(*i) for i in ONE]), parameters))
    assert r.status in (200, *REFUSED) and len(r.body) < 20_000_000


@pytest.mark.http
@pytest.mark.limits
@pytest.mark.parametrize("body", ["[" * 2**24, "[" + "1," * 2**23 + "1]", '"' + "x" * (2**25) + '"', "{" + ",".join(f'"k{i}":1' for i in range(1_000_000)) + "}", '{"inputs":[' + ",".join(['"x"'] * 1_000_000) + "]}"], ids=["brackets", "numbers", "string", "keys", "inputs"])
def test_s81_large_json(s, body):
    """Tens of megabytes of brackets, numbers, letters and keys: refused, and others are answered meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(s.post, INFER, body, timeout=50)
        worst = 0.0
        while not answer.done():
            begin = time.monotonic()
            assert s.get("/v2/health/live", timeout=20).status == 200
            worst = max(worst, time.monotonic() - begin)
        refused(answer.result())
    assert worst < 3, f"a health check waited {worst:.1f} s"


@pytest.mark.http
@pytest.mark.parametrize("body", [b'\xef\xbb\xbf{"inputs":[]}', b'{"inputs":[{"name":"\xff\xfe"}]}', b'{"id":"\\ud800","inputs":[]}', b'{"id":"a\\u0000b","inputs":[]}', b"\0" * 100])
def test_s83_text_that_is_none(s, body):
    """Byte order marks, broken UTF-8, lone surrogates and zeros."""
    refused(s.post(INFER, body))


@pytest.mark.http
@pytest.mark.grpc
def test_s86_answers_hold_only_what_was_asked(s):
    """Two clients with secrets at the same time never see each other's bytes."""
    def ask(i):
        mark = float(i + 1)
        r = s.infer("id_fp32", [("IN", "FP32", [2000], [mark] * 2000)])
        assert set(r.values("OUT")) == {mark}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(200)))


# ------------------------------------------------------------------------------------------------ 8.6 gRPC
@pytest.mark.grpc
def test_s88_metadata_of_a_megabyte(s):
    """Metadata beyond the limit ends the call, not the connection."""
    with grpc.insecure_channel(s.grpc, options=[("grpc.max_metadata_size", 2**24), ("grpc.absolute_max_metadata_size", 2**24)]) as channel:
        live = channel.unary_unary("/inference.GRPCInferenceService/ServerLive", request_serializer=pb.ServerLiveRequest.SerializeToString, response_deserializer=pb.ServerLiveResponse.FromString)
        grpc_error(lambda: live(pb.ServerLiveRequest(), metadata=(("x", "y" * 1_000_000),), timeout=10), C.RESOURCE_EXHAUSTED, C.UNAVAILABLE, C.INTERNAL, C.CANCELLED)
        assert live(pb.ServerLiveRequest(), timeout=10).live
        unknown = channel.unary_unary("/inference.GRPCInferenceService/Nope")
        grpc_error(lambda: unknown(b"", timeout=10), C.UNIMPLEMENTED)


@pytest.mark.grpc
@pytest.mark.limits
def test_s89_message_bombs(s):
    """Eight compressed messages of 64 MiB at once: answered or refused, with bounded memory."""
    request = grpc_request("id_uint8", [("IN", "UINT8", [1], b"\0")])
    request.raw_input_contents[0] = bytes(64 * 2**20)
    data = request.SerializeToString()

    def send(_):
        with grpc.insecure_channel(s.grpc, options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]) as channel:
            call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            return grpc_error(lambda: call(data, timeout=50, compression=grpc.Compression.Gzip), C.INVALID_ARGUMENT, C.RESOURCE_EXHAUSTED, C.UNAVAILABLE)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(send, range(8)))


@pytest.mark.grpc
def test_s90_contents_that_contradict(s):
    """Raw and typed contents together, too few of them, strings of two billion elements."""
    both = grpc_request("add_sub", ONE)
    both.inputs[0].contents.fp32_contents.extend([1.0] * 16)
    few = grpc_request("add_sub", ONE)
    del few.raw_input_contents[1:]
    many = grpc_request("id_bytes", [("IN", "BYTES", [2**31], None)])
    many.raw_input_contents.append(b"\1\0\0\0x")
    for r in (both, few, many):
        grpc_error(lambda: s.stub.ModelInfer(r, timeout=10), C.INVALID_ARGUMENT)


@pytest.mark.grpc
def test_s91_cancelled_in_every_state(s):
    """Calls that are cancelled at once, while they wait, while they run, and after their end, twice."""
    request = grpc_request("slow_py", [("IN", "FP32", [1, 1], [0.05])])
    calls = []
    for i in range(60):
        call = s.stub.ModelInfer.future(request, timeout=20)
        if i % 3 == 0:
            call.cancel()
        calls.append(call)
    time.sleep(0.1)
    for call in calls[::2]:
        call.cancel()
        call.cancel()
    for call in calls:
        try:
            call.result()
        except (grpc.RpcError, grpc.FutureCancelledError):
            pass
        call.cancel()
    wait_for(lambda: s.metrics().get("nv_inference_pending_request_count", model="slow_py", version="1") == 0, 10)


@pytest.mark.grpc
def test_s94_streams_without_permission(start):
    """A restricted group is closed to unary calls and streams alike, and nothing is done."""
    r = start(["add_sub"], ["--grpc-restricted-protocol=inference:k=v"])
    request = grpc_request("add_sub", ONE)
    for metadata in ((), (("triton-grpc-protocol-k", "x"),), (("k", "v"),)):
        assert "restricted" in grpc_error(lambda: r.stub.ModelInfer(request, metadata=metadata, timeout=10), C.UNAVAILABLE)
        assert "restricted" in grpc_error(lambda: r.stream([request], metadata=metadata), C.UNAVAILABLE)
    assert r.stats("add_sub")["inference_count"] == 0
    assert len(r.stream([request], metadata=(("triton-grpc-protocol-k", "v"),))) == 1


# ------------------------------------------------------------------------------------------------ 8.7 control plane
ALIASES = [("inference", "POST", "/v2/models/add_sub/infer"), ("inference", "POST", "/v2/models/add_sub/versions/1/infer"), ("inference", "POST", "/v2/models/add_sub/generate"), ("inference", "POST", "/v2/models/add_sub/generate_stream"),
           ("model-repository", "POST", "/v2/repository/index"), ("model-repository", "POST", "/v2/repository/x/index"), ("model-repository", "POST", "/v2/repository/models/add_sub/load"), ("model-repository", "POST", "/v2/repository/models/add_sub/unload"),
           ("model-config", "GET", "/v2/models/add_sub/config"), ("model-config", "GET", "/v2/models/add_sub/versions/1/config"), ("statistics", "GET", "/v2/models/stats"), ("statistics", "GET", "/v2/models/add_sub/versions/1/stats"),
           ("shared-memory", "POST", "/v2/systemsharedmemory/region/a/register"), ("shared-memory", "POST", "/v2/cudasharedmemory/unregister"), ("trace", "POST", "/v2/trace/setting"), ("trace", "POST", "/v2/models/add_sub/trace/setting"), ("logging", "POST", "/v2/logging"),
           ("metadata", "GET", "/v2"), ("metadata", "GET", "/v2/models/add_sub/versions/1"), ("health", "GET", "/v2/health/live"), ("health", "GET", "/v2/models/add_sub/ready")]


@pytest.mark.http
@pytest.mark.flags
def test_s97_aliases_around_restrictions(start):
    """Every spelling of every route of a restricted group is closed: versions, doubled slashes, other cases, encodings, the platforms' ports."""
    groups = ",".join(sorted({g for g, *_ in ALIASES}))
    flags = [f"--http-restricted-api={groups}:k=v", "--allow-sagemaker=true", "--sagemaker-port={port}", "--sagemaker-address=127.0.0.1"]
    r = start(["add_sub"], flags, wait=None)
    wait_for(lambda: opened(r), 60)
    for _, method, path in ALIASES:
        body = json.dumps({"inputs": [tensor(*i) for i in ONE]}) if method == "POST" else None
        spelled = [path, path + "?x=1", path + "#x", path + "/", "/" + path, path.replace("/v2", "/V2"), path.replace("/v2/", "/v2//"), path.replace("models", "%6dodels"), path.replace("/v2", "/v2/.", 1), "http://127.0.0.1" + path]
        for one in spelled:
            for headers in ({}, {"k": "x"}, {"K": "V"}, {"k": "v "[::-1]}):
                reply = r.call(method, one, body, headers)
                assert reply.status in (400, 403, 404) or headers == {"k": " v"}, (method, one, headers, reply)
        for method2 in ("HEAD", "PUT", "OPTIONS"):
            assert r.call(method2, path).status in (403, 404, 405)
        assert r.call(method, path, body, {"k": "v"}).status != 403
    port = f"127.0.0.1:{r.ports['--sagemaker-port']}"
    for method, path in (("POST", "/invocations"), ("GET", "/models"), ("POST", "/models"), ("DELETE", "/models/x"), ("POST", "/models/x/invoke"), ("GET", "/ping")):
        reply = http_call(port, method, path, "{}" if method == "POST" else None)
        assert reply.status == 403, (method, path, reply)


def opened(r):
    try:
        return r.call("GET", "/v2/health/ready", headers={"k": "v"}).status == 200
    except OSError:
        return False


@pytest.mark.http
@pytest.mark.grpc
def test_s98_files_named_over_the_network(s):
    """Where logs and traces are written is the operator's: neither protocol changes it."""
    refused(s.post("/v2/logging", {"log_file": MARKER}))
    refused(s.post("/v2/trace/setting", {"trace_file": MARKER}))
    refused(s.post("/v2/models/add_sub/trace/setting", {"trace_file": MARKER}))
    grpc_error(lambda: s.stub.LogSettings(pb.LogSettingsRequest(settings={"log_file": pb.LogSettingsRequest.SettingValue(string_param=MARKER)}), timeout=5), C.UNIMPLEMENTED, C.INVALID_ARGUMENT)
    trace = pb.TraceSettingRequest(settings={"trace_file": pb.TraceSettingRequest.SettingValue(value=[MARKER])})
    grpc_error(lambda: s.stub.TraceSetting(trace, timeout=5), C.UNIMPLEMENTED, C.INVALID_ARGUMENT)


@pytest.mark.http
@pytest.mark.parametrize("path,body", [("/v2/logging", {"log_verbose_level": 2**31}), ("/v2/logging", {"log_verbose_level": -1}), ("/v2/logging", {"log_verbose_level": "x"}), ("/v2/logging", {"log_format": "x"}), ("/v2/logging", {"log_info": "x"}),
                                       ("/v2/trace/setting", {"trace_rate": "-1"}), ("/v2/trace/setting", {"trace_rate": str(2**40)}), ("/v2/trace/setting", {"trace_count": "-2"}), ("/v2/trace/setting", {"log_frequency": "x"}), ("/v2/trace/setting", {"trace_level": 5})])
def test_s99_settings_out_of_range(s, path, body):
    """A setting that is refused changes nothing, of what came with it either."""
    before = s.get(path).json()
    refused(s.post(path, body))
    assert s.get(path).json() == before


@pytest.mark.flags
def test_s103_ports_that_listen(s):
    """The server listens where it was told, and nowhere else."""
    inodes = set()
    for fd in os.listdir(f"/proc/{s.pid}/fd"):
        try:
            link = os.readlink(f"/proc/{s.pid}/fd/{fd}")
        except OSError:
            continue
        if link.startswith("socket:["):
            inodes.add(link[8:-1])
    listening = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{s.pid}/net/{table}") as f:
            for line in f.readlines()[1:]:
                cells = line.split()
                if cells[3] == "0A" and cells[9] in inodes:
                    address, port = cells[1].split(":")
                    listening.add((address, int(port, 16)))
    assert {p for _, p in listening} == {int(a.rsplit(":", 1)[1]) for a in (s.http, s.grpc, s.metrics_address)}
    assert {a for a, _ in listening} == {"0100007F"}


@pytest.mark.http
def test_s107_index_bodies(s):
    """Bodies of the index that make no sense are refused or mean nothing."""
    for body in ({"ready": "x"}, {"ready": []}, {"ready": 1}):
        r = s.post("/v2/repository/index", body)
        assert r.status in (200, *REFUSED)


@pytest.mark.metrics
def test_s110_failed_loads_make_no_series(s):
    """Two hundred loads of models that are not there leave no series and no entries."""
    before = len(http_call(s.metrics_address, "GET", "/metrics").body)
    for i in range(200):
        refused(s.load(f"nope_{i}"))
    assert "nope_" not in http_call(s.metrics_address, "GET", "/metrics").body.decode()
    assert len(http_call(s.metrics_address, "GET", "/metrics").body) < before + 2000
    assert not [m for m in s.index() if m["name"].startswith("nope_") and m.get("state") == "READY"]


# ------------------------------------------------------------------------------------------------ slow clients
@pytest.mark.http
@pytest.mark.limits
def test_s62_slow_clients(s):
    """Three hundred clients that send by the byte or do not read hold nobody up."""
    socks = []
    host, port = s.http.rsplit(":", 1)
    try:
        for i in range(300):
            c = socket.create_connection((host, int(port)), timeout=5)
            c.sendall(b"POST /v2" if i % 3 == 0 else (HEAD + "Content-Length: 100000\r\n\r\n{").encode() if i % 3 == 1 else f"GET /v2/models/stats HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 20)
            socks.append(c)
        worst = 0.0
        for _ in range(50):
            begin = time.monotonic()
            assert s.infer("add_sub", ONE).status == 200
            worst = max(worst, time.monotonic() - begin)
        assert worst < 3, worst
    finally:
        for c in socks:
            c.close()
