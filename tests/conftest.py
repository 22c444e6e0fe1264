"""Fixtures that several folders share."""

import sys
from pathlib import Path

import pytest

BY_NAME = [Path(__file__).with_name(folder) for folder in ("consumers", "exchange")]  # need libraries that few have


def pytest_ignore_collect(collection_path, config):
    """Leave the folders out that are run only by name, unless an argument of the command line lies in them."""
    arguments = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    for folder in BY_NAME:
        if collection_path == folder and not any(path.is_relative_to(folder) for path in arguments):
            return True
    return None


@pytest.fixture
def unraisable(monkeypatch):
    """Return the list of exceptions that `sys.unraisablehook` gets during the test."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(report.exc_value))
    return reported
