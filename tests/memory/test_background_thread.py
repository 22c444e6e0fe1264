"""Threads that work now and then, and rest while the process forks."""

import os
import threading
import time

import pytest

from tensix.memory.background_thread import BackgroundThread

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def run_in_fork(function):
    """Return what a function returns in a forked process, an int of 0 to 255."""
    pid = os.fork()
    if pid == 0:
        os._exit(function())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # CPython 3.13.0: see the class
@pytest.mark.parametrize("in_child", [True, False])
def test_it_goes_on_after_a_fork(in_child):
    called, before = threading.Event(), threading.active_count()

    def work():
        called.set()
        return 0.001

    thread = BackgroundThread("worker", work, 0, in_child).start()
    try:
        assert run_in_fork(lambda: threading.active_count() - before) == in_child
        called.clear()
        assert called.wait(30)
    finally:
        thread.end()
    called.clear()
    assert not called.wait(0.05) and threading.active_count() == before


def test_what_is_due_is_done_before_a_fork():
    """Forks may follow each other so fast that the thread never gets there."""
    calls = []
    thread = BackgroundThread("worker", lambda: calls.append(threading.current_thread()) or 1000, 1000, False).start()
    thread.due = time.monotonic()  # the thread still waits for the former time
    run_in_fork(lambda: 0)
    thread.end()
    assert calls == [threading.current_thread()]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="only Linux lists threads there")
def test_no_thread_is_left_when_it_rests():
    """It is waited for until the system no longer counts it; a joined thread may take a while to go."""
    for _ in range(200):
        thread = BackgroundThread("worker", lambda: 1000, 1000, False).start()
        native_id = thread.thread.native_id
        thread.end()
        assert str(native_id) not in os.listdir("/proc/self/task")
