"""The list of tests that may fail: expected-failures.txt, one test a line below a `# reason`.

A listed test that fails is an expected failure; one that passes (a flaky one: in all its tries) fails the run, so the list can only shrink.
A listed test that does not exist ends the run before it begins. --shrink-expected takes the lines out that pass now.
--summary=FILE writes what happened as JSON.
"""
import json
import os
import time

import pytest

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected-failures.txt")
# A test that is expected to fail may hang instead: it gets less time than others, seconds.
TIMEOUT = 20


def add_options(group):
    group.addoption("--expected-failures", default=LIST, metavar="FILE", help="tests that may fail (default: expected-failures.txt here; '' = none)")
    group.addoption("--shrink-expected", action="store_true", help="take the tests that pass now out of the list")
    group.addoption("--summary", metavar="FILE", help="write counts and names of failures as JSON")


def sections(path):
    """-> [(reason lines, test ids)]; a section begins with its `#` lines"""
    out = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line.startswith("#"):
                if not out or out[-1][1]:
                    out.append(([], []))
                out[-1][0].append(line)
            elif line.strip():
                if not out:
                    raise pytest.UsageError(f"{path}:{number}: a '# reason' line must come before the first test")
                out[-1][1].append(line)
    return out


def read(path):
    """-> {test id: reason}"""
    out = {}
    for reason, tests in sections(path):
        for test in tests:
            if test in out:
                raise pytest.UsageError(f"{path}: listed twice: {test}")
            out[test] = " ".join(line.lstrip("# ") for line in reason)
    return out


def shrink(path, passing):
    """rewrites the list without `passing`; a section left with no test goes too"""
    kept = [(reason, [t for t in tests if t not in passing]) for reason, tests in sections(path)]
    text = "\n".join("\n".join([*reason, *tests]) + "\n" for reason, tests in kept if tests)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


class ExpectedFailures:
    def __init__(self, config):
        self.config = config
        self.path = config.option.expected_failures
        self.listed = read(self.path) if self.path and os.path.exists(self.path) else {}
        self.began = time.monotonic()
        self.markers, self.outcomes = {}, {}

    @pytest.hookimpl(tryfirst=True)          # before -k and -m take tests away
    def pytest_collection_modifyitems(self, items):
        found = {item.nodeid for item in items}
        files = {item.nodeid.split("::")[0] for item in items}
        single = any("::" in str(arg) for arg in self.config.args)
        gone = [t for t in self.listed if t not in found and not single and (t.split("::")[0] in files or self._whole_suite())]
        if gone:
            raise pytest.UsageError(f"{self.path} names tests that do not exist:\n  " + "\n  ".join(gone))
        for item in items:
            self.markers[item.nodeid] = [m.name for m in item.iter_markers()]
            reason = self.listed.get(item.nodeid)
            if reason:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
                item.add_marker(pytest.mark.timeout(TIMEOUT), append=False)

    def _whole_suite(self):
        return self.config.args_source == pytest.Config.ArgsSource.TESTPATHS

    def pytest_runtest_logreport(self, report):
        if report.outcome == "rerun":
            self.outcomes.pop(report.nodeid, None)
            return
        if report.passed and report.when != "call":
            return
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        if report.failed and "[XPASS(strict)]" in str(report.longrepr):
            outcome = "xpassed"
        if self.outcomes.get(report.nodeid) != "failed":   # a failed teardown stays the verdict
            self.outcomes[report.nodeid] = outcome

    def names(self, outcome):
        return sorted(t for t, o in self.outcomes.items() if o == outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        passing = set(self.names("xpassed"))
        if self.config.option.shrink_expected and passing:
            shrink(self.path, passing)
            if not self.names("failed") and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
                session.exitstatus = pytest.ExitCode.OK
        if self.config.option.summary:
            with open(self.config.option.summary, "w", encoding="utf-8") as f:
                json.dump(self.summary(), f, indent=1)

    def summary(self):
        kinds = ("passed", "failed", "xfailed", "xpassed", "skipped")
        return {
            "counts": {k: len(self.names(k)) for k in kinds},
            "seconds": round(time.monotonic() - self.began, 1),
            "failed": [{"test": t, "markers": self.markers.get(t, [])} for t in self.names("failed")],
            "xpassed": self.names("xpassed"),
        }

    def pytest_terminal_summary(self, terminalreporter):
        passing = self.names("xpassed")
        if not passing:
            return
        terminalreporter.section("listed as expected failures, but they pass")
        terminalreporter.write_line("\n".join(passing))
        took = self.config.option.shrink_expected
        terminalreporter.write_line("They were taken out of the list." if took else "Take them out of the list: npm test -- --only=conformance --shrink-expected")
