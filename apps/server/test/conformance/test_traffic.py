"""Traffic policies: labels, weighted splits, sticky clients, shadows and rollbacks by a file beside the model (all of it goes beyond the original)."""
import json
import shutil

import pytest
from helpers import C, grpc_error, wait_for
from make_repo import put

pytestmark = [pytest.mark.repository, pytest.mark.http, pytest.mark.own_server]
superset = pytest.mark.superset(reason="the reference has no traffic policies")
ONE = [("IN", "INT32", [1], [5])]
EXPLICIT = ["--model-control-mode=explicit", "--load-model=*"]


@pytest.fixture
def versions(start, make_models):
    """a server with one model in two versions and this policy"""
    def run(policy):
        d = make_models("id_int32")
        shutil.copytree(f"{d}/id_int32/1", f"{d}/id_int32/2")
        with open(f"{d}/id_int32/config.pbtxt", "a") as f:
            f.write("\nversion_policy { all { } }\n")
        if policy is not None:
            put(f"{d}/id_int32/traffic.json", json.dumps(policy))
        return start(flags=EXPLICIT, repository=d)
    return run


def ask(s, n=1, **k):
    return [s.infer("id_int32", ONE, **k).json()["model_version"] for _ in range(n)]


@superset
def test_a_split_is_exact(versions):
    """Weights of 90 and 10 give 90 and 10 of 100 requests without a version; a request that names one gets that."""
    s = versions({"split": {"1": 90, "2": 10}})
    got = ask(s, 100)
    assert (got.count("1"), got.count("2")) == (90, 10)
    assert set(ask(s, 5, version="2")) == {"2"}


def test_without_a_policy(versions):
    """Without a policy the highest version answers every request, and a word where a version belongs is no path."""
    s = versions(None)
    assert set(ask(s, 10)) == {"2"}
    assert s.get("/v2/models/id_int32/versions/stable").status == 404
    grpc_error(lambda: s.ginfer("id_int32", ONE, version="stable"), C.INVALID_ARGUMENT)


@superset
@pytest.mark.grpc
def test_labels(versions):
    """A label of a model is taken wherever its versions are, over both protocols."""
    s = versions({"labels": {"stable": 1, "canary": 2}})
    assert ask(s, 1, version="stable") == ["1"] and ask(s, 1, version="canary") == ["2"]
    for tail in ("", "/ready", "/config", "/stats"):
        assert s.get("/v2/models/id_int32/versions/stable" + tail).status == 200
    assert s.ginfer("id_int32", ONE, version="stable").model_version == "1"
    assert s.get("/v2/models/id_int32/versions/nightly").status == 404


@superset
@pytest.mark.grpc
def test_sticky_clients(versions):
    """Requests with the same header (gRPC: metadata) go to the same version."""
    s = versions({"split": {"1": 50, "2": 50}, "sticky": {"header": "x-user"}})
    seen = set()
    for user in range(12):
        got = set(ask(s, 4, headers={"X-User": f"user-{user}"}))
        assert len(got) == 1
        assert {s.ginfer("id_int32", ONE, metadata=[("x-user", f"user-{user}")]).model_version} == got
        seen |= got
    assert seen == {"1", "2"}


@superset
def test_a_broken_policy_is_told(versions):
    """A load with a broken traffic.json fails with every reason and what to do; the policy before it stays in force."""
    s = versions({"split": {"1": 100}})
    put(f"{s.repository}/id_int32/traffic.json", '{"split": {"1": 90}, "shadow": {"version": "nobody"}}')
    r = s.post("/v2/repository/models/id_int32/load", {})
    assert r.status >= 400
    assert "split sums up to 90; the weights must sum up to 100" in r.error and "shadow.version names no version" in r.error
    assert set(ask(s, 5)) == {"1"}


@superset
def test_a_policy_is_reloaded_alone(versions):
    """A load takes a new policy without reloading the model."""
    s = versions({"split": {"1": 100}})
    count = lambda: s.metrics().get("nv_inference_request_success", model="id_int32", version="1")
    ask(s, 3)
    put(f"{s.repository}/id_int32/traffic.json", '{"split": {"2": 100}}')
    assert s.post("/v2/repository/models/id_int32/load", {}).status == 200
    assert set(ask(s, 5)) == {"2"} and count() == 3


@superset
def test_a_shadow_is_compared(versions):
    """Copies for a shadow are counted by whether their answers match; clients see nothing of them."""
    s = versions({"split": {"1": 100}, "shadow": {"version": 2, "percent": 50}})
    assert set(ask(s, 20)) == {"1"}
    wait_for(lambda: s.metrics().get("conch_traffic_shadow_total", model="id_int32", version="2", outcome="matched") == 10)
