"""What several folders share."""

import gc
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# They need what a plain installation lacks: libraries, a browser, assertions. Without it they fail, not skip.
ONLY_BY_NAME = {HERE / "browser", HERE / "consumers", HERE / "debug", HERE / "exchange"}


def pytest_ignore_collect(collection_path, config):
    """Leave such a folder out, unless an argument of the command line lies in it."""
    arguments = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    is_named = any(path.is_relative_to(collection_path) for path in arguments)
    return True if collection_path in ONLY_BY_NAME and not is_named else None


def pytest_collection_finish():
    """Keep the collector from going through the tests that wait to be run, each time that one of them calls it."""
    gc.freeze()


@pytest.fixture
def unraisable(monkeypatch):
    """Return the list of exceptions that `sys.unraisablehook` gets during the test."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(report.exc_value))
    return reported
