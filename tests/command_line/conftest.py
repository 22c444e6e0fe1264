"""What tests of commands share."""

import signal

import pytest


@pytest.fixture(autouse=True)
def interruptible():
    """Let programs that a test starts answer an interrupt, also where this session was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
