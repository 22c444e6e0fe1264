"""Storages whose last count goes without the GIL while somebody outside looks at their memory."""

import ctypes
import threading

import pytest

import tensix
from tensix.testing import DeleteTracker

EXPORTS = {
    "array": lambda x: x.__array__(),
    "capsule": lambda x: x.__dlpack__(),
    "versioned capsule": lambda x: x.__dlpack__(max_version=(1, 0)),
}


def watched():
    """Return a tensor over memory of our own, the memory, and who sees it freed."""
    tracker = DeleteTracker()
    memory = (ctypes.c_float * 2)(1.0, 2.0)
    return tensix.from_blob(ctypes.addressof(memory), (2,), deleter=tracker, dtype="float32"), memory, tracker


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
@pytest.mark.parametrize("has_weak", [False, True], ids=["", "with a weak handle"])
def test_memory_is_left_to_exports(counting, export, has_weak):
    x, memory, tracker = watched()
    look = export(x)
    weak = x.storage().weak() if has_weak else None
    impl = x.storage().impl
    counting.take_strong(impl)
    del x
    assert not tracker.calls
    counting.drop_strong(impl)  # without the GIL
    del impl
    assert not tracker.calls and memory[1] == 2.0
    del look
    assert len(tracker.calls) == 1 and (weak is None or weak.expired())


def test_last_count_and_last_look_race(counting):
    """A count goes without the GIL while a look ends with it; the memory goes once, after the last."""
    for _ in range(100):
        x, memory, tracker = watched()
        looks = [export(x) for export in EXPORTS.values()]
        impl = x.storage().impl
        counting.take_strong(impl)
        del x
        thread = threading.Thread(target=counting.drop_strong, args=(impl,))
        del impl
        thread.start()
        looks.clear()
        thread.join()
        del thread
        assert len(tracker.calls) == 1 and memory is not None
