"""Command line options, server fixtures and what a failure prints. README.md says how to run the tests."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import expected_failures  # noqa: E402
import helpers  # noqa: E402
import make_repo  # noqa: E402


def pytest_addoption(parser):
    g = parser.getgroup("conformance")
    g.addoption("--server", help="command that starts the server under test; tritonserver-style flags are appended to it")
    g.addoption("--http", help="host:port of a server that runs already (needs the repository of `make_repo.py DEST`)")
    g.addoption("--grpc", help="host:port of its gRPC service")
    g.addoption("--metrics", help="host:port of its metrics service")
    g.addoption("--server-env", action="append", default=[], metavar="K=V", help="environment of started servers (repeatable)")
    g.addoption("--start-timeout", type=float, default=90, help="seconds until a started server must be ready (default 90)")
    g.addoption("--oracle", action="store_true", help="the server is the reference itself: superset tests are expected to fail, newer ones are skipped")
    g.addoption("--python-only", action="store_true", help="the server has only the python backend: maths models become model.py, ONNX tests are skipped")
    g.addoption("--assume-flags", action="store_true", help="with --http: the running server was started with the flags that a module asks for")
    g.addoption("--no-superset", action="store_true", help="leave out the tests that ask for more than the reference does")
    expected_failures.add_options(g)


def pytest_configure(config):
    o = config.option
    if not config.option.collectonly and not config.option.help and not (o.server or (o.http and o.grpc and o.metrics)):
        if not getattr(config.option, "markers", False):
            raise pytest.UsageError("give --server COMMAND, or --http, --grpc and --metrics of a running server")
    if not o.oracle:
        config.pluginmanager.register(expected_failures.ExpectedFailures(config), "expected-failures")


def pytest_collection_modifyitems(config, items):
    o = config.option
    if o.oracle and "oracle.sh" in (o.server or "") and not os.environ.get("ORACLE_BACKENDS"):
        o.python_only = True           # the wheel has no other backend
    kept, dropped = [], []
    for item in items:
        superset, newer = item.get_closest_marker("superset"), item.get_closest_marker("newer")
        if superset:
            assert superset.kwargs.get("reason") or superset.args, item.nodeid + ": superset needs a reason"
            reason = superset.kwargs.get("reason") or superset.args[0]
            if o.no_superset:
                dropped.append(item)
                continue
            if o.oracle:
                item.add_marker(pytest.mark.xfail(reason="superset: " + reason, strict=False))
        if newer and o.oracle:
            item.add_marker(pytest.mark.skip(reason="newer than the measured reference: " + (newer.kwargs.get("reason") or newer.args[0])))
        if o.python_only and item.get_closest_marker("onnx"):
            item.add_marker(pytest.mark.skip(reason="--python-only"))
        if not o.server and item.get_closest_marker("own_server"):
            item.add_marker(pytest.mark.skip(reason="needs --server"))
        kept.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    items[:] = kept


@pytest.fixture(scope="session")
def options(request):
    return request.config.option


@pytest.fixture(scope="session")
def launcher(request, tmp_path_factory):
    o = request.config.option
    if not o.server:
        yield None
        return
    l = helpers.Launcher(o.server, str(tmp_path_factory.mktemp("servers")), o.python_only, o.start_timeout, o.server_env,
                         tries=2 if o.oracle else 1)      # the reference sometimes ends while it starts on a busy machine
    request.config._launcher = l
    yield l
    l.close()


def _models(names, options):
    return [n for n in names if not (options.python_only and make_repo.onnx_only(n))]


@pytest.fixture(scope="session")
def make_models(launcher, options):
    """make_models("a", "b") -> folder with these models (and what they need)"""
    def make(*names, dest=None):
        d = dest or launcher.folder("models")
        make_repo.build(d, _models(names, options), options.python_only)
        return d
    return make


@pytest.fixture(scope="module")
def server(request, launcher, options, make_models):
    """the server of a test module: its models are MODELS, its flags FLAGS, its environment ENV"""
    mod = request.module
    if launcher is None:
        s = helpers.Server(options.http, options.grpc, options.metrics)
        need = _models(mod.MODELS, options)
        missing = [m for m in need if not s.ready(m)]
        flags = [] if options.assume_flags else [f for f in getattr(mod, "FLAGS", []) if not f.startswith("?")]
        if missing or flags:
            pytest.skip("the running server lacks the models %s" % missing if missing else "needs a server started with %s (--assume-flags)" % flags)
        request.config._server = s
        yield s
        return
    # a model that does not load must fail its own tests only, not the whole module
    flags = ["--exit-on-error=false", "--strict-readiness=false"]
    flags += [f.lstrip("?") for f in getattr(mod, "FLAGS", []) if not f.startswith("?") or launcher.supports(f[1:])]
    s = launcher.start(make_models(*mod.MODELS), flags, getattr(mod, "ENV", None), name=mod.__name__)
    request.config._server = s
    yield s
    alive = s.alive()
    launcher.release(s)
    assert alive, "the server ended by itself while the tests of this module ran, code %s" % s.process.poll()


@pytest.fixture
def start(request, launcher, make_models):
    """start(models=(...), flags=(...)) -> a server of this test's own; `repository` gives a folder (or several) instead of models"""
    started = []

    def begin(models=(), flags=(), repository=None, **k):
        s = launcher.start(repository or make_models(*models), flags, name=request.node.name[:40].replace("/", "_"), **k)
        started.append(s)
        return s
    yield begin
    for s in started:
        if not s.stopped:
            launcher.release(s)


@pytest.fixture(scope="module")
def start_module(request, launcher, make_models):
    """like start, for servers that several tests of a module share"""
    started = []

    def begin(models=(), flags=(), repository=None, **k):
        s = launcher.start(repository or make_models(*models), flags, name=request.module.__name__, **k)
        started.append(s)
        return s
    yield begin
    for s in started:
        if not s.stopped:
            launcher.release(s)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    launcher = getattr(item.config, "_launcher", None)
    if report.failed and launcher is not None:
        for s in launcher.running[-3:]:
            report.sections.append((f"server {s.pid} ({os.path.basename(os.path.dirname(s.log_path))}), last lines", "\n".join(s.log().splitlines()[-40:])))
