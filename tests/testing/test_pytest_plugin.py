"""The plugin for pytest, in pytests of their own: limits, leaks, reports, and nothing of it where nobody asks."""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
from pathlib import Path

import pytest

import tensix

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
HAS_XDIST = importlib.util.find_spec("xdist") is not None


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs tests, whose file is `text`, in a process of its own."""
    beside = str(Path(tensix.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([beside, *filter(None, [os.environ.get("PYTHONPATH")])]))
    # pytest repeats whole messages at the end where these are set, and a test would find each line twice.
    for name in "CI", "BUILD_NUMBER":
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:memray")

    def run(text, *options):
        pytester.makepyfile(test_it="import numpy as np, pytest, tensix\n" + text)
        return pytester.runpytest_subprocess("-p", "pytest_tensix", *options)

    return run


def lines_of(result, word):
    """Return the lines of an output that have a word."""
    return [line.strip() for line in result.outlines if word in line]


def test_a_limit_names_the_peak_and_the_lines(run):
    result = run("""
@pytest.mark.limit_memory("3 MiB")
def test_too_much():
    x = tensix.ones(1 << 18)
    for _ in range(3):
        y = x + tensix.ones(1 << 18)

@pytest.mark.limit_memory("4 MiB")
def test_enough():
    x = tensix.ones(1 << 18)
    for _ in range(3):
        y = x + tensix.ones(1 << 18)
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "limit_memory: 3.00 MiB are allowed, 4.00 MiB were in use at one time, 1,048,576 bytes too many. *",
        " *3.00 MiB  test_it.py:7 in test_too_much",
        " *1.00 MiB  test_it.py:5 in test_too_much",
    ])  # fmt: skip


@pytest.mark.parametrize("library", ["np", "tensix"])
def test_arrays_of_both_count(run, library):
    result = run(f"""
@pytest.mark.limit_memory(1000)
def test_it():
    {library}.zeros(10)
    {library}.zeros(1 << 20)

@pytest.mark.no_leaks
def test_left():
    global kept
    kept = {library}.zeros(1 << 20)
""")
    result.assert_outcomes(failed=2)
    assert len(lines_of(result, "MiB  test_it.py:6 in test_it")) == 1
    assert len(lines_of(result, "MiB  test_it.py:11 in test_left")) == 1


def test_what_fixtures_made_before_is_not_the_tests(run):
    result = run("""
@pytest.fixture
def large():
    return tensix.ones(1 << 20)

@pytest.mark.no_leaks
@pytest.mark.limit_memory("1 KiB")
@pytest.mark.parametrize("n", [3, 300])
def test_it(large, n):
    x = tensix.ones(n)
    large.zero_()
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["limit_memory: 1024 bytes are allowed, 1.17 KiB were in use at one time, 176 bytes *"])


def test_the_mark_that_is_closest_counts(run):
    result = run("""
import unittest
pytestmark = pytest.mark.limit_memory("0 MiB")

@pytest.mark.limit_memory("1 MiB")
class TestIt:
    def test_large_enough(self):
        tensix.ones(100)

    @pytest.mark.limit_memory("1 KiB")
    def test_too_small(self):
        tensix.ones(1000)

class Case(unittest.TestCase):
    def test_of_the_file(self):
        tensix.ones(100)
""")
    result.assert_outcomes(passed=1, failed=2)
    found = [line.partition(" are")[0] for line in result.outlines if line.startswith("limit_memory: ")]
    assert found == ["limit_memory: 1024 bytes", "limit_memory: 0 bytes"]


def test_leaks_are_named(run):
    result = run("""
kept = []

@pytest.mark.no_leaks
def test_kept():
    kept.append(tensix.ones(1000)[:10])
    kept.append(tensix.ones(3))

@pytest.mark.no_leaks
def test_a_target_without_bytes():
    kept.append(tensix.make_intrusive(tensix.IntrusiveTarget))

@pytest.mark.no_leaks
def test_a_cycle_is_collected():
    cycle = [tensix.ones(10)]
    cycle.append(cycle)
""")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([
        "no_leaks: 3.92 KiB that the test asked for are still alive:",
        " *3.91 KiB  test_it.py:7 in test_kept",
        " *12 bytes  test_it.py:8 in test_kept",
        "4 targets that were made here are still alive:",
        "1 target that was made here is still alive:",
        "    1 IntrusiveTarget: *",
    ])  # fmt: skip


def test_leaks_of_a_line_may_have_a_bound(run):
    result = run("""
kept = []

@pytest.mark.limit_leaks("1 KiB")
def test_small():
    kept.extend([tensix.ones(100), tensix.ones(100)])
    kept.append(tensix.ones(100))

@pytest.mark.limit_leaks(location_limit="1 KiB")
def test_large():
    kept.append(tensix.ones(100))
    kept.append(tensix.ones(1000))
""")
    result.assert_outcomes(passed=1, failed=1)
    assert lines_of(result, "alive") == ["limit_leaks: a line may leave 1024 bytes. More than that is alive of:"]
    assert lines_of(result, "in test_large") == ["3.91 KiB  test_it.py:13 in test_large"]


def test_what_an_import_left_is_explained(run, pytester):
    pytester.makepyfile(late="import tensix\nx = tensix.ones(3)")
    result = run("""
@pytest.mark.no_leaks
def test_it():
    import late
""")
    result.stdout.fnmatch_lines([" *12 bytes  late.py:2 in <module>", "This test was the first to import late. *"])


def test_what_numpy_imports_by_itself_is_no_leak(run):
    result = run("""
@pytest.mark.no_leaks
def test_it():
    tensix.rand(10)
    np.ma.masked_array([1.0])
    np.polynomial.Polynomial([1, 2])(3)
    np.unique(np.ones(3))
""")
    result.assert_outcomes(passed=1)


def test_failing_tests_keep_their_failures(run):
    result = run("""
@pytest.mark.no_leaks
@pytest.mark.limit_memory(1)
def test_it():
    x = tensix.ones(1000)
    assert x is None, "my own"

@pytest.mark.no_leaks
@pytest.mark.limit_memory(1)
def test_skips():
    x = tensix.ones(1000)
    pytest.skip("not here")

@pytest.mark.xfail(strict=True)
@pytest.mark.limit_memory(1)
def test_expected():
    x = tensix.ones(1000)
""")
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    assert lines_of(result, "AssertionError: my own") and not lines_of(result, "limit_memory:")


@pytest.mark.parametrize(
    "mark, text",
    [
        ('limit_memory("24 furlongs")', "found '24 furlongs'"),
        ("limit_memory()", "limit_memory() missing 1 required positional argument: 'memory_limit'"),
        ('limit_leaks("1KiB", filter_fn=print)', "limit_leaks() got an unexpected keyword argument 'filter_fn'"),
        ("no_leaks(1)", "no_leaks() takes 0 positional arguments but 1 was given"),
    ],
)
def test_wrong_marks_fail_the_test_in_words(run, mark, text):
    result = run(f"@pytest.mark.{mark}\ndef test_it(): pass")
    result.assert_outcomes(failed=1)
    assert lines_of(result, "a mark of this test is wrong: ")[0].endswith(text) or text in result.stdout.str()
    assert not lines_of(result, "Traceback") and not lines_of(result, "During handling")


MANY = """
@pytest.mark.parametrize("n", range(1, 6))
def test_it(n):
    x = tensix.ones(n << 18)
    assert n != 4

def test_small():
    np.zeros(10)
"""


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.skipif(not HAS_XDIST, reason="no xdist"))])
def test_the_report_shows_the_dearest(run, workers):
    result = run(MANY, "--memory-report=2", *(["-n", str(workers)] if workers else []))
    result.assert_outcomes(passed=5, failed=1)
    report = result.outlines[next(i for i, line in enumerate(result.outlines) if "= memory of arrays =" in line) :]
    assert [" ".join(line.split()) for line in report[1:7]] == [
        "peak total count test",
        "5.00 MiB 5.00 MiB 1 test_it.py::test_it[5]",
        "4.00 MiB 4.00 MiB 1 test_it.py::test_it[4]",
        "peak total count line, and its dearest test",
        "5.00 MiB 5.00 MiB 1 test_it.py:5 in test_it (test_it.py::test_it[5])",
        "80 bytes 80 bytes 1 test_it.py:9 in test_small (test_it.py::test_small)",
    ]


@pytest.mark.parametrize("option, tests", [("--memory-report", 6), ("--memory-report=0", 6), ("--memory-report=1", 1)])
def test_the_report_has_as_many_rows_as_asked_for(run, option, tests):
    report = run(MANY, option).stdout.str().partition("memory of arrays")[2].partition("line, and its dearest")[0]
    assert len(re.findall("test_it.py::", report)) == tests


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="variables are examined with the GIL")
def test_the_report_names_advice(run):
    result = run("""
def test_it():
    first = np.ones(500_000)
    second = first * 2
    third = np.sqrt(second)
    assert third.sum() > second[0]
""", "--memory-report")
    printed = result.stdout.str()
    assert "3.81 MiB less at the peak of test_it.py::test_it:" in printed
    assert re.search(r"`del first` after test_it.py:\d+ would make the peak 7.63 MiB", printed)


def test_numbers_travel_with_reports(pytester, run):
    """As pytest-xdist sends them: through plain data."""
    pytester.makeconftest("""
def pytest_runtest_logreport(report):
    if hasattr(report, "tensix_memory"):
        import json
        numbers = json.loads(json.dumps(report._to_json()))["tensix_memory"]
        print("travelled", numbers == report.tensix_memory, numbers["peak_bytes"])
""")
    result = run("def test_it(): tensix.ones(10)", "--memory-report", "-s")
    assert "travelled True 40" in result.stdout.str()


@pytest.mark.parametrize("wrong", ["test_it.py", "some", "-1"])
def test_a_report_of_no_number_is_refused(run, wrong):
    result = run(MANY, f"--memory-report={wrong}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "takes a number, as in --memory-report=10, found " in result.stderr.str()


def test_nothing_is_imported_before_it_is_needed(pytester, run):
    """Of tests without marks, and of those with marks that are collected only."""
    loaded = "print('loaded', sorted({'numpy', 'tensix'} & {*__import__('sys').modules}))"
    pytester.makeconftest(f"def pytest_unconfigure(): {loaded}")
    pytester.makepyfile(
        test_plain="def test_it(request): assert request.config.pluginmanager.hasplugin('pytest_tensix')",
        test_marked="import pytest\n@pytest.mark.no_leaks\ndef test_it(): pass",
    )
    options = ["-p", "pytest_tensix", "-p", "no:cacheprovider"]
    for chosen, found in [
        (["test_plain.py"], []), (["--collect-only", "test_marked.py"], []),
        (["--memory-report", "--collect-only"], None), (["test_marked.py"], ["numpy", "tensix"]),
    ]:
        done = pytester.runpytest_subprocess(*options, *chosen)
        done.assert_outcomes(passed=0 if "--collect-only" in chosen else 1)
        assert found is None or lines_of(done, "loaded") == [f"loaded {found}"]


LIKE_MEMRAY = """
import pytest

class LikeMemray:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        for mark in item.iter_markers():
            if mark.name in ("limit_memory", "limit_leaks"):
                number, unit = mark.args[0].split()
                int(number) * {"B": 1, "KB": 1 << 10, "MB": 1 << 20}[unit]  # an error ends the run
        return (yield)

def pytest_addoption(parser, pluginmanager):
    pluginmanager.register(LikeMemray(), "memray")

def pytest_configure(config):
    for name in "limit_memory", "limit_leaks":
        config.addinivalue_line("markers", name)
"""
BOTH = """
@pytest.mark.limit_memory("1 MB")
def test_its():
    tensix.ones(10)

@pytest.mark.limit_leaks("1 MB")
def test_its_too():
    global kept
    kept = tensix.ones(10)

@pytest.mark.limit_memory("1 KiB")
class TestClosest:
    def test_ours(self):
        tensix.ones(1000)

    @pytest.mark.limit_memory("1 MB")
    def test_its(self):
        tensix.ones(1000)

    @pytest.mark.limit_memory("1 MiB")
    def test_enough(self):
        tensix.ones(1000)

@pytest.mark.limit_memory(100)
def test_a_number():
    tensix.ones(1000)

@pytest.mark.limit_leaks(location_limit="1 KB")
def test_a_keyword():
    global more
    more = tensix.ones(1000)

@pytest.mark.limit_memory("24 furlongs")
def test_nobodys():
    pass

@pytest.mark.no_leaks
def test_ours_alone():
    global left
    left = tensix.ones(10)
"""


@pytest.fixture(params=["itself", "like it"])
def memray(request, run, pytester, monkeypatch):
    """Have pytest-memray in the pytests that a test runs, or a plugin that reads marks as it does."""
    if request.param == "itself":
        pytest.importorskip("pytest_memray")
        monkeypatch.delenv("PYTEST_ADDOPTS")
    else:
        monkeypatch.setenv("PYTEST_ADDOPTS", "")
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        pytester.makeconftest(LIKE_MEMRAY)


@pytest.mark.usefixtures("memray")
def test_beside_pytest_memray_each_serves_the_marks_that_it_can_read(run):
    result = run(BOTH, "--strict-markers")
    result.assert_outcomes(passed=4, failed=5)
    failed = [line.split("::", 1)[1].split(" - ")[0] for line in result.outlines if line.startswith("FAILED")]
    assert failed == ["TestClosest::test_ours", "test_a_number", "test_a_keyword", "test_nobodys", "test_ours_alone"]
    assert lines_of(result, "a mark of this test is wrong: ")[0].endswith("found '24 furlongs'.")
    assert not lines_of(result, "INTERNALERROR")


@pytest.mark.usefixtures("memray")
def test_marks_that_are_taken_select_tests_all_the_same(run):
    run(BOTH, "-m", "limit_leaks").assert_outcomes(passed=1, failed=1, deselected=7)


def test_the_page_shows_what_is_printed(pytester, run):
    page = (ROOT / "docs" / "testing.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"^\.\. code-block:: (?:python|text)\n\n((?:   .*\n|\n)+)", page, re.MULTILINE)
    text, failures, report = map(textwrap.dedent, blocks)
    pytester.path.joinpath("test_memory.py").write_text(text)
    printed = " ".join(run("", "--memory-report").stdout.str().split())
    for part in (failures, report):
        assert " ".join(part.split()) in printed


def test_marks_are_declared(run):
    result = run("@pytest.mark.no_leaks\ndef test_it(): pass", "--strict-markers")
    result.assert_outcomes(passed=1)
    listed = run("", "--markers").stdout.str()
    assert all(f"@pytest.mark.{mark}" in listed for mark in ("limit_memory(", "limit_leaks(", "no_leaks:"))


def test_an_installation_makes_it_known():
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert metadata["project"]["entry-points"]["pytest11"] == {"pytest_tensix": "pytest_tensix"}
    assert metadata["tool"]["setuptools"]["py-modules"] == ["dask_tensix", "pytest_tensix"]


def test_the_module_imports_pytest_alone():
    program = "import sys, pytest; before = {*sys.modules}; import pytest_tensix; print({*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'pytest_tensix'}"
