"""Checks of the list's rules, on small suites of their own: pytest check_expected_failures.py (no server needed)."""
import os
import re

import pytest

pytest_plugins = ["pytester"]
HERE = os.path.dirname(os.path.abspath(__file__))
CONFTEST = f"""
import sys
sys.path.insert(0, {HERE!r})
import expected_failures

def pytest_addoption(parser):
    expected_failures.add_options(parser.getgroup("conformance"))

def pytest_configure(config):
    config.addinivalue_line("markers", "timeout(seconds): of pytest-timeout")
    config.pluginmanager.register(expected_failures.ExpectedFailures(config), "expected-failures")
"""
TESTS = """
import pytest
calls = []
def test_good(): pass
def test_bad(): assert False
@pytest.mark.flaky(reruns=2)
def test_sometimes():
    calls.append(1)
    assert len(calls) == 1
@pytest.mark.parametrize("word", ["a b", "c"])
def test_words(word): assert word == "c"
"""
BAD = ["test_it.py::test_bad", "test_it.py::test_sometimes", "test_it.py::test_words[a b]"]


@pytest.fixture
def run(pytester):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=TESTS)
    pytester.makeini("[pytest]\ntestpaths = .")

    def go(listed, *args):
        path = pytester.path / "list.txt"
        path.write_text(listed)
        result = pytester.runpytest_subprocess(f"--expected-failures={path}", "--summary=summary.json", *args)
        return result, path.read_text()
    return go


def lines(*tests):
    return "# not built yet\n" + "\n".join(tests) + "\n"


def test_a_complete_list_is_green(run):
    result, _ = run(lines(*BAD))
    assert result.ret == 0
    result.assert_outcomes(passed=2, xfailed=3)


def test_an_unlisted_failure_is_red(run):
    result, _ = run(lines(*BAD[1:]))
    assert result.ret == 1
    result.assert_outcomes(passed=2, failed=1, xfailed=2)


def test_a_listed_test_that_passes_is_red(run):
    result, text = run(lines(*BAD, "test_it.py::test_good"))
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*listed as expected failures, but they pass*", "test_it.py::test_good"])
    assert text == lines(*BAD, "test_it.py::test_good")


def test_a_flaky_listed_test_may_pass_in_one_try(run):
    result, _ = run(lines(*BAD), "-k", "sometimes")
    assert result.ret == 0


def test_shrinking_removes_what_passes_and_nothing_else(run):
    result, text = run(lines("test_it.py::test_good") + "\n# another reason\n" + "\n".join(BAD) + "\n", "--shrink-expected")
    assert result.ret == 0
    assert text == "# another reason\n" + "\n".join(BAD) + "\n"


def test_shrinking_forgives_no_other_failure(run):
    result, _ = run(lines("test_it.py::test_good"), "--shrink-expected")
    assert result.ret == 1


def test_a_listed_test_must_exist(run):
    result, _ = run(lines(*BAD, "test_it.py::test_gone"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert re.search(r"do not exist:\s+test_it.py::test_gone", result.stderr.str() + result.stdout.str())
    result, _ = run(lines(*BAD, "test_other.py::test_gone"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_selection_does_not_miss_the_others(run):
    result, _ = run(lines(*BAD, "test_other.py::test_elsewhere"), "test_it.py", "-k", "good")
    assert result.ret == 0


def test_a_test_needs_a_reason_and_one_line(run):
    assert run("test_it.py::test_bad\n")[0].ret != 0
    assert run(lines(BAD[0], BAD[0]))[0].ret != 0
