"""Transport: TLS and mutual TLS on both doors, unix sockets, with the official clients."""
import os
import shutil
import socket
import subprocess

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from helpers import wait_for

pytestmark = [pytest.mark.flags, pytest.mark.own_server]
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """a root, and a server and a client certificate from it -> folder of PEM files"""
    d = str(tmp_path_factory.mktemp("certificates"))
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=d, check=True, capture_output=True)
    openssl("req", "-x509", *key, "-keyout", "root.key", "-out", "root.pem", "-days", "2", "-subj", "/CN=root")
    with open(os.path.join(d, "names"), "w") as f:
        f.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name in ("server", "client"):
        openssl("req", *key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", name + ".csr", "-out", name + ".pem", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    return d


def tls(d, door, mutual=False):
    flags = [f"--{door}-use-ssl{'-mutual' if mutual else ''}=true", f"--{door}-server-cert={d}/server.pem", f"--{door}-server-key={d}/server.key"]
    return flags + ([f"--{door}-root-cert={d}/root.pem"] if mutual else [])


def ask(client, kind):
    """one inference -> the sum that came back"""
    tensors = []
    for name in ("INPUT0", "INPUT1"):
        t = kind.InferInput(name, [1, 16], "FP32")
        t.set_data_from_numpy(np.ones((1, 16), np.float32))
        tensors.append(t)
    return client.infer("add_sub", tensors).as_numpy("OUTPUT0").sum()


@needs_openssl
def test_grpc_tls(start, certificates):
    """gRPC over TLS: tritonclient and grpcio with the root certificate; without it nobody gets in."""
    s = start(models=["add_sub"], flags=tls(certificates, "grpc"))
    with triton_grpc.InferenceServerClient(s.grpc, ssl=True, root_certificates=f"{certificates}/root.pem") as c:
        assert ask(c, triton_grpc) == 32
    with pytest.raises(Exception), triton_grpc.InferenceServerClient(s.grpc, ssl=True) as c:
        c.is_server_live(client_timeout=2)
    with pytest.raises(Exception), triton_grpc.InferenceServerClient(s.grpc) as c:
        c.is_server_live(client_timeout=2)


@needs_openssl
def test_grpc_mutual_tls(start, certificates):
    """gRPC over mutual TLS: only clients with a certificate of the root are served."""
    s = start(models=["add_sub"], flags=tls(certificates, "grpc", mutual=True))
    known = dict(ssl=True, root_certificates=f"{certificates}/root.pem", private_key=f"{certificates}/client.key", certificate_chain=f"{certificates}/client.pem")
    with triton_grpc.InferenceServerClient(s.grpc, **known) as c:
        assert ask(c, triton_grpc) == 32
    with pytest.raises(Exception), triton_grpc.InferenceServerClient(s.grpc, ssl=True, root_certificates=f"{certificates}/root.pem") as c:
        c.is_server_live(client_timeout=2)


@needs_openssl
@pytest.mark.superset(reason="the reference's HTTP door has no TLS")
@pytest.mark.parametrize("mutual", [False, True])
def test_http_tls(start, certificates, mutual):
    """HTTP over TLS, mutual as well, with the flags of gRPC and tritonclient's ssl options."""
    s = start(models=["add_sub"], flags=tls(certificates, "http", mutual), wait=None)
    options = {"ca_certs": f"{certificates}/root.pem"}
    if mutual:
        options.update(certfile=f"{certificates}/client.pem", keyfile=f"{certificates}/client.key")
    c = triton_http.InferenceServerClient(s.http, ssl=True, ssl_options=options)
    wait_for(lambda: live(c), 30)
    assert ask(c, triton_http) == 32
    c.close()
    if mutual:
        stranger = triton_http.InferenceServerClient(s.http, ssl=True, ssl_options={"ca_certs": f"{certificates}/root.pem"})
        assert not live(stranger)
        stranger.close()


def live(client):
    try:
        return client.is_server_live()
    except Exception:
        return False


@pytest.mark.superset(reason="the reference listens on TCP alone")
def test_unix_sockets(start, make_models, tmp_path):
    """--http-address=unix:PATH and --grpc-address=unix:PATH: plain HTTP and gRPC's own `unix:` targets; a socket that a dead server left is no obstacle."""
    paths = [str(tmp_path / name) for name in ("http.sock", "grpc.sock")]
    for path in paths:                     # what a server that was killed leaves behind
        left = socket.socket(socket.AF_UNIX)
        left.bind(path)
        left.close()
    flags = [f"--http-address=unix:{paths[0]}", f"--grpc-address=unix:{paths[1]}"]
    s = start(repository=make_models("add_sub"), flags=flags, wait=None)
    wait_for(lambda: accepts(paths[0]) and accepts(paths[1]), 60)
    assert [oct(os.stat(p).st_mode & 0o777) for p in paths] == ["0o660", "0o660"]
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(paths[0])
        c.sendall(b"GET /v2/models/add_sub/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert c.recv(100).startswith(b"HTTP/1.1 200")
    with triton_grpc.InferenceServerClient("unix:" + paths[1]) as c:
        assert ask(c, triton_grpc) == 32
    with grpc.insecure_channel("unix:" + paths[1]) as channel:
        grpc.channel_ready_future(channel).result(10)
    s.terminate()
    assert s.wait() == 0
    assert not any(os.path.exists(p) for p in paths)


def accepts(path):
    with socket.socket(socket.AF_UNIX) as c:
        return c.connect_ex(path) == 0
