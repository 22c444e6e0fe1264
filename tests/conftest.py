"""Fixtures that several folders share."""

import sys

import pytest


@pytest.fixture
def unraisable(monkeypatch):
    """Return the list of exceptions that `sys.unraisablehook` gets during the test."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(report.exc_value))
    return reported
