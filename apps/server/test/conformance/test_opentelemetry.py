"""OpenTelemetry: the spans that the server exports to a collector, over OTLP and HTTP."""
import http.server
import json
import os
import threading
import time

import pytest
from helpers import ServerExited, grpc_request, wait_for
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

pytestmark = [pytest.mark.trace, pytest.mark.own_server, pytest.mark.flags]
AB = [("INPUT0", "FP32", [1, 16], [1] * 16), ("INPUT1", "FP32", [1, 16], [2] * 16)]
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{CALLER}-01"


class Collector:
    """Takes exports, as a collector does. `status`: what it answers; `delay`: how long it takes, seconds."""

    def __init__(self, status=200, delay=0):
        self.status, self.delay, self.exports, self.headers = status, delay, [], []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(collector.delay)
                if collector.status == 200:
                    collector.exports.append(ExportTraceServiceRequest.FromString(body))
                    collector.headers.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self):
        return [s for e in self.exports for r in e.resource_spans for scope in r.scope_spans for s in scope.spans]

    def wait(self, names):
        """waits for spans of these names -> {name: span}"""
        wait_for(lambda: sorted(s.name for s in self.spans) == sorted(names), 5, what=lambda: f"{names} in {[s.name for s in self.spans]}")
        return {s.name: s for s in self.spans}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def collector():
    c = Collector()
    yield c
    c.close()


def flags(collector, *more):
    return ["--trace-config=mode=opentelemetry", "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", f"--trace-config=opentelemetry,url={collector.url}/v1/traces",
            "--trace-config=opentelemetry,bsp_schedule_delay=50", *more]


def events(span):
    return [e.name for e in span.events]


def attributes(of):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in of}


@pytest.mark.http
def test_spans_of_an_http_request(start, collector):
    """A span for the call, one for the model, one for the computation, each with its events; kinds, attributes and resource."""
    s = start(["add_sub"], flags(collector, "--trace-config=opentelemetry,resource=team=a=b"))
    before = time.time_ns()
    assert s.infer("add_sub", AB, id="r1").status == 200
    spans = collector.wait(["InferRequest", "add_sub", "compute"])
    call, model, compute = spans["InferRequest"], spans["add_sub"], spans["compute"]
    assert events(call) == ["HTTP_RECV_START", "HTTP_RECV_END", "INFER_RESPONSE_COMPLETE", "HTTP_SEND_START", "HTTP_SEND_END"]
    assert events(model) == ["REQUEST_START", "QUEUE_START", "REQUEST_END"]
    assert events(compute) == ["COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"]
    assert not call.parent_span_id and model.parent_span_id == call.span_id and compute.parent_span_id == model.span_id
    assert len({s.trace_id for s in spans.values()}) == 1 and len(call.trace_id) == 16 and len(call.span_id) == 8
    assert all(s.kind == 2 for s in spans.values())
    assert attributes(model.attributes) == {"triton.model_name": "add_sub", "triton.model_version": 1, "triton.trace_id": 1, "triton.trace_parent_id": 0, "triton.request_id": "r1"}
    for span in spans.values():
        assert before - 10**9 < span.start_time_unix_nano <= span.end_time_unix_nano < time.time_ns() + 10**9
        assert all(span.start_time_unix_nano <= e.time_unix_nano <= span.end_time_unix_nano for e in span.events)
    (resource,) = {json.dumps(attributes(r.resource.attributes)) for e in collector.exports for r in e.resource_spans}
    assert json.loads(resource) == {"service.name": "triton-inference-server", "team": "a=b"}
    assert collector.headers[0]["content-type"] == "application/x-protobuf" and collector.headers[0]["path"] == "/v1/traces"


@pytest.mark.http
@pytest.mark.grpc
@pytest.mark.stream
def test_context_of_the_client(start, collector):
    """traceparent and tracestate over HTTP, gRPC and streams: always traced, whatever the rate, and part of the client's trace."""
    s = start(["id_int32"], flags(collector, "--trace-config=rate=0"))
    one = [("IN", "INT32", [1], [1])]
    s.infer("id_int32", one), s.infer("id_int32", one, headers={"traceparent": "00-zz-1-01"})
    s.infer("id_int32", one, id="h", headers={"Traceparent": PARENT, "Tracestate": "k=v"})
    s.ginfer("id_int32", one, id="g", metadata=[("traceparent", PARENT)])
    s.stream([grpc_request("id_int32", one, id="s")], metadata=[("traceparent", PARENT)])
    wait_for(lambda: len(collector.spans) == 9, 5, what="the spans of three requests")
    calls = [x for x in collector.spans if x.name == "InferRequest"]
    assert {x.parent_span_id.hex() for x in calls} == {CALLER} and {x.trace_id.hex() for x in collector.spans} == {TRACE}
    assert sorted(x.trace_state for x in calls) == ["", "", "k=v"]
    assert sorted(events(x)[0] for x in calls) == ["GRPC_WAITREAD_START", "GRPC_WAITREAD_START", "HTTP_RECV_START"]
    time.sleep(0.2)
    assert len(collector.spans) == 9


@pytest.mark.http
@pytest.mark.ensemble
def test_spans_of_an_ensemble(start, collector):
    """Every step is a span below the ensemble's, with its own computation."""
    s = start(["ens_fan"], flags(collector))
    s.infer("ens_fan", [("X", "FP32", [1, 4], [1, 2, 3, 4])])
    wait_for(lambda: len(collector.spans) == 8, 5, what="eight spans")
    by = {x.name: x for x in collector.spans if x.name != "compute"}
    assert sorted(by) == ["InferRequest", "ens_fan", "plus", "times2", "times3"]
    assert {by[n].parent_span_id for n in ("plus", "times2", "times3")} == {by["ens_fan"].span_id}
    assert by["ens_fan"].parent_span_id == by["InferRequest"].span_id
    assert {x.parent_span_id for x in collector.spans if x.name == "compute"} == {by[n].span_id for n in ("plus", "times2", "times3")}


@pytest.mark.http
@pytest.mark.bls
@pytest.mark.python
def test_context_for_a_model(start, collector):
    """A Python model is told the context of its own span, to continue the trace; a call with its trace is a span below it."""
    s = start(["bls_trace"], flags(collector))
    told = json.loads(s.infer("bls_trace", [("IN", "INT32", [1], [1])], headers={"traceparent": PARENT, "tracestate": "a=1"}).values("OUT")[0])
    context = json.loads(told["context"])
    wait_for(lambda: len(collector.spans) == 5, 5, what="five spans")
    by = {x.name: x for x in collector.spans if x.name != "compute"}
    assert sorted(by) == ["InferRequest", "bls_trace", "times2"] and by["times2"].parent_span_id == by["bls_trace"].span_id
    (compute,) = [x for x in collector.spans if x.name == "compute" and x.parent_span_id == by["bls_trace"].span_id]
    assert context == {"traceparent": f"00-{TRACE}-{compute.span_id.hex()}-01", "tracestate": "a=1"}


@pytest.mark.http
def test_settings_in_this_mode(start, collector):
    """The collector's settings are shown with the others, those of the trace file are not; rate and level can be changed."""
    s = start(["add_sub"], flags(collector, "--trace-config=opentelemetry,bsp_max_queue_size=100"), env={"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "20"})
    got = s.get("/v2/trace/setting").json()
    assert got["trace_mode"] == "opentelemetry" and got["url"] == collector.url + "/v1/traces" and "trace_file" not in got and "log_frequency" not in got
    assert (got["bsp_max_queue_size"], got["bsp_schedule_delay"], got["bsp_max_export_batch_size"]) == ("100", "50", "20")
    assert s.post("/v2/trace/setting", {"trace_level": ["OFF"]}).json()["trace_level"] == ["OFF"]
    s.infer("add_sub", AB, headers={"traceparent": PARENT})
    assert s.post("/v2/trace/setting", {"trace_level": ["TIMESTAMPS", "TENSORS"], "trace_count": "1"}).status == 200
    s.infer("add_sub", AB), s.infer("add_sub", AB)
    collector.wait(["InferRequest", "add_sub", "compute"])
    assert "Tensor level tracing is not supported by the mode: opentelemetry" in s.log()


@pytest.mark.http
def test_environment(start, collector):
    """OpenTelemetry's own variables: where the collector is, what it must be told, and what the resource is."""
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url + "/base", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "OTEL_RESOURCE_ATTRIBUTES": "service.name=mine,zone=1", "OTEL_BSP_SCHEDULE_DELAY": "50"}
    s = start(["add_sub"], ["--trace-config=mode=opentelemetry", "--trace-config=level=TIMESTAMPS", "--trace-config=rate=1", "--trace-config=opentelemetry,resource=zone=2"], env=env)
    s.infer("add_sub", AB)
    collector.wait(["InferRequest", "add_sub", "compute"])
    assert collector.headers[0]["path"] == "/base/v1/traces" and collector.headers[0]["x-key"] == "a b"
    assert attributes(collector.exports[0].resource_spans[0].resource.attributes) == {"service.name": "mine", "zone": "2"}


@pytest.mark.http
def test_the_rest_is_sent_at_the_end(start, collector):
    """Spans that wait for their batch are exported before the server ends."""
    s = start(["add_sub"], flags(collector, "--trace-config=opentelemetry,bsp_schedule_delay=60000"))
    s.infer("add_sub", AB)
    assert collector.spans == []
    s.stop()
    assert sorted(x.name for x in collector.spans) == ["InferRequest", "add_sub", "compute"]


@pytest.mark.http
def test_a_failed_request_has_spans(start, collector):
    """Its error is on them (the original leaves them without a status)."""
    s = start(["id_int32"], flags(collector))
    assert s.infer("id_int32", [("IN", "INT32", [1], [1])], outputs=["NO"]).status == 400
    wait_for(lambda: len(collector.spans) >= 1, 5, what="a span")
    assert [x for x in collector.spans if x.name == "InferRequest"]


@pytest.mark.http
@pytest.mark.parametrize("status,delay", [(503, 0), (200, 30), (None, 0)], ids=["refuses", "hangs", "is gone"])
def test_a_collector_that_does_not_take_them(start, status, delay):
    """Requests do not notice; what there is no room for is dropped, and the log says so."""
    c = Collector(status or 200, delay)
    if status is None:
        c.close()
    try:
        s = start(["add_sub"], flags(c, "--trace-config=opentelemetry,bsp_max_queue_size=30", "--trace-config=opentelemetry,bsp_max_export_batch_size=10"), env={"OTEL_EXPORTER_OTLP_TIMEOUT": "500"})
        begin = time.monotonic()
        for _ in range(50):
            assert s.infer("add_sub", AB).status == 200
        assert time.monotonic() - begin < 10
        wait_for(lambda: "spans were dropped" in s.log() or "cannot send traces" in s.log(), 5, what="a line about it")
        s.stop()
    finally:
        if status is not None:
            c.close()


def test_mistakes_end_the_start(launcher, make_models):
    """Tracing without a file, an unknown mode or level, a URL that is none: code 1, and the text says what is wrong."""
    for given, words in [(["level=TIMESTAMPS"], "trace file name is not given"), (["triton,file=/tmp/x.json", "level=TIMESTAMPS", "rate=0"], "sample rate must be non-zero"), (["mode=zipkin"], "zipkin"), (["level=ALL"], "ALL"),
                         (["mode=opentelemetry", "opentelemetry,url=ftp://x"], "ftp://x"), (["opentelemetry,resource=nothing"], "nothing"), (["mode=opentelemetry", "opentelemetry,bsp_max_queue_size=x"], "bsp_max_queue_size")]:
        with pytest.raises(ServerExited) as e:
            launcher.start(make_models("add_sub"), [f"--trace-config={g}" for g in given], wait="live").stop()
        assert e.value.code == 1 and words in e.value.log, (given, e.value.log)
    assert not os.path.exists("/tmp/x.json")
