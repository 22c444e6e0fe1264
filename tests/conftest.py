"""What several folders share."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# They need what a plain installation lacks: libraries, a browser, assertions. Without it they fail, not skip.
ONLY_BY_NAME = {HERE / "browser", HERE / "consumers", HERE / "debug", HERE / "exchange"}
QUICK = {HERE / "core", HERE / "dispatch", HERE / "tensors"}  # what ``-m quick`` runs


def pytest_ignore_collect(collection_path, config):
    """Leave such a folder out, unless an argument of the command line lies in it; read no test that is not quick."""
    if config.option.markexpr == "quick" and collection_path.parent == HERE and collection_path not in QUICK:
        return True
    arguments = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    is_named = any(path.is_relative_to(collection_path) for path in arguments)
    return True if collection_path in ONLY_BY_NAME and not is_named else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests of `QUICK`, before those without the mark are left out."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in QUICK):
            item.add_marker("quick")


def pytest_collection_finish():
    """Keep the collector from going through the tests that wait to be run, each time that one of them calls it."""
    gc.freeze()


THREAD_AFTER_FORK = """
import os, threading, time
os.register_at_fork(after_in_parent=threading.Thread(target=time.sleep, args=(0.1,)).start)
if os.fork() == 0:
    os._exit(0)
"""


@pytest.fixture(scope="session")
def counts_threads_after_forks():
    """Return whether CPython warns of threads that hooks start after a fork: 3.13.0 does, 3.12 and 3.14 do not."""
    command = [sys.executable, "-W", "always", "-c", THREAD_AFTER_FORK]
    return "multi-threaded" in subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stderr


@pytest.fixture
def unraisable(monkeypatch):
    """Return the list of exceptions that `sys.unraisablehook` gets during the test."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(report.exc_value))
    return reported
