"""Custom metrics, model control and log lines."""

import numpy as np
import pytest

from fake_server import MODELS


class Engine:
    """Numbers families and series, keeps what was told."""

    def __init__(self):
        self.told = []
        self.errors = {}
        self.payloads = []

    def __call__(self, server, header, payload):
        fields = {key: value for key, value in header.items() if key not in ("t", "c")}
        self.told.append(fields)
        self.payloads.append(payload)
        if header["c"] == 0:
            return
        error = self.errors.get(header["what"])
        if error:
            server.send({"t": "reply", "c": header["c"], "error": ["INTERNAL", error]})
        else:
            value = {"ready": True, "metric": 41.5}.get(header["what"], len(self.told))
            server.send({"t": "reply", "c": header["c"], "value": value})

    def whats(self):
        return [fields["what"] for fields in self.told]


@pytest.fixture
def engine(scripted):
    engine = Engine()
    scripted.process.on_call = engine
    scripted.process.logs.clear()
    return engine


def test_a_model_with_metrics(start):
    process, engine = start(), Engine()
    process.on_call = engine
    assert process.init(MODELS / "custom_metrics")["t"] == "ready"
    answer = process.infer({"IN": np.zeros((3, 2), np.float32)}, outs=["TOTAL"])
    assert answer["TOTAL"] == [41.5]
    assert process.stop() == 0
    assert engine.told[0] == {
        "what": "family",
        "kind": "counter",
        "name": "requests_seen",
        "description": "Requests that reached the model",
    }
    labels = {"model": "custom_metrics", "version": "1"}
    assert engine.told[3] == {"what": "series", "family": 1, "labels": labels}
    assert engine.told[5] == {"what": "series", "family": 3, "labels": labels, "buckets": [1.0, 10.0, 100.0]}
    assert engine.told[6:10] == [
        {"what": "metric", "series": 4, "op": "increment", "by": 1.0},
        {"what": "metric", "series": 5, "op": "set", "by": 3.0},
        {"what": "metric", "series": 6, "op": "observe", "by": 6.0},
        {"what": "metric", "series": 4, "op": "value"},
    ]
    assert engine.told[10:] == [{"what": "drop", "series": n} for n in (4, 5, 6)] + [
        {"what": "drop", "family": n} for n in (1, 2, 3)
    ]
    assert [(log["level"], log["text"], log["file"], log["line"]) for log in process.logs] == [
        ("info", "6 elements", "model.py", 27),
        ("warning", "a warning", "model.py", 28),
    ]


KIND = "TRITONSERVER_METRIC_KIND_"


@pytest.mark.parametrize(
    "code, text",
    [
        ("c.increment(-1)", f"Failed to increment metric value: {KIND}COUNTER can only be incremented monotonically by non-negative values."),
        ("c.set(1)", f"Failed to set metric value: {KIND}COUNTER does not support Set"),
        ("c.observe(1)", f"Failed to observe metric value: {KIND}COUNTER does not support Observe"),
        ("g.observe(1)", f"Failed to observe metric value: {KIND}GAUGE does not support Observe"),
        ("h.set(1)", f"Failed to set metric value: {KIND}HISTOGRAM does not support Set"),
        ("h.increment(1)", f"Failed to increment metric value: {KIND}HISTOGRAM does not support Increment"),
        ("h.value()", f"Failed to get metric value: {KIND}HISTOGRAM does not support Value"),
        ("fc.Metric(labels=[])", "Failed to create metric. Labels must be a dictionary."),
        ("fh.Metric(buckets=())", "Failed to create metric. Buckets must be a list."),
        ("fc.Metric(buckets=[1])", "Failed to create metric. Unexpected buckets found."),
        ("fh.Metric()", "Failed to create metric. Missing required buckets."),
        ("fc.Metric(labels={'a': 1})", "Error when creating Metric: attempt to access JSON non-string as string"),
        ("g.set(float('nan'))", "Failed to set metric value: it is not a number."),
        ("del fc; c.increment(1)", "Invalid metric operation as the corresponding 'MetricFamily' has been deleted."),
    ],
)
def test_what_metrics_refuse(scripted, engine, code, text):
    make = """
    M = pb_utils.MetricFamily
    fc, fg, fh = M("c", "d", M.COUNTER), M("g", "d", M.GAUGE), M("h", "d", M.HISTOGRAM)
    c, g, h = fc.Metric(), fg.Metric({"a": "b"}), fh.Metric(buckets=[1, 2])
    g.increment(-2)
    g.set(float("-inf"))
    h.observe(0.1)
    """
    told = scripted.run("import textwrap\nexec(textwrap.dedent('''" + make + f"'''))\n{code}")
    assert told.startswith(f"TritonModelException: {text}"), told
    assert {"what": "metric", "series": 5, "op": "increment", "by": -2.0} in engine.told
    assert {"what": "metric", "series": 5, "op": "set", "by": float("-inf")} in engine.told
    assert {"what": "metric", "series": 6, "op": "observe", "by": 0.1} in engine.told
    # What one operation left is removed with its objects.
    scripted.tell("__import__('gc').collect()")
    assert engine.whats().count("drop") == 6


def test_errors_of_the_engine_about_metrics(scripted, engine):
    engine.errors = {"family": "metrics not supported"}
    told = scripted.run("pb_utils.MetricFamily('a', 'b', pb_utils.MetricFamily.GAUGE)")
    assert told.startswith("TritonModelException: Error when creating MetricFamily: metrics not supported\n")
    assert scripted.run("pb_utils.MetricFamily('a', 'b', 7)").startswith("TypeError: __init__(): incompatible")


def test_model_control(scripted, engine):
    code = """
    pb_utils.load_model("a")
    pb_utils.load_model(model_name="b", config='{"x":1}', files={"file:1/model.py": b"code", "file:2/x": b"0123456789"})
    pb_utils.unload_model("a")
    pb_utils.unload_model(model_name="a", unload_dependents=True)
    result = [respond(OUT=text((pb_utils.is_model_ready("a"), pb_utils.is_model_ready(model_name="a", model_version="2"))))]
    """
    assert scripted.run(code)["OUT"] == [b"(True, True)"]
    assert engine.told == [
        {"what": "load", "model": "a", "config": "", "files": []},
        {"what": "load", "model": "b", "config": '{"x":1}', "files": [["file:1/model.py", 0, 4], ["file:2/x", 8, 10]]},
        {"what": "unload", "model": "a", "dependents": False},
        {"what": "unload", "model": "a", "dependents": True},
        {"what": "ready", "model": "a", "version": ""},
        {"what": "ready", "model": "a", "version": "2"},
    ]
    assert engine.payloads[1] == b"code\0\0\0\x000123456789"


@pytest.mark.parametrize(
    "code, text",
    [
        ("pb_utils.load_model('a')", "Failed to load model: no"),
        ("pb_utils.unload_model('a')", "Failed to unload model: no"),
        ("pb_utils.is_model_ready('a')", "Failed to check model readiness: no"),
        (
            "pb_utils.load_model('a', files=[])",
            "failed to load model 'a', files should be a dictionary of file paths and file contents",
        ),
        (
            "pb_utils.is_model_ready('a', 'x')",
            "failed to get model version from specified version string 'x' (details: stol), version should be an integral value > 0",
        ),
    ],
)
def test_model_control_that_fails(scripted, engine, code, text):
    engine.errors = dict.fromkeys(("load", "unload", "ready"), "no")
    assert scripted.run(code).startswith(f"TritonModelException: {text}\n")


def test_log_levels(scripted, engine):
    code = """
    L = pb_utils.Logger
    L.log("a"); L.log("b", L.ERROR); L.log("c", level=L.VERBOSE)
    L.log_info("d"); L.log_warn("e"); L.log_error("f"); L.log_verbose("g")
    result = [respond()]
    """
    scripted.run(code)
    scripted.tell("1")
    seen = [(log["level"], log["text"]) for log in scripted.process.logs]
    assert seen == [("info", "a"), ("error", "b"), ("info", "d"), ("warning", "e"), ("error", "f")]
    for wrong in ("None", "5", "'x', 1", "'x', None"):
        assert scripted.run(f"pb_utils.Logger.log({wrong})").startswith("TypeError: log(): incompatible")


def test_verbose_lines_when_asked_for_and_from_the_import(start, tmp_path):
    from conftest import write_model

    code = """
    import triton_python_backend_utils as pb_utils
    pb_utils.Logger.log_info("imported")
    class TritonPythonModel:
        def initialize(self, args):
            pb_utils.Logger.log_verbose("details")
    """
    process = start()
    process.init(write_model(tmp_path, code), verbose=True)
    assert [(log["level"], log["text"], log["line"]) for log in process.logs] == [("info", "imported", 3), ("verbose", "details", 6)]
