"""The plugin for pytest: marks that bound the memory of a test, and a report of what tests take.

``docs/testing.rst`` says how they are used. pytest loads this module in every environment that has tensix. So it stands
beside the package, all of which would be imported with a part of it, and imports tensix and NumPy when a test that has
a mark is run, or if a report is wanted.
"""

import argparse

import pytest

MARKS = {
    "limit_memory": "limit_memory(memory_limit): fail if the arrays that the test makes take more at one time",
    "limit_leaks": "limit_leaks(location_limit): fail if more is alive at the end of what one line of the test made",
    "no_leaks": "no_leaks: fail if an array, a tensor or a storage that the test made is alive at its end",
}
OF_MEMRAY = ("limit_memory", "limit_leaks")  # pytest-memray's own, if it is there
MEASURED = pytest.StashKey()


def count(text):
    """Return the number of rows that an option asks for."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"takes a number, as in --memory-report=10, found {text!r}.")
    return int(text)


def pytest_addoption(parser):
    """Add the option that asks for a report."""
    parser.getgroup("tensix").addoption(
        "--memory-report", nargs="?", type=count, const=10, metavar="N",
        help="show the N tests, and the N lines, whose arrays took most memory at one time (10 if not given; 0: all)",
    )  # fmt: skip


def pytest_configure(config):
    """Declare the marks, and collect numbers if they are to be shown."""
    for name in marks_of(config):
        config.addinivalue_line("markers", MARKS[name])
    if is_report_wanted(config):
        config.pluginmanager.register(MemoryReport(config), "tensix_memory_report")


def marks_of(config):
    """Return the names of the marks that are ours: where pytest-memray is active, those that it has too are its own."""
    return [name for name in MARKS if name not in OF_MEMRAY or not config.pluginmanager.hasplugin("memray")]


def is_report_wanted(config):
    """Return whether to measure tests without a mark, too."""
    return config.getoption("memory_report", None) is not None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """Run a test, measured if it has a mark or a report is wanted, and fail it for what its marks do not allow."""
    marks = {name: mark for name in marks_of(item.config) if (mark := item.get_closest_marker(name))}
    if not marks and not is_report_wanted(item.config):
        return (yield)
    from tensix.testing.memory_of_tests import MemoryOfTest, bounds_of  # noqa: PLC0415 - no earlier, see above

    try:
        bounds = bounds_of(marks)
    except (TypeError, ValueError) as error:
        raise pytest.fail.Exception(f"a mark of this test is wrong: {error}", pytrace=False) from None
    with MemoryOfTest(**bounds) as measured:
        if is_report_wanted(item.config):
            item.stash[MEASURED] = measured
        result = yield
    if measured.problems:
        pytest.fail("\n".join(measured.problems), pytrace=False)
    return result


class MemoryReport:
    """Collect what tests took, those of pytest-xdist's workers too, and show it at the end."""

    def __init__(self, config):
        self.count = config.option.memory_report
        self.tests = {}  # name -> numbers; a test that is run again counts once

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Give a test's report its numbers, as plain data: thus they come from the process that ran it."""
        report = yield
        if call.when == "call" and MEASURED in item.stash:
            report.tensix_memory = item.stash[MEASURED].numbers(self.count)
            del item.stash[MEASURED]
        return report

    def pytest_runtest_logreport(self, report):
        """Take the numbers of a test, wherever it ran."""
        if report.when == "call" and hasattr(report, "tensix_memory"):
            self.tests[report.nodeid] = report.tensix_memory

    def pytest_terminal_summary(self, terminalreporter):
        """Write the report."""
        from tensix.testing.memory_of_tests import report_of  # noqa: PLC0415

        terminalreporter.section("memory of arrays")
        for line in report_of(self.tests, self.count):
            terminalreporter.line(line)
