"""The plugin for pytest: marks that bound the memory of a test, and a report of what tests take.

``docs/testing.rst`` says how they are used. pytest loads this module in every environment that has tensix. So it stands
beside the package, all of which would be imported with a part of it, and imports tensix and NumPy when a test that has
a mark is run, or if a report is wanted.
"""

import argparse
import re

import pytest

MARKS = {
    "limit_memory": "limit_memory(memory_limit): fail if the arrays that the test makes take more at one time",
    "limit_leaks": "limit_leaks(location_limit): fail if more is alive at the end of what one line of the test made",
    "no_leaks": "no_leaks: fail if an array, a tensor or a storage that the test made is alive at its end",
}
SHARED_WITH_MEMRAY = ("limit_memory", "limit_leaks")
SIZE_OF_MEMRAY = re.compile(r"\+?\d*\.?\d+\s*[KMGTP]?B\b", re.IGNORECASE)  # how it writes sizes: "24 MB", no other way
MEASURED = pytest.StashKey()
TAKEN = pytest.StashKey()  # marks of a test that pytest-memray is not to see


def count(text):
    """Return the number of rows that an option asks for."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"takes a number, as in --memory-report=10, found {text!r}.")
    return int(text)


def pytest_addoption(parser):
    """Add the option that asks for a report."""
    parser.getgroup("tensix").addoption(
        "--memory-report", nargs="?", type=count, const=10, metavar="N",
        help="show the N tests, and the N lines, whose arrays took most memory at one time (10 if not given; 0: all), "
        "and what could lower the peaks",
    )  # fmt: skip


def pytest_configure(config):
    """Declare the marks, and collect numbers if they are to be shown."""
    for name in names_of_marks(config):
        config.addinivalue_line("markers", MARKS[name])
    if is_report_wanted(config):
        config.pluginmanager.register(MemoryReport(config), "tensix_memory_report")


def names_of_marks(config):
    """Return the marks that are tensix's alone: all of them, unless pytest-memray is active."""
    return [name for name in MARKS if name not in SHARED_WITH_MEMRAY or not config.pluginmanager.hasplugin("memray")]


@pytest.hookimpl(trylast=True)  # tests have been selected by their marks
def pytest_collection_modifyitems(config, items):
    """Take those of the shared marks that pytest-memray cannot read: it would end the whole run with an error."""
    if not config.pluginmanager.hasplugin("memray"):
        return
    for item in items:
        closest = {name: item.get_closest_marker(name) for name in SHARED_WITH_MEMRAY}
        item.stash[TAKEN] = {name: mark for name, mark in closest.items() if mark and not is_of_memray(mark)}
    for node in {node for item in items for node in item.listchain()}:
        node.own_markers[:] = [
            mark for mark in node.own_markers if mark.name not in SHARED_WITH_MEMRAY or is_of_memray(mark)
        ]


def is_of_memray(mark):
    """Return whether pytest-memray can read a mark that has the name of one of its own."""
    return len(mark.args) == 1 and isinstance(mark.args[0], str) and SIZE_OF_MEMRAY.match(mark.args[0]) is not None


def marks_of(item):
    """Return the marks of a test that tensix serves, by their names."""
    found = {name: mark for name in names_of_marks(item.config) if (mark := item.get_closest_marker(name))}
    return found | item.stash.get(TAKEN, {})


def is_report_wanted(config):
    """Return whether to measure tests without a mark, too."""
    return config.getoption("memory_report", None) is not None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """Run a test, measured if it has a mark or a report is wanted, and fail it for what its marks do not allow."""
    marks = marks_of(item)
    if not marks and not is_report_wanted(item.config):
        return (yield)
    from tensix.testing.memory_of_tests import MemoryOfTest, bounds_of  # noqa: PLC0415 - no earlier, see above

    try:
        bounds = bounds_of(marks)
    except (TypeError, ValueError) as error:
        raise pytest.fail.Exception(f"a mark of this test is wrong: {error}", pytrace=False) from None
    with MemoryOfTest(**bounds, advises=is_report_wanted(item.config)) as measured:
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
